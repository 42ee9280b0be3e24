"""The tree of a notes ref: where a note belongs, what it holds, how two become one. Values in, values out.

Layout, by content only: `2/38`; a folder with more than 256 notes splits once more, `2/2/36` (`2/62`, `2/2/60`
with SHA-256). Any depth is read; entries of folders that are touched anyway are brought home.
"""

from __future__ import annotations

from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_FOLDER = 256
# With so many subfolders a folder holds more than 256 notes beyond doubt (257 notes fill 162 of 256, deviation 7).
SURELY_SPLIT = 210
TREE = "40000"
BLOBS = ("100644", "100755")
HEX = frozenset("0123456789abcdef")


class Entry(NamedTuple):
    mode: str
    name: str
    oid: str


def parse_tree(data: bytes, hex_digits: int) -> list[Entry]:
    """The entries of a tree object: `mode SP name NUL oid-bytes` each."""
    entries, position, width = [], 0, hex_digits // 2
    while position < len(data):
        end = data.index(b"\0", position)
        mode, _, name = data[position:end].partition(b" ")
        oid = data[end + 1 : end + 1 + width].hex()
        entries.append(Entry(mode.decode("ascii"), name.decode("utf-8", "surrogateescape"), oid))
        position = end + 1 + width
    return entries


def lines(note: bytes) -> list[bytes]:
    """The lines of a note; blank ones mean nothing (git separates what it concatenates by them)."""
    return [line for line in note.split(b"\n") if line.strip()]


def join(*notes: Iterable[bytes]) -> list[bytes]:
    """The union of lines, sorted bytewise: commutative, associative, idempotent, as git's `cat_sort_uniq`."""
    return sorted({line for note in notes for line in note})


def render(note_lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in note_lines)


class Found(NamedTuple):
    """A note somewhere in the tree."""

    commit: str  # the annotated oid
    path: str
    blob: str


class Folder(NamedTuple):
    """Everything below one first-level folder, and root entries that belong into it."""

    notes: tuple[Found, ...]
    split: bool


def is_hex(name: str, digits: int) -> bool:
    return len(name) == digits and HEX.issuperset(name)


def root_notes(entries: Iterable[Entry], hex_digits: int) -> list[Found]:
    """Notes that lie in the root, as git leaves them while they are few."""
    return [Found(e.name, e.name, e.oid) for e in entries if e.mode in BLOBS and is_hex(e.name, hex_digits)]


def walk(
    prefix: str,
    path: str,
    entries: Iterable[Entry],
    read_trees: Callable[[list[str]], Iterator[list[Entry]]],
    *,
    left: int,
) -> list[Found]:
    """All notes below a folder, whatever their depth.

    prefix: hex digits so far; path: the same with slashes; left: hex digits a note's name still has here.
    """
    found, folders = [], []
    for entry in entries:
        if entry.mode in BLOBS and is_hex(entry.name, left):
            found.append(Found(prefix + entry.name, f"{path}/{entry.name}", entry.oid))
        elif entry.mode == TREE and is_hex(entry.name, 2) and left > 2:
            folders.append(entry)
    for folder, inside in zip(folders, read_trees([folder.oid for folder in folders]), strict=True):
        found += walk(prefix + folder.name, f"{path}/{folder.name}", inside, read_trees, left=left - 2)
    return found


def home(commit: str, *, split: bool) -> str:
    """Where a note belongs in its folder's layout."""
    return f"{commit[:2]}/{commit[2:4]}/{commit[4:]}" if split else f"{commit[:2]}/{commit[2:]}"


def commit_at(path: str, digits: int) -> str | None:
    """The commit whose note lies at a path, None for what is no note: folders are two digits each."""
    *folders, name = path.split("/")
    commit = "".join((*folders, name))
    return commit if all(len(folder) == 2 for folder in folders) and is_hex(commit, digits) and name else None


def possible_paths(commit: str) -> list[str]:
    """Where a reader looks for a note: the layouts of gitmem and of git, likeliest first."""
    return [f"{commit[:2]}/{commit[2:]}", f"{commit[:2]}/{commit[2:4]}/{commit[4:]}", commit,
            f"{commit[:2]}/{commit[2:4]}/{commit[4:6]}/{commit[6:]}"]  # fmt: skip
