"""Commits with what they changed, from one `git diff-tree --stdin`: the hook and the backfill read the same bytes."""

from __future__ import annotations

import os

from gitmem.changes import MAX_COUNTED_FILES, Change, Commit, read_changes, read_commit
from gitmem.errors import GitError
from gitmem.git.run import encode
from gitmem.values import NamedTuple
from gitmem.verdict.roles import role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitmem.git.run import Git, Process

MAX_COMMIT_BYTES = 8 << 20  # raw records and patch of one commit that are read; more is known to be large without
# diff-tree is plumbing: of the user's settings only attributes and these reach it.
PINNED = ("-c", "core.bigFileThreshold=1m", "-c", "diff.orderFile=" + os.devnull, "-c", "diff.algorithm=myers",
          "-c", "i18n.logOutputEncoding=UTF-8", "-c", "diff.suppressBlankEmpty=false",
          "-c", "core.deltaBaseCacheLimit=32m")  # fmt: skip
# Blobs come and go by the thousand: without this glibc gives their memory back to the system and asks for it again
# (91,000 page faults instead of 13,000 on koel, a tenth of git's time). Of git's 96 MiB for deltas 32 do as well.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "67108864", "MALLOC_TOP_PAD_": "1048576"}
# -l: beyond 200 times 200 candidates only exact renames are sought (10,000 moved and edited files: 1,150 ms).
PLAIN = ("-r", "-z", "--no-abbrev", "--raw", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short",
         "--ignore-submodules=none")  # fmt: skip
DIFF = ("diff-tree", "--stdin", "--root", "--always", *PLAIN)
DIFF_TREES = ("diff-tree", *PLAIN)
FULL = ("-M", "-l200", "-p", "-U0", "--inter-hunk-context=0", "--indent-heuristic")
# With an index at hand git compares the work tree's copy instead of a blob, and where the entry is racily clean (a
# large file added in the same second) hashes and deflates it first: 3,600 ms for 50 MB that are not even shown.
NO_INDEX = {"GIT_INDEX_FILE": "/nonexistent/index-of-gitmem"}
FIELDS = "%H%x00%ct%x00%ce%x00%B%x00"


def read_commits(git: Git, wanted: Iterable[tuple[str, tuple[str, ...]]], *, partial: bool = False) -> Iterator[Commit]:
    """What each commit did against its first parent, in the order given.

    wanted: (oid, parents). partial: blobs may be missing and must not be fetched, so only names are compared.
    A commit with a missing blob comes uncounted. Raises GitError when even the names cannot be had; what came
    before has been given.
    """
    asked = list(wanted)
    while asked:
        given = 0
        try:
            for commit in _read(git, asked, partial=partial):
                given += 1
                yield commit
            return
        except GitError:
            # one blob that is missing or damaged ends the whole process: compare that commit by names alone
            if partial or given == len(asked):
                raise
        yield from _read(git, asked[given : given + 1], partial=True)
        asked = asked[given + 1 :]


def _read(git: Git, asked: list[tuple[str, tuple[str, ...]]], *, partial: bool) -> Iterator[Commit]:
    token = os.urandom(16).hex().encode()  # cannot stand in any content, so nothing can pretend to be a commit
    style = ("--no-renames",) if partial else FULL
    process = git.open(*PINNED, *DIFF, *style, "--format=" + token.decode() + FIELDS, env=MALLOC | NO_INDEX)
    if len(asked) > 1:
        process.widen()
    process.feed(b"".join(encode(" ".join((oid, *parents[:1]))) + b"\n" for oid, parents in asked), last=True)
    try:
        rest = iter(asked)
        for chunk, whole in _split(process, token, alone=len(asked) == 1):
            oid, parents = next(rest)
            commit = read_commit(chunk, parents, whole=whole, partial=partial)
            if commit.oid != oid:
                raise GitError(f"git diff-tree: answered for '{commit.oid}' where '{oid}' was asked")
            yield commit
        if next(rest, None) is not None:
            raise process.failure()
    finally:
        process.kill()


class Difference(NamedTuple):
    """What differs between two trees. truncated: what was not read, empty when all was."""

    changes: tuple[Change, ...]
    truncated: tuple[str, ...]  # files, partial, missing


def read_difference(git: Git, base: str, head: str, *, partial: bool = False) -> Difference:
    """The net difference of two commits or trees.

    Beyond MAX_COUNTED_FILES paths, or MAX_COMMIT_BYTES, only files that may weigh in a verdict are read. A missing
    blob leaves every line unread. Raises GitError when not even the names can be had.
    """
    try:
        found = _read_whole(git, base, head, partial)
    except GitError:
        if partial:
            raise
        return read_difference(git, base, head, partial=True)._replace(truncated=("missing",))
    return found or _read_candidates(git, base, head)


def _read_whole(git: Git, base: str, head: str, partial: bool) -> Difference | None:
    """All of it from one process, stopped as soon as it proves to be too much (None)."""
    process = git.open(*PINNED, *DIFF_TREES, *(("--no-renames",) if partial else FULL), base, head, env=NO_INDEX)
    held = bytearray()
    try:
        for chunk in process.chunks():
            held += chunk
            many = not partial and b"\0\0" not in held and held.count(b"\0:") > MAX_COUNTED_FILES
            if many or (len(held) > MAX_COMMIT_BYTES and not partial):
                return None
        process.finish()
    finally:
        process.kill()
    raw, _, patch = bytes(held).partition(b"\0\0")
    changes, counted = read_changes(raw, patch, counted=not partial)
    if partial:
        return Difference(changes, ("partial",))
    return Difference(changes, ()) if counted else None


def _read_candidates(git: Git, base: str, head: str) -> Difference:
    """The names of all, and the lines of those that may weigh, MAX_COUNTED_FILES of them at most."""
    raw = git.run(*PINNED, *DIFF_TREES, "-M", "-l200", base, head, env=NO_INDEX).out
    every, _ = read_changes(raw, b"", counted=False)
    weighing = [change for change in every if role(change.path) in (None, "docs", "changelog")]
    chosen = weighing[: MAX_COUNTED_FILES // 2]  # a rename names two paths
    names = [encode(name) for change in chosen for name in (change.old_path, change.path) if name]
    read: dict[str, Change] = {}
    if names:
        process = git.open(*PINNED, *DIFF_TREES, *FULL, base, head, "--", *names, env=NO_INDEX)
        out = b"".join(_bounded(process))
        part, _, patch = out.partition(b"\0\0")
        found, counted = read_changes(part, patch, counted=len(out) < MAX_COMMIT_BYTES)
        read = {change.path: change for change in found if counted}
    truncated = ("files",) if len(read) < len(weighing) else ()
    return Difference(tuple(read.get(change.path, change) for change in every), truncated)


def _bounded(process: Process) -> Iterator[bytes]:
    size = 0
    try:
        for chunk in process.chunks():
            yield chunk
            size += len(chunk)
            if size >= MAX_COMMIT_BYTES:
                return
        process.finish()
    finally:
        process.kill()


def _split(process: Process, token: bytes, *, alone: bool) -> Iterator[tuple[bytes, bool]]:
    """What stands between tokens, cut at MAX_COMMIT_BYTES (then not whole).

    alone: nothing comes after, so git is stopped behind its names when they are too many to count.
    """
    held, whole, begun = bytearray(), True, False
    for chunk in process.chunks():
        searched = max(0, len(held) - len(token))  # a token may be cut in two by the pipe
        held += chunk
        while (end := held.find(token, searched)) >= 0:
            if begun:
                with memoryview(held) as view:
                    found = bytes(view[: min(end, MAX_COMMIT_BYTES)])
                yield found, whole and end <= MAX_COMMIT_BYTES
            del held[: end + len(token)]
            begun, whole, searched = True, True, 0
        if alone and begun and b"\0\0diff --git " in held and held.count(b"\0:") > MAX_COUNTED_FILES:
            process.kill()  # all names are there, and too many: the patch is not wanted
            yield bytes(held), False
            return
        if len(held) > MAX_COMMIT_BYTES + len(token):
            whole = False
            del held[MAX_COMMIT_BYTES : -len(token)]
    if begun and not process.ended_with():
        yield bytes(held[:MAX_COMMIT_BYTES]), whole and len(held) <= MAX_COMMIT_BYTES
