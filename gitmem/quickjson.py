"""JSON through the accelerators of the standard library's `json`, without its Python layers.

Those compile eight regular expressions on import, 3.5 ms of every commit hook (bench/hooks.md). Where the
accelerators are missing or differ, `json` itself does it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


class _Rules:
    """What the scanner asks its caller."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, _refuse


def _accelerated() -> tuple[Callable[[str], Any], Callable[[Any], str], Callable[[str], str]]:
    import _json

    scan = _json.make_scanner(_Rules)  # type: ignore[arg-type]
    encode = _json.make_encoder(None, _unknown, _json.encode_basestring, None, ":", ",", True, False, False)

    def read(text: str) -> Any:
        text = text.strip(" \t\n\r")
        try:
            value, end = scan(text, 0)
        except StopIteration as error:
            raise ValueError(f"no JSON value at {error.value}") from None
        except SystemError:  # Python 3.11 looks for `json`'s own error and sets none where nobody has imported it
            raise ValueError("no JSON value") from None
        if end != len(text):
            raise ValueError(f"more than one JSON value: {end} of {len(text)} characters are one")
        return value

    def write(value: Any) -> str:
        return "".join(encode(value, 0))

    if (read('[{"a":1}]'), write({"b": [1], "a": "é"})) != ([{"a": 1}], '{"a":"é","b":[1]}'):
        raise TypeError("another _json than is known here")
    return read, write, _json.encode_basestring_ascii


def _unknown(value: object) -> None:
    raise TypeError(f"{type(value).__name__} is no JSON")


def _plain() -> tuple[Callable[[str], Any], Callable[[Any], str], Callable[[str], str]]:
    import json

    encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode
    return lambda text: json.loads(text, parse_constant=_refuse), encode, json.dumps


try:
    _read, _write, _quoted = _accelerated()
except (ImportError, AttributeError, TypeError, ValueError):
    _read, _write, _quoted = _plain()


def loads(data: bytes | str) -> Any:
    """The value of one JSON document in UTF-8. Raises ValueError for anything else, NaN and infinities included."""
    return _read(data if isinstance(data, str) else data.decode("utf-8"))


def dumps(value: Any) -> str:
    """One line: keys sorted by code point, no blanks, characters as they are. Raises ValueError, TypeError."""
    return _write(value)


def pretty(value: Any, margin: str = "\n") -> str:
    """ASCII, keys sorted, one blank of indentation: `json.dumps(value, indent=1, sort_keys=True)`."""
    inner = margin + " "
    if isinstance(value, dict) and value:
        rows = [f"{_quoted(key)}: {pretty(value[key], inner)}" for key in sorted(value)]
        return "{" + inner + ("," + inner).join(rows) + margin + "}"
    if isinstance(value, list | tuple) and value:
        return "[" + inner + ("," + inner).join(pretty(one, inner) for one in value) + margin + "]"
    return _quoted(value) if isinstance(value, str) else _write(value)
