"""The one function that writes notes.

`git notes add`, libgit2 and `notes.rewriteRef` lose notes when two writers meet, all with exit status 0. Here: a lock
among ourselves, one `git fast-import` that moves the ref only from the tip that was read (compare-and-swap against
everybody else), again from the start when somebody was faster.
"""

from __future__ import annotations

import contextlib
import os
import time

from gitmem import files, notes, records, rejoin
from gitmem.errors import GitError, Locked, TooLarge
from gitmem.git import ask
from gitmem.git.objects import Object, Objects
from gitmem.git.run import decode, encode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gitmem.git.ask import Place
    from gitmem.git.run import Git

NOWHERE = ""  # in the place of a tip: the ref does not exist yet
STALE_LOCK_SECONDS = 60  # git holds the lock of a ref for milliseconds; one this old was left by a kill
MAX_NOTE_BYTES = 64 << 10


class Written(NamedTuple):
    added: int  # lines that were not there before
    left_out: int  # lines that did not fit into a full note


class Edit(NamedTuple):
    """What one fast-import does to the tree."""

    deleted: list[str]
    moved: list[tuple[str, str]]  # (blob, path)
    written: list[tuple[str, bytes]]  # (path, note)
    result: Written


def write(
    git: Git, objects: Objects, place: Place, ref: str, additions: Mapping[str, Sequence[bytes]], *, author: str,
    subject: str, deadline: float,
) -> Written:  # fmt: skip
    """Adds lines to the notes of commits. Nothing new makes no commit.

    additions: commit oid -> lines; author: `Name <mail>`; deadline: monotonic seconds.
    Raises Locked when the ref cannot be had by then, GitError with git's reason for anything else.
    """
    with files.lock(place.common_state_dir + "/lock", deadline=deadline):
        pause, start = 0.002, ref
        if objects.get(ref) is None and ask.exact_ref(git, ref) is not None:
            raise GitError(
                f"'{ref}' points to an object that is missing", "run 'git fsck'; its reflog may know a good tip"
            )
        while True:
            lost = rejoin.lost(git, objects, place, ref, _tip(objects, ref))
            tip, edit = plan(objects, place.hex_digits, start, _with(additions, lost))
            if not (edit.written or edit.moved):
                rejoin.remember(place, ref, tip)
                return edit.result
            reason = _commit(git, place, ref, tip, edit, author=author, subject=subject)
            if reason is None:
                rejoin.remember(place, ref, _tip(objects, ref))
                return edit.result
            start = ask.exact_ref(git, ref) or NOWHERE  # not a tag that only bears its name
            if time.monotonic() + pause >= deadline:
                raise Locked(f"cannot move '{ref}': {reason}", "the records wait and go with the next run")
            time.sleep(pause * (0.5 + os.urandom(1)[0] / 255))
            pause = min(pause * 2, 0.1)


def _with(
    additions: Mapping[str, Sequence[bytes]], lost: Mapping[str, Sequence[bytes]]
) -> Mapping[str, Sequence[bytes]]:
    if not lost:
        return additions
    return {commit: [*lost.get(commit, ()), *additions.get(commit, ())] for commit in {**lost, **additions}}


def plan(
    objects: Objects, hex_digits: int, start: str, additions: Mapping[str, Sequence[bytes]]
) -> tuple[str | None, Edit]:
    """The tip that was read, and what has to change below it. start: a ref or the oid of a notes commit."""
    tip = objects.get(start) if start != NOWHERE else None
    root: list[notes.Entry] = []
    if tip is not None:
        if tip.kind != "commit":
            raise GitError(f"'{start}' is a {tip.kind}, not a commit", "move it away: gitmem did not write it")
        root = _tree(objects, decode(tip.data[5 : 5 + hex_digits]), hex_digits)
    edit = Edit([], [], [], Written(0, 0))
    stray = notes.root_notes(root, hex_digits)
    folders = {entry.name: entry.oid for entry in root if entry.mode == notes.TREE and notes.is_hex(entry.name, 2)}
    by_prefix: dict[str, dict[str, Sequence[bytes]]] = {found.commit[:2]: {} for found in stray}
    for commit, lines in additions.items():
        by_prefix.setdefault(commit[:2], {})[commit] = lines
    for prefix, mine in sorted(by_prefix.items()):
        outside = [found for found in stray if found.commit[:2] == prefix]
        folder = _folder(objects, prefix, folders.get(prefix), hex_digits, list(mine))
        edit = _plan_folder(objects, edit, folder, outside, mine)
    return (tip.oid if tip else None), edit


def _tree(objects: Objects, oid: str, hex_digits: int) -> list[notes.Entry]:
    tree = objects.get(oid)
    if tree is None or tree.kind != "tree":
        raise GitError(f"the notes tree '{oid}' cannot be read", "run 'git fsck'")
    return notes.parse_tree(tree.data, hex_digits)


def _folder(objects: Objects, prefix: str, oid: str | None, hex_digits: int, wanted: list[str]) -> notes.Folder:
    """What lies below one first-level folder: all of it, or the parts of interest when it is split beyond doubt."""
    if oid is None:
        return notes.Folder((), False)
    entries = _tree(objects, oid, hex_digits)
    subfolders = [e for e in entries if e.mode == notes.TREE and notes.is_hex(e.name, 2)]
    surely = len(subfolders) >= notes.SURELY_SPLIT
    if surely:
        needed = {commit[2:4] for commit in wanted}
        entries = [e for e in entries if e.mode != notes.TREE or e.name in needed]

    def read_trees(oids: list[str]) -> Iterator[list[notes.Entry]]:
        return (notes.parse_tree(found.data, hex_digits) for found in _all(objects, oids))

    return notes.Folder(tuple(notes.walk(prefix, prefix, entries, read_trees, left=hex_digits - 2)), surely)


def _all(objects: Objects, oids: list[str]) -> Iterator[Object]:
    for oid, found in zip(oids, objects.get_all(oids), strict=True):
        if found is None:
            raise GitError(f"object '{oid}' of the notes cannot be read", "run 'git fsck'")
        yield found


def _plan_folder(
    objects: Objects, edit: Edit, folder: notes.Folder, outside: list[notes.Found],
    additions: Mapping[str, Sequence[bytes]],
) -> Edit:  # fmt: skip
    places: dict[str, list[notes.Found]] = {}
    for found in (*folder.notes, *outside):
        places.setdefault(found.commit, []).append(found)
    split = folder.split or len(places.keys() | additions.keys()) > notes.MAX_FOLDER
    result = edit.result
    for commit in sorted(places.keys() | additions.keys()):
        at, target = places.get(commit, []), notes.home(commit, split=split)
        if commit not in additions and (len(at) == 1 or _oversized(objects, at)):
            if len(at) > 1:
                continue  # two places, one of them beyond reading: they stay as they are
            if at[0].path != target:
                edit.deleted.append(at[0].path)
                edit.moved.append((at[0].blob, target))
            continue
        old = notes.join(*(notes.lines(found.data) for found in _all(objects, [f.blob for f in at]))) if at else []
        new, written = _grow(commit, old, additions.get(commit, ()))
        result = Written(result.added + written.added, result.left_out + written.left_out)
        if new != old or len(at) != 1 or at[0].path != target:
            edit.deleted.extend(found.path for found in at if found.path != target)
            edit.written.append((target, notes.render(new)))
    return edit._replace(result=result)


def _oversized(objects: Objects, at: Sequence[notes.Found]) -> bool:
    try:
        for found in at:
            objects.get(found.blob)
    except TooLarge:
        return True
    return False


def _grow(commit: str, old: list[bytes], additions: Sequence[bytes]) -> tuple[list[bytes], Written]:
    """The note with what fits of the new lines. A capsule always fits, and there is one for each commit."""
    if not old and len(additions) == 1 and len(additions[0]) <= MAX_NOTE_BYTES:
        return list(additions), Written(1, 0)  # most notes of a backfill: nothing to read, nothing to compare with
    kept, size, left_out = set(old), sum(map(len, old)), 0
    has_capsule = records.capsule_of(commit, records.read(old).records) is not None
    for line in additions:
        if line in kept:
            continue
        record = records.parse(line)
        is_capsule = record is not None and record.kind == "capsule" and record.commit == commit
        if is_capsule and has_capsule:
            continue
        is_link = record is not None and record.kind == "link"  # what leads to everything that does not fit
        if not (is_capsule or is_link) and (len(kept) >= records.MAX_RECORDS or size + len(line) > MAX_NOTE_BYTES):
            left_out += 1
            continue
        kept.add(line)
        size += len(line)
        has_capsule = has_capsule or is_capsule
    added = len(kept) - len(old)
    if left_out:
        kept.add(full_marker(commit))
    return sorted(kept), Written(added, left_out)


def full_marker(commit: str) -> bytes:
    """The record that says that a note is full and something was left out."""
    return records.line_of("event", commit, 0, cut=["records"], text="this note is full: later records were left out")


def _commit(git: Git, place: Place, ref: str, tip: str | None, edit: Edit, *, author: str, subject: str) -> str | None:
    """One commit on top of `tip`; the reason when somebody else has moved the ref, or holds its lock.

    Without --force fast-import moves a ref only if the new commit contains what the ref holds at that moment, and
    compares and swaps against it (`update_branch` in fast-import.c): with `tip` as the only parent that is exactly
    "only from the tip that was read". No second process, no ref left over by a kill.
    """
    text = encode(subject + "\n")
    head = f"feature done\ncommit {ref}\ncommitter {author} {int(time.time())} +0000\ndata {len(text)}\n"
    stream = [encode(head), text, encode(f"from {tip}\n") if tip else b""]
    stream += [encode(f"D {path}\n") for path in edit.deleted]
    stream += [encode(f"M 100644 {blob} {path}\n") for blob, path in edit.moved]
    for path, note in edit.written:
        stream += [encode(f"M 100644 inline {path}\ndata {len(note)}\n"), note, b"\n"]
    process = git.open("fast-import", "--quiet", "--done", "--date-format=raw")
    process.feed(b"".join((*stream, b"done\n")), last=True)
    try:
        process.finish()
    except GitError as error:
        for folder in {place.git_dir, place.common_dir}:
            files.remove(f"{folder}/fast_import_crash_{process.pid}")
        if _remove_stale_lock(f"{place.common_dir}/{ref}.lock") or _held(place, ref) or ask.exact_ref(git, ref) != tip:
            return error.message
        raise
    return None


def _tip(objects: Objects, ref: str) -> str | None:
    found = objects.get(ref)
    return found.oid if found else None


def _held(place: Place, ref: str) -> bool:
    """Whether somebody holds the lock of the ref, or of all refs in a reftable."""
    return any(os.path.exists(f"{place.common_dir}/{name}.lock") for name in (ref, "reftable/tables.list"))


def _remove_stale_lock(path: str) -> bool:
    with contextlib.suppress(FileNotFoundError):
        if time.time() - os.lstat(path).st_mtime > STALE_LOCK_SECONDS:
            files.remove(path)
            return True
    return False
