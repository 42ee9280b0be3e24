"""What differs between two trees, with the lines of what is not large: windows, and commits that do not come whole."""

from __future__ import annotations

import itertools

from gitmem.changes import MAX_COUNTED_FILES, MAX_READ_FILES, Change, changed_blobs, read_changes
from gitmem.errors import GitError
from gitmem.git import differ as d
from gitmem.git.ask import attributes
from gitmem.git.run import encode
from gitmem.values import NamedTuple
from gitmem.verdict.roles import weighs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gitmem.git.differ import Differ
    from gitmem.git.run import Git, Process

MAX_ARGUMENT_BYTES = 64 << 10  # of names in one command


class Difference(NamedTuple):
    """What differs between two trees. truncated: what was not read, empty when all was."""

    changes: tuple[Change, ...]
    truncated: tuple[str, ...]  # files, partial, missing


class Known(NamedTuple):
    """What the newest commit of a window changed, more than MAX_COUNTED_FILES paths. before: the tree of its parent."""

    before: str
    changes: tuple[Change, ...]


def read_difference(
    differ: Differ, base: str, head: str, *, partial: bool = False, known: Known | None = None
) -> Difference:
    """The net difference of two trees.

    known: ends at `head`; its names are not asked for again where that gives the same.
    Beyond MAX_COUNTED_FILES paths, or MAX_COMMIT_BYTES, only files that may weigh in a verdict are read. A missing
    blob leaves every line unread. Raises GitError when not even the names can be had.
    """
    try:
        if partial:
            return _read_names(differ.git, base, head, "partial")
        every = _joined(differ, base, known) if known else None
        return read_sparing(differ, base, head, every) if every else _read_lines(differ, base, head)
    except GitError:
        if partial:
            raise
        return _read_names(differ.git, base, head, "missing")


def _read_lines(differ: Differ, base: str, head: str) -> Difference:
    try:
        found = differ.trees(base, head)
    except GitError:
        raw = differ.names.trees(base, head).data
        return read_sparing(differ, base, head, read_changes(raw, b"", counted=False)[0], raw)
    raw, end, patch = found.data.partition(b"\0\0")
    if not found.whole:
        raw = raw if end else differ.names.trees(base, head).data
        return read_sparing(differ, base, head, read_changes(raw, b"", counted=False)[0])
    changes, counted = read_changes(raw, patch, counted=True)
    return Difference(changes, ()) if counted else read_sparing(differ, base, head, changes)


def _read_names(git: Git, base: str, head: str, why: str) -> Difference:
    raw = git.run(*d.PINNED, *d.ONE, "--no-renames", base, head, env=d.NO_INDEX).out
    return Difference(read_changes(raw, b"", counted=False)[0], (why,))


def _joined(differ: Differ, base: str, known: Known) -> tuple[Change, ...] | None:
    """All names, in git's order, from those before the newest commit and its own. None where the two meet: in a path,
    or when files come or go in both, of which git may make renames."""
    if base == known.before:
        return known.changes
    before, _ = read_changes(differ.names.trees(base, known.before).data, b"", counted=False)
    come_and_go = [any(change.status in "ADR" for change in changes) for changes in (before, known.changes)]
    paths = {change.path for change in before}
    every = list(known.changes)
    if all(come_and_go) or not paths.isdisjoint([name for change in every for name in change[1:3]]):
        return None
    for change in before:
        _put_in(every, change)
    return tuple(every)


def _put_in(ordered: list[Change], change: Change) -> None:
    """Where git has it: by the bytes of the path. To sort ten thousand anew takes longer than all else here."""
    low, high, key = 0, len(ordered), encode(change.path)
    while low < high:
        middle = (low + high) // 2
        if encode(ordered[middle].path) < key:
            low = middle + 1
        else:
            high = middle
    ordered.insert(low, change)


def read_sparing(
    differ: Differ, base: str, head: str, every: tuple[Change, ...], large: bytes | None = None
) -> Difference:
    """The names of all, and the lines of those that may weigh: of no large blob, and of MAX_READ_FILES at most.

    every: without their lines. large: the raw records, where a large blob is known to be among them.
    """
    chosen, rest = every, False
    if len(every) > MAX_COUNTED_FILES:
        chosen = tuple(itertools.islice((change for change in every if weighs(change.path)), MAX_READ_FILES + 1))
        chosen, rest = chosen[:MAX_READ_FILES], len(chosen) > MAX_READ_FILES
    try:
        read = _read_paths(differ.git, base, head, chosen, limit=d.SPARING) if large is None else {}
    except GitError:
        read = {}
    if large is None and not read and chosen:  # git gave up, or there was too much of it
        large = differ.names.trees(base, head).data
    if large is not None:
        read = _read_small(differ, base, head, chosen, large)
    rest = rest or any(change.path not in read for change in chosen)
    return Difference(tuple(read.get(change.path, change) for change in every), ("files",) if rest else ())


def _read_small(differ: Differ, base: str, head: str, changes: Sequence[Change], raw: bytes) -> dict[str, Change]:
    """path -> the change with its lines; binary where a side of it is large."""
    blobs = changed_blobs(raw, {change.path for change in changes})
    oids = {oid for sides in blobs.values() for oid in sides}
    moved = {change.path for change in changes if change.old_path}  # git had to read them to know that

    def without(large: set[str]) -> dict[str, Change]:
        binary = {path for path, sides in blobs.items() if not large.isdisjoint(sides)}
        binary -= moved | _meant_as_text(differ.git, binary - moved)
        read = _read_paths(differ.git, base, head, [change for change in changes if change.path not in binary])
        return read | {change.path: change._replace(binary=True) for change in changes if change.path in binary}

    if known := differ.known_large(oids):  # a window after its newest commit: mostly the only one
        try:
            return without(known)
        except GitError:
            pass
    return without(differ.large(oids))


def _read_paths(
    git: Git, base: str, head: str, changes: Sequence[Change], *, limit: Mapping[str, str] = {}
) -> dict[str, Change]:
    """path -> the change with its lines; nothing where they are more than MAX_COMMIT_BYTES. Raises GitError when a
    blob is missing or damaged, or git meets the limit."""
    read: dict[str, Change] = {}
    for names in _arguments(changes):
        options: tuple[str | bytes, ...] = (*d.PINNED, *d.ONE, *d.FULL, base, head, "--", *names)
        out = b"".join(_bounded(git.open(*options, env=d.NO_INDEX | dict(limit))))
        raw, _, patch = out.partition(b"\0\0")
        found, counted = read_changes(raw, patch, counted=len(out) < d.MAX_COMMIT_BYTES)
        if not counted:
            return {}
        read.update((change.path, change) for change in found)
    return read


def _arguments(changes: Sequence[Change]) -> Iterator[list[bytes]]:
    """The names of the changes, both of a rename together, in as few commands as any system takes."""
    names: list[bytes] = []
    size = 0
    for change in changes:
        if size > MAX_ARGUMENT_BYTES:
            yield names
            names, size = [], 0
        own = [encode(name) for name in (change.old_path, change.path) if name]
        names += own
        size += sum(map(len, own))
    if names:
        yield names


def _meant_as_text(git: Git, paths: set[str]) -> set[str]:
    """Those of the paths that attributes call text (`diff`), which git then compares by lines whatever their size."""
    if not paths:
        return set()
    return {path for path, _, value in attributes(git, sorted(paths), "diff", env=d.NO_INDEX) if value == "set"}


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
