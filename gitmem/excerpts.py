"""The parts of a difference that evidence points at, for people to read."""

from __future__ import annotations

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_HUNK_LINES = 12


def excerpts(
    patch: str, wanted: Iterable[tuple[str, int | None]], *, max_lines: int
) -> list[tuple[str, int, list[str]]]:
    """(path, first line, changed lines) of the hunks that hold the wanted (path, line), in their order.

    patch: of `git diff`, as text; a patch that does not parse gives nothing.
    """
    try:
        files = {file.path: file for file in PatchSet(patch)}
    except UnidiffParseError:
        return []
    found: list[tuple[str, int, list[str]]] = []
    seen: set[tuple[str, int]] = set()
    for path, line in wanted:
        for hunk in files.get(path, ()):
            inside = line is None or hunk.target_start <= line < hunk.target_start + max(hunk.target_length, 1)
            if inside and (path, hunk.target_start) not in seen and max_lines > 0:
                seen.add((path, hunk.target_start))
                text = [str(row).rstrip("\n") for row in hunk if row.is_added or row.is_removed][:MAX_HUNK_LINES]
                text = text[:max_lines]
                max_lines -= len(text)
                found.append((path, hunk.target_start, text))
                break
    return found
