"""Commits with what they changed, from `git diff-tree`: the hook and the backfill read the same bytes."""

from __future__ import annotations

from gitmem.changes import MAX_COUNTED_FILES, Commit, raw_records, read_commit
from gitmem.errors import GitError
from gitmem.git import differ as d
from gitmem.git.ask import empty_tree
from gitmem.git.difference import read_sparing
from gitmem.git.run import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitmem.git.differ import Differ
    from gitmem.git.run import Process

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
            for commit in _stream(differ, asked, partial=partial):
                given += 1
                yield commit
            return
        except GitError:
            # one blob that is missing or damaged ends the whole process: compare that commit by names alone
            if partial or given == len(asked):
                raise
        yield from _stream(differ, asked[given : given + 1], partial=True)
        asked = asked[given + 1 :]


def _read_one(differ: Differ, oid: str, parents: tuple[str, ...]) -> Commit:
    """The same through the processes that stay, without the lines of a large blob when there is one."""
    try:
        found = differ.commit(oid, parents[0] if parents else None)
        if d.is_enough(found):
            return read_commit(found.data, parents, whole=found.whole, partial=False)
    except GitError:
        pass  # a blob is large or missing
    return _read_cut(differ, oid, parents)


def _read_cut(differ: Differ, oid: str, parents: tuple[str, ...]) -> Commit:
    """A commit that does not come whole: all names, and the lines of what is not large."""
    parent = parents[0] if parents else None
    try:
        found = differ.names.commit(oid, parent)
        named = read_commit(found.data, parents, whole=False, partial=False)
        if len(named.changes) > MAX_COUNTED_FILES:
            return named
        read = read_sparing(differ, parent or empty_tree(oid), oid, named.changes, raw_records(found.data))
        return named._replace(changes=read.changes, counted=not read.truncated)
    except GitError:
        return next(_stream(differ, [(oid, parents)], partial=True))


def _stream(differ: Differ, asked: list[Wanted], *, partial: bool) -> Iterator[Commit]:
    token = d.token()
    style = ("--no-renames",) if partial else d.FULL
    form = "--format=" + decode(token) + d.FIELDS
    process = differ.git.open(*d.PINNED, *d.MANY, *style, form, env=d.MALLOC | d.NO_INDEX)
    if len(asked) > 1:
        process.widen()
    process.feed(b"".join(encode(" ".join((oid, *parents[:1]))) + b"\n" for oid, parents in asked), last=True)
    try:
        rest = iter(asked)
        for chunk, whole in _split(process, token):
            oid, parents = next(rest)
            if partial and not whole:
                chunk = _every_name(differ, oid, parents)
            if partial or d.is_enough(d.Answer(chunk, whole)):
                commit = read_commit(chunk, parents, whole=whole, partial=partial)
            else:
                commit = _read_cut(differ, oid, parents)
            if commit.oid != oid:
                raise GitError(f"git diff-tree: answered for '{commit.oid}' where '{oid}' was asked")
            yield commit
        if next(rest, None) is not None:
            raise process.failure()
    finally:
        process.kill()


def _every_name(differ: Differ, oid: str, parents: tuple[str, ...]) -> bytes:
    plain = d.Differ(differ.git, style=("--no-renames",), most=d.MAX_NAMES_BYTES, sparing=False)
    return plain.commit(oid, parents[0] if parents else None).data


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
