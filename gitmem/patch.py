"""The changed lines of one file: the reader of `-U0` hunks, for capsules and verdicts alike."""

from __future__ import annotations

from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.changes import Change


class FilePatch(NamedTuple):
    """One changed file.

    path, old_path: old_path only for renames. status: A, M, D, R, T. added, removed: None when lines were not read.
    plus, minus: changed lines without sign and line end, in the order of the patch; empty when not read.
    hunks: (index in plus, line number in the new file) where a run of added lines begins, ascending.
    """

    path: str
    old_path: str | None
    status: str
    binary: bool
    added: int | None
    removed: int | None
    plus: list[str]
    minus: list[str]
    hunks: tuple[tuple[int, int], ...] = ()

    def line(self, index: int) -> int | None:
        """Line number in the new file of plus[index], None where the hunks are not known."""
        number = None
        for start, line in self.hunks:
            if start > index:
                break
            number = line + index - start
        return number


def read_patch(change: Change) -> FilePatch:
    """The lines of a change. Bytes that are not UTF-8 come as surrogate escapes."""
    plus: list[str] = []
    minus: list[str] = []
    hunks: list[tuple[int, int]] = []
    start = change.patch.find(b"\n@@ -")
    for line in change.patch[start + 1 :].decode("utf-8", "surrogateescape").split("\n") if start >= 0 else ():
        sign = line[:1]
        if sign == "+":
            plus.append(line[1:])
        elif sign == "-":
            minus.append(line[1:])
        elif sign == "@":
            hunks.append((len(plus), _new_start(line)))
    if change.status == "T":  # the two halves have headers of their own, which look like changed lines
        plus, minus, hunks = [], [], []
    return FilePatch(
        change.path, change.old_path, change.status, change.binary, change.added, change.removed, plus, minus,
        tuple(hunks),
    )  # fmt: skip


def _new_start(line: str) -> int:
    """Line number after the + of `@@ -1,2 +3,4 @@ context`."""
    return int(line.split("+", 1)[1].split(" ", 1)[0].split(",", 1)[0])
