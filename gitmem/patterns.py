"""Regular expressions for the path of a commit hook, where `re` is not imported.

`re` with what it imports costs 5 ms of every commit, compiling our expressions up to 10 more (bench/hooks.md), and the
engine that runs them, `_sre`, is part of the interpreter. What `re` makes of an expression is kept in a table and given
to the engine directly the next time. The engine trusts it, so the file has to be as we wrote it (`files.kept`), and a
table of another interpreter is not used; where anything differs from what is known here, `re` does it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

ASCII, MULTILINE = 256, 8  # the flags of `re`
MAX_ENTRIES = 1000
MAX_GROUPS = 100
FORM = "patterns-1"  # of the table that is kept
# What an entry that is none, and an interpreter that is another, may lead to.
ODD = (AttributeError, ImportError, IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError)

_table: dict[str, Any] = {}  # `FLAGS SOURCE` -> [flags, code as hex digits, groups, {name: group}]
_learns = False  # whether what `re` compiles goes into the table
_learned = False


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """The expression, compiled at its first use."""
    return _Lazy(source, flags)  # type: ignore[return-value]


class _Lazy:
    def __init__(self, source: str, flags: int) -> None:
        self.source, self.flags = source, flags

    def __getattr__(self, name: str) -> Any:
        method = getattr(compiled(self.source, self.flags), name)
        setattr(self, name, method)
        return method


def compiled(source: str, flags: int = 0) -> re.Pattern[str]:
    """The same at once, as `re.compile` gives it."""
    entry = _table.get(f"{flags} {source}")
    if entry is not None:
        try:
            return _given(source, entry)
        except ODD:
            del _table[f"{flags} {source}"]
    return _compile(source, flags)


def _given(source: str, entry: Any) -> re.Pattern[str]:
    """What the engine makes of an entry. Raises nearly anything when it is none."""
    import _sre  # type: ignore[import-not-found]

    flags, code, groups, index = entry
    if not 0 <= groups <= MAX_GROUPS:
        raise ValueError("no number of groups")
    names = [None, *[None] * groups]
    for name, group in index.items():
        names[group] = name
    words = memoryview(bytes.fromhex(code)).cast("I").tolist()
    made: re.Pattern[str] = _sre.compile(source, flags, words, groups, index, tuple(names))
    return made


def _compile(source: str, flags: int) -> re.Pattern[str]:
    global _learned
    import re

    made = re.compile(source, flags)
    if _learns and source.isascii() and len(_table) < MAX_ENTRIES:
        try:
            from re import _compiler, _parser  # type: ignore[attr-defined]

            parsed = _parser.parse(source, flags)
            code = memoryview(b"".join(word.to_bytes(4, sys.byteorder) for word in _compiler._code(parsed, flags)))
            entry = [flags | parsed.state.flags, code.hex(), parsed.state.groups - 1, dict(parsed.state.groupdict)]
            if _given(source, entry) == made:  # the engine compares code and flags
                _table[f"{flags} {source}"], _learned = entry, True
        except ODD:  # another `re` than is known here: it has done the work already
            return made
    return made


def use(document: dict[str, Any]) -> None:
    """Takes up a table that `learned` gave, of whatever interpreter, and from now on learns."""
    global _learns
    _learns = True
    if document.get("engine") == _engine():
        _table.update(document["patterns"])


def learned() -> dict[str, Any] | None:
    """The table to keep; None when nothing new is in it."""
    return {"engine": _engine(), "patterns": _table} if _learned else None


def _engine() -> str:
    import _sre

    magic, size = getattr(_sre, "MAGIC", None), getattr(_sre, "CODESIZE", None)
    return f"{sys.version} {sys.byteorder} {magic} {size}"
