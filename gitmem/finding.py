"""Where a commit's work was before, by content: for history that was rewritten where no hook of ours ran.

Surest first: the same patch, the patch of a whole branch, what the message names. `likeness` goes on from there.
"""

from __future__ import annotations

import re

from gitmem import mirror, notes, records
from gitmem.git import ask, patchids
from gitmem.git.network import NOTES
from gitmem.git.run import decode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitmem.store import Store

MAX_LOST = 2000  # commits without a branch whose patches are looked at, newest notes first
MAX_TIPS = 64  # ends of such lines of commits
PUSHED = "the patch of a whole branch"
SLACK_SECONDS = 86400  # by how much a clock may be wrong: work is not older than where it was before
PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40,64})\)")
REVERTED = re.compile(r"This reverts commit ([0-9a-f]{40,64})")
SQUASHED = re.compile(r"^commit ([0-9a-f]{40,64})$", re.MULTILINE)
PULL = re.compile(r"\(#(\d{1,9})\)\s*$")


class Found(NamedTuple):
    """Commits whose work is in another one. sure: False for what is only probable, and never written down."""

    olds: tuple[str, ...]
    operation: str  # as in a link
    reason: str
    sure: bool


class Branch(NamedTuple):
    """What a `branch` record says, checked."""

    head: str
    at: int
    patch: str
    commits: tuple[tuple[str, str], ...]  # (oid, patch id)
    files: frozenset[str]  # 8 hex of the path's hash and 8 of its patch id
    base: str

    @property
    def oids(self) -> tuple[str, ...]:
        return tuple(oid for oid, _ in self.commits)


class Work(NamedTuple):
    """A commit that is looked for."""

    oid: str
    at: int
    message: str
    patch: str | None
    parent: str | None


class Known(NamedTuple):
    """Where work may have been. noted: commits with a note; lost: those of them that no ref leads to; reached: all
    that one does."""

    branches: tuple[Branch, ...]
    noted: frozenset[str]
    lost: tuple[str, ...]
    reached: frozenset[str]
    sharing: dict[str, list[str]]  # commit -> lost ones that touch a file of it, as far as anybody asked


def known(store: Store) -> Known:
    """What this clone's notes know of the past; three processes, whatever there is."""
    tip = ask.exact_ref(store.git, NOTES)
    if tip is None:
        return Known((), frozenset(), (), frozenset(), {})
    noted, digits = frozenset(store.blobs()), store.place.hex_digits
    reached = frozenset(oid for oid, _ in ask.commits(store.git, *ask.EVERYTHING))
    branches = tuple(
        found for _, line in mirror.grep(store, tip, ['"kind":"branch"']) if (found := _branch(line, digits))
    )
    return Known(branches, noted, tuple(sorted(noted - reached)), reached, {})


def _branch(line: bytes, digits: int) -> Branch | None:
    record = records.parse(line)
    if record is None or record.kind != "branch":
        return None
    fields = record.fields
    try:
        commits = tuple((str(oid), str(patch)) for oid, patch in fields["commits"])
        files = frozenset(str(one) for one in fields.get("files", []))
        head, base = str(fields["head"]), str(fields["base"])
        if not all(notes.is_hex(oid, digits) for oid in (head, base, *(oid for oid, _ in commits))):
            return None  # a name of something else, or an option
        return Branch(head, int(fields["at"]), str(fields.get("patch") or ""), commits, files, base)
    except (KeyError, ValueError, TypeError):
        return None


def work_of(store: Store, oids: Sequence[str]) -> list[Work]:
    """The commits as they are looked for; merges and empty ones have no patch."""
    patches = {} if store.partial else patchids.of_commits(store.git, oids)
    found = []
    for oid in oids:
        header, raw = store.commit_header(oid), store.objects.get(oid)
        if header is not None and raw is not None:
            message = raw.data.partition(b"\n\n")[2].decode("utf-8", "replace")
            parent = header.parents[0] if header.parents else None
            found.append(Work(oid, header.at, message, patches.get(oid), parent))
    return found


def find_sure(store: Store, work: Work, past: Known) -> list[Found]:
    """What a commit was before, beyond doubt: by its patch, the patch of a whole branch, or what its message names."""
    found: list[Found] = []
    for way in (_same_patch, _whole_branch, named):
        found = found or list(way(store, work, past))
    return found


def _same_patch(store: Store, work: Work, past: Known) -> Iterator[Found]:
    """A commit with the same patch: one that was a branch of its own before one within a longer branch, then the
    newest that is not younger than the work itself."""
    if work.patch is None:
        return
    times: dict[str, tuple[bool, bool, int]] = {}
    for branch in past.branches:
        if any(patch == work.patch for _, patch in branch.commits) and may_be_of(store, branch, work):
            rank = (branch.patch == work.patch, branch.at <= work.at, branch.at)
            for oid, patch in branch.commits:
                if patch == work.patch:
                    times[oid] = max(times.get(oid, rank), rank)
    alike = [*_same_summary(store, work, past), *_sharing_a_path(store, work, past)]
    for oid, patch in patchids.of_commits(store.git, store.present(alike)).items():
        header = store.commit_header(oid)
        if patch == work.patch and header is not None and oid not in times:
            times[oid] = (False, header.at <= work.at, header.at)
    for oid in sorted(times, key=lambda oid: (times[oid], oid), reverse=True):
        if oid in past.noted and can_be(store, oid, work, at=times[oid][2]):
            yield Found((oid,), "rebase", "same patch", sure=True)
            return


def may_be_of(store: Store, branch: Branch, work: Work) -> bool:
    """Whether a branch can have become a commit: it is not younger, and did not begin at that commit or after it."""
    return (
        branch.at <= work.at + SLACK_SECONDS
        and work.oid not in branch.oids
        and not ask.is_ancestor(store.git, work.oid, branch.base)
    )


def can_be(store: Store, oid: str, work: Work, *, at: int | None = None) -> bool:
    """Whether a commit can have become another: neither is in the history of the other (the same change made twice,
    each with its own memory), and it is not younger than a wrong clock explains."""
    header = store.commit_header(oid)
    since = at if header is None else header.at
    if oid == work.oid or (since is not None and since > work.at + SLACK_SECONDS):
        return False
    return not (ask.is_ancestor(store.git, oid, work.oid) or ask.is_ancestor(store.git, work.oid, oid))


def _same_summary(store: Store, work: Work, past: Known) -> list[str]:
    """Noted commits whose capsule has the same first line: what `git am` applied, or somebody picked by hand."""
    subject = work.message.lstrip().partition("\n")[0][:100]
    tip = ask.exact_ref(store.git, NOTES)
    if not subject or tip is None:
        return []
    pattern = '"summary":' + records.canonical({"x": subject}).decode()[5:-2]  # as it stands in a line, end left open
    return [commit for commit, _ in mirror.grep(store, tip, [pattern]) if commit != work.oid and commit in past.noted]


def _sharing_a_path(store: Store, work: Work, past: Known) -> list[str]:
    """Lost commits that touch a file of this one."""
    if work.oid in past.sharing:
        return past.sharing[work.oid]
    mine = _paths(store, work.oid)
    chosen = past.sharing.setdefault(work.oid, [])
    for oid, lines in store.note_lines(past.lost[:MAX_LOST]):
        capsule = records.capsule_of(oid, records.read(lines).records)
        paths = set(capsule.fields.get("paths", [])) if capsule else set()
        if paths & mine or capsule is None:
            chosen.append(oid)
    return chosen


def _paths(store: Store, oid: str) -> set[str]:
    out = store.git.run("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--no-renames", "--name-only", oid).out
    return set(decode(out).split("\0")[:-1])


def _whole_branch(store: Store, work: Work, past: Known) -> Iterator[Found]:
    """A branch as it was pushed, or a line of lost commits that is still here, squashed into one commit."""
    if work.patch is not None:
        fitting = [*pushed_wholes(past), *lost_wholes(store, past, tips(store, work, past))]
        found = whole_in(store, work, [whole for whole in fitting if whole.patch == work.patch])
        if found is not None:
            yield found


class Whole(NamedTuple):
    """The patch of several commits at once."""

    patch: str
    olds: tuple[str, ...]
    head: str
    at: int
    alike: tuple[str, ...]  # their own patches: what is rebased and pushed again is still the same branch
    reason: str
    base: str


def pushed_wholes(past: Known) -> list[Whole]:
    return [Whole(b.patch, b.oids, b.head, b.at, _alike(patch for _, patch in b.commits), PUSHED, b.base)
            for b in past.branches if b.patch]  # fmt: skip


def _alike(patches: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(patch for patch in patches if patch))  # an empty commit changes nothing


def lost_wholes(store: Store, past: Known, tips: Iterable[str]) -> Iterator[Whole]:
    for tip in tips:
        lost = ask.commits(store.git, f"--max-count={MAX_LOST}", "--first-parent", tip, "--not", *ask.EVERYTHING)
        header = store.commit_header(tip)
        if not lost or not lost[-1][1] or header is None:
            continue
        whole, _ = patchids.of_range(store.git, lost[-1][1][0], tip)
        olds = tuple(oid for oid, _ in lost if oid in past.noted)
        if whole and olds:
            alike = _alike(patchids.of_commits(store.git, [oid for oid, _ in lost]).values())
            yield Whole(whole, olds, tip, header.at, alike, "the patch of a line of commits", lost[-1][1][0])


def whole_in(store: Store, work: Work, candidates: Sequence[Whole]) -> Found | None:
    """The branch that a commit can have been made of, as it was pushed last before; None where there are several."""
    fitting = [
        whole for whole in candidates
        if work.oid not in whole.olds and can_be(store, whole.head, work, at=whole.at)
        and not ask.is_ancestor(store.git, work.oid, whole.base)
    ]  # fmt: skip
    if len({whole.alike for whole in fitting}) != 1:
        return None
    best = max(fitting, key=lambda whole: (whole.reason == PUSHED, whole.at <= work.at, whole.at))
    return Found(best.olds, "squash", best.reason, sure=True)


def tips(store: Store, work: Work, past: Known) -> list[str]:
    """The ends of lost lines that touch a file of this commit, newest first."""
    found = ends(store, _sharing_a_path(store, work, past))
    return [oid for oid, at in found if at <= work.at + SLACK_SECONDS][:MAX_TIPS]


def ends(store: Store, oids: Iterable[str]) -> list[tuple[str, int]]:
    """(commit, its time) of those that are still here and no other's parent, newest first."""
    headers = {oid: header for oid in store.present(oids) if (header := store.commit_header(oid))}
    inner = {parent for header in headers.values() for parent in header.parents}
    return sorted(((oid, headers[oid].at) for oid in headers if oid not in inner), key=lambda one: -one[1])


def named(store: Store, work: Work, past: Known) -> Iterator[Found]:
    """What the message itself names."""
    for pattern, operation, reason in (
        (PICKED, "cherry-pick", "named by its message (cherry-pick)"),
        (REVERTED, "revert", "named by its message (revert)"),
        (SQUASHED, "squash", "named by its message (squash)"),
    ):
        olds = tuple(oid for oid in dict.fromkeys(pattern.findall(work.message)) if oid in past.noted)
        if olds and olds != (work.oid,):
            yield Found(olds, operation, reason, sure=True)
            return
    pull = PULL.search(work.message.lstrip().partition("\n")[0])
    head = _pull_head(store, pull[1]) if pull else None
    if head is not None and can_be(store, head, work):
        base = ask.merge_base(store.git, head, work.oid)
        limits = ("--not", base) if base else ()
        olds = tuple(
            oid for oid, _ in ask.commits(store.git, f"--max-count={MAX_LOST}", head, *limits) if oid in past.noted
        )
        if olds:
            yield Found(olds, "squash", f"named by its message (#{pull[1] if pull else ''})", sure=True)


def _pull_head(store: Store, number: str) -> str | None:
    names = [f"refs/pull/{number}/head", f"refs/merge-requests/{number}/head"]
    out = decode(store.git.run("for-each-ref", "--format=%(objectname)", *names,
                               f"refs/remotes/*/pull/{number}/head", f"refs/remotes/*/pr/{number}").out)  # fmt: skip
    return out.split("\n", 1)[0] or None
