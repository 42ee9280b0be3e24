"""What has to change in the tree of a notes ref: where each note is, where it belongs, what it will hold.

Folder by folder: all that is known of the other 255 first-level folders is that they stay as they are.
"""

from __future__ import annotations

from gitmem import notes
from gitmem.errors import GitError
from gitmem.git.objects import LARGE
from gitmem.git.run import decode, encode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from gitmem.git.objects import Object, Objects

    # (commit, its lines or None for a note beyond reading) -> (what it will hold or None to leave it, what that means)
    Grow = Callable[[str, list[bytes] | None], "tuple[list[bytes] | None, Written]"]

NOWHERE = ""  # in the place of a tip: the ref does not exist yet


class Written(NamedTuple):
    added: int  # lines that were not there before
    left_out: int  # lines that did not fit into a full note


class Edit(NamedTuple):
    """What one fast-import does to the tree."""

    deleted: list[str]
    moved: list[tuple[str, str]]  # (blob, path)
    written: list[tuple[str, bytes]]  # (path, note)
    result: Written

    @property
    def changes(self) -> bool:
        return bool(self.deleted or self.moved or self.written)


def fast_import(edit: Edit) -> Iterator[bytes]:
    """The commands of `git fast-import` for an edit."""
    for path in edit.deleted:
        yield encode(f"D {path}\n")
    for blob, path in edit.moved:
        yield encode(f"M 100644 {blob} {path}\n")
    for path, note in edit.written:
        yield encode(f"M 100644 inline {path}\ndata {len(note)}\n") + note + b"\n"


def tip_of(objects: Objects, start: str) -> Object | None:
    """The notes commit that a ref or an oid names. Raises GitError when it names something else."""
    tip = objects.get(start) if start != NOWHERE else None
    if tip is not None and tip.kind != "commit":
        raise GitError(f"'{start}' is a {tip.kind}, not a commit", "move it away: gitmem did not write it")
    return tip


def plan(objects: Objects, hex_digits: int, tip: Object | None, wanted: Collection[str], grow: Grow) -> Iterator[Edit]:
    """What has to change below a tip, one edit for each first-level folder that holds one of the commits.

    grow: what a note will hold, from what it holds; nothing removes it. Entries of the root and of the folders that
    are touched come home on the way.
    """
    root = _tree(objects, decode(tip.data[5 : 5 + hex_digits]), hex_digits) if tip is not None else []
    stray = notes.root_notes(root, hex_digits)
    folders = {entry.name: entry.oid for entry in root if entry.mode == notes.TREE and notes.is_hex(entry.name, 2)}
    by_prefix: dict[str, list[str]] = {found.commit[:2]: [] for found in stray}
    for commit in wanted:
        by_prefix.setdefault(commit[:2], []).append(commit)
    for prefix, mine in sorted(by_prefix.items()):
        outside = [found for found in stray if found.commit[:2] == prefix]
        folder = _folder(objects, prefix, folders.get(prefix), hex_digits, mine)
        yield _plan_folder(objects, folder, outside, frozenset(mine), grow)


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
    for oid, found in zip(oids, objects.get_all(oids, skip_large=True), strict=True):
        if found is None:
            raise GitError(f"object '{oid}' of the notes cannot be read", "run 'git fsck'")
        yield found


def _plan_folder(
    objects: Objects, folder: notes.Folder, outside: list[notes.Found], wanted: Collection[str], grow: Grow
) -> Edit:
    edit = Edit([], [], [], Written(0, 0))
    places: dict[str, list[notes.Found]] = {}
    for found in (*folder.notes, *outside):
        places.setdefault(found.commit, []).append(found)
    split = folder.split or len(places.keys() | wanted) > notes.MAX_FOLDER
    result = edit.result
    for commit in sorted(places.keys() | wanted):
        at, target = places.get(commit, []), notes.home(commit, split=split)
        if commit not in wanted and len(at) == 1:
            if at[0].path != target:
                edit.deleted.append(at[0].path)
                edit.moved.append((at[0].blob, target))
            continue
        old = _lines(objects, [found.blob for found in at])
        new, written = grow(commit, old) if commit in wanted else (old, Written(0, 0))
        result = Written(result.added + written.added, result.left_out + written.left_out)
        if new is None:
            continue  # beyond reading: it stays as it is
        if not new:
            edit.deleted.extend(found.path for found in at)
        elif new != old or len(at) != 1 or at[0].path != target:
            edit.deleted.extend(found.path for found in at if found.path != target)
            edit.written.append((target, notes.render(new)))
    return edit._replace(result=result)


def _lines(objects: Objects, blobs: list[str]) -> list[bytes] | None:
    """The lines of a note in all its places, None when one of them is beyond reading."""
    read = list(_all(objects, blobs))
    return None if any(found.kind == LARGE for found in read) else notes.join(*(notes.lines(f.data) for f in read))
