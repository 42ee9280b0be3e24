"""Commits and windows with what they changed, from `git diff-tree`: the hook and the backfill read the same bytes."""

from __future__ import annotations

import itertools

from gitmem.changes import (
    MAX_COUNTED_FILES,
    MAX_READ_FILES,
    Change,
    Commit,
    changed_blobs,
    raw_records,
    read_changes,
    read_commit,
)
from gitmem.errors import GitError
from gitmem.git import differ as d
from gitmem.git.ask import empty_tree
from gitmem.git.run import decode, encode
from gitmem.values import NamedTuple
from gitmem.verdict.roles import weighs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitmem.git.differ import Differ
    from gitmem.git.run import Git, Process

    Wanted = tuple[str, tuple[str, ...]]  # oid, parents


def read_commits(differ: Differ, wanted: Iterable[Wanted], *, partial: bool = False) -> Iterator[Commit]:
    """What each commit did against its first parent, in the order given.

    partial: blobs may be missing and must not be fetched, so only names are compared.
    A commit with a missing blob comes uncounted. Raises GitError when even the names cannot be had; what came
    before has been given.
    """
    asked = list(wanted)
    if len(asked) == 1 and not partial:
        yield _read_one(differ, *asked[0])
        return
    while asked:
        given = 0
        try:
            for commit in _stream(differ.git, asked, partial=partial):
                given += 1
                yield commit
            return
        except GitError:
            # one blob that is missing or damaged ends the whole process: compare that commit by names alone
            if partial or given == len(asked):
                raise
        yield from _stream(differ.git, asked[given : given + 1], partial=True)
        asked = asked[given + 1 :]


def _read_one(differ: Differ, oid: str, parents: tuple[str, ...]) -> Commit:
    """The same through the processes that stay, without the lines of a large blob when there is one."""
    parent = parents[0] if parents else None
    try:
        found = differ.commit(oid, parent)
        return read_commit(found.data, parents, whole=found.whole, partial=False)
    except GitError:
        pass  # too large, or a blob is missing
    try:
        found = differ.names.commit(oid, parent)
        named = read_commit(found.data, parents, whole=False, partial=False)
        if len(named.changes) > MAX_COUNTED_FILES:
            return named
        read = _read_sparing(differ, parent or empty_tree(oid), oid, raw_records(found.data))
        return named._replace(changes=read.changes, counted=not read.truncated)
    except GitError:
        return next(_stream(differ.git, [(oid, parents)], partial=True))


def _stream(git: Git, asked: list[Wanted], *, partial: bool) -> Iterator[Commit]:
    token = d.token()
    style = ("--no-renames",) if partial else d.FULL
    process = git.open(*d.PINNED, *d.MANY, *style, "--format=" + decode(token) + d.FIELDS, env=d.MALLOC | d.NO_INDEX)
    if len(asked) > 1:
        process.widen()
    process.feed(b"".join(encode(" ".join((oid, *parents[:1]))) + b"\n" for oid, parents in asked), last=True)
    try:
        rest = iter(asked)
        for chunk, whole in _split(process, token):
            oid, parents = next(rest)
            commit = read_commit(chunk, parents, whole=whole, partial=partial)
            if commit.oid != oid:
                raise GitError(f"git diff-tree: answered for '{commit.oid}' where '{oid}' was asked")
            yield commit
        if next(rest, None) is not None:
            raise process.failure()
    finally:
        process.kill()


def _split(process: Process, token: bytes) -> Iterator[tuple[bytes, bool]]:
    """What stands between tokens, cut at MAX_COMMIT_BYTES (then not whole)."""
    held, whole, begun = bytearray(), True, False
    for chunk in process.chunks():
        searched = max(0, len(held) - len(token))  # a token may be cut in two by the pipe
        held += chunk
        while (end := held.find(token, searched)) >= 0:
            if begun:
                with memoryview(held) as view:
                    found = bytes(view[: min(end, d.MAX_COMMIT_BYTES)])
                yield found, whole and end <= d.MAX_COMMIT_BYTES
            del held[: end + len(token)]
            begun, whole, searched = True, True, 0
        if len(held) > d.MAX_COMMIT_BYTES + len(token):
            whole = False
            del held[d.MAX_COMMIT_BYTES : -len(token)]
    if begun and not process.ended_with():
        yield bytes(held[: d.MAX_COMMIT_BYTES]), whole and len(held) <= d.MAX_COMMIT_BYTES


class Difference(NamedTuple):
    """What differs between two trees. truncated: what was not read, empty when all was."""

    changes: tuple[Change, ...]
    truncated: tuple[str, ...]  # files, partial, missing


def read_difference(differ: Differ, base: str, head: str, *, partial: bool = False) -> Difference:
    """The net difference of two trees.

    Beyond MAX_COUNTED_FILES paths, or MAX_COMMIT_BYTES, only files that may weigh in a verdict are read. A missing
    blob leaves every line unread. Raises GitError when not even the names can be had.
    """
    try:
        return _read_names(differ.git, base, head, "partial") if partial else _read_lines(differ, base, head)
    except GitError:
        if partial:
            raise
        return _read_names(differ.git, base, head, "missing")


def _read_lines(differ: Differ, base: str, head: str) -> Difference:
    try:
        found = differ.trees(base, head)
    except GitError:
        return _read_sparing(differ, base, head, differ.names.trees(base, head).data)
    raw, end, patch = found.data.partition(b"\0\0")
    if not found.whole:
        return _read_sparing(differ, base, head, raw if end else differ.names.trees(base, head).data)
    changes, counted = read_changes(raw, patch, counted=True)
    return Difference(changes, ()) if counted else _read_sparing(differ, base, head, raw)


def _read_names(git: Git, base: str, head: str, why: str) -> Difference:
    raw = git.run(*d.PINNED, *d.ONE, "--no-renames", base, head, env=d.NO_INDEX).out
    return Difference(read_changes(raw, b"", counted=False)[0], (why,))


def _read_sparing(differ: Differ, base: str, head: str, raw: bytes) -> Difference:
    """The names of all, by their raw records, and the lines of those that may weigh, of no large blob and of
    MAX_COUNTED_FILES at most."""
    every, _ = read_changes(raw, b"", counted=False)
    chosen, rest = every, False
    if len(every) > MAX_COUNTED_FILES:
        chosen = tuple(itertools.islice((change for change in every if weighs(change.path)), MAX_READ_FILES + 1))
        chosen, rest = chosen[:MAX_READ_FILES], len(chosen) > MAX_READ_FILES
    read = _read_small(differ, base, head, chosen, raw)
    rest = rest or any(change.path not in read for change in chosen)
    return Difference(tuple(read.get(change.path, change) for change in every), ("files",) if rest else ())


def _read_small(differ: Differ, base: str, head: str, changes: Sequence[Change], raw: bytes) -> dict[str, Change]:
    """path -> the change with its lines; binary where a side of it is large."""
    blobs = changed_blobs(raw, {change.path for change in changes})
    large = differ.large({oid for sides in blobs.values() for oid in sides})
    binary = {path for path, sides in blobs.items() if not large.isdisjoint(sides)}
    read = _read_paths(differ.git, base, head, [change for change in changes if change.path not in binary])
    return read | {change.path: change._replace(binary=True) for change in changes if change.path in binary}


def _read_paths(git: Git, base: str, head: str, changes: Sequence[Change]) -> dict[str, Change]:
    """path -> the change with its lines; nothing where they are more than MAX_COMMIT_BYTES."""
    names = [encode(name) for change in changes for name in (change.old_path, change.path) if name]
    if not names:
        return {}
    out = b"".join(_bounded(git.open(*d.PINNED, *d.ONE, *d.FULL, base, head, "--", *names, env=d.NO_INDEX)))
    raw, _, patch = out.partition(b"\0\0")
    found, counted = read_changes(raw, patch, counted=len(out) < d.MAX_COMMIT_BYTES)
    return {change.path: change for change in found} if counted else {}


def _bounded(process: Process) -> Iterator[bytes]:
    size = 0
    try:
        for chunk in process.chunks():
            yield chunk
            size += len(chunk)
            if size >= d.MAX_COMMIT_BYTES:
                return
        process.finish()
    finally:
        process.kill()
