"""What one commit changed, as values: the reader of `git diff-tree --raw -p -U0 -z`."""

from __future__ import annotations

import itertools

from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MAX_COUNTED_FILES = 400  # beyond that many paths line counts say nothing and cost most (`numbers.md`, Traps)
# A larger blob is taken for binary. git itself does so only where it has no other reason to read it: one that may have
# been renamed from another is text to it. Whether that was looked at is no property of a file.
LARGE_BYTES = 1 << 20
HUNK_BYTES = 40  # of `@@ -0,0 +1,1200000 @@` and a missing line end, about
MAX_READ_FILES = 100  # of so many, those that a verdict looks at and whose lines a window reads


class Change(NamedTuple):
    """One path that differs. Names are UTF-8, other bytes as surrogate escapes."""

    status: str  # A, M, D, R, T
    path: str
    old_path: str | None  # of a rename
    added: int | None  # lines; None when not counted: binary, over 1 MiB, too many files, partial clone
    removed: int | None
    patch: bytes  # of `diff --git`, -U0; empty when not read
    binary: bool = False


class Commit(NamedTuple):
    oid: str
    parents: tuple[str, ...]
    at: int  # committer time, epoch seconds, UTC
    mail: str  # committer's, only ever to be hashed
    message: str
    changes: tuple[Change, ...]
    counted: bool  # False when lines were not read: too many files, too large, a partial clone


def read_commit(chunk: bytes, parents: tuple[str, ...], *, whole: bool, partial: bool) -> Commit:
    """One commit from what diff-tree printed for it.

    chunk: bytes: oid NUL epoch NUL mail NUL message NUL NUL [newline, raw records -z [NUL, patch]].
    """
    oid, at, mail, message, rest = _fields(chunk)
    raw, _, patch = rest.partition(b"\0\0")
    changes, counted = read_changes(raw, patch, counted=whole and not partial)
    return Commit(oid.decode("ascii"), parents, _seconds(at), text(mail), text(message).strip("\n"), changes, counted)


def _fields(chunk: bytes) -> list[bytes]:
    """oid, time, mail, message, what was changed. Of a message beyond all size, cut within, the rest is empty."""
    *head, rest = [*chunk.split(b"\0", 4), b"", b"", b"", b""][:5]
    return [*head, rest[1:].removeprefix(b"\n")]


def raw_records(chunk: bytes) -> bytes:
    """The raw records of what `read_commit` reads."""
    return _fields(chunk)[-1].partition(b"\0\0")[0]


def read_changes(raw: bytes, patch: bytes, *, counted: bool) -> tuple[tuple[Change, ...], bool]:
    """(changes, whether their lines were read) from the two parts of `diff-tree --raw -p -z`.

    counted: False when the patch is not whole or was not asked for; more than MAX_COUNTED_FILES are never counted.
    """
    metas, paths, olds = _columns(raw)
    statuses = [meta[-4] if meta[-1].isdigit() else meta[-1] for meta in metas]  # a rename is R087
    if not counted or len(paths) > MAX_COUNTED_FILES:
        nothing = itertools.repeat(None)
        rows = zip(
            statuses, paths, olds, nothing, nothing, itertools.repeat(b""), itertools.repeat(False), strict=False
        )
        return tuple(map(Change._make, rows)), False
    pieces = _pieces(patch)
    changes, position = [], 0
    for status, path, old_path in zip(statuses, paths, olds, strict=False):
        taken = 2 if status == "T" else 1  # a change of type is a deletion and a creation
        changes.append(_change(status, path, old_path, pieces[position : position + taken]))
        position += taken
    if position != len(pieces):  # the two parts do not agree: names are certain, lines are not
        counted = False
        changes = [change._replace(added=None, removed=None, patch=b"") for change in changes]
    return tuple(changes), counted


def _seconds(at: bytes) -> int:
    """Epoch seconds; 0 for a date that git itself cannot read."""
    return int(at) if at.removeprefix(b"-").isdigit() else 0


def text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _columns(raw: bytes) -> tuple[list[str], list[str], Iterable[str | None]]:
    """(the words before the path, paths, old paths) of `:mode mode oid oid status NUL path NUL [path NUL]` each."""
    words = text(raw).rstrip("\0").split("\0") if raw else []
    metas = words[0::2]
    # two words each where nothing was renamed (`R087`) and the last one is whole
    if len(words) % 2 == 0 and not any(meta[-1:].isdigit() for meta in metas) and all(" " in m for m in metas[-1:]):
        return metas, words[1::2], itertools.repeat(None)
    rows = list(_rows(iter(words)))
    return [meta for meta, _, _ in rows], [path for _, path, _ in rows], [old for _, _, old in rows]


def _rows(words: Iterator[str]) -> Iterator[tuple[str, str, str | None]]:
    for meta in words:
        known = " " in meta[:-1]
        path = next(words, None)
        new_path = next(words, None) if known and meta[meta.rindex(" ") + 1] in ("R", "C") else ""
        if not known or path is None or new_path is None:
            return  # cut off here: there were more files than are read
        yield meta, new_path or path, path if new_path else None


def changed_blobs(raw: bytes, paths: Collection[str]) -> dict[str, tuple[str, ...]]:
    """path -> the blobs, old and new, of changes that `read_changes` reads from raw records; no submodules."""
    found: dict[str, tuple[str, ...]] = {}
    metas, every, _ = _columns(raw)
    for meta, path in zip(metas, every, strict=True):
        if path in paths:
            old_mode, mode, old, new, _ = meta.removeprefix(":").split(" ")
            sides = ((old_mode, old), (mode, new))
            found[path] = tuple(oid for kind, oid in sides if kind not in ("000000", "160000"))
    return found


def _pieces(patch: bytes) -> list[bytes]:
    return (b"\n" + patch).split(b"\ndiff --git ")[1:]


def _change(status: str, path: str, old_path: str | None, pieces: list[bytes]) -> Change:
    added = removed = 0
    for piece in pieces:
        if b"\nBinary files " in piece and b"\n@@ -" not in piece:
            return Change(status, path, old_path, None, None, b"", binary=True)
        # -U0: after the header every line begins with +, -, \ or @@; the header has one +++ and one ---
        header = 1 if b"\n@@ -" in piece else 0
        added += piece.count(b"\n+") - header
        removed += piece.count(b"\n-") - header
        if status in "AD" and len(piece) - piece.find(b"\n@@ -") - added - removed > LARGE_BYTES + HUNK_BYTES:
            return Change(status, path, old_path, None, None, b"", binary=True)
    if not pieces:
        return Change._make((status, path, old_path, None, None, b"", False))
    return Change(status, path, old_path, added, removed, b"\n".join(pieces))
