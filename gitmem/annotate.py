"""Commits get their records: what hooks, backfill and delivery have in common."""

from __future__ import annotations

import itertools
import time

from gitmem import records
from gitmem.capsule import capsule
from gitmem.errors import GitmemError
from gitmem.git import ask
from gitmem.git.commits import read_commits
from gitmem.subject import read_message
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitmem.changes import Commit
    from gitmem.layout import Written
    from gitmem.settings import Settings
    from gitmem.store import Store, Waiting

MAX_FILL = 500  # commits without a capsule that one hook makes good
LOOK_BACK = 64  # commits before a delivered one that are looked at for a missing capsule

Parents = tuple[str, tuple[str, ...]]


class Link(NamedTuple):
    """One commit became another by an operation of git."""

    old: str
    new: str
    operation: str  # amend, rebase, squash, cherry-pick, revert


def capsules(store: Store, wanted: Iterable[Parents], settings: Settings) -> Iterator[tuple[Commit, bytes]]:
    """(commit, line of its capsule) in the order given. Commits at a shallow boundary are left out: what they
    changed cannot be known here."""
    boundary = ask.shallow_boundary(store.git) if store.place.shallow else frozenset()
    known = [(oid, parents) for oid, parents in wanted if oid not in boundary]
    for commit in read_commits(store.differ, known, partial=store.partial):
        yield commit, capsule(commit, settings)


def made(commit: Commit, client: str | None) -> list[bytes]:
    """The record of the program that made a commit; none for a person at a shell."""
    if client is None:
        return []
    return [records.line_of("made", commit.oid, commit.at, client=client, by=client, w=records.who(commit.mail))]


def told_links(commit: Commit) -> list[Link]:
    """What the message itself says: git leaves no REVERT_HEAD for a revert without conflict."""
    reverts = read_message(commit.message).reverts
    return [Link(old, commit.oid, "revert") for old in reverts if len(old) == len(commit.oid)]


def with_share(store: Store, links: list[Link], commit: Commit) -> list[Link]:
    """The links without those from squashed commits that touch nothing of what the new one touches: git lists all that
    is on the branch, also what was in the history already."""
    olds = [link.old for link in links if link.operation == "squash"]
    if not olds:
        return links
    mine = {path for change in commit.changes for path in (change.path, change.old_path) if path}
    strange = set()
    for oid, lines in store.note_lines(olds):
        capsule = records.capsule_of(oid, records.read(lines).records)
        if capsule and "paths" not in capsule.fields.get("cut", ()) and not mine & set(capsule.fields.get("paths", ())):
            strange.add(oid)
    return [link for link in links if link.operation != "squash" or link.old not in strange]


def link_line(link: Link, at: int, mail: str) -> bytes:
    """`at`, `mail`: of the new commit's committer."""
    return records.line_of(
        "link", link.new, at, old=link.old, new=link.new, operation=link.operation, w=records.who(mail)
    )


def missing(store: Store, commits: Sequence[Parents]) -> list[Parents]:
    """Those of the commits that have no capsule of their own."""
    noted = store.note_lines([oid for oid, _ in commits])
    return [
        commit for commit, (oid, lines) in zip(commits, noted, strict=True)
        if records.capsule_of(oid, records.read(lines).records) is None
    ]  # fmt: skip


def carried(old_lines: Iterable[bytes], new_lines: Iterable[bytes]) -> list[bytes]:
    """The records of a former commit that go with its work: all but capsules, links and branches, which lead back to
    it; and who made it only when the new one does not say the same of itself."""
    have = set(new_lines)
    makers = {r.fields.get("client") for r in records.read(have).records if r.kind == "made"}
    old = records.read(old_lines)
    kept = []
    for record in (*old.records, *old.hidden):
        if record.kind in ("capsule", "link", "branch") or record.line in have:
            continue
        if record.kind == "made" and record.fields.get("client") in makers:
            continue
        kept.append(record.line)
    return kept


def carry(store: Store, links: Iterable[Link], *, ref: str, have: dict[str, list[bytes]]) -> dict[str, list[bytes]]:
    """new commit -> the records of its former commits on that ref. have: what the new ones hold already."""
    listed = list(links)
    old_lines = dict(store.note_lines([link.old for link in listed], ref=ref))
    found: dict[str, list[bytes]] = {}
    for link in listed:
        own = found.setdefault(link.new, [])
        own += carried(old_lines.get(link.old, ()), [*have.get(link.new, ()), *own])
    return {new: lines for new, lines in found.items() if lines}


def write_or_defer(
    store: Store, additions: dict[str, list[bytes]], *, author: str | None = None, subject: str, deadline: float
) -> Written:
    """Appends to the shared ref. What cannot be written now waits for the next run, and the reason is raised."""
    try:
        return store.append(additions, author=author, subject=subject, deadline=deadline)
    except GitmemError:
        store.defer(additions)
        raise


def rewrite(store: Store, links: Sequence[Link], settings: Settings, *, deadline: float) -> None:
    """Carries the records of rewritten commits over, links old and new, and gives the new ones their capsules.

    Who rewrites a commit has not made it. Beyond MAX_FILL new commits the capsules wait for the next run; links and
    records are carried all the same.
    """
    news = list(dict.fromkeys(link.new for link in links))
    additions = carry(store, links, ref=records.SHARED_REF, have=dict(store.note_lines(news)))
    for link in links:
        header = store.commit_header(link.new)
        if header is not None:
            additions.setdefault(link.new, []).insert(0, link_line(link, header.at, header.mail))
    carry_private(store, links, deadline=deadline)
    wanted = missing(store, ask.commits(store.git, "--no-walk=unsorted", stdin=news))
    later = {oid for oid, _ in wanted[MAX_FILL:]}
    try:
        for commit, line in capsules(store, wanted[:MAX_FILL], settings):
            additions.setdefault(commit.oid, []).append(line)
    except GitmemError:  # too slow, too large, damaged: what is known of the old commits is carried all the same
        later |= {oid for oid, _ in wanted} - {oid for oid in news if _has_capsule(oid, additions.get(oid, ()))}
    for oid in later:
        store.defer_task(do="commit", commit=oid, client="")
    write_or_defer(store, additions, subject="carry records over a rewrite", deadline=deadline)


def _has_capsule(oid: str, lines: Iterable[bytes]) -> bool:
    return records.capsule_of(oid, records.read(lines).records) is not None


def carry_private(store: Store, links: Sequence[Link], *, deadline: float) -> None:
    """The same for what stays in this clone."""
    private = carry(store, links, ref=records.PRIVATE_REF, have={})
    if private:
        store.append(private, ref=records.PRIVATE_REF, subject="carry records over a rewrite", deadline=deadline)


def bare(store: Store, wanted: Iterable[Parents]) -> Iterator[Commit]:
    """The commits without their lines: names, times and message alone."""
    return read_commits(store.differ, wanted, partial=True)


def fill(store: Store, wanted: Sequence[Parents], settings: Settings, *, deadline: float) -> int:
    """Gives the commits that lack one their capsule; the number of lines written."""
    additions = {c.oid: [line] for c, line in capsules(store, missing(store, wanted), settings)}
    return write_or_defer(store, additions, subject="capsules that were missing", deadline=deadline).added


def deliver(store: Store, settings: Settings, *, deadline: float) -> set[str]:
    """Delivers what waits in `pending.jsonl`; the commits that waited. Raises Locked when another run is at it.

    After the lock is let go the file is looked at once more: a line may have come while it was held.
    """
    commits: set[str] = set()
    while store.has_waiting():
        with store.delivery_lock(time.monotonic()):
            waiting = store.take_waiting()
            for ref, additions in waiting.lines.items():
                store.append(additions, ref=ref, subject="records that waited", deadline=deadline)
            _deliver_commits(store, waiting, settings, deadline=deadline)
            store.delivered(waiting)
            commits.update(waiting.clients)
    return commits


def _deliver_commits(store: Store, waiting: Waiting, settings: Settings, *, deadline: float) -> None:
    clients = {oid: waiting.clients[oid] for oid in waiting.clients if ask.is_commit(store.git, oid)}
    if not clients:
        return
    lacking = missing(store, ask.commits(store.git, "--no-walk=unsorted", stdin=clients))
    additions: dict[str, list[bytes]] = {}
    for one in lacking:
        try:
            for commit, line in capsules(store, [one], settings):
                additions[commit.oid] = [line, *made(commit, clients[commit.oid])]
        except GitmemError as error:
            store.log_failure("deliver", error)  # said, and never in the way of the others
    for commit, line in capsules(store, _forgotten(store, clients), settings):
        additions.setdefault(commit.oid, [line])
    store.append(additions, subject="capsules", deadline=deadline)


def _forgotten(store: Store, known: Iterable[str]) -> list[Parents]:
    """Commits right before the known ones without a capsule: their hook was killed before it could say a word."""
    seen = set(known)
    before = ask.commits(store.git, "--first-parent", f"--max-count={len(seen) + LOOK_BACK}", stdin=seen)
    older = [commit for commit in before if commit[0] not in seen]
    lacking = {oid for oid, _ in missing(store, older)}
    return list(itertools.takewhile(lambda commit: commit[0] in lacking, older))
