"""Reflection on real repositories: when it is due, what the work order says, what is accepted and what is not."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem import manifest
from gitmem.checks import check_page
from gitmem.git.commits import read_commits
from gitmem.git.difference import Known, read_difference
from tests.repo import OBJECT_FORMAT, ROOT, Repo

FOLDER = ".gitmem/bootstrap"
PAGES = manifest.ORDER
ROUTE = "from app import app\n\n\n@app.get('/posts')\ndef list_posts():\n    return []\n"
SECRET = "ghp_" + "R4nd0mL00k1ngT0k3nV4lu3Abcd3fGh1jKlM"


def page_text(name: str, *lines: str, at: str = "2023-01-01T00:00:00Z", front: str = "") -> str:
    body = "\n".join(lines or ("It is a blog.", "", "Posts are Markdown files.", "Pages are built once."))
    marker = (
        "\n<!-- gitmem:entries -->\n- [first-post · 2023-01-01] posts can be listed\n"
        if name == "current-state.md"
        else "\n"
    )
    return f"---\npage: {name}\ngenerated_at: {at}\ngenerated_by: a person\n{front}---\n# {name}\n\n{body}\n{marker}"


@pytest.fixture
def book(ready: Repo) -> Repo:
    """A repository whose four pages are committed."""
    ready.commit("docs: pages", {f"{FOLDER}/{name}": page_text(name) for name in PAGES})
    for n in range(3):
        ready.commit(f"docs: note {n}", {"NOTES.md": f"note {n}\n"})
    return ready


def due(repo: Repo) -> dict[str, Any] | None:
    found: dict[str, Any] | None = repo.document("reflect")["due"]
    return found


def edit(repo: Repo, *names: str, text: str = "Posts can be listed at /posts.", at: str | None = None) -> None:
    """What an agent does: edits pages in place and sets the time."""
    now = at or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for name in names:
        path = repo.path / FOLDER / name
        old = path.read_text().split("\n")
        new = [f"generated_at: {now}" if line.startswith("generated_at:") else line for line in old]
        path.write_text("\n".join([*new, text, ""]))


def route(repo: Repo, name: str = "src/api/routes/posts.py", text: str = ROUTE) -> str:
    return repo.commit("feat(api): list posts", {name: text})


def codes(repo: Repo, *args: str) -> list[str]:
    return [problem["code"] for problem in repo.document("reflect-commit", *args, ok=(1,))["problems"]]


def outcomes(repo: Repo, rev: str = "HEAD") -> list[str]:
    return [r["outcome"] for r in repo.records(rev) if r["kind"] == "reflection"]


EMPTY = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


def test_REF_01_fewer_than_four_commits_are_judged_from_the_empty_tree(repo: Repo) -> None:
    repo.commit("feat: everything", {"src/routes/posts.py": ROUTE})
    repo.gitmem("init")
    found = repo.document("reflect-prepare")
    assert ("prepared", "relevant", repo.head()) == (found["status"], found["verdict"], found["head"])
    assert EMPTY[OBJECT_FORMAT] == found["base"]
    assert EMPTY[OBJECT_FORMAT] == repo.document("reflect-prepare", "--dry-run", "--range", "..HEAD")["base"]


@pytest.mark.parametrize(("depth", "verdict"), [(1, "skip"), (2, "relevant")])
def test_REF_02_a_shallow_clone_is_judged_on_what_exists(book: Repo, tmp_path: Path, depth: int, verdict: str) -> None:
    route(book)
    book.git("clone", "-q", f"--depth={depth}", f"file://{book.path}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    found = shallow.document("reflect-prepare", "--dry-run")
    assert (verdict, "shallow") == (found["verdict"], found["truncated"])
    assert "not everything was read: shallow" in shallow.say("reflect-prepare", "--dry-run")


def test_REF_03_what_is_due_stays_due_through_unrelated_commits(book: Repo) -> None:
    base = book.head()
    book.write({"src/api/routes/posts.py": ROUTE})
    book.git("add", "-A")
    done = book.run("git", "commit", "-q", "-m", "feat(api): list posts")
    first = due(book)
    assert first is not None
    said = f"gitmem: a reflection is due for {', '.join(first['targets'])}: run 'gitmem reflect'\n"
    assert said.encode() == done.stderr
    for n in range(3):
        book.write({"NOTES.md": f"later {n}\n"})
        book.git("add", "-A")
        assert b"" == book.run("git", "commit", "-q", "-m", f"docs: {n}").stderr
    last = due(book)
    assert last is not None and base in book.history(f"{last['base']}", "HEAD")
    assert (first["base"], book.head()) == (last["base"], last["head"])
    assert "src/api/routes/posts.py" in last["changed_files"] and set(first["targets"]) <= set(last["targets"])


def test_REF_04_a_committed_reflection_does_not_fire_again(book: Repo) -> None:
    route(book)
    edit(book, *(due(book) or {})["targets"])
    book.gitmem("reflect-commit", "--agent", "claude", "--commit")
    assert None is due(book)
    assert ["committed"] == outcomes(book)
    for n in range(4):
        book.commit(f"docs: readme {n}", {"README.md": f"# {n}\n"})
        assert None is due(book)


ODD = ["posts", "a b", " lead", "trail ", "tab\there", "new\nline", 'qu"ote', "ünï", "漢字", "\udcff\udcfe"]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("folder", ["routes", "deep/er/routes"])
def test_REF_05_any_name_fires_and_is_named_exactly(book: Repo, folder: str, name: str) -> None:
    path = f"{folder}/{name}.py"
    route(book, path)
    found = due(book)
    assert found is not None and [path] == [p for p in found["changed_files"] if p.startswith(folder)]
    evidence = {e["path"] for s in found["signals"] if s["name"] == "routes" for e in s["evidence"]}
    assert {path} == evidence


def test_REF_06_a_rename_out_of_and_into_routes_and_a_deletion_fire(book: Repo) -> None:
    route(book)
    book.gitmem("reflect-commit", "--no-change", "--reason", "start")
    (book.path / "src/core").mkdir()
    book.git("mv", "src/api/routes/posts.py", "src/core/posts.py")
    book.commit("refactor: move out")
    found = due(book)
    assert found is not None and "routes" in {s["name"] for s in found["signals"]}
    assert any(
        "src/api/routes/posts.py" in reason and "src/core/posts.py" in reason for reason in found["heuristic_reasons"]
    )
    book.gitmem("reflect-commit", "--no-change", "--reason", "seen")
    book.git("mv", "src/core/posts.py", "src/api/routes/posts.py")
    book.commit("refactor: move back in")
    assert due(book) is not None
    book.gitmem("reflect-commit", "--no-change", "--reason", "seen")
    (book.path / "src/api/routes/posts.py").unlink()
    book.commit("refactor: drop it")
    assert due(book) is not None


def test_REF_07_what_has_a_role_is_left_out_and_named(book: Repo) -> None:
    files: dict[str, str | bytes] = {"tests/models/t.py": "class T(Model):\n    x = Column(Integer)\n", "vendor/x/controllers/c.rb": "def index\nend\n",
             "docs/routes/readme.md": "# routes\n", "package-lock.json": "{}\n" * 300, "dist/app.js": "x = 1\n" * 300,
             "models/blob.bin": b"\0\1\2" * 100}  # fmt: skip
    book.commit("chore: all of these", files)
    found = book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")
    assert "skip" == found["verdict"]
    assert {"test": 1, "vendored": 1, "docs": 1, "lock": 1, "generated": 1, "binary": 1} == found["left_out"]


def test_REF_09_volume_is_a_pair_or_net_code(book: Repo) -> None:
    def verdict(files: dict[str, str], *, before: dict[str, str] | None = None) -> str:
        book.commit("chore: before", before or {"x.c": f"{random.random()}\n"})
        book.commit("chore: change", files)
        found: str = book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")["verdict"]
        return found

    def lines(mark: str, count: int) -> str:
        return "".join(f"    step_{mark}_{n}(value_{n} + {n});\n" for n in range(count))

    old = {f"a/f{n}.c": lines(f"old{n}", 10) for n in range(10)}
    changed = {f"a/f{n}.c": lines(f"new{n}", 10) for n in range(10)}
    assert "relevant" == verdict(changed, before=old)
    smaller = changed | {"a/f9.c": lines("new9", 9) + lines("old9", 10)[-0:]}
    old2 = {f"b/f{n}.c": lines(f"old{n}", 10) for n in range(10)}
    new2 = {f"b/f{n}.c": lines(f"new{n}", 10 if n else 9) for n in range(10)}
    assert "skip" == verdict(new2, before=old2)
    old3 = {f"c/f{n}.c": lines(f"old{n}", 22) for n in range(9)}
    new3 = {f"c/f{n}.c": lines(f"new{n}", 22) for n in range(9)}
    assert "skip" == verdict(new3, before=old3)
    assert "relevant" == verdict({"d/large.c": lines("large", 9000)})
    assert "skip" == verdict({f"e{n}/package-lock.json": "{}\n" * 30 for n in range(10)})
    assert smaller


def test_REF_10_each_failure_has_its_own_message_and_status(book: Repo, tmp_path: Path) -> None:
    def asked(repo: Repo, *args: str, ok: tuple[int, ...] = (1,), cwd: Path | None = None) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(repo.gitmem("reflect-prepare", *args, "--json", ok=ok, cwd=cwd).stdout)
        return found

    for bad in ("nope..HEAD", "HEAD..nope", "HEAD", "--output=stolen..HEAD", "HEAD...HEAD"):
        assert "bad_range" == asked(book, f"--range={bad}")["status"]
    assert not (book.path / "stolen").exists()
    assert "not_a_repository" == asked(book, cwd=tmp_path)["status"]
    book.env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    assert "dubious ownership" in asked(book)["message"]
    del book.env["GIT_TEST_ASSUME_DIFFERENT_OWNER"]
    unborn = Repo.create(tmp_path / "unborn")
    found = asked(unborn, ok=(0,))
    assert ("skipped", ["no commits"]) == (found["status"], found["reasons"])
    bare = Repo.create(tmp_path / "plain")
    bare.commit("feat: x", {"x.py": "x = 1\n"})
    assert "missing_bootstrap" == asked(bare)["status"]
    (unborn.path / ".git/HEAD").write_text("garbage\n")
    assert asked(unborn)["status"] in ("not_a_repository", "git_error")
    oid = book.commit("feat: lost", {"src/routes/lost.py": ROUTE})
    blob = book.git("rev-parse", f"{oid}:src/routes/lost.py")
    (book.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (book.path / "src/routes/lost.py").unlink()  # git reads the work tree's copy where it has one
    found = asked(book, "--dry-run", "--range=HEAD~1..HEAD", ok=(0,))
    assert ("relevant", "missing") == (found["verdict"], found["truncated"])


def test_REF_11_pages_edited_in_place_are_accepted_the_first_time(book: Repo) -> None:
    route(book)
    text = book.say("reflect")
    targets = (due(book) or {})["targets"]
    assert all(f"{FOLDER}/{name}" in text for name in targets) and "gitmem reflect-commit --agent NAME" in text
    edit(book, *targets)
    said = book.say("reflect-commit", "--agent", "claude")
    assert said.startswith("accepted: reflection ")
    assert sorted(f"{FOLDER}/{name}" for name in targets) == book.git("diff", "--cached", "--name-only").split()
    assert f"source_commit: {book.head()}" in (book.path / FOLDER / targets[0]).read_text()
    assert ["accepted"] == outcomes(book)
    assert None is due(book)
    book.git("commit", "-q", "-m", "docs: reflect")
    assert ["committed"] == outcomes(book)
    assert "" == book.git("status", "--porcelain")


def test_a_document_on_standard_input_is_the_other_way_in(book: Repo) -> None:
    route(book)
    targets = (due(book) or {})["targets"]
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    texts = {
        f"{FOLDER}/{n}": page_text(n, "It is a blog.", "Posts at /posts.", "Markdown files.", at=now) for n in targets
    }
    document = json.dumps({"files": texts | {"../evil.md": "x"}}).encode()
    refused = json.loads(book.gitmem("reflect-commit", "--from", "-", "--json", stdin=document, ok=(1,)).stdout)
    assert ["path_refused"] == [p["code"] for p in refused["problems"]]
    book.gitmem("reflect-commit", "--from", "-", stdin=json.dumps({"files": texts}).encode())
    assert "Posts at /posts." in (book.path / FOLDER / targets[0]).read_text()
    for bad in (b"", b"[]", b'{"files": 1}', b'{"files": {"a": 1}}', b"\xff", b"[" * 100_000):
        assert 1 == book.gitmem("reflect-commit", "--from", "-", stdin=bad, ok=(1,)).returncode


def test_REF_12_every_target_is_changed_or_skipped_with_a_reason(book: Repo) -> None:
    route(book)
    targets = (due(book) or {})["targets"]
    edit(book, targets[0])
    assert ["targets_missing"] * (len(targets) - 1) == codes(book)
    assert 2 == book.gitmem("reflect-commit", "--skip", targets[1], ok=(2,)).returncode
    skips = [word for name in targets[1:] for word in ("--skip", name.removesuffix(".md"))]
    book.gitmem("reflect-commit", *skips, "--reason", "the others are still true")
    assert "the others are still true" in [r.get("reason") for r in book.records() if r["kind"] == "reflection"]


def break_page(change: Callable[[str], str | bytes]) -> Callable[[str], bytes]:
    def apply(text: str) -> bytes:
        made = change(text)
        return made if isinstance(made, bytes) else made.encode()

    return apply


NOW = "2030-01-01T00:00:00Z"
BROKEN: dict[str, tuple[Callable[[str], str | bytes], str]] = {
    "blank body": (lambda t: t[: t.index("# ")], "content_empty"),
    "only a new time": (lambda t: t, "content_unchanged"),
    "time zero": (lambda t: t.replace("generated_at: 2026", "generated_at: 0 #"), "generated_at_invalid"),
    "year 9999": (lambda t: t.replace("generated_at: 2026", "generated_at: 9999"), "generated_at_invalid"),
    "time in the body only": (lambda t: t.replace("generated_at:", "x:", 1) + "\ngenerated_at: 2026-01-01T00:00:00Z\nmore\n", "frontmatter_invalid"),
    "older than before": (lambda t: t.replace("generated_at: 2026", "generated_at: 2001") + "more\n", "generated_at_invalid"),
    "broken YAML": (lambda t: t.replace("page:", "page: [", 1) + "more\n", "frontmatter_invalid"),
    "a key twice": (lambda t: t.replace("page:", "page: x\npage:", 1) + "more\n", "frontmatter_invalid"),
    "an alias": (lambda t: t.replace("page:", "a: &a 1\nb: *a\npage:", 1) + "more\n", "frontmatter_invalid"),
    "JSON as text": (lambda t: '["page"]', "frontmatter_invalid"),
    "a dropped key": (lambda t: t.replace("generated_by: a person\n", "") + "more\n", "frontmatter_invalid"),
    "half of the lines": (lambda t: t[: t.index("# ")] + "short\n", "content_shrunk"),
    "NUL": (lambda t: t + "more\0\n", "not_text"),
    "not UTF-8": (lambda t: t.encode() + b"more \xff\n", "not_text"),
    "60 KB too much": (lambda t: t + "more\n" * 20_000, "too_large"),
    "a secret": (lambda t: t + f"token = {SECRET}\n", "secret_found"),
    "bidi": (lambda t: t + "more \u202egnp.exe\n", "control_characters"),
    "tags": (lambda t: t + "more \U000e0041\n", "control_characters"),
    "hidden": (lambda t: t + "mo\u200bre\n", "control_characters"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_REF_13_what_is_wrong_is_refused_with_its_code_and_nothing_changes(book: Repo, name: str) -> None:
    change, code = BROKEN[name]
    route(book)
    targets = (due(book) or {})["targets"]
    edit(book, *targets[1:])
    path = book.path / FOLDER / targets[0]
    path.write_bytes(break_page(change)(path.read_text().replace("generated_at: 2023", "generated_at: 2026")))
    before = {n: b for n, b in book.state_files().items() if "/objects/" not in n}
    assert code in codes(book)
    after = {n: b for n, b in book.state_files().items() if "/objects/" not in n}
    assert {".git/gitmem/reflect-prompt.json"} == {n for n in after if after[n] != before.get(n)} - {
        ".git/gitmem/reflect.lock"
    }
    assert 1 == (due(book) or {})["attempts"]


def test_REF_13_sixty_megabytes_are_refused_without_being_read_whole(book: Repo) -> None:
    route(book)
    (book.path / FOLDER / "what-it-does.md").write_bytes(b"x" * (60 << 20))
    assert "too_large" in codes(book)


def test_honest_letters_and_emoji_are_no_tricks() -> None:
    text = page_text("what-is.md", "می‌خواهم 👩‍👩‍👧 naïve — 漢字", "b", "c", at="2024-01-01T00:00:00Z")
    assert [] == check_page("what-is.md", text.encode(), page_text("what-is.md"), now=1_800_000_000)


def test_REF_14_other_pages_may_move_meanwhile_and_targets_may_not(book: Repo) -> None:
    route(book)
    targets = (due(book) or {})["targets"]
    other = next(name for name in PAGES if name not in targets)
    edit(book, other, text="By hand.")
    book.commit("docs: by hand")
    edit(book, *targets)
    assert [] == book.document("reflect-commit", "--dry-run").get("problems", [])
    book.git("stash", "-q")
    edit(book, targets[0], text="By hand as well.", at="2024-01-01T00:00:00Z")
    book.commit("docs: a target by hand")
    book.git("checkout", "-q", "stash@{0}", "--", *(f"{FOLDER}/{name}" for name in targets[1:]))
    edit(book, targets[0], text="More.")
    found = book.document("reflect-commit", ok=(1,))["problems"]
    assert [(targets[0], "snapshot_mismatch")] == [
        (p["page"], p["code"]) for p in found if p["code"] == "snapshot_mismatch"
    ]
    book.gitmem("reflect-prepare", "--force")
    assert "accepted" == book.document("reflect-commit")["status"]


def test_REF_15_line_endings_are_no_mismatch_and_stay(book: Repo) -> None:
    book.git("config", "core.autocrlf", "true")
    route(book)
    targets = (due(book) or {})["targets"]
    edit(book, *targets)
    for name in targets:
        path = book.path / FOLDER / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    book.gitmem("reflect-commit")
    data = (book.path / FOLDER / targets[0]).read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") and b"source_commit: " in data
    assert b"\r" not in book.run("git", "show", f":{FOLDER}/{targets[0]}").stdout


@pytest.mark.parametrize("what", ["page", "folder", "state"])
def test_REF_16_nothing_goes_through_a_symbolic_link(book: Repo, tmp_path: Path, what: str) -> None:
    route(book)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "what-is.md").write_text("outside\n")
    place = {
        "page": book.path / FOLDER / "what-is.md",
        "folder": book.path / FOLDER,
        "state": book.path / ".git/gitmem",
    }[what]
    if place.is_dir():
        place.rename(tmp_path / "moved")
        place.symlink_to(outside)
    else:
        place.unlink()
        place.symlink_to(outside / "what-is.md")
    for command in ("reflect-prepare", "reflect-commit"):
        assert b"symbolic link" in book.gitmem(command, ok=(1,)).stderr
    assert ["what-is.md"] == os.listdir(outside)
    assert "outside\n" == (outside / "what-is.md").read_text()


@pytest.mark.parametrize(
    "tamper", ["hash", "rules", "targets", "snapshot", "reason", "with a new id", "broken", "huge"]
)
def test_REF_17_a_tampered_manifest_writes_nothing(book: Repo, tamper: str) -> None:
    route(book)
    path = book.path / ".git/gitmem/reflect-prompt.json"
    fields = json.loads(path.read_text())
    edit(book, *fields["targets"])
    if tamper == "hash":
        fields["snapshot_hash"] = ""
    elif tamper == "rules":
        fields["validation_rules"] = []
    elif tamper in ("targets", "with a new id"):
        fields["targets"] = ["../../README.md"]
    elif tamper == "snapshot":
        fields["snapshot"] = dict.fromkeys(PAGES)
    elif tamper == "reason":
        fields["heuristic_reasons"] = ["because"]
    if tamper == "with a new id":
        fields["id"] = manifest.content_id(fields)
    path.write_text({"broken": "{", "huge": "[" * 50_000}.get(tamper) or json.dumps(fields))
    expected = "manifest_corrupt" if tamper in ("broken", "huge") else "manifest_changed"
    before = book.git("diff", "--cached")
    assert [expected] == codes(book)
    assert before == book.git("diff", "--cached") and "# a project\n" == (book.path / "README.md").read_text()


def race(book: Repo, rounds: int) -> None:
    for n in range(rounds):
        book.commit(f"feat: {n}", {f"src/routes/r{n}.py": ROUTE.replace("posts", f"posts{n}")})
        book.gitmem("reflect-prepare", "--force")
        targets = (due(book) or {})["targets"]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + n - rounds))
        documents = [
            json.dumps(
                {
                    "files": {
                        f"{FOLDER}/{t}": page_text(t, *[f"round {n} by {who} {'x' * 60}"] * 700, at=now)
                        for t in targets
                    }
                }
            ).encode()
            for who in "ab"
        ]
        argv = [sys.executable, "-P", "-m", "gitmem", "reflect-commit", "--from", "-"]
        running = [
            subprocess.Popen(
                argv,
                cwd=book.path,
                env=book.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in documents
        ]
        for one, document in zip(running, documents, strict=True):
            assert one.stdin is not None
            one.stdin.write(document)
            one.stdin.close()
        statuses = sorted(one.wait() for one in running)
        assert [0, 1] == statuses
        kept = [(book.path / FOLDER / t).read_text() for t in targets]
        winners = {text.split(" by ")[1][0] for text in kept}
        assert 1 == len(winners) and all(f"by {'b' if winners == {'a'} else 'a'} " not in text for text in kept)
        book.git("commit", "-q", "-m", "docs: reflect")


def test_REF_18_of_two_at_once_exactly_one_wins(book: Repo) -> None:
    race(book, 4)


@pytest.mark.soak
def test_REF_18_of_two_at_once_exactly_one_wins_a_hundred_times(book: Repo) -> None:
    race(book, 100)


STOP = """
import os, sys
sys.path.append(sys.argv[1])
step = [int(sys.argv[2])]
def counted(original):
    def call(*args, **kwargs):
        step[0] -= 1
        if step[0] == 0: os.kill(os.getpid(), 9)
        result = original(*args, **kwargs)
        step[0] -= 1
        if step[0] == 0: os.kill(os.getpid(), 9)
        return result
    return call
for name in ("replace", "unlink", "fsync", "rename", "posix_spawnp"):
    setattr(os, name, counted(getattr(os, name)))
from gitmem.cli import main
sys.exit(main(["reflect-commit"]))
"""


def test_REF_19_killed_at_every_write_boundary_the_pages_are_old_or_new_and_a_retry_succeeds(book: Repo) -> None:
    """Every replacement, removal, sync and start of git is a boundary, before and after it."""
    route(book)
    targets = (due(book) or {})["targets"]
    edit(book, *targets)
    edited = {name: (book.path / FOLDER / name).read_text() for name in targets}
    held = book.path.parent / "held"
    subprocess.run(["cp", "-a", str(book.path), str(held)], check=True)
    for step in range(1, 400):
        subprocess.run(["rm", "-rf", str(book.path)], check=True)
        subprocess.run(["cp", "-a", str(held), str(book.path)], check=True)
        done = book.run(sys.executable, "-c", STOP, str(ROOT), str(step), ok=None)
        texts = {name: (book.path / FOLDER / name).read_text() for name in targets}
        sourced = [name for name in targets if "source_commit:" in texts[name]]
        assert all(texts[n] == edited[n] for n in targets if n not in sourced)
        if done.returncode == 0:
            break
        complete = not (book.path / ".git/gitmem/reflect-prompt.json").exists() and sourced == list(targets)
        again = book.gitmem("reflect-commit", ok=(0, 1))
        finished = b"finished the interrupted reflection" in again.stderr or complete
        assert (again.returncode == 0) != finished, (step, again)
        assert all("source_commit:" in (book.path / FOLDER / name).read_text() for name in targets)
        assert not (book.path / ".git/gitmem/reflect-commit.journal").exists()
        assert sorted(f"{FOLDER}/{n}" for n in targets) == book.git("diff", "--cached", "--name-only").split()
    assert step > 20


def test_REF_20_two_refusals_park_it_and_no_change_closes_it(book: Repo) -> None:
    route(book)
    assert codes(book) and "due" == (due(book) or {})["state"]
    assert codes(book)
    parked = due(book)
    assert parked is not None and ("parked", 2) == (parked["state"], parked["attempts"])
    assert any("targets_missing" in error for error in parked["errors"])
    book.write({"src/routes/more.py": ROUTE.replace("posts", "more")})
    book.git("add", "-A")
    assert b"" == book.run("git", "commit", "-q", "-m", "feat: more").stderr
    assert "parked" == (due(book) or {})["state"] and "src/routes/more.py" in (due(book) or {})["changed_files"]
    assert any("parked" in p["what"] for p in book.document("status")["problems"])
    assert 2 == book.gitmem("reflect-commit", "--no-change", ok=(2,)).returncode
    book.gitmem("reflect-commit", "--no-change", "--reason", "internal only")
    assert None is due(book)
    assert ["no-change"] == outcomes(book)
    book.commit("docs: after", {"NOTES.md": "after\n"})
    assert None is due(book)


def test_REF_21_a_dry_run_changes_no_byte(book: Repo) -> None:
    book.env["GITMEM"] = "off"
    route(book)
    del book.env["GITMEM"]
    before = book.state_files()
    found = book.document("reflect-prepare", "--dry-run")
    book.write({"src/routes/new.py": ROUTE})
    held = book.state_files()
    assert "prepared" == found["status"]
    assert "relevant" == book.document("reflect-prepare", "--dry-run", "--worktree")["verdict"]
    assert held == book.state_files() | {}
    (book.path / "src/routes/new.py").unlink()
    book.gitmem("reflect-prepare")
    edit(book, *(due(book) or {})["targets"])
    held = book.state_files()
    assert "would accept" == book.document("reflect-commit", "--dry-run")["status"]
    assert "would close" == book.document("reflect-commit", "--dry-run", "--no-change", "--reason", "x")["status"]
    book.gitmem("trim", "--dry-run", "--keep", "1")
    assert held == book.state_files()
    assert before != held


def test_the_work_tree_counts_when_asked(book: Repo) -> None:
    book.write({"src/routes/untracked.py": ROUTE})
    assert "skip" == book.document("reflect-prepare", "--dry-run")["verdict"]
    found = book.document("reflect-prepare", "--worktree")
    assert ("prepared", book.head()) == (found["status"], found["head"])
    assert "?? src/" in book.git("status", "--porcelain")


def stage(book: Repo, text: str | bytes) -> None:
    book.write({f"{FOLDER}/what-is.md": text})
    book.git("add", "-A")


def test_REF_22_a_page_staged_by_hand_is_checked_with_path_and_line(book: Repo) -> None:
    stage(book, page_text("what-is.md", "By hand."))
    assert "the pages are fresh\n" == book.say("check", "--staged")
    stage(book, page_text("what-is.md").replace("page: what-is.md", "page: [x"))
    done = book.gitmem("check", "--staged", ok=(1,))
    assert (
        done.stdout.decode().startswith(f"{FOLDER}/what-is.md:2: frontmatter_invalid: ")
        or b":3: frontmatter_invalid" in done.stdout
    )
    stage(book, page_text("what-is.md", f"password = {SECRET}"))
    assert b"secret_found" in book.gitmem("check", "--staged", ok=(1,)).stdout
    assert SECRET not in book.gitmem("check", "--staged", ok=(1,)).stdout.decode()


def aged(book: Repo, days: int, relevant: int) -> None:
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * 86400 - 60))
    book.env["GITMEM"] = "off"
    book.commit("docs: pages", {f"{FOLDER}/{name}": page_text(name, f"Aged {days}.", at=at) for name in PAGES})
    del book.env["GITMEM"]
    for n in range(relevant):
        book.commit(f"feat: {n}", {f"src/routes/{days}_{n}.py": ROUTE.replace("posts", f"p{days}_{n}")})


@pytest.mark.parametrize(
    ("days", "relevant", "stale"), [(31, 0, False), (31, 1, True), (30, 1, False), (1, 9, False), (1, 10, True)]
)
def test_REF_23_freshness_counts_days_and_relevant_commits(book: Repo, days: int, relevant: int, stale: bool) -> None:
    aged(book, days, relevant)
    found = book.document("check", ok=(0, 1))
    state = {one["page"]: one for one in found["pages"]}
    assert (days, relevant, stale) == (
        state["what-it-does.md"]["days"],
        len(state["what-it-does.md"]["commits"]),
        state["what-it-does.md"]["stale"],
    )
    assert not state["what-is.md"]["stale"]
    assert ("failed" if stale else "ok") == found["status"]
    if stale:
        assert b"hint: run 'gitmem reflect-prepare', then 'gitmem reflect'\n" in book.gitmem("check", ok=(1,)).stderr
        book.write({".gitmem/config.toml": "[freshness]\nmode = 'warn'\n"})
        assert "ok" == book.document("check")["status"]
        assert "failed" == book.document("check", "--strict", ok=(1,))["status"]


def test_the_commit_that_updates_the_pages_passes(book: Repo) -> None:
    aged(book, 31, 1)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    book.write({f"{FOLDER}/{name}": page_text(name, "Now.", at=now) for name in PAGES})
    book.git("add", "-A")
    assert "ok" == book.document("check", "--staged")["status"]


def test_a_range_that_leaves_its_pages_untouched_is_told_in_ci(book: Repo) -> None:
    book.git("checkout", "-q", "-b", "topic")
    route(book)
    assert book.document("check", "--range", "main..HEAD", ok=(1,))["silent"]
    edit(book, *(due(book) or {})["targets"])
    book.gitmem("reflect-commit", "--commit")
    assert [] == book.document("check", "--range", "main..HEAD")["silent"]


STATE = """---
page: current-state.md
generated_at: 2023-01-01T00:00:00Z
generated_by: a person
---
# Estado atual

Texto antes.

## Entregue até agora

<!-- gitmem:entries -->
Uma linha solta.

- [first · 2023-01-01] the first
  goes on here
  - with a sub-item
    and its own line

- [second · 2023-02-01] the second
* [third · 2023-01-15] the third, out of order
  ```
  - [not · 2020-01-01] code
  ```

## Próximos passos

- [later · 2029-01-01] not an entry: another section
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_REF_24_trim_keeps_every_line_in_exactly_one_file(book: Repo, newline: str) -> None:
    path, archive = book.path / FOLDER / "current-state.md", book.path / FOLDER / "current-state-archive.md"
    path.write_bytes(STATE.replace("\n", newline).encode())
    assert 2 == len(book.document("trim", "--keep", "1")["moved"])
    kept, gone = path.read_bytes().decode(), archive.read_bytes().decode()
    assert kept.count(newline) == kept.count("\n") and gone.count(newline) == gone.count("\n")
    lines = sorted(line for line in STATE.split("\n") if line)
    assert lines == sorted(line for text in (kept, gone) for line in text.replace("\r\n", "\n").split("\n") if line)
    assert "[second · 2023-02-01]" in kept and "    and its own line" in gone and "not an entry" in kept
    assert [] == book.document("trim", "--keep", "1")["moved"]


@pytest.mark.parametrize(
    ("before", "newest"),
    [
        ({"keep0.py": "def a(): pass\n"}, {}),
        ({"keep0.py": "def a(): pass\n", "new.py": "def b(): pass\n"}, {}),  # files come in both
        ({"keep0.py": "def a(): pass\n"}, {"keep0.py": "def c(): pass\n"}),  # one path in both
        ({"keep0.py": "def a(): pass\n"}, {"keep0.py": "value = 0\n"}),  # and back as it was
        ({"keep0.py": None, "moved.py": "value = 0\n" * 9}, {"keep1.py": None}),
        ({}, {"keep1.py": None, "moved.py": "value = 1\n" * 9}),
        ({"\u00e4.py": "a = 1\n", "\U0001f40d.py": "b = 1\n", "\udcff.py": "c = 1\n"}, {"\ufffd.py": "d = 1\n"}),
        ({"big.txt": "x" * (5 << 20)}, {"big.txt": "y" * (5 << 20)}),
        ({"keep0.py": "def a(): pass\n"}, {"big.txt": "y" * (5 << 20)}),
    ],
)
def test_a_window_with_a_huge_commit_is_what_git_says_of_it(
    repo: Repo, before: dict[str, str | None], newest: dict[str, str | None]
) -> None:
    def change(files: dict[str, str | None]) -> None:
        for name in [name for name, text in files.items() if text is None]:
            repo.git("rm", "-q", name)
        repo.commit("change", {name: text for name, text in files.items() if text is not None})

    repo.commit("base", {f"keep{n}.py": f"value = {n}\n" * 9 for n in range(3)})
    base = repo.store().tree("HEAD")
    change(before)
    change(newest | {f"pkg/d{n % 7}/m{n}.py": f"def f{n}(): pass\n" for n in range(410)})
    store = repo.store()
    header = store.commit_header("HEAD")
    assert header is not None
    [commit] = read_commits(store.differ, [(header.oid, header.parents)])
    known = Known(store.tree(header.parents[0]), commit.changes)
    head = store.tree("HEAD")

    joined = read_difference(store.differ, base, head, known=known)

    assert joined == read_difference(repo.store().differ, base, head)
    assert len(joined.changes) > 400 and any(change.patch for change in joined.changes)


def test_REF_25_sixty_thousand_files_a_huge_file_and_a_long_line(book: Repo) -> None:
    rows = "".join(f"M 100644 :1 pkg/{n % 97}/mod{n:05}.py\n" for n in range(60_000))
    stream = (
        "blob\nmark :1\ndata 6\nx = 1\n\ncommit refs/heads/main\ncommitter A <a@b.c> 1800000000 +0000\ndata 10\nfeat: wide\nfrom refs/heads/main^0\n"
        + rows
    )
    book.git("fast-import", "--quiet", stdin=stream.encode())
    script = "import resource, sys; from gitmem.cli import main; status = main(['reflect-prepare', '--dry-run', '--json', '--range', sys.argv[1]]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(status)"
    done = book.run(sys.executable, "-P", "-c", script, "HEAD~1..HEAD")
    found = json.loads(done.stdout)
    assert ("relevant", "files") == (found["verdict"], found["truncated"])
    assert int(done.stderr) < 300_000  # KiB
    book.git("reset", "-q", "--hard", "HEAD~1")
    book.commit(
        "chore: data", {"src/generated.txt": "row\n" * (50 << 18), "src/line.py": "x = '" + "y" * (5 << 20) + "'\n"}
    )
    found = book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")
    assert "skip" == found["verdict"]


def test_of_too_many_files_those_that_weigh_are_read_wherever_they_stand(book: Repo) -> None:
    vendored = {f"node_modules/lib/{n:04}.js": f"var a{n} = {n};\n" for n in range(1_200)}
    book.commit("chore: vendor", vendored | {"src/routes/posts.py": ROUTE, "src/big.py": "x = 1\n" * (1 << 20)})
    found = book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")
    assert ("relevant", None) == (found["verdict"], found["truncated"])
    [routes] = [signal for signal in found["signals"] if signal["name"] == "routes"]
    assert "src/routes/posts.py" == routes["evidence"][0]["path"] and routes["evidence"][0]["line"]


def test_what_is_due_tells_the_newest_twenty_subjects_of_its_window(book: Repo) -> None:
    route(book)
    for n in range(3):
        book.commit(f"docs: step {n}", {"NOTES.md": f"step {n}\n"})
    found = due(book) or {}
    told = book.git("log", "--first-parent", "--reverse", "--format=%s", f"{found['base']}..HEAD").split("\n")
    assert told == found["commits"] and 4 <= len(told)
    (book.path / "NOTES.md").write_text("amended\n")
    book.git("commit", "-q", "-a", "--amend", "-m", "docs: amended")  # not a child of the manifest's HEAD
    assert [*told[:-1], "docs: amended"] == (due(book) or {})["commits"]
    book.env["GITMEM"] = "off"
    for n in range(25):
        book.commit(f"docs: more {n}", {"NOTES.md": f"more {n}\n"})
    book.env["GITMEM"] = ""
    book.commit("docs: last", {"NOTES.md": "last\n"})
    assert [*(f"docs: more {n}" for n in range(6, 25)), "docs: last"] == (due(book) or {})["commits"]


def test_REF_26_each_branch_keeps_its_own(book: Repo) -> None:
    book.git("checkout", "-q", "-b", "feat")
    route(book)
    first = due(book)
    book.git("checkout", "-q", "main")
    book.commit("feat: table", {"db/migrations/001.sql": "CREATE TABLE posts (id int);\n"})
    here = due(book)
    assert first and here and first["id"] != here["id"]
    assert ["feat"] == book.document("reflect")["waiting_branches"]
    said = book.document("status")["problems"]
    assert any("due on feat" in p["what"] for p in said) and any("reflection is due" in p["what"] for p in said)
    book.git("checkout", "-q", "feat")
    book.commit("docs: more", {"NOTES.md": "more\n"})
    again = due(book)
    assert again is not None and first["base"] == again["base"] and set(first["targets"]) <= set(again["targets"])
    assert ["main"] == book.document("reflect")["waiting_branches"]


def test_REF_27_a_squash_merged_reflection_leaves_a_fresh_clone_fresh(book: Repo, tmp_path: Path) -> None:
    book.git("checkout", "-q", "-b", "topic")
    route(book)
    edit(book, *(due(book) or {})["targets"])
    book.gitmem("reflect-commit", "--commit")
    book.git("checkout", "-q", "main")
    book.git("merge", "-q", "--squash", "topic")
    book.git("commit", "-q", "-m", "feat: posts (#1)")
    book.git("branch", "-q", "-D", "topic")
    book.git("clone", "-q", f"file://{book.path}", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    clone.gitmem("init")
    assert "ok" == clone.document("check")["status"]
    assert None is due(clone)
    clone.commit("docs: after", {"NOTES.md": "after\n"})
    assert None is due(clone)


def test_REF_28_an_accepted_reflection_thrown_away_is_due_again_with_the_older_work(book: Repo) -> None:
    route(book)
    first = due(book)
    assert first is not None
    edit(book, *first["targets"])
    book.gitmem("reflect-commit")
    book.git("reset", "-q", "--hard")
    book.commit("feat: more", {"src/routes/more.py": ROUTE.replace("posts", "more")})
    again = due(book)
    assert again is not None and first["base"] == again["base"]
    assert {"src/api/routes/posts.py", "src/routes/more.py"} <= set(again["changed_files"])


def test_an_entry_by_hand_is_a_signal_and_an_accepted_one_is_not(book: Repo) -> None:
    path = book.path / FOLDER / "current-state.md"
    path.write_text(path.read_text() + "- [second · 2023-02-01] by hand\n")
    book.commit("docs: an entry by hand")
    found = book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")
    assert ["state"] == [signal["name"] for signal in found["signals"]]
    assert ["current-state.md"] == found["targets"]


def test_rules_of_the_project_add_change_and_switch_off(book: Repo) -> None:
    rules = "[[signals]]\nname = 'billing'\npaths = ['billing']\npages = ['what-it-does.md']\n[[signals]]\nname = 'routes'\noff = true\n[[signals]]\nname = 'x'\n[ignore]\ngenerated = ['gen/']\n"
    book.commit("chore: rules", {".gitmem/config.toml": rules})
    assert any("[[signals]]" in p["what"] and "needs 'paths'" in p["what"] for p in book.document("status")["problems"])
    book.commit("fix: a rate", {"billing/rates.py": "RATE = 3\n"})
    found = book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")
    assert ["billing"] == [signal["name"] for signal in found["signals"]]
    book.commit("feat: generated routes", {"gen/routes/all.py": ROUTE * 40})
    found = book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")
    assert ("skip", {"generated": 1}) == (found["verdict"], found["left_out"])


def test_linguist_attributes_are_honoured(book: Repo) -> None:
    book.commit("chore: attributes", {".gitattributes": "api/** linguist-generated\n"})
    book.commit("feat: x", {"api/routes/all.py": ROUTE * 40})
    assert {"generated": 1} == book.document("reflect-prepare", "--dry-run", "--range", "HEAD~1..HEAD")["left_out"]


def test_an_ignored_folder_of_pages_is_refused_with_a_hint(book: Repo) -> None:
    route(book)
    edit(book, *(due(book) or {})["targets"])
    (book.path / ".git/info/exclude").write_text(".gitmem/\n")
    book.git("rm", "-r", "-q", "--cached", FOLDER)
    done = book.gitmem("reflect-commit", ok=(1,))
    assert b"git ignores '.gitmem/bootstrap'" in done.stderr


def test_pages_outside_a_sparse_checkout_are_staged_all_the_same(book: Repo) -> None:
    route(book)
    targets = (due(book) or {})["targets"]
    book.git("sparse-checkout", "set", "--no-cone", "/*", "!/.gitmem/bootstrap/")
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    texts = {
        f"{FOLDER}/{n}": page_text(n, "It is a blog.", "Posts at /posts.", "Markdown files.", at=now) for n in targets
    }
    book.gitmem("reflect-commit", "--from", "-", stdin=json.dumps({"files": texts}).encode())
    assert sorted(texts) == book.git("diff", "--cached", "--name-only").split()
    assert not (book.path / FOLDER / targets[0]).exists()


def test_replay_counts_windows_by_signal(book: Repo) -> None:
    for n in range(6):
        book.commit(f"feat: {n}", {f"src/routes/{n}.py": ROUTE.replace("posts", f"p{n}")})
    found = book.document("reflect-prepare", "--replay", "2")
    assert (2, 2) == (found["windows"], found["relevant"])
    assert "routes: 2 (100 %)" in book.say("reflect-prepare", "--replay", "2")


def test_drafts_say_what_is_there_and_mark_the_rest(repo: Repo) -> None:
    readme = "# Blog\n\n[![build](b.svg)](x)\n\nBlog serves posts from Markdown files to readers.\n\nMore.\n"
    project = '[project]\nname = "blog"\n[project.scripts]\nblog = "blog:main"\n'
    repo.commit(
        "feat: begin",
        {
            "README.md": readme,
            "pyproject.toml": project,
            "src/blog/routes/posts.py": ROUTE,
            "src/blog/main.py": "x = 1\n",
        },
    )
    repo.gitmem("init")
    pages = {name: (repo.path / FOLDER / name).read_text() for name in PAGES}
    assert "Blog serves posts from Markdown files to readers. <!-- confirm -->" in pages["what-is.md"]
    assert "generated and vendored ones: Python 2." in pages["how-it-works.md"]
    assert "- `blog`: to be written. <!-- confirm -->" in pages["what-it-does.md"]
    assert "feat: begin" in pages["current-state.md"]
    repo.commit("docs: drafts")
    assert "the pages are fresh\n" == repo.say("check")
    before = repo.git("rev-parse", "HEAD:.gitmem")
    repo.gitmem("init")
    repo.git("add", "-A")
    assert before == repo.git("write-tree", "--prefix=.gitmem/")


def test_drafts_name_the_scripts_of_a_project_as_it_runs_them(repo: Repo) -> None:
    scripts = dict.fromkeys("abcdefg", "vite") | {"test": "vitest", "dev": "echo 'use pnpm dev'"}
    package = json.dumps({"name": "site", "scripts": scripts})
    repo.commit(
        "feat: begin", {"package.json": package, "pnpm-lock.yaml": "x: 1\n", "README.md": "# Site\n\nA site.\n"}
    )
    repo.gitmem("init")
    page = (repo.path / FOLDER / "what-it-does.md").read_text()
    assert page.index("`pnpm run test`") < page.index("`pnpm run a`") and "run dev" not in page
    assert "- and 2 more.\n" in page


def test_nothing_is_drafted_before_the_first_commit(repo: Repo) -> None:
    repo.gitmem("init")
    assert not (repo.path / ".gitmem").exists()
    repo.commit("feat: begin", {"a.py": "a = 1\n"})
    repo.gitmem("init")
    assert (repo.path / FOLDER / "what-is.md").exists()


def test_the_schemas_fit_manifest_and_configuration(book: Repo) -> None:
    import tomllib

    import jsonschema

    route(book)
    jsonschema.validate(due(book), json.loads((ROOT / "docs/schema/manifest.json").read_text()))
    schema = json.loads((ROOT / "docs/schema/config.json").read_text())
    text = "[hook]\nmode = 'sync'\n[[domains]]\nname = 'x'\npaths = ['x']\n[[signals]]\nname = 'y'\npaths = ['y']\n[ignore]\ngenerated = ['g']\n[freshness]\ndays = 3\n[budget]\npage = 100\n"
    jsonschema.validate(tomllib.loads(text), schema)
    book.write({".gitmem/config.toml": text})
    assert [] == [p for p in book.document("status")["problems"] if "config.toml" in p["what"]]


def waiting(repo: Repo) -> list[str]:
    found: list[str] = repo.document("reflect")["waiting_branches"]
    return found


def test_a_reflection_goes_on_when_its_commit_is_amended_and_ends_when_it_is_closed(book: Repo) -> None:
    route(book)
    base = (due(book) or {})["base"]
    book.git("commit", "-q", "--amend", "-m", "feat(api): list posts, newest first")
    assert (base, book.head()) == ((due(book) or {})["base"], (due(book) or {})["head"])
    book.gitmem("reflect-commit", "--no-change", "--reason", "looked")
    assert (None, []) == (due(book), waiting(book))
    book.gitmem("status", "--strict")


def test_a_reflection_is_shown_and_closed_on_its_own_branch_only(book: Repo) -> None:
    book.git("checkout", "-q", "-b", "feat")
    route(book)
    book.git("checkout", "-q", "main")
    assert (None, ["feat"]) == (due(book), waiting(book))
    assert ["manifest_missing"] == codes(book, "--no-change", "--reason", "wrong place")
    book.git("checkout", "-q", "feat")
    assert (due(book) or {})["head"] == book.head()
    book.git("checkout", "-q", "main")
    book.commit("docs: meanwhile", {"NOTES.md": "x\n"})
    book.git("rebase", "-q", "main", "feat")
    assert due(book) is not None
    book.git("checkout", "-q", "main")
    assert ["feat"] == waiting(book)
    book.git("branch", "-q", "-D", "feat")
    assert (None, []) == (due(book), waiting(book))


def test_in_detached_mode_the_worker_judges_and_notices_the_commit_of_the_pages(ready: Repo) -> None:
    ready.commit(
        "docs: pages",
        {f"{FOLDER}/{name}": page_text(name) for name in PAGES}
        | {".gitmem/config.toml": '[hook]\nmode = "detached"\n'},
    )
    ready.say("status")  # the settings are compiled
    ready.commit("feat: posts", {"src/posts.py": ROUTE})
    end = time.monotonic() + 20
    while due(ready) is None and time.monotonic() < end:
        time.sleep(0.05)
    found = due(ready)
    assert found is not None and "what-it-does.md" in found["targets"]
    edit(ready, *found["targets"])
    ready.gitmem("reflect-commit", "--commit")
    while "committed" not in outcomes(ready) and time.monotonic() < end:
        time.sleep(0.05)
    assert "committed" in outcomes(ready)


def test_a_reflection_is_mine_and_says_why_a_page_was_left(book: Repo) -> None:
    book.commit("feat: posts", {"src/posts.py": ROUTE})
    edit(book, "what-it-does.md")
    book.gitmem("reflect-commit", "--skip", "current-state", "--reason", "nothing is delivered yet", "--commit")
    for rev, outcome in (("HEAD~1", "accepted"), ("HEAD", "committed")):
        [record] = [record for record in book.records(rev) if record["kind"] == "reflection"]
        assert (outcome, "nothing is delivered yet") == (record["outcome"], record["reason"]) and record["w"]
    assert "foreign" not in book.say("show", "HEAD~1")
    assert [] == book.document("review")["items"]


@pytest.mark.parametrize("way", ["no-change", "skip"])
def test_check_of_a_range_takes_an_honest_answer(book: Repo, way: str) -> None:
    base = book.head()
    book.commit("feat: posts", {"src/posts.py": ROUTE})
    book.gitmem("check", "--range", f"{base}..HEAD", ok=(1,))
    if way == "no-change":
        book.gitmem("reflect-commit", "--no-change", "--reason", "it was said before")
    else:
        edit(book, "what-it-does.md")
        book.gitmem("reflect-commit", "--skip", "current-state", "--reason", "not delivered", "--commit")
    book.gitmem("check", "--range", f"{base}..HEAD")
    book.commit("feat: more", {"src/more.py": ROUTE.replace("posts", "tags")})
    assert b"current-state.md" in book.gitmem("check", "--range", f"{base}..HEAD", ok=(1,)).stdout


def test_a_line_is_said_when_another_page_becomes_due(book: Repo) -> None:
    book.write({"src/posts.py": ROUTE})
    book.git("add", "-A")
    first = book.run("git", "commit", "-qm", "feat: posts").stderr.decode()
    assert "a reflection is due for what-it-does.md" in first and "how-it-works.md" not in first
    silent = book.run("git", "commit", "-q", "--allow-empty", "-m", "chore: nothing").stderr
    assert b"" == silent
    book.write({"migrations/001.sql": "CREATE TABLE posts (id int, title text);\nCREATE TABLE tags (id int);\n"})
    book.git("add", "-A")
    more = book.run("git", "commit", "-qm", "feat(models): posts and tags").stderr.decode()
    assert "gitmem: a reflection that is due takes in how-it-works.md: run 'gitmem reflect'\n" == more


def test_what_is_undone_is_not_due_any_more(book: Repo) -> None:
    book.commit("feat: posts", {"src/posts.py": ROUTE})
    assert due(book) is not None
    book.git("revert", "--no-edit", "HEAD")
    assert due(book) is None


def test_the_order_of_a_branch_that_was_thrown_away_does_not_stay(book: Repo) -> None:
    book.git("checkout", "-qb", "trial")
    book.commit("feat: posts", {"src/posts.py": ROUTE})
    assert due(book) is not None
    book.git("checkout", "-q", "main")
    book.git("branch", "-qD", "trial")
    assert due(book) is None and "a reflection" not in book.say("status")


def test_check_misses_a_page_that_is_gone(book: Repo) -> None:
    book.git("rm", "-q", f"{FOLDER}/what-is.md")
    assert b"what-is.md:1: missing_bootstrap" in book.gitmem("check", "--staged", ok=(1,)).stdout
    book.commit("docs: one page less")
    assert b"what-is.md:1: missing_bootstrap" in book.gitmem("check", ok=(1,)).stdout


def test_pages_over_their_budget_and_invalid_ones_are_named(book: Repo) -> None:
    book.commit("docs: long", {f"{FOLDER}/what-is.md": page_text("what-is.md", *["Posts are listed."] * 600)})
    book.commit("docs: broken", {f"{FOLDER}/how-it-works.md": "# no frontmatter\n"})
    for command in ("status", "doctor"):
        said = book.say(command)
        assert "what-is.md has about 2" in said and "more than 2000" in said
        assert "how-it-works.md:1: frontmatter_invalid" in said
    book.commit("chore: budget", {".gitmem/config.toml": "[budget]\npage = 9000\ntotal = 100\n"})
    assert "the pages have about" in book.say("doctor") and "more than 100" in book.say("doctor")


def test_an_explicit_prepare_takes_a_new_snapshot(book: Repo) -> None:
    """REF-14: the hint of snapshot_mismatch does what it says."""
    book.commit("feat: posts", {"src/posts.py": ROUTE})
    edit(book, "what-it-does.md", text="Somebody wrote this by hand.")
    book.commit("docs: by hand")
    edit(book, "what-it-does.md", "current-state.md")
    assert b"snapshot_mismatch" in book.gitmem("reflect-commit", ok=(1,)).stdout
    tried = book.document("reflect")["due"]["attempts"]
    book.gitmem("reflect-prepare")
    assert tried == book.document("reflect")["due"]["attempts"]
    time.sleep(1)
    edit(book, "what-it-does.md", "current-state.md", text="And once more.")
    book.gitmem("reflect-commit")


def test_all_pages_are_asked_for_also_while_some_are_due(book: Repo) -> None:
    book.commit("feat: posts", {"src/posts.py": ROUTE})
    book.gitmem("reflect-prepare", "--all-pages")
    found = due(book)
    assert found is not None and set(PAGES) == set(found["targets"])
