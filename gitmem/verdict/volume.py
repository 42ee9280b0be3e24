"""How much a window changes: files and lines that count, after what moved and what machines wrote is set aside."""

from __future__ import annotations

from gitmem.patch import FilePatch
from gitmem.values import NamedTuple
from gitmem.verdict import lines, names
from gitmem.verdict.places import MARKUP, TOOLS, Found, under
from gitmem.verdict.roles import manifest
from gitmem.verdict.rules import DOES, STATE, VOLUME_FILES, VOLUME_LINES, VOLUME_NET_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Sides(NamedTuple):
    """A file that counts with its lines that really differ."""

    patch: FilePatch
    come: lines.Side
    gone: lines.Side


def volume(sides: Sequence[Sides]) -> list[Found]:
    """The evidence of sheer size. A file whose lines were not read counts as one line: beyond 400 paths that is certain."""
    code = [item for item in sides if not manifest(item.patch.path) and not under(item.patch.path, TOOLS)]
    plus = sum(_code_lines(item.come, item.patch.path) for item in code)
    minus = sum(_code_lines(item.gone, item.patch.path) for item in code)
    unread = sum(item.patch.added is None and not item.patch.plus and not item.patch.minus for item in code)
    files = sum(bool(item.come.code or item.gone.code) for item in code) + unread
    changed, net = plus + minus + unread, plus - minus
    found = []
    if files >= VOLUME_FILES and changed >= VOLUME_LINES:
        found.append(_found("pair", 1.0, (DOES, STATE), f"{files} files and {changed} lines that count"))
    if net >= VOLUME_NET_LINES:
        found.append(_found("net", 1.0, (DOES, STATE), f"{net} net new lines of code"))
    elif net >= 8:
        found.append(_found("some", min(1.0, (8 + net) / 56), (DOES, STATE), f"{net} net new lines of code"))
    elif plus + minus >= 4:
        found.append(_found("some", 1 / 7, (DOES,), f"{plus + minus} changed lines of code"))
    return found


def _found(kind: str, share: float, pages: tuple[str, ...], what: str) -> Found:
    return Found("volume", kind, share, pages, "", None, what)


def _code_lines(side: lines.Side, path: str) -> int:
    """Lines of code: mark-up is the look of the interface (rubric N6), data is not code."""
    if names.suffix(path) in MARKUP:
        return 0
    return sum(1 for _, text in side.code if text[0] != "<")
