"""The capsule: deterministic, honest about what it did not read, inert wherever it is shown."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem import records
from gitmem.capsule import capsule, flat
from gitmem.changes import Change, Commit
from gitmem.domains import count, domain_of
from gitmem.output import inert
from gitmem.subject import read_message
from tests.repo import ROOT, Repo


def commit_of(message: str, *changes: Change, parents: int = 1) -> Commit:
    return Commit("ab" * 20, ("cd" * 20,) * parents, 1000, "a@b.c", message, changes, True)


@pytest.mark.parametrize(("subject", "parents", "expected"), [
    ("feat(x)!: a", 1, ("feat", "x", True)), ("featherweight", 1, ("change", "", False)),
    ("fixture:", 1, ("change", "", False)), ("fix:", 1, ("fix", "", False)), ("FIX: shout", 1, ("fix", "", False)),
    ('Revert "feat: x"', 1, ("revert", "", False)), ("Merge branch 'x'", 2, ("merge", "", False)),
    ("feat : no", 1, ("change", "", False)), ("chore(deps-dev): x", 1, ("chore", "deps-dev", False)),
    ("feat: x\n\nBREAKING CHANGE: y", 1, ("feat", "", True)), ("", 1, ("change", "", False)),
])  # fmt: skip
def test_HRV_02_types_are_read_from_the_subject(subject: str, parents: int, expected: tuple[str, str, bool]) -> None:
    found = read_message(subject, parents=parents)
    assert expected == (found.type, found.scope, found.breaking)


def test_HRV_01_odd_messages_and_names_give_one_capsule_each(ready: Repo) -> None:
    before = len(ready.history())
    ready.commit("feat: a | b \"quoted\" 'single' \\ back", {"a|b.txt": "x\n"})
    ready.commit(
        "fix: body\n\nline | one\nline two\n\nFixes: #12\nCo-authored-by: Claude <noreply@example.com>",
        {"c.txt": "c\n"},
    )
    ready.git("checkout", "-q", "-b", "side", "HEAD~1")
    ready.commit("feat: side", {"s.txt": "s\n"})
    ready.git("checkout", "-q", "main")
    ready.git("merge", "-q", "--no-edit", "side")
    ready.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert before + 5 == len(ready.history())
    assert [1] * (before + 5) == ready.capsules_on(ready.history())
    fix = ready.capsule("HEAD~2")
    assert ("line | one line two", {"agents": ["claude"], "issues": ["#12"], "trailers": [["fixes", "#12"]]}) == (
        fix["why"],
        fix["refs"],
    )
    assert ["a|b.txt"] == ready.capsule("HEAD~3")["paths"]


def test_HRV_03_domains_count_distinct_paths_and_rules_of_the_configuration_win(ready: Repo) -> None:
    files = {"skills/a/SKILL.md": "a\n", "commands/x.md": "x\n", "docs/d.md": "d\n", "docs/e.md": "e\n",
             "src/api/p.py": "p\n", "src/api/q.py": "q\n", "src/api/r.py": "r\n", "root.c": "c\n"}  # fmt: skip
    ready.commit("feat: many", files)
    assert [["src:api", 3], ["docs", 2], ["commands", 1], ["root", 1], ["skills", 1]] == ready.capsule()["domains"]
    rules = "[[domains]]\nname = 'interface'\npaths = ['src/api', '*.c']\n"
    ready.commit("chore: rules", {".gitmem/config.toml": rules})
    ready.commit("feat: again", {name: text + "2\n" for name, text in files.items()})
    assert [["interface", 4], ["docs", 2], ["commands", 1], ["skills", 1]] == ready.capsule()["domains"]
    assert ["interface", "docs", "commands", "skills"] == [row["domain"] for row in ready.document("show", "--flat")]
    assert {"domain", "type", "summary", "commit", "date"} == ready.document("show", "--flat")[0].keys()


@pytest.mark.parametrize(("path", "domain"), [
    ("tests/test_a.py", "tests"), ("src/a.test.ts", "tests"), (".github/workflows/ci.yml", "ci"), ("package.json", "deps"),
    ("requirements-dev.txt", "deps"), ("config/app.yml", "config"), (".editorconfig", "config"), ("main.go", "root"),
    ("src/main.rs", "src:src"), ("lib/a/b.rb", "src:lib"), ("scripts/x.sh", "scripts"), ("hooks/pre-push", "hooks"),
    ("app/hooks/useX.ts", "hooks"), ("a/b/hooks/useX.ts", "src:a"), ("templates/x.html", "templates"), ("README.md", "docs"),
])  # fmt: skip
def test_each_path_has_one_domain(path: str, domain: str) -> None:
    assert domain == domain_of(path)


def test_a_wide_commit_sums_up_the_smallest_domains() -> None:
    counted = count(f"d{n:02d}/x.c" for n in range(20)).domains
    assert (13, ["other", 8]) == (len(counted), counted[-1])


FOLDERS = st.sampled_from(
    ["", "src", "SRC", "src/api", "tests", "a/b/spec", "docs", "skills/x", ".github/x", "scripts", "config", "lib/Docs"]
)
NAMES = st.sampled_from(
    ["a.py", "Test_a.py", "a_test.go", "x.spec.ts", "READme.MD", "package.json", "Requirements-dev.txt", ".gitlab-ci.yml",
     ".x", "y.toml", "FooTests.java", "latest.py", "conftest.py", "go.mod.bak"]
)  # fmt: skip


@given(st.lists(st.tuples(FOLDERS, NAMES, st.integers(0, 3)), max_size=60), st.booleans())
def test_many_paths_count_as_each_of_them_does(drawn: list[tuple[str, str, int]], ruled: bool) -> None:
    """Folder by folder or one by one; with rules of the project too."""
    paths = [f"{folder}/{n}{name}" if folder else f"{n}{name}" for folder, name, n in drawn]
    paths += [f"{folder}/{n}.c" for n in range(12) for folder, _, _ in drawn[:3] if folder]
    rules = [("mine", ["src/api"])] if ruled else []
    single = [count([path], rules) for path in set(paths)]
    expected: dict[str, int] = {}
    for one in single:
        expected[str(one.domains[0][0])] = expected.get(str(one.domains[0][0]), 0) + 1
    found = count(paths, rules)
    assert sum(one.tests for one in single) == found.tests
    assert len(expected) > 12 or dict(map(tuple, found.domains)) == expected  # type: ignore[arg-type]


def test_the_first_thing_in_a_note_is_a_sentence(ready: Repo) -> None:
    ready.commit("feat(api): list posts", {"a.py": "def a(): pass\n", "b.py": "x = 1\n"})
    note = ready.git("notes", "--ref=gitmem", "show")
    assert note.startswith('{"a":"feat(api): list posts (2 files, +2 -0)",')
    assert note in ready.git("log", "-1", "--notes=gitmem", "--format=%N")


def test_symbols_are_names_on_one_side_only(ready: Repo) -> None:
    ready.commit("feat: x", {"src/app.py": "def kept():\n    pass\n\n\ndef gone():\n    pass\n"})
    ready.commit(
        "feat: y",
        {
            "src/app.py": "@app.get('/posts')\ndef come():\n    return os.environ['PORT']\n\n\ndef kept():\n    return 1\n"
        },
    )
    found = ready.capsule()["symbols"]
    assert {"+func come", "-func gone", "+route /posts", "+env PORT"} <= set(found)
    assert not {"+func kept", "-func kept"} & set(found)


def test_what_was_not_read_is_said(ready: Repo) -> None:
    ready.commit("feat: wide", {f"w/{n}.txt": "x\n" for n in range(401)})
    wide = ready.capsule()
    assert (401, ["lines"], 50) == (wide["files"], wide["cut"], len(wide["paths"]))
    assert "added" not in wide and "feat: wide (401 files)" == wide["a"]
    ready.commit("feat: binary", {"b.bin": b"\0\1\2", "t.txt": "t\n", "huge.txt": "x" * (2 << 20)})
    assert (3, 1) == (ready.capsule()["files"], ready.capsule()["added"])


def test_long_commits_are_cut_by_field_and_stay_below_the_limits() -> None:
    changes = [Change("M", "d" * 120 + f"/{n}", None, n, 0, b"") for n in range(50)]
    line = capsule(commit_of("feat: x\n\n" + "why " * 300, *changes))
    assert len(line) <= records.TARGET_BYTES
    fields = json.loads(line)
    assert "paths" in fields["cut"]
    assert fields["paths"][0].endswith("/49")


def test_types_renames_modes_and_links_are_counted_as_git_counts(ready: Repo) -> None:
    ready.commit("feat: base", {"a.txt": "1\n2\n3\n4\n5\n", "l": "target\n", "x.sh": "echo\n"})
    ready.git("mv", "a.txt", "b.txt")
    (ready.path / "l").unlink()
    (ready.path / "l").symlink_to("b.txt")
    (ready.path / "x.sh").chmod(0o755)
    ready.write({"b.txt": "1\n2\n3\n4\n5\n6\n"})
    ready.commit("feat: all kinds")
    fields = ready.capsule()
    numstat = [row.split("\t") for row in ready.git("show", "--numstat", "--format=", "-M").splitlines()]
    assert sum(int(row[0]) for row in numstat) == fields["added"]
    assert sum(int(row[1]) for row in numstat) == fields["removed"]
    assert {"b.txt", "l", "x.sh"} == set(fields["paths"])


ODD = [
    "top",
    "a b",
    " lead",
    "trail ",
    "tab\there",
    "new\nline",
    'qu"ote',
    "ünï",
    "漢字",
    "\udcff\udcfe",
    "-dash",
    "*",
    "`x`",
]


@pytest.mark.parametrize("name", ODD)
def test_any_name_is_kept_exactly(ready: Repo, name: str) -> None:
    ready.write({f"dir/{name}/{name}": "x\n"})
    ready.git("add", "-A")
    ready.git("commit", "-q", "-m", "feat: odd")
    assert [f"dir/{name}/{name}"] == ready.capsule()["paths"]
    line = ready.git("notes", "--ref=gitmem", "show").encode("utf-8", "surrogateescape")
    assert line.decode("utf-8")  # canonical lines are UTF-8 whatever the name is
    assert f"dir/{name}/{name}" == json.loads(line)["paths"][0]


def test_INT_03_what_a_terminal_would_obey_is_only_shown(ready: Repo) -> None:
    evil = "feat: \x1b[31mred\x1b[0m \u202eevil\u202c <script> **bold** \x07"
    ready.commit(evil, {"\x1b]0;title\x07.txt": "x\n"})
    for text in (
        ready.git("notes", "--ref=gitmem", "show"),
        ready.say("show"),
        ready.say("log"),
        ready.say("show", "--raw"),
    ):
        assert not set(text) & {"\x1b", "\x07", "\u202e", "\u202c"}
    assert evil == ready.capsule()["summary"]
    assert "feat: \\x1b[31mred\\x1b[0m \\u202eevil" in ready.say("show")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(string.ascii_letters, min_size=1, max_size=6), json_values, max_size=6))
def test_canonical_lines_are_one_line_of_utf8_and_lossless(fields: dict[str, object]) -> None:
    line = records.canonical(fields)
    assert b"\n" not in line
    text = line.decode("utf-8")
    assert json.loads(text) == json.loads(json.dumps(fields))
    assert text == inert(text) or "\t" in text
    assert records.canonical(json.loads(text)) == line


@given(st.binary(max_size=200))
def test_any_bytes_are_read_as_a_record_or_kept_as_unreadable(data: bytes) -> None:
    reading = records.read([line for line in data.split(b"\n") if line.strip()])
    assert len(reading.unreadable) + len(reading.records) + len(reading.hidden) <= data.count(b"\n") + 1


@pytest.mark.parametrize(
    "bomb",
    [b"[" * 60_000, b'{"a":' * 10_000, b"1" * 70_000, b'{"v":' + b"9" * 5000 + b"}", b'{"kind":1}', b"null", b"\xff"],
)
def test_bombs_are_unreadable_and_nothing_more(bomb: bytes) -> None:
    assert records.parse(bomb) is None


@given(st.text(max_size=300))
def test_any_message_is_read(message: str) -> None:
    found = read_message(message)
    assert len(found.summary) <= 120 and len(found.why) <= 400
    fields = json.loads(capsule(commit_of(message)))
    assert "ab" * 20 == fields["commit"]
    assert flat(fields, "2024-01-01") == []


def test_of_several_capsules_the_whole_the_newest_version_the_smallest_id_counts() -> None:
    oid = "ab" * 20
    cut = records.line_of("capsule", oid, 1, cut=["lines"])
    whole = [records.line_of("capsule", oid, 1, summary=s) for s in ("a", "b")]
    fields = json.loads(whole[0]) | {"v": 2}
    newer = records.canonical(fields | {"id": records.content_id(fields)})
    foreign = records.line_of("capsule", "cd" * 20, 1, summary="foreign")

    def pick(*lines: bytes) -> records.Record:
        found = records.capsule_of(oid, records.read(lines).records)
        assert found is not None
        return found

    assert min(whole, key=lambda w: json.loads(w)["id"]) == pick(cut, *whole, foreign).line
    assert 2 == pick(cut, newer, whole[1]).fields["v"]
    assert records.capsule_of(oid, records.read([foreign]).records) is None


def test_a_retracted_record_is_hidden_not_gone() -> None:
    oid = "ab" * 20
    event = records.line_of("event", oid, 1, text="wrong")
    reading = records.read([event, records.line_of("retract", oid, 2, ids=[json.loads(event)["id"]])])
    assert (["retract"], ["event"]) == ([r.kind for r in reading.records], [r.kind for r in reading.hidden])


def test_the_schema_of_records_fits_what_is_written(ready: Repo) -> None:
    import jsonschema

    schema = json.loads((ROOT / "docs/schema/record.json").read_text())
    ready.env["CLAUDECODE"] = "1"
    ready.commit("feat(x)!: y\n\nwhy\n\nFixes: #1", {"a.py": "def a(): pass\n", "tests/test_a.py": "x\n"})
    ready.gitmem(
        "add", "devlog", "done", "--verdict", "PASS", "--learning", "[gotcha] x", "--blocker", "none", "--path", "a.py"
    )
    ready.git("commit", "-q", "--amend", "--no-edit")
    ready.git("revert", "--no-edit", "HEAD")
    seen = set()
    for rev in ("HEAD", "HEAD~1"):
        for fields in ready.records(rev):
            jsonschema.validate(fields, schema)
            seen.add(fields["kind"])
    assert {"capsule", "made", "link", "devlog"} <= seen
    assert set(schema["properties"]["kind"]["enum"]) == records.KINDS
