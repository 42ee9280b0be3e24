"""The one function that writes notes.

`git notes add`, libgit2 and `notes.rewriteRef` lose notes when two writers meet, all with exit status 0. Here: a lock
among ourselves, one `git fast-import` that moves the ref only from the tip that was read (compare-and-swap against
everybody else), again from the start when somebody was faster.
"""

from __future__ import annotations

import os
import time

from gitmem import files, joining, layout, notes, records, rejoin
from gitmem.errors import GitError, GitmemError, Locked
from gitmem.git import ask
from gitmem.git.run import decode, encode
from gitmem.layout import NOWHERE, Edit, Written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gitmem.git.ask import Place
    from gitmem.git.objects import Objects
    from gitmem.git.run import Git

JOINING = "refs/gitmem/joining"  # what is built here and has no other ref yet
STALE_LOCK_SECONDS = 60  # git holds the lock of a ref for milliseconds; one this old was left by a kill
MAX_NOTE_BYTES = 64 << 10


def write(
    git: Git, objects: Objects, place: Place, ref: str, additions: Mapping[str, Sequence[bytes]], *, author: str,
    subject: str, deadline: float,
) -> Written:  # fmt: skip
    """Adds lines to the notes of commits. Nothing new makes no commit.

    additions: commit oid -> lines; author: `Name <mail>`; deadline: monotonic seconds.
    Raises Locked when the ref cannot be had by then, GitError with git's reason for anything else.
    """
    with files.Lock(place.common_state_dir + "/lock", deadline=deadline):
        pause, start = 0.002, ref
        if objects.get(ref) is None and ask.exact_ref(git, ref) is not None:
            raise GitError(
                f"'{ref}' points to an object that is missing", "run 'git fsck'; its reflog may know a good tip"
            )
        while True:
            lost = rejoin.lost(git, objects, place, ref, _tip(objects, ref))
            tip, edits = _plan(objects, place, start, _with(additions, lost))
            result = Written(sum(e.result.added for e in edits), sum(e.result.left_out for e in edits))
            if not any(edit.changes for edit in edits):
                rejoin.remember(place, ref, tip)
                return result
            reason = _commit(git, place, ref, tip, edits, author=author, subject=subject)
            if reason is None:
                rejoin.remember(place, ref, _tip(objects, ref))
                return result
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


def _plan(
    objects: Objects, place: Place, start: str, additions: Mapping[str, Sequence[bytes]]
) -> tuple[str | None, list[Edit]]:
    """The tip that was read, and what has to change below it. start: a ref or the oid of a notes commit."""
    tip = layout.tip_of(objects, start)

    def grow(commit: str, old: list[bytes] | None) -> tuple[list[bytes] | None, Written]:
        return (None, Written(0, len(additions[commit]))) if old is None else _grow(commit, old, additions[commit])

    return (tip.oid if tip else None), list(layout.plan(objects, place.hex_digits, tip, additions, grow))


def _grow(commit: str, old: list[bytes], additions: Sequence[bytes]) -> tuple[list[bytes], Written]:
    """The note with what fits of the new lines. A capsule always fits, and there is one for each commit."""
    if not old and len(additions) == 1 and len(additions[0]) <= MAX_NOTE_BYTES:
        return list(additions), Written(1, 0)  # most notes of a backfill: nothing to read, nothing to compare with
    kept, size, left_out = set(old), sum(map(len, old)), 0
    reading = records.read(old)
    capsule = records.capsule_of(commit, (*reading.records, *reading.hidden))
    for line in additions:
        if line in kept:
            continue
        record = records.parse(line)
        is_capsule = record is not None and record.kind == "capsule" and record.commit == commit
        if is_capsule and capsule and record and records.agree(capsule, record):
            continue  # one that says something else of the commit is somebody's lie and keeps nobody's place
        is_kept = is_capsule or (record is not None and record.kind in ("link", "retract"))
        if not is_kept and (len(kept) >= records.MAX_RECORDS or size + len(line) > MAX_NOTE_BYTES):
            left_out += 1
            continue
        kept.add(line)
        size += len(line)
        capsule = record if is_capsule else capsule
    if any(joining.MARK in line for line in kept):
        kept = set(joining.join(kept))
    added = len(kept - set(old))
    if left_out:
        kept.add(full_marker(commit))
    return sorted(kept), Written(added, left_out)


def full_marker(commit: str) -> bytes:
    """The record that says that a note is full and something was left out."""
    return records.line_of("event", commit, 0, cut=["records"], text="this note is full: later records were left out")


def _commit(
    git: Git, place: Place, ref: str, tip: str | None, edits: Iterable[Edit], *, author: str, subject: str
) -> str | None:
    """One commit on top of `tip`; the reason when somebody else has moved the ref, or holds its lock.

    Without --force fast-import moves a ref only if the new commit contains what the ref holds at that moment, and
    compares and swaps against it (`update_branch` in fast-import.c): with `tip` as the only parent that is exactly
    "only from the tip that was read". No second process, no ref left over by a kill.
    """
    process = git.open("fast-import", "--quiet", "--done", "--date-format=raw")
    head = _head(ref, author, subject) + (encode(f"from {tip}\n") if tip else b"")
    process.feed(b"".join((head, *(part for edit in edits for part in layout.fast_import(edit)), b"done\n")), last=True)
    try:
        process.finish()
    except GitError as error:
        _remove_crash_report(place, process.pid)
        if _remove_stale_lock(f"{place.common_dir}/{ref}.lock") or _held(place, ref) or ask.exact_ref(git, ref) != tip:
            return error.message
        raise
    return None


def _head(ref: str, author: str, subject: str) -> bytes:
    text = encode(subject + "\n")
    head = f"feature done\ncommit {ref}\nmark :1\ncommitter {author} {int(time.time())} +0000\ndata {len(text)}\n"
    return encode(head) + text


def _remove_crash_report(place: Place, pid: int) -> None:
    for folder in {place.git_dir, place.common_dir}:
        files.remove(f"{folder}/fast_import_crash_{pid}")


def build(
    git: Git, objects: Objects, place: Place, *, parent: str | None, tree_of: str | None,
    finals: Mapping[str, Sequence[bytes]], author: str, subject: str, blobs: Mapping[str, str] | None = None,
    deleted: Sequence[str] = (),
) -> str | None:  # fmt: skip
    """A notes commit that no ref of anybody leads to yet: the tree of one commit, changed, on the parent of choice.

    finals: commit -> all the lines that its note will hold. blobs: commit -> a note that is taken as it is. deleted:
    paths that are no notes. Where nothing changes the parent itself is the answer.
    """
    start = layout.tip_of(objects, tree_of or NOWHERE)

    def grow(commit: str, _: list[bytes] | None) -> tuple[list[bytes], Written]:
        return sorted(finals[commit]), Written(0, 0)

    given = [(blob, notes.home(commit, split=False)) for commit, blob in (blobs or {}).items()]
    besides = layout.Edit(list(deleted), given, [], Written(0, 0))
    planned = layout.plan(objects, place.hex_digits, start, finals, grow)
    edits = iter((*planned, besides) if besides.changes else planned)
    first = next((edit for edit in edits if edit.changes), None)
    if first is None and parent == tree_of:
        return parent
    _remove_stale_lock(f"{place.common_dir}/{JOINING}.lock")
    process = git.open("fast-import", "--quiet", "--done", "--date-format=raw", "--force")
    process.feed(_head(JOINING, author, subject) + (encode(f"from {parent}\n") if parent else b""))
    if start is not None and parent != tree_of:
        tree = decode(start.data[5 : 5 + place.hex_digits])
        process.feed(encode(f'M 040000 {tree} ""\n'))
    for edit in [first] if first else []:
        process.send_all(b"".join(layout.fast_import(edit)))
    for edit in edits:
        process.send_all(b"".join(layout.fast_import(edit)))
    process.feed(b"get-mark :1\ndone\n", last=True)
    try:
        return decode(process.finish().out).strip()
    except GitError:
        _remove_crash_report(place, process.pid)
        raise


def move(git: Git, objects: Objects, place: Place, ref: str, new: str | None, old: str | None) -> None:
    """Points a ref from one commit to another. Raises GitError when somebody else was faster."""
    zero = "0" * place.hex_digits
    for name in (ref, JOINING):
        _remove_stale_lock(f"{place.common_dir}/{name}.lock")
    rows = [f"update {ref} {new} {old or zero}"] if new else [f"delete {ref} {old}"] if old else []
    rows += [f"delete {JOINING}"] if objects.get(JOINING) is not None else []
    git.run("update-ref", "--stdin", stdin=encode("".join(row + "\n" for row in rows)))
    rejoin.remember(place, ref, new)


def tidy(git: Git, objects: Objects, place: Place) -> None:
    """Lets go of what was built and has found its place."""
    try:
        _remove_stale_lock(f"{place.common_dir}/{JOINING}.lock")
        if objects.get(JOINING) is not None:
            git.run("update-ref", "-d", JOINING)
    except GitmemError:
        return  # no time is left: the next one does it


def remove_stale_locks(place: Place, below: str) -> None:
    """Removes locks of refs that a kill left behind; git itself never would."""
    for folder, _, names in os.walk(f"{place.common_dir}/{below}"):
        for name in names:
            if name.endswith(".lock"):
                _remove_stale_lock(f"{folder}/{name}")


def _tip(objects: Objects, ref: str) -> str | None:
    found = objects.get(ref)
    return found.oid if found else None


def _held(place: Place, ref: str) -> bool:
    """Whether somebody holds the lock of the ref, or of all refs in a reftable."""
    return any(os.path.exists(f"{place.common_dir}/{name}.lock") for name in (ref, "reftable/tables.list"))


def _remove_stale_lock(path: str) -> bool:
    try:
        stale = time.time() - os.lstat(path).st_mtime > STALE_LOCK_SECONDS
    except FileNotFoundError:
        return False
    if stale:
        files.remove(path)
    return stale
