"""Wherever git works: the whole life of a memory in unusual repositories, under any clock, zone and language."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from gitmem import records
from tests.repo import OBJECT_FORMAT, REF_FORMAT, Repo, git_version

READING = (["status"], ["doctor"], ["show"], ["log"], ["backfill"], ["hooks", "status"], ["add", "event", "seen"])


def whole_life(repo: Repo) -> None:
    """init, commit, amend, every command: all right, capsule there, repository sound."""
    repo.gitmem("init", "--no-pages")
    oid = repo.commit("feat: alive", {"src/alive.py": "def alive(): pass\n"})
    assert [1] == repo.capsules_on([oid])
    repo.git("commit", "-q", "--amend", "-m", "feat: alive and well")
    assert [1] == repo.capsules_on(["HEAD"])
    for command in READING:
        repo.gitmem(*command)
    shared_life(repo)
    assert "" == repo.git("status", "--porcelain")
    repo.git("fsck", "--no-dangling", "--no-progress")


def shared_life(repo: Repo) -> None:
    """Sync with a remote, a second clone that adds something, and back again: the same notes in all three."""
    head = repo.head()
    hub, other = (Repo(repo.path.parent / f"{repo.path.name}-{name}") for name in ("hub.git", "other"))
    formats = [f"--object-format={repo.git('rev-parse', '--show-object-format')}"]
    if (repo.path / ".git/reftable").is_dir():
        formats.append("--ref-format=reftable")
    repo.git("init", "-q", "--bare", *formats, str(hub.path))
    repo.git("init", "-q", *formats, str(other.path))
    other.commit("chore: something of its own")
    for one in (repo, other):
        one.git("remote", "add", "hub", str(hub.path))
    repo.gitmem("sync", "hub", "--all")
    other.gitmem("init", "--no-pages", "--sync", "auto")
    other.gitmem("sync", "hub")
    other.store().append({head: [records.line_of("event", head, 7, text="from there")]}, subject="test")
    other.git("push", "-q", "hub", "HEAD:refs/heads/other")
    assert 1 == other.document("sync", "hub", "--all")["sent"]  # the other clone does not have that commit
    repo.gitmem("sync", "hub", "--all")
    trees = {one.git("rev-parse", f"{records.SHARED_REF}^{{tree}}") for one in (repo, other, hub)}
    assert 1 == len(trees)
    assert "from there" in [record.get("text") for record in repo.records()]
    assert [1] == repo.capsules_on([head])
    repo.git("remote", "remove", "hub")


def placed(repo: Repo, folder: str = ".") -> tuple[str, bool]:
    """What a hook in that folder takes for the place and the configuration, asked twice; whether git was asked."""
    script = (
        "from gitmem.git.run import Git; from gitmem.store import Store; Store.nearby(Git()); s = Store.nearby(Git());"
        "t = Store.open(Git()); assert (s.place, s.config) == (t.place, t.config), (s.place, t.place); print(s.place)"
    )
    repo.env["GITMEM_TRACE"] = "1"
    done = repo.run(sys.executable, "-P", "-c", script, cwd=repo.path / folder)
    del repo.env["GITMEM_TRACE"]
    return done.stdout.decode(), done.stderr.count(b" git rev-parse") > 2


def test_a_hook_knows_its_place_as_git_does_and_sees_a_changed_configuration(ready: Repo) -> None:
    ready.commit("feat: a", {"sub/a.py": "a = 1\n"})
    (ready.path / ".git/gitmem").mkdir(exist_ok=True)
    assert placed(ready)[1]  # just written
    ready.settle()
    assert not placed(ready)[1]
    assert placed(ready, "sub")[1]
    ready.git("config", "gitmem.mode", "off")
    ready.commit("feat: b", {"sub/a.py": "a = 2\n"})
    assert [0] == ready.capsules_on(["HEAD"])
    ready.git("config", "--unset", "gitmem.mode")
    ready.settle()
    for _ in range(2):
        ready.commit("feat: c", {"sub/a.py": f"a = {os.urandom(3).hex()!r}\n"})
        assert [1] == ready.capsules_on(["HEAD"])
    assert (ready.path / ".git/gitmem/nearby.cache").exists()


@pytest.mark.parametrize("kind", ["worktree", "separate", "shallow", "elsewhere", "bare", "link", "no-json"])
def test_a_hook_asks_git_wherever_the_place_is_not_plain(ready: Repo, tmp_path: Path, kind: str) -> None:
    ready.commit("feat: a", {"a.py": "a = 1\n"})
    ready.commit("feat: b", {"a.py": "a = 2\n"})
    ready.settle()
    placed(ready)
    there = Repo(tmp_path / kind)
    if kind == "worktree":
        ready.git("worktree", "add", "-q", str(there.path))
    elif kind == "separate":
        ready.git("clone", "-q", f"--separate-git-dir={tmp_path / 'git'}", str(ready.path), str(there.path))
    elif kind == "shallow":
        ready.git("clone", "-q", "--depth=1", f"file://{ready.path}", str(there.path))
        there.settle()
    elif kind == "bare":
        ready.git("clone", "-q", "--bare", str(ready.path), str(there.path))
    else:
        there = ready
    if kind == "elsewhere":
        there.git("config", "core.worktree", str(tmp_path))
        there.settle()
    elif kind == "link":
        (there.path / ".git/config").rename(tmp_path / "config")
        (there.path / ".git/config").symlink_to(tmp_path / "config")
    elif kind == "no-json":
        (there.path / ".git/gitmem/nearby.cache").write_text('{"key": 1, "config": []')
        there.git("config", "gitmem.note", "new")
    assert placed(there)[1]


def test_ENV_01_sha256_and_reftable_under_a_recent_git(
    tmp_path: Path, modern_git: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if modern_git is None:
        pytest.skip("no recent git beside the system's: set MODERN_GIT to its prefix")
    monkeypatch.setenv("PATH", f"{modern_git}:{os.environ['PATH']}")
    path = tmp_path / "modern"
    here = Repo(tmp_path)
    here.run("git", "init", "-q", "-b", "main", "--object-format=sha256", "--ref-format=reftable", str(path))
    repo = Repo(path)
    repo.commit("chore: begin", {"a.txt": "a\n"})
    whole_life(repo)
    assert 64 == len(repo.capsule()["commit"])
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.git("cherry-pick", "main")
    assert [repo.git("rev-parse", "main")] == [r["old"] for r in repo.records() if r["kind"] == "link"]


def test_the_suite_runs_in_the_formats_it_was_told(repo: Repo) -> None:
    assert OBJECT_FORMAT == repo.git("rev-parse", "--show-object-format")
    assert (REF_FORMAT == "reftable") == (repo.path / ".git/reftable").is_dir()


def test_GIT_08_a_repository_without_commits_and_with_one(repo: Repo) -> None:
    repo.gitmem("init", "--no-pages")
    for command in (["status"], ["doctor"], ["log"], ["backfill"]):
        repo.gitmem(*command)
    done = repo.gitmem("show", ok=(1,))
    assert (
        b"gitmem: 'HEAD' names no commit of this repository\nhint: give a branch, a tag or a commit id\n" == done.stderr
    )
    repo.commit("feat: first", {"a.txt": "a\n"})
    assert 1 == repo.capsule()["added"]


def test_GIT_08_a_shallow_clone_knows_what_it_cannot_know(ready: Repo, tmp_path: Path) -> None:
    for n in range(3):
        ready.commit(f"feat: {n}", {f"{n}.txt": "x\n"})
    ready.git("clone", "-q", "--depth=2", f"file://{ready.path}", str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    ready.git("update-ref", "-d", records.SHARED_REF)  # or its notes would come along
    said = shallow.say("init", "--no-pages")
    assert "wrote 1 capsule for" in said
    report = shallow.document("backfill")
    assert (2, 1, 0, 1) == (report["commits"], report["had"], report["written"], report["boundary"])
    assert [1, 0] == shallow.capsules_on(shallow.history())
    assert [] == [p for p in shallow.document("status")["problems"] if "no capsule" in p["what"]]
    whole_life(shallow)


@pytest.mark.parametrize("settings", [
    {"core.notesRef": "refs/notes/mine"}, {"notes.displayRef": "*"}, {"notes.rewriteRef": "refs/notes/*", "notes.rewriteMode": "overwrite"},
    {"core.logAllRefUpdates": "false"}, {"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.algorithm": "histogram", "diff.renames": "false"},
    {"diff.external": "false", "color.ui": "always", "core.pager": "false"}, {"log.showSignature": "true", "format.pretty": "oneline"},
    {"i18n.commitEncoding": "ISO-8859-1"}, {"commit.gpgSign": "false", "core.autocrlf": "true"}, {"core.fsync": "all"},
    {"submodule.recurse": "true", "diff.submodule": "log", "diff.orderFile": os.devnull},
])  # fmt: skip
def test_GIT_08_unusual_settings_change_nothing(repo: Repo, settings: dict[str, str]) -> None:
    repo.commit("chore: begin", {"a.txt": "a\n" * 20})
    repo.gitmem("init", "--no-pages")
    for key, value in settings.items():
        repo.git("config", key, value)
    repo.env["GIT_NOTES_REF"] = "refs/notes/elsewhere"
    repo.git("mv", "a.txt", "b.txt")
    repo.write({"b.txt": "a\n" * 20 + "b\n", "c.txt": "c\n"})
    repo.commit("feat: same everywhere")
    fields = repo.capsule()
    assert (2, 2, 0, {"b.txt", "c.txt"}) == (fields["files"], fields["added"], fields["removed"], set(fields["paths"]))
    assert "" == repo.git("for-each-ref", "refs/notes/elsewhere", "refs/notes/mine")
    whole_life(repo)


@pytest.mark.parametrize(
    ("zone", "language"), [("Pacific/Kiritimati", "C"), ("America/Anchorage", "C.UTF-8"), ("Asia/Kathmandu", "POSIX")]
)
def test_GIT_09_any_zone_and_language_gives_the_same_bytes(tmp_path: Path, zone: str, language: str) -> None:
    lines = []
    for n, env in enumerate(({}, {"TZ": zone, "LC_ALL": language, "LANG": language, "LANGUAGE": "de"})):
        repo = Repo.create(tmp_path / str(n))
        repo.env = dict(env)
        repo.gitmem("init", "--no-pages")
        repo.commit("feat: ünï — 漢字", {"ünï/漢字.py": "def f(): pass\n"})
        lines.append(repo.git("notes", "--ref=gitmem", "show"))
    assert lines[0] == lines[1]


def test_ENV_05_split_and_sparse_index(ready: Repo) -> None:
    ready.commit("feat: folders", {f"{d}/{n}.txt": "x\n" for d in "abc" for n in range(3)})
    ready.git("update-index", "--split-index")
    ready.git("sparse-checkout", "init", "--cone", "--sparse-index")
    ready.git("sparse-checkout", "set", "a", "src")
    whole_life(ready)


def test_ENV_05_a_partial_clone_is_never_made_to_fetch(ready: Repo, tmp_path: Path) -> None:
    ready.git("config", "uploadpack.allowFilter", "true")
    for n in range(4):
        ready.commit(f"feat: {n}", {"a.txt": f"{n}\n" * 10, f"{n}.txt": "x\n"})
    ready.git("clone", "-q", "--filter=blob:none", "--no-local", f"file://{ready.path}", str(tmp_path / "partial"))
    partial = Repo(tmp_path / "partial")
    missing = partial.git("rev-list", "--objects", "--all", "--missing=print").count("?")
    assert missing
    ready.path.rename(tmp_path / "away")
    partial.gitmem("init", "--no-pages")
    oid = partial.commit("feat: here", {"b.txt": "b\n"})
    assert (["lines"], 1) == (partial.capsule(oid)["cut"], partial.capsule(oid)["files"])
    assert [1] * 6 == partial.capsules_on(partial.history())
    assert missing == partial.git("rev-list", "--objects", "--all", "--missing=print").count("?")


def test_ENV_05_grafts_and_replacements_do_not_bend_a_capsule(ready: Repo) -> None:
    one = ready.commit("feat: one", {"a.txt": "a\n"})
    two = ready.commit("feat: two", {"b.txt": "b\n"})
    ready.git("update-ref", "-d", records.SHARED_REF)
    ready.git("replace", "--graft", two)
    ready.gitmem("backfill")
    assert ["b.txt"] == ready.capsule(two)["paths"]
    assert [1, 1] == ready.capsules_on([one, two])


def test_ENV_05_a_foreign_owner_is_refused_in_gits_words(ready: Repo) -> None:
    ready.env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    done = ready.gitmem("status", ok=(1,))
    assert b"dubious ownership" in done.stderr
    fired = ready.run(
        sys.executable, "-I", "-S", os.path.join(os.path.dirname(records.__file__), "entry.py"), "git", "post-commit"
    )
    assert (b"", b"") == (fired.stdout, fired.stderr)


def test_ENV_05_alternates_and_a_bare_repository_with_a_worktree(ready: Repo, tmp_path: Path) -> None:
    ready.git("clone", "-q", "--shared", str(ready.path), str(tmp_path / "borrows"))
    whole_life(Repo(tmp_path / "borrows"))
    ready.git("clone", "-q", "--bare", str(ready.path), str(tmp_path / "bare"))
    bare = Repo(tmp_path / "bare")
    bare.gitmem("init", "--no-pages")
    for command in (["status"], ["doctor"], ["show"], ["log"], ["backfill"]):
        bare.gitmem(*command)
    bare.git("worktree", "add", "-q", str(tmp_path / "tree"), "main")
    oid = Repo(tmp_path / "tree").commit("feat: beside a bare one", {"t.txt": "t\n"})
    assert [1] == bare.capsules_on([oid])


def test_a_missing_blob_costs_the_line_counts_of_one_commit(ready: Repo) -> None:
    oid = ready.commit("feat: lost blob", {"lost.txt": "lost\n"})
    ready.commit("feat: after", {"kept.txt": "kept\n", "lost.txt": "found\n"})
    ready.git("update-ref", "-d", records.SHARED_REF)
    blob = ready.git("rev-parse", f"{oid}:lost.txt")
    (ready.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    report = ready.document("backfill")
    assert (3, 2) == (report["written"], report["uncounted"])
    assert (["lines"], ["lost.txt"]) == (ready.capsule(oid)["cut"], ready.capsule(oid)["paths"])


@pytest.mark.skipif(git_version() < (2, 41), reason="needs a git that can tell")
def test_names_in_utf8_are_the_bytes_of_the_name_under_any_locale(ready: Repo) -> None:
    ready.env |= {"LC_ALL": "C", "PYTHONUTF8": "0"}
    ready.commit("feat: x", {"ünï.txt": "x\n"})
    assert ["ünï.txt"] == ready.capsule()["paths"]


def test_a_shared_repository_stays_writable_for_its_group(tmp_path: Path) -> None:
    shared = Repo.create(tmp_path / "shared", "--shared=group")
    shared.commit("feat: first", {"a.py": "def a(): pass\n"})
    shared.gitmem("init", "--yes")
    for n in range(3):
        shared.commit(f"feat: routes {n}", {f"r{n}.py": f"@app.get('/r{n}')\ndef r{n}(): pass\n"})
    shared.git("checkout", "-q", "-b", "other", "HEAD~2")
    shared.commit("feat: other", {"o.py": "@app.get('/o')\ndef o(): pass\n"})
    shared.say("log")

    state = shared.path / ".git/gitmem"
    ours = [state, *state.rglob("*")]
    closed = [str(p.relative_to(state)) for p in ours if not p.stat().st_mode & stat.S_IWGRP]
    assert len(ours) > 5 and closed == []
    assert stat.S_IMODE(state.stat().st_mode) == stat.S_IMODE((shared.path / ".git").stat().st_mode)
