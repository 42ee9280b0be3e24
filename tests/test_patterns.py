"""Regular expressions without `re`: the same as with it, whatever the table holds."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest

from gitmem import files, patterns, redact_rules
from gitmem.verdict import languages
from tests.repo import Repo


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_table", {})
    monkeypatch.setattr(patterns, "_learns", False)
    monkeypatch.setattr(patterns, "_learned", False)


def every_source() -> list[str]:
    """All expressions of the finders, by walking the tables of languages."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, str) and "(?P<" in value:
            found.add(value)
        elif isinstance(value, dict):
            walk(list(value.values()))
        elif isinstance(value, list | tuple):
            for one in value:
                walk(one)

    walk([value for name, value in vars(languages).items() if not name.startswith("__")])
    return sorted(found)


@pytest.mark.parametrize("source", [*every_source(), r"^a(b)?|\d+$", "", "[é-ü]", r"(?i:x)(?P<one>y)(?:z(?P<two>w))*"])
@pytest.mark.parametrize("flags", [0, patterns.ASCII, patterns.MULTILINE])
def test_what_is_kept_is_what_re_compiles(source: str, flags: int) -> None:
    patterns.use({})
    first = patterns.compiled(source, flags)
    assert re.compile(source, flags) == first
    kept = patterns.learned()
    if not source.isascii():
        assert kept is None
        return
    assert kept is not None and 1 == len(kept["patterns"])
    again = json.loads(json.dumps(kept))  # as it comes from the file
    patterns._table.clear()
    patterns.use(again)
    second = patterns.compiled(source, flags)
    assert second == re.compile(source, flags) and second.groupindex == first.groupindex
    assert second.groups == first.groups and second.pattern == source


def test_the_flags_are_those_of_re() -> None:
    assert (patterns.ASCII, patterns.MULTILINE) == (re.ASCII, re.MULTILINE)
    assert re.ASCII & redact_rules.compiled("AKIA[0-9]").flags


ENTRIES = [None, [], [1, 2, 3], [0, "zz", 0, {}], [0, "00", 0, {}], [0, "", 0, {}], "text",
           [32, "ff" * 40, 3, {"a": 9}], [2**70, "01000000", 0, {}], [32, "01000000", -5, {}], [32, "01000000", 10**12, {}]]  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_that_is_none_is_compiled_anew(entry: Any) -> None:
    patterns.use({"engine": patterns._engine(), "patterns": {"0 a(b)": entry}})
    assert patterns.compiled("a(b)").fullmatch("ab") and patterns.pattern("a(b)").findall("abab") == ["b", "b"]
    assert re.compile("a(b)") == patterns.compiled("a(b)")


def test_a_table_of_another_interpreter_is_not_used() -> None:
    patterns.use({"engine": "another", "patterns": {"0 a": [32, "00" * 8, 0, {}]}})
    assert {} == patterns._table
    assert patterns.compiled("a").search("ba")


def test_without_a_table_nothing_is_learned() -> None:
    assert patterns.compiled("a").search("ba") and patterns.learned() is None


def test_a_hook_keeps_a_table_and_a_broken_one_costs_nothing_but_time(ready: Repo) -> None:
    ready.commit("feat(api): list", {"src/api.py": "def a():\n    return 1\n"})
    kept = ready.path / ".git/gitmem/patterns.cache"
    whole = kept.read_bytes()
    table = files.kept(str(kept), patterns.FORM)
    assert sys.version in table["engine"] and 3 < len(table["patterns"])
    capsule = ready.capsule()
    for broken in (
        b"",
        b"{",
        whole[:-9],
        whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:],
        b"patterns-0" + whole[10:],
    ):
        assert broken != whole
        kept.write_bytes(broken)
        ready.git("commit", "-q", "--amend", "--reset-author", "--no-edit")
        assert {k: v for k, v in capsule.items() if k not in ("commit", "at", "id")} == {
            k: v for k, v in ready.capsule().items() if k not in ("commit", "at", "id")
        }
        assert whole == kept.read_bytes()
