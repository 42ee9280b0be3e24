"""Many objects from one `git cat-file --batch`."""

from __future__ import annotations

import itertools

from gitmem.errors import TooLarge
from gitmem.git.run import decode, encode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitmem.git.run import Git, Process

# An object beyond this is refused, not read: a flat tree of 500,000 notes, a note sixteen times as large as ours get.
MAX_BYTES = {"tree": 32 << 20, "commit": 8 << 20, "blob": 1 << 20}
MAX_SKIPPED_BYTES = 1 << 28  # that are let pass to get at what comes after
LARGE = "large"
IN_FLIGHT = 256  # names asked before the answers are read; well below a pipe's 64 KiB


class Object(NamedTuple):
    oid: str
    kind: str
    data: bytes


class Objects:
    """Reads objects by name. The process starts with the first question and ends with us; it sees refs and objects
    that are written meanwhile."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._running: Process | None = None

    def __del__(self) -> None:
        if self._running is not None:
            self._running.kill()

    @property
    def _process(self) -> Process:
        if self._running is None:
            self._running = self._git.open("cat-file", "--batch")
        return self._running

    def get(self, name: str) -> Object | None:
        """The object of that name, None when this repository has none. Raises GitError when it is beyond all size."""
        return next(self.get_all([name]))

    def get_all(self, names: Iterable[str], *, skip_large: bool = False) -> Iterator[Object | None]:
        """The objects in the order of the names. skip_large: one beyond all size comes as of kind LARGE, without its
        data, instead of an error."""
        waiting, rest = 0, iter(names)
        while asked := b"".join(_line(name) for name in itertools.islice(rest, IN_FLIGHT // 2)):
            self._process.feed(asked)
            waiting += asked.count(b"\n")
            while waiting > IN_FLIGHT // 2:
                yield self._answer(skip_large)
                waiting -= 1
        for _ in range(waiting):
            yield self._answer(skip_large)

    def _answer(self, skip_large: bool) -> Object | None:
        words = decode(self._process.line()).rsplit(" ", 2)
        if len(words) < 3 or not words[2].isdigit():
            return None  # `NAME missing`, `NAME ambiguous`
        oid, kind, size = words[0], words[1], int(words[2])
        if size <= MAX_BYTES.get(kind, 1 << 20):
            return Object(oid, kind, self._process.take(size + 1)[:-1])
        if skip_large and size <= MAX_SKIPPED_BYTES:
            self._process.skip(size + 1)
            return Object(oid, LARGE, b"")
        self._process.kill()  # the next question gets a new process; nothing of that size is taken in
        self._running = None
        raise TooLarge(f"object '{oid}' has {size} bytes, more than gitmem reads")


def _line(name: str) -> bytes:
    """A name as git is asked for it; one with a line break is nobody's and must not become two questions."""
    return encode(name) + b"\n" if "\n" not in name else b"-\n"
