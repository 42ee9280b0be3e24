"""`quickjson` gives what `json` gives, byte for byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem import quickjson

TEXT = st.text(st.characters())  # lone surrogates too: bytes of paths
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_what_json_writes(value: Any) -> None:
    assert json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) == quickjson.dumps(value)
    assert json.dumps(value, indent=1, sort_keys=True) == quickjson.pretty(value)
    assert value == quickjson.loads(quickjson.pretty(value).encode("ascii"))


@given(st.text(st.sampled_from('{}[]",:0123456789eE+-.truefalsn\\u \t\n\r\x00\x0b\xa0'), max_size=30) | st.text())
def test_what_is_read_is_what_json_reads(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        with pytest.raises(ValueError):  # any ValueError is what callers catch
            quickjson.loads(text)
    else:
        assert expected == quickjson.loads(text)


@pytest.mark.parametrize("data", [b"", b"\xff{}", b"NaN", b"-Infinity", b"{} {}", b'{"a":1,}', b"[" * 100_000])
def test_no_json_is_an_error(data: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        quickjson.loads(data)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {"a": {1}}])
def test_no_value_of_json_is_an_error(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        quickjson.dumps(value)


BAD = [
    '{"a": 1, "b": []',
    "{",
    "[1,",
    '{"a" 1}',
    "{1: 2}",
    '"\\x01"',
    '"abc',
    '{"a":}',
    "nul",
    "[1 2]",
    '"\\ud8',
    "",
    "-",
    "[" * 3,
]


def test_no_json_is_an_error_also_where_nobody_has_imported_json() -> None:
    """A hook never does; Python 3.11's scanner then has no error to raise."""
    script = (
        "import ast, sys; sys.path.insert(0, sys.argv[1]); from gitmem import quickjson; wrong = []\n"
        "for text in ast.literal_eval(sys.argv[2]):\n"
        "    try: wrong.append((text, quickjson.loads(text)))\n"
        "    except ValueError: pass\n"
        "assert not wrong and 'json' not in sys.modules, wrong"
    )
    folder = str(Path(quickjson.__file__).parent.parent)
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script, folder, repr(BAD)], capture_output=True)
    assert b"" == done.stderr and 0 == done.returncode
