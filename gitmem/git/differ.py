"""`git diff-tree`: what every comparison of ours asks for, and one process that answers one pair after another."""

from __future__ import annotations

import os

from gitmem.changes import LARGE_BYTES, MAX_COUNTED_FILES
from gitmem.errors import GitError
from gitmem.git.run import decode, encode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gitmem.git.run import Git, Process

MAX_COMMIT_BYTES = 8 << 20  # raw records and patch of one commit that are read; more is known to be large without
MAX_NAMES_BYTES = 1 << 30  # of raw records alone
# diff-tree is plumbing: of the user's settings only attributes and these reach it.
PINNED = ("-c", f"core.bigFileThreshold={LARGE_BYTES}", "-c", "diff.orderFile=" + os.devnull,
          "-c", "diff.algorithm=myers", "-c", "i18n.logOutputEncoding=UTF-8", "-c", "diff.suppressBlankEmpty=false",
          "-c", "core.deltaBaseCacheLimit=32m")  # fmt: skip
# Blobs come and go by the thousand: without this glibc gives their memory back to the system and asks for it again
# (91,000 page faults instead of 13,000 on koel, a tenth of git's time). Of git's 96 MiB for deltas 32 do as well.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TRIM_THRESHOLD_": "67108864", "MALLOC_TOP_PAD_": "1048576"}
PLAIN = ("-r", "-z", "--no-abbrev", "--raw", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short",
         "--ignore-submodules=none")  # fmt: skip
# -l: beyond 200 times 200 candidates only exact renames are sought (10,000 moved and edited files: 1,150 ms).
RENAMES = ("-M", "-l200")
FULL = (*RENAMES, "-p", "-U0", "--inter-hunk-context=0", "--indent-heuristic")
ONE = ("diff-tree", *PLAIN)
MANY = ("diff-tree", "--stdin", "--root", "--always", *PLAIN)
# With an index at hand git compares the work tree's copy instead of a blob, and where the entry is racily clean (a
# large file added in the same second) hashes and deflates it first: 3,600 ms for 50 MB that are not even shown.
NO_INDEX = {"GIT_INDEX_FILE": "/nonexistent/index-of-gitmem"}
FIELDS = "%H%x00%ct%x00%ce%x00%B%x00"
# A large blob that comes or goes git inflates only to call it binary (130 ms for 50 MB). With this it gives up at once
# instead, and the pair is read anew without such blobs and without the limit: git meets it for other reasons too, a
# small blob kept as a delta of a large one, a tree of 100,000 files. A git that does not know it is slow, nothing else.
SPARING = {"GIT_ALLOC_LIMIT": "4m"}


def token() -> bytes:
    """What cannot stand in any content, so that nothing can pretend to be a commit or its end."""
    return os.urandom(16).hex().encode()


class Answer(NamedTuple):
    """What diff-tree printed for one pair: the fields and the raw records with their patch."""

    data: bytes
    whole: bool  # False: cut behind the names, which were too many to count, or at MAX_COMMIT_BYTES


class Differ:
    """Compares with renames and lines, `names` with renames alone. A process starts with the first question and ends
    with us."""

    def __init__(
        self, git: Git, *, style: Sequence[str] = FULL, most: int = MAX_COMMIT_BYTES, sparing: bool = True
    ) -> None:
        self.git = git
        self._style, self._most = style, most
        self._env = MALLOC | NO_INDEX | (SPARING if sparing else {})
        self._token = token()
        self._running: Process | None = None
        self._names: Differ | None = None
        self._gave_up = False
        self._sizes: dict[str, int] = {}

    def __del__(self) -> None:
        self._stop()

    @property
    def names(self) -> Differ:
        if self._names is None:
            # a rename of large files is only seen by reading them
            self._names = Differ(self.git, style=RENAMES, most=MAX_NAMES_BYTES, sparing=False)
        return self._names

    def known_large(self, oids: Collection[str]) -> set[str]:
        """Those of the blobs that `large` was asked for and found to be."""
        return {oid for oid in oids if self._sizes.get(oid, 0) > LARGE_BYTES}

    def large(self, oids: Collection[str]) -> set[str]:
        """Those of the blobs that are taken for binary by their size. Raises GitError when one is missing."""
        asked = "".join(oid + "\n" for oid in sorted(oids) if oid not in self._sizes)
        out = decode(self.git.run("cat-file", "--batch-check", stdin=encode(asked)).out) if asked else ""
        for oid, *found in (row.split(" ") for row in out.splitlines()):
            if len(found) != 2:
                raise GitError(f"object '{oid}' is missing")
            self._sizes[oid] = int(found[1])
        return self.known_large(oids)

    def commit(self, oid: str, parent: str | None) -> Answer:
        """A commit against its parent, FIELDS first. Raises GitError when a blob is missing, damaged or large."""
        return self._ask(f"{oid} {parent}" if parent else oid)

    def trees(self, base: str, head: str) -> Answer:
        """Two trees by their oids. Raises GitError as `commit` does."""
        found = self._ask(f"{base} {head}")
        return found._replace(data=found.data.partition(b"\n")[2])  # it names the two of them first

    def _ask(self, pair: str) -> Answer:
        """git repeats a line that names no object, and sends with it what it held back: the end of each answer."""
        if self._gave_up:  # what one pair was too large for is mostly in the next, a commit's window, too
            self._gave_up = False
            raise GitError("git diff-tree: too large to be read whole")
        if self._running is None:
            style = (*self._style, f"--format={decode(self._token)}{FIELDS}")
            self._running = self.git.open(*PINNED, *MANY, *style, env=self._env)
        process, mark = self._running, self._token + b"\n"
        process.feed(encode(pair) + b"\n" + mark)
        held, names_end, many = bytearray(), -1, False
        for chunk in process.chunks():
            searched = max(0, len(held) - len(mark))  # a mark may be cut in two by the pipe
            held += chunk
            if (end := held.find(mark, searched)) >= 0:
                return Answer(bytes(held[:end]).removeprefix(self._token), whole=True)
            if names_end < 0:
                names_end = held.find(NAMES_END, searched)
                many = names_end >= 0 and too_many(held[:names_end])
            if many or len(held) > self._most:
                self._stop()  # what is wanted is there; the rest is not waited for
                return Answer(bytes(held[: self._most]).removeprefix(self._token), whole=False)
        self._running, self._gave_up = None, True
        raise process.failure()

    def _stop(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running = None


NAMES_END = b"\0\0diff --git "


def is_enough(found: Answer) -> bool:
    """Whether nothing is gained by asking further: all is there, or all names of more files than are counted."""
    end = found.data.find(NAMES_END)
    return found.whole or (end >= 0 and too_many(found.data[:end]))


def too_many(names: bytes | bytearray) -> bool:
    """Whether there are more raw records than are counted."""
    marks = names.count(b"\0:")  # one a record, and one for each of its two names that begins like that
    if marks <= MAX_COUNTED_FILES or marks > 3 * MAX_COUNTED_FILES:
        return marks > MAX_COUNTED_FILES
    records = [piece for piece in names.split(b"\0:") if piece[6:7] == piece[13:14] == b" " and piece[:6].isdigit()]
    return len(records) > MAX_COUNTED_FILES
