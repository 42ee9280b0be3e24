"""Repair: links for commits whose work is found elsewhere beyond doubt; the rest is lost and found, never deleted."""

from __future__ import annotations

from gitmem import annotate, files, finding, mirror, records
from gitmem.finding import Found
from gitmem.git import ask, patchids
from gitmem.git.run import decode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitmem.finding import Known
    from gitmem.store import Store

MAX_TARGETS = 5000  # commits whose patches are compared, newest first
MAX_MAP_BYTES = 256 << 20
LINKS_AT_ONCE = 4096


class Placed(NamedTuple):
    old: str
    new: str
    operation: str
    reason: str


class Lost(NamedTuple):
    """A commit that is gone, with records that nothing leads to. said: its capsule's sentence."""

    commit: str
    records: int  # capsule excepted
    said: str
    here: bool  # whether git still has it


class Repaired(NamedTuple):
    placed: tuple[Placed, ...]
    lost: tuple[Lost, ...]
    not_compared: int  # commits older than those whose patches were compared


def repair(store: Store, *, deadline: float, dry_run: bool = False) -> Repaired:
    """Writes a link for each commit that is found by the commit map of filter-repo, its patch, or a message."""
    past = finding.known(store)
    linked = _linked(store)
    placed = {(one.old, one.new): one for one in _by_map(store, past) if (one.old, one.new) not in linked}
    gone = _gone(past, linked | placed.keys())
    done = {new for _, new in linked} | {new for _, new in placed}
    targets, not_compared = _targets(store, gone, past, done)
    for one in _by_content(store, past, set(gone), targets):
        placed.setdefault((one.old, one.new), one)
    if not dry_run:
        _write(store, list(placed.values()), deadline)
    left = _gone(past, linked | placed.keys())
    return Repaired(tuple(placed.values()), tuple(_lost(store, left)), not_compared)


def _gone(past: Known, links: set[tuple[str, str]]) -> list[str]:
    """The lost commits from which no link leads to one that is still there, however many steps it takes."""
    found = set(past.lost)
    olds: dict[str, list[str]] = {}
    for old, new in links:
        olds.setdefault(new, []).append(old)
    ahead = [new for new in olds if new in past.reached]
    while ahead:
        for old in olds.pop(ahead.pop(), ()):
            found.discard(old)
            ahead.append(old)
    return sorted(found)


def _linked(store: Store) -> set[tuple[str, str]]:
    return {(old, new) for old, new, operation in mirror.links(store) if operation != "revert"}


def _by_map(store: Store, past: Known) -> Iterator[Placed]:
    """`git filter-repo` leaves a map of all commits it has rewritten: `old new` a line, zeros for what it dropped."""
    path = store.place.common_dir + "/filter-repo/commit-map"
    for row in (files.read(path, max_bytes=MAX_MAP_BYTES) or b"").split(b"\n"):
        old, _, new = decode(row).strip().partition(" ")
        if old != new and old in past.noted and new in past.reached:
            yield Placed(old, new, "filter", "commit map of filter-repo")


def _targets(store: Store, gone: list[str], past: Known, done: set[str]) -> tuple[list[finding.Work], int]:
    """The commits in which lost work can be, newest first: not older than it, and not known to come from elsewhere."""
    oldest = min((*_times(store, gone), *(branch.at for branch in past.branches)), default=None)
    if oldest is None:
        return [], 0
    since = f"--since={oldest - finding.SLACK_SECONDS}"
    reached = ask.commits(store.git, "--no-merges", since, *ask.EVERYTHING)
    wanted = [oid for oid, _ in reached if oid not in done]
    return finding.work_of(store, wanted[:MAX_TARGETS]), max(0, len(wanted) - MAX_TARGETS)


def _times(store: Store, oids: list[str]) -> Iterator[int]:
    for oid, lines in store.note_lines(oids):
        found = records.read(lines).records
        capsule = records.capsule_of(oid, found)
        yield from [int(capsule.fields["at"])] if capsule else [int(record.fields["at"]) for record in found]


def _by_content(store: Store, past: Known, gone: set[str], targets: list[finding.Work]) -> Iterator[Placed]:
    """Same patch, whole branch, message: what `finding` does for one commit, for all at once."""
    by_patch: dict[str, list[finding.Work]] = {}
    for work in reversed(targets):
        if work.patch:
            by_patch.setdefault(work.patch, []).append(work)
    yield from _same_patches(store, past, gone, by_patch)
    tips = [oid for oid, _ in finding.ends(store, gone)] if by_patch else []
    wholes: dict[str, list[finding.Whole]] = {}
    for whole in (*finding.pushed_wholes(past), *finding.lost_wholes(store, past, tips[: finding.MAX_TIPS])):
        if whole.patch in by_patch:
            wholes.setdefault(whole.patch, []).append(whole)
    for patch, candidates in wholes.items():
        taken = [(work, found) for work in by_patch[patch] if (found := finding.whole_in(store, work, candidates))]
        if len(taken) == 1:
            yield from _places(*taken[0], past)
    for work in targets:
        for found in finding.named(store, work, past):
            yield from _places(work, found, past)


def _same_patches(
    store: Store, past: Known, gone: set[str], by_patch: dict[str, list[finding.Work]]
) -> Iterator[Placed]:
    """A lost commit, and the first that took its patch up: by the commit itself where it is here, else by the branch
    that it was pushed with."""
    patches = {} if store.partial else patchids.of_commits(store.git, store.present(gone))
    pushed: dict[str, list[tuple[str, finding.Branch]]] = {}
    for branch in past.branches:
        for oid, patch in branch.commits:
            if oid in gone and patch in by_patch:
                pushed.setdefault(oid, []).append((patch, branch))
    for oid in sorted(patches.keys() | pushed.keys()):
        told = pushed.get(oid, [])
        patch = patches.get(oid) or told[0][0]
        since = min((branch.at for _, branch in told), default=None)
        fitting = [
            work for work in by_patch.get(patch, [])
            if finding.can_be(store, oid, work, at=since)
            and all(finding.may_be_of(store, branch, work) for _, branch in told)
        ]  # fmt: skip
        if fitting:
            yield Placed(oid, fitting[0].oid, "rebase", "same patch")


def _places(work: finding.Work, found: Found | None, past: Known) -> Iterator[Placed]:
    for old in found.olds if found else ():
        if found and old in past.noted and old != work.oid:
            yield Placed(old, work.oid, found.operation, found.reason)


def _write(store: Store, placed: list[Placed], deadline: float) -> None:
    for start in range(0, len(placed), LINKS_AT_ONCE):
        additions: dict[str, list[bytes]] = {}
        for one in placed[start : start + LINKS_AT_ONCE]:
            header = store.commit_header(one.new)
            if header is not None:
                link = annotate.Link(one.old, one.new, one.operation)
                additions.setdefault(one.new, []).append(annotate.link_line(link, header.at, header.mail))
        store.append(additions, subject="repair", deadline=deadline)


def _lost(store: Store, left: list[str]) -> Iterator[Lost]:
    for oid, lines in store.note_lines(left):
        found = records.read(lines).records
        capsule = records.capsule_of(oid, found)
        others = sum(record.kind not in ("capsule", "link", "branch", "made") for record in found)
        said = str(capsule.fields.get("a", "")) if capsule else ""
        yield Lost(oid, others, said, store.commit_header(oid) is not None)
