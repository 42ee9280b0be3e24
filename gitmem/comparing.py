"""What this clone and a remote lack of each other, note by note: what goes, what waits, what is held back."""

from __future__ import annotations

from gitmem import joining, mirror, notes, records
from gitmem.git import ask
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from gitmem.mirror import Large, Mirror
    from gitmem.store import Store

    Unpublished = Callable[[Store, Collection[str]], set[str]]

GREP_LOST = 2000  # commits without a branch whose links are looked for


class Held(NamedTuple):
    """A line that is not sent. reason: `secret` with its kind, or that somebody wants it forgotten."""

    commit: str
    id: str
    reason: str


class Plan(NamedTuple):
    """A join as it will be written, with its counts."""

    sending: int  # lines that the remote lacks
    received: int  # lines that were new here
    waiting: int  # lines on commits that the remote does not have
    held: tuple[Held, ...]
    shared: dict[str, list[bytes]]  # commit -> lines of its note as both sides will hold it, where that is a change
    kept: dict[str, list[bytes]]  # the same with the lines that stay here
    lines: dict[str, list[bytes]]  # commit -> lines that the remote lacks, where it has notes at all
    gone: list[tuple[str, bytes]]  # lines that are dropped
    blobs: dict[str, str]  # commit -> a note of this clone that is beyond reading: it stays, and is not sent
    strange: list[str]  # paths of the local tree that are no notes, where that tree would be sent


def everything_is_public(_: Store, __: Collection[str]) -> set[str]:
    return set()


def compare(
    store: Store, there: Mirror, local: str | None, unpublished: Unpublished, *, note: bool = True,
    also: Collection[str] = (), waits: Collection[str] | None = None, quiet: frozenset[str] = frozenset(),
) -> Plan:  # fmt: skip
    """The plan of a join. Only notes that differ are read, and those that hold what is newly forgotten.

    unpublished: which of some commits the remote does not have. quiet: ids of lines that a person has looked at: they
    are not named again. note: keep what was learned of what is forgotten.
    """
    if local is None and there.tip is not None:  # nothing here to compare with: all of it is taken as it is
        if note:
            mirror.write_forgets(store, mirror.all_forgets(store, there.tip))
        return Plan(0, mirror.count(store, there.tip), 0, (), {}, {}, {}, [], {}, [])
    plan = Plan(0, 0, 0, (), {}, {}, {}, [], {}, [])
    sending = received = waiting = 0
    held: list[Held] = []
    large: list[Large] = []
    goes: list[str] = []
    asked: dict[str, set[str]] = {}
    whole: joining.Forgets = there.forgets
    for commit, theirs, ours in mirror.differing(store, there.tip, local, also=also, large=large):
        if said := joining.forgets([*theirs, *ours]):
            asked = joining.merged(asked, said)
            whole = joining.merged(there.forgets, asked)
        union = notes.join(theirs, ours)
        stays, gone = joining.parted(union, whole)
        plan.gone.extend((commit, line) for line in gone)
        received += len(set(stays) - set(ours))
        mine = [line for line in stays if line not in set(theirs)]
        back: dict[bytes, str] = {}
        if waits is not None and commit in waits:
            back = dict.fromkeys(mine, "")
            waiting += len(mine)
        else:
            back = {line: reason for line in mine if (reason := why_held(line, whole))}
            held += _to_name(commit, union, back, quiet, whole)
        goes += [commit] * (len(mine) > len(back))
        sending += len(mine) - len(back)
        final = [line for line in stays if line not in back]
        if there.tip is not None and len(mine) > len(back):
            plan.lines[commit] = [line for line in mine if line not in back]
        if final != sorted(theirs if there.tip is not None else ours):
            plan.shared[commit] = final
        if back:
            plan.kept[commit] = stays
    newly = {oid for oid in asked if asked[oid] - there.forgets.get(oid, set())}
    if newly:
        there = there._replace(forgets=joining.merged(there.forgets, asked))
        also = {commit for tip in (there.tip, local) if tip for commit, _ in mirror.grep(store, tip, sorted(newly))}
        if note:
            mirror.write_forgets(store, there.forgets)
    first = waits is None
    if waits is None:
        waits = unpublished(store, goes)
    if newly or (first and waits):  # what goes is another set then: once more, knowing it
        return compare(store, there, local, unpublished, note=note, also=also, waits=waits, quiet=quiet)
    for commit, _, blobs in large:
        if blobs:
            plan.blobs[commit] = blobs[0]
            plan.shared.update({commit: []} if there.tip is None else {})
    strange = mirror.strange_paths(store, local) if there.tip is None and local is not None else []
    return plan._replace(sending=sending, received=received, waiting=waiting, held=tuple(held), strange=strange)


def _to_name(
    commit: str, union: Iterable[bytes], back: dict[bytes, str], quiet: frozenset[str], whole: joining.Forgets
) -> list[Held]:
    """The lines held back that a person has not dealt with: neither hidden already, nor kept after a look."""
    if not back:
        return []
    settled = {record.id for record in records.read(union).hidden} - whole.keys() | quiet
    named = ((joining.line_id(line, records.parse(line)), reason) for line, reason in back.items())
    return [Held(commit, oid, reason) for oid, reason in named if oid not in settled]


def why_held(line: bytes, asked: joining.Forgets) -> str | None:
    if joining.contested(line, asked):
        return "somebody else asks to forget it: 'gitmem review' decides"
    kinds = records.secrets(line)
    return f"secret ({', '.join(kinds)}): 'gitmem forget --purge' takes it out" if kinds else None


def unpublished(store: Store, oids: Collection[str], *, remote: str, pushed: Iterable[str]) -> set[str]:
    """Those of the commits that the remote does not have, as far as this clone knows, and that did not become ones
    that it has: what somebody works on alone is nobody's business yet.

    pushed: commits that are on their way there.
    """
    going = set(pushed)
    listed = [oid for oid in oids if oid not in going]
    if not listed:
        return set()
    here = store.present(listed)
    if not here:
        missing: set[str] = set(listed)
    else:
        known = [*sorted(going), f"--remotes={remote}"]
        missing = {oid for oid, _ in ask.commits(store.git, "--not", *known, stdin=here)} & set(here)
        missing |= set(listed) - set(here)
    lost = _without_branch(store, missing & set(here)) | (missing - set(here))
    return missing - _became(store, lost, missing)


def _without_branch(store: Store, oids: set[str]) -> set[str]:
    if not oids:
        return set()
    return {oid for oid, _ in ask.commits(store.git, "--not", *ask.EVERYTHING, stdin=oids)} & oids


def _became(store: Store, lost: set[str], missing: set[str]) -> set[str]:
    """The lost commits that became public ones, by links, however many steps it takes."""
    links = {(old, new) for old, new, _ in mirror.links(store, sorted(lost)[:GREP_LOST])} if lost else set()
    found: set[str] = set()
    while more := {old for old, new in links if old not in found and (new not in missing or new in found)}:
        found |= more
    return found & lost
