"""Forget: hide a record everywhere, or purge a line from every place where this clone and its remotes keep it."""

from __future__ import annotations

import contextlib
import time

from gitmem import files, joining, mirror, purging, quickjson, records, trash, trust, writer
from gitmem.errors import BadRevision, GitmemError, UsageError
from gitmem.git import ask, network
from gitmem.git.network import Update, tracking
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitmem.store import Store

MIN_PREFIX = 4
REFS = (records.SHARED_REF, records.PRIVATE_REF)


class Holder(NamedTuple):
    """One place of a line."""

    ref: str
    commit: str
    line: bytes


def find(store: Store, wanted: str) -> tuple[str, list[Holder]]:
    """(the whole id, every place of the line) for an id or a beginning that only one has. Raises BadRevision."""
    wanted = wanted.removeprefix("rec-")
    if len(wanted) < MIN_PREFIX or not wanted.isalnum():
        raise UsageError(f"'rec-{wanted}' is no record id", "give at least 4 of its 16 characters")
    holders: dict[str, list[Holder]] = {}
    for oid, holder in list(_by_id(store, wanted)) or _unreadable(store, wanted):
        holders.setdefault(oid, []).append(holder)
    if wanted in purging.unfinished(store) or wanted in mirror.read_forgets(store):
        holders.setdefault(wanted, [])  # gone from here, and perhaps not from everywhere
    exact = {wanted: holders[wanted]} if wanted in holders else holders
    if len(exact) != 1:
        reason = "no record has that id" if not exact else f"{len(exact)} records begin like that"
        raise BadRevision(f"'rec-{wanted}': {reason}", "'gitmem show COMMIT' prints the ids of a commit's records")
    return next(iter(exact.items()))


def _by_id(store: Store, wanted: str) -> Iterator[tuple[str, Holder]]:
    for ref in REFS:
        tip = ask.exact_ref(store.git, ref)
        for commit, line in mirror.grep(store, tip, [f'"id":"{wanted}']):
            record = records.parse(line)
            if record is not None and record.id.startswith(wanted):
                yield record.id, Holder(ref, commit, line)


def _unreadable(store: Store, wanted: str) -> Iterator[tuple[str, Holder]]:
    """Lines that are no records are named by a hash of their bytes; nothing leads to them but reading."""
    if len(wanted) != 16:
        return
    for ref in REFS:
        for commit, lines in store.read_blobs(store.blobs(ref).items()):
            for line in lines:
                if records.hash_of(line) == wanted and records.parse(line) is None:
                    yield wanted, Holder(ref, commit, line)


def retract(store: Store, oid: str, holders: list[Holder], *, forget: bool = False) -> None:
    """Hides a line wherever it stands; a private one is taken out at once, nobody else has it."""
    shared = sorted({one.commit for one in holders if one.ref == records.SHARED_REF})
    new = [commit for commit, lines in store.note_lines(shared) if not _is_said(lines, oid, trust.me(store), forget)]
    if new:
        additions = {commit: [_line(store, commit, oid, forget=forget)] for commit in new}
        store.append(additions, subject=f"forget rec-{oid}")
    if any(one.ref == records.PRIVATE_REF for one in holders):
        _take_out(store, records.PRIVATE_REF, oid, holders, deadline=time.monotonic() + 30, orphan=False, at=0)


def _is_said(lines: list[bytes], oid: str, w: str | None, forget: bool) -> bool:
    """Whether I have said so in this note already."""
    mine = [r.fields for r in records.read(lines).records if r.kind == "retract" and r.fields.get("w") == w]
    return any(oid in one.get("ids", []) and bool(one.get("forget")) >= forget for one in mine)


def _line(store: Store, commit: str, oid: str, *, forget: bool, at: int | None = None) -> bytes:
    since = int(time.time()) if at is None else at
    return records.line_of("retract", commit, since, ids=[oid], forget=forget or None, w=trust.me(store) or "")


def _take_out(
    store: Store, ref: str, oid: str, holders: list[Holder], *, deadline: float, orphan: bool, at: int
) -> None:
    with files.Lock(store.place.common_state_dir + "/lock", deadline=deadline):
        tip = ask.exact_ref(store.git, ref)
        if tip is None:
            return
        commits = {one.commit for one in holders if one.ref == ref}
        new = _without(store, tip, oid, commits, orphan=orphan, shared=ref == records.SHARED_REF, at=at)
        writer.move(store.git, store.objects, store.place, ref, new, tip)


def _without(store: Store, tip: str, oid: str, commits: set[str], *, orphan: bool, shared: bool, at: int) -> str | None:
    """A notes commit like the tip, without a line. orphan: without its history; shared: what is asked stands in it."""
    finals = {}
    for commit, lines in store.lines_at(tip, commits):
        kept = [line for line in lines if joining.line_id(line, records.parse(line)) != oid]
        finals[commit] = [*kept, _line(store, commit, oid, forget=True, at=at)] if shared else kept
    return writer.build(
        store.git, store.objects, store.place, parent=None if orphan else tip, tree_of=tip, finals=finals,
        author=store.author(), subject="forgotten",
    )  # fmt: skip


class Purged(NamedTuple):
    places: int  # notes of this clone that held it
    remotes: tuple[str, ...]  # that are free of it now
    failed: tuple[tuple[str, str], ...]  # (remote, its reason): it is still there
    trash: int


def purge(store: Store, oid: str, holders: list[Holder], *, deadline: float, remotes_too: bool = True) -> Purged:
    """Takes a line out of all notes, what waits, and the trash, and the history of the notes with it: on each remote
    that has notes, then here. The objects go with git's next gc. What fails or is cut off can be run again."""
    at = int(time.time())  # one record, wherever it is written
    remotes = [place for name in network.remotes(store.git) for place in network.places(store.git, name)]
    purging.note(store, oid, [name for name, _ in remotes])
    mirror.write_forgets(store, joining.merged(mirror.read_forgets(store), {oid: {trust.me(store) or ""}}))
    done: list[str] = []
    failed: list[tuple[str, str]] = []
    for name, url in remotes if remotes_too else ():
        reason, had = _purge_remote(store, name, url, oid, deadline=deadline, at=at)
        if reason is not None:
            failed.append((name, reason))
        elif had:
            done.append(name)
    for ref in REFS:
        if any(one.ref == ref for one in holders) or ref == records.SHARED_REF:
            _take_out(store, ref, oid, holders, deadline=deadline, orphan=True, at=at)
            store.git.run("reflog", "expire", "--expire=all", "--expire-unreachable=all", ref, ok=(0, 1, 255))
    _forget_fetched(store)
    dropped = trash.without(store, lambda entry: _is_line(_raw(entry), oid))
    _without_waiting(store, oid)
    purging.note(store, oid, [name for name, _ in failed] if remotes_too else [])
    for name, url in remotes:
        if name in done:
            with contextlib.suppress(GitmemError):
                network.fetch(network.connected(store.git), name, url)
    writer.tidy(store.git, store.objects, store.place)
    return Purged(len(holders), tuple(done), tuple(failed), dropped)


def _is_line(line: bytes, oid: str) -> bool:
    return joining.line_id(line, records.parse(line)) == oid


def _raw(entry: dict[str, object]) -> bytes:
    return str(entry["line"]).encode("utf-8", "surrogateescape")


def _tracked(store: Store, remote: str) -> list[tuple[str, str]]:
    """(ref of the remote, its tip as fetched last)."""
    whole = ask.exact_ref(store.git, tracking(remote, network.NOTES))
    found = list(mirror.shard_tips(store, remote).items())
    return [(network.NOTES, whole), *found] if whole else found


def _purge_remote(
    store: Store, remote: str, url: str, oid: str, *, deadline: float, at: int
) -> tuple[str | None, bool]:
    """Gives every notes ref of a remote a new root without the line. (the reason when it does not take them, whether
    there were any)."""
    git = network.connected(store.git)
    git.deadline = deadline
    try:
        network.fetch(git, remote, url)
        tracked = _tracked(store, remote)
        updates = []
        for ref, tip in tracked:
            commits = {commit for commit, _ in mirror.grep(store, tip, [f'"id":"{oid}"'])}
            commits |= {commit for commit, lines in _raw_holders(store, tip, oid) for _ in lines}
            new = _without(store, tip, oid, commits, orphan=True, shared=True, at=at)
            if new is not None:
                store.git.run("update-ref", tracking(remote, ref), new)  # kept from gc until it is sent
                updates.append(Update(ref, new, tip))
        outcomes = network.push(git, url, updates) if updates else []
    except GitmemError as error:
        return error.message, False
    return next((one.said for one in outcomes if not one.done), None), bool(tracked)


def _raw_holders(store: Store, tip: str, oid: str) -> Iterator[tuple[str, list[bytes]]]:
    """Notes that hold a line that is no record, by its hash: only where the id is not found otherwise."""
    if any(mirror.grep(store, tip, [f'"id":"{oid}"'])):
        return
    for commit, _, lines in mirror.differing(store, None, tip):
        if any(records.hash_of(line) == oid for line in lines):
            yield commit, lines


def _forget_fetched(store: Store) -> None:
    """Drops all that was ever fetched, of remotes of today and of old: the next sync fetches what is there now."""
    out = store.git.run("for-each-ref", "--format=delete %(refname)", "refs/gitmem/remotes/").out
    store.git.run("update-ref", "--stdin", stdin=out)
    files.remove(store.place.common_state_dir + "/shards.json")


def _without_waiting(store: Store, oid: str) -> None:
    """Takes the line out of what waits to be written."""
    with store.delivery_lock(time.monotonic() + 5):
        for path in (store.pending, store.taken):
            data = files.read(path, max_bytes=64 << 20)
            if data is not None and oid.encode() in data:
                kept = [row for row in data.splitlines() if not _is(row, oid)]
                files.replace(path, b"".join(row + b"\n" for row in kept))


def _is(row: bytes, oid: str) -> bool:
    try:
        line = quickjson.loads(row).get("line", "").encode("utf-8")
    except (ValueError, AttributeError):
        return False
    return _is_line(line, oid)
