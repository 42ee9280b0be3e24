"""Hooks fired by real commits: silent, bounded, in the right repository, gone without a trace."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem import clients, records
from tests.repo import REF_FORMAT, ROOT, Repo

ENTRY = str(ROOT / "gitmem" / "entry.py")
EVENTS = ("post-commit", "post-merge", "post-applypatch", "post-rewrite", "prepare-commit-msg", "pre-push")


def fire(
    repo: Repo, event: str, *args: str, cwd: Path | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return repo.run(sys.executable, "-I", "-S", ENTRY, "git", event, *args, cwd=cwd, stdin=stdin)


def test_HOK_07_with_gits_hooks_alone_every_commit_has_its_capsule(ready: Repo) -> None:
    commits = [ready.commit(f"feat: {n}", {f"src/{n}.py": f"def f{n}(): pass\n"}) for n in range(4)]
    assert [1] * 4 == ready.capsules_on(commits)
    assert ["+func f3"] == ready.capsule()["symbols"]


def test_HRV_09_hooks_leave_the_work_tree_as_it_was(ready: Repo) -> None:
    ready.write({"half.txt": "staged\n"})
    ready.git("add", "half.txt")
    ready.write({"half.txt": "changed again\n", "new.txt": "untracked\n"})
    before = ready.git("status", "--porcelain")
    ready.git("commit", "-q", "--allow-empty", "--only", "-m", "feat: nothing")
    assert before == ready.git("status", "--porcelain")
    ready.commit("feat: all")
    assert "" == ready.git("status", "--porcelain")


@pytest.mark.parametrize("event", EVENTS)
def test_HOK_08_outside_a_repository_or_bare_a_hook_is_silent(tmp_path: Path, event: str) -> None:
    outside = Repo(tmp_path)
    done = fire(outside, event)
    assert (b"", b"") == (done.stdout, done.stderr)
    bare = Repo.create(tmp_path / "bare", "--bare")
    done = fire(bare, event)
    assert (b"", b"") == (done.stdout, done.stderr)
    assert [] == list(bare.path.rglob("*gitmem*"))


def test_HOK_08_a_lock_that_is_held_costs_a_line_and_nothing_is_lost(ready: Repo) -> None:
    with open(ready.path / ".git/gitmem/lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        begun = time.monotonic()
        ready.write({"a.txt": "a\n"})
        ready.git("add", "-A")
        done = ready.run("git", "commit", "-q", "-m", "feat: while locked")
        assert time.monotonic() - begun < 10  # the budget of 2.5 s, on a machine of any speed
    assert b"gitmem: post-commit: another gitmem holds the lock of this clone\n" == done.stderr
    assert [0] == ready.capsules_on(["HEAD"])
    assert 1 == ready.document("status")["waiting"]
    ready.commit("feat: after", {"b.txt": "b\n"})
    assert [1, 1] == ready.capsules_on(["HEAD", "HEAD~1"])
    assert 0 == ready.document("status")["waiting"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere: needs an ordinary user")
def test_HOK_08_a_read_only_repository_lets_the_hook_go(ready: Repo) -> None:
    for path in (ready.path / ".git").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (ready.path / ".git").chmod(0o555)
    assert 0 == fire(ready, "post-commit").returncode


def test_a_failure_is_one_line_and_a_log_entry(ready: Repo) -> None:
    blob = ready.git("hash-object", "-w", "--stdin", stdin=b"x")
    ready.git("update-ref", "refs/notes/gitmem", blob)
    done = ready.run("git", "commit", "-q", "--allow-empty", "-m", "feat: x")
    assert 0 == done.returncode
    assert 1 == len(done.stderr.decode().splitlines())
    assert "is a blob, not a commit" in ready.document("status")["failures"][0]["error"]


def test_GIT_07_notes_log_and_lock_are_one_for_all_worktrees(ready: Repo) -> None:
    """Sessions and the index, which the row names too, are not there yet."""
    side = ready.path.parent / "side"
    ready.git("worktree", "add", "-q", str(side), "-b", "side")
    other = Repo(side)
    oid = other.commit("feat: in a worktree", {"deep/er/w.txt": "w\n"})
    assert [1] == ready.capsules_on([oid])
    assert (ready.path / ".git/gitmem/lock").exists()
    assert not (ready.path / ".git/worktrees/side/gitmem/lock").exists()
    assert "" == other.git("status", "--porcelain")


def test_ENV_02_every_way_to_call_git_annotates_the_right_commit(ready: Repo, tmp_path: Path) -> None:
    ready.commit("feat: base", {"a.txt": "1\n", "sub/b.txt": "1\n"})
    ready.write({"a.txt": "2\n", "sub/b.txt": "2\n"})
    ready.git("commit", "-q", "-a", "-m", "feat: all")
    assert 2 == ready.capsule()["files"]
    ready.write({"a.txt": "3\n", "sub/b.txt": "3\n"})
    ready.run("git", "commit", "-q", "-m", "feat: one path", "b.txt", cwd=ready.path / "sub")
    assert ["sub/b.txt"] == ready.capsule()["paths"]
    ready.run("git", "-C", str(ready.path), "commit", "-q", "-am", "feat: by -C", cwd=tmp_path)
    assert ["a.txt"] == ready.capsule()["paths"]
    ready.write({"a.txt": "4\n"})
    ready.run(
        "git",
        f"--git-dir={ready.path}/.git",
        f"--work-tree={ready.path}",
        "commit",
        "-q",
        "-am",
        "feat: by dir",
        cwd=tmp_path,
    )
    assert "feat: by dir" == ready.capsule()["summary"]
    ready.write({"a.txt": "5\n"})
    ready.env |= {"GIT_COMMITTER_NAME": "Other", "GIT_COMMITTER_EMAIL": "other@example.com"}
    ready.git("-c", "user.name=Unused", "-c", "core.quotePath=false", "commit", "-q", "-am", "feat: by -c")
    assert "Other <other@example.com>" == ready.git("log", "-1", "--format=%cn <%ce>", "refs/notes/gitmem")


def test_ENV_02_a_submodule_is_a_repository_of_its_own(ready: Repo, tmp_path: Path) -> None:
    inner = Repo.create(tmp_path / "inner")
    inner.commit("chore: begin", {"i.txt": "i\n"})
    ready.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "inner")
    ready.commit("feat: add a submodule")
    assert {".gitmodules", "inner"} == set(ready.capsule()["paths"])
    below = Repo(ready.path / "inner")
    below.git("config", "user.name", "x")
    below.gitmem("init", "--no-pages")
    oid = below.commit("feat: inside", {"j.txt": "j\n"})
    assert [1] == below.capsules_on([oid])
    assert "" == ready.git("for-each-ref", "--contains", oid, ok=(0, 129))


def test_ENV_06_the_users_own_modules_are_never_imported(ready: Repo) -> None:
    trap = "raise SystemExit('the wrong module')\n"
    ready.write(
        dict.fromkeys(("json.py", "re.py", "gitmem/__init__.py", "gitmem/cli.py", "os.py", "sitecustomize.py"), trap)
    )
    ready.env["PYTHONPATH"] = str(ready.path)
    ready.git("add", "-A")
    done = ready.run("git", "commit", "-q", "-m", "feat: traps")
    assert b"" == done.stderr
    assert [1] == ready.capsules_on(["HEAD"])


def test_MOD_01_a_clone_that_nobody_set_up_stays_untouched(ready: Repo, tmp_path: Path) -> None:
    ready.commit("chore: share", {".gitmem/config.toml": "[hook]\nmode = 'detached'\n"})
    ready.git("clone", "-q", str(ready.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    before = clone.state_files()
    for event in EVENTS:
        done = fire(clone, event)
        assert (b"", b"") == (done.stdout, done.stderr)
    assert before == clone.state_files()
    assert "gitmem is not set up in this clone\nhint: run 'gitmem init'\n" == clone.say("status")


def test_a_global_setting_does_not_switch_a_clone_on(repo: Repo, tmp_path: Path) -> None:
    config = tmp_path / "global"
    config.write_text("[gitmem]\n\tenabled = true\n")
    repo.env["GIT_CONFIG_GLOBAL"] = str(config)
    repo.commit("feat: x", {"a.txt": "a\n"})
    fire(repo, "post-commit")
    assert "" == repo.git("for-each-ref", "refs/notes")


@pytest.mark.parametrize("mode", ["off", "read"])
def test_MOD_03_a_mode_that_captures_nothing_captures_nothing(ready: Repo, mode: str) -> None:
    ready.git("config", "gitmem.mode", mode)
    ready.commit("feat: unseen", {"a.txt": "a\n"})
    assert [0] == ready.capsules_on(["HEAD"])
    ready.git("config", "gitmem.mode", "auto")
    ready.env["GITMEM"] = "off"
    ready.commit("feat: unseen too", {"a.txt": "b\n"})
    assert [0] == ready.capsules_on(["HEAD"])
    del ready.env["GITMEM"]
    ready.commit("feat: seen", {"a.txt": "c\n"})
    assert [1] == ready.capsules_on(["HEAD"])


def test_MOD_04_private_records_never_leave_by_a_push_or_a_fetch(ready: Repo, tmp_path: Path) -> None:
    ready.gitmem("add", "event", "between us", "--private")
    ready.add_remote(tmp_path / "remote")
    ready.git("push", "-q", "origin", "refs/notes/*")
    ready.git("push", "-q", "--all", "origin")
    assert ["refs/heads/main", "refs/notes/gitmem"] == ready.git("ls-remote", "--refs", "origin").split()[1::2]
    done = ready.run("git", "push", "-q", "origin", "refs/gitmem/private", ok=(1,))
    assert b"gitmem: 'refs/gitmem/private' holds private records and is never pushed\n" in done.stderr
    assert "refs/gitmem" not in ready.git("ls-remote", str(ready.path))
    peer = Repo.create(tmp_path / "peer")
    assert 0 != peer.run("git", "fetch", "-q", str(ready.path), "refs/gitmem/private", ok=None).returncode


def test_pre_push_makes_good_what_lacks_and_says_what_the_branch_was(ready: Repo, tmp_path: Path) -> None:
    ready.add_remote(tmp_path / "remote")
    ready.git("push", "-q", "origin", "main")
    ready.git("checkout", "-q", "-b", "topic")
    ready.env["GITMEM"] = "off"
    oids = [ready.commit(f"feat: {n}", {f"t{n}.txt": f"{n}\n"}) for n in range(2)]
    del ready.env["GITMEM"]
    ready.git("push", "-q", "origin", "topic")
    assert [1, 1] == ready.capsules_on(oids)
    [branch] = [r for r in ready.records() if r["kind"] == "branch"]
    assert (ready.git("rev-parse", "main"), oids[1]) == (branch["base"], branch["head"])
    assert oids[::-1] == [oid for oid, _ in branch["commits"]]
    assert branch["patch"] == cumulative_patch_id(ready, "main", "topic")
    assert 2 == len(branch["files"])
    before = ready.git("rev-parse", "refs/notes/gitmem")
    ready.git("push", "-q", "origin", "topic:again")
    assert before == ready.git("rev-parse", "refs/notes/gitmem")


def cumulative_patch_id(repo: Repo, base: str, head: str) -> str:
    patch = repo.git("diff-tree", "-p", base, head).encode() + b"\n"
    return repo.git("patch-id", "--stable", stdin=patch).split()[0]


def test_the_maker_of_a_commit_is_known_by_its_marker_and_never_by_session(ready: Repo) -> None:
    ready.env |= {"CLAUDECODE": "1", "CLAUDE_SESSION_ID": "secret-session"}
    ready.commit("feat: by an agent", {"a.txt": "a\n"})
    [made] = [r for r in ready.records() if r["kind"] == "made"]
    assert ("claude", "claude") == (made["by"], made["client"])
    assert "secret-session" not in ready.git("notes", "--ref=gitmem", "show", "HEAD")
    assert "ada@example.com" not in ready.git("notes", "--ref=gitmem", "show", "HEAD")


def test_the_shell_knows_the_same_markers_as_the_table() -> None:
    shim = (ROOT / "hooks/git-hook").read_text()
    assert list(clients.MARKERS) == re.findall(r"\{(\w+):\+(\w+)\}", shim)


def detached(repo: Repo) -> None:
    repo.commit("chore: detach", {".gitmem/config.toml": "[hook]\nmode = 'detached'\n"})
    repo.gitmem("status")


def wait_until(said: str, holds: object, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end, said
        time.sleep(0.05)


def workers(repo: Repo) -> list[str]:
    found = subprocess.run(["pgrep", "-f", f"{ENTRY} git deliver"], capture_output=True, text=True, check=False).stdout
    return [pid for pid in found.split() if folder_of(pid) == os.path.realpath(repo.path)]


def folder_of(pid: str) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return None  # it has ended


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds workers by /proc")
def test_DET_01_fifty_detached_commits_with_a_kill_in_the_middle_all_get_capsules(ready: Repo) -> None:
    detached(ready)
    ready.env["CLAUDECODE"] = "1"
    for n in range(50):
        ready.commit(f"feat: {n}", {"n.txt": f"{n}\n"})
        if n == 25:
            for pid in workers(ready):
                subprocess.run(["kill", "-9", pid], check=False)
    wait_until("workers end", lambda: not workers(ready))
    last = ready.commit("feat: one more", {"n.txt": "more\n"})
    wait_until("the last capsule", lambda: ready.capsules_on([last]) == [1] and not workers(ready))
    assert [1] * 51 == ready.capsules_on(ready.history("HEAD~51..HEAD"))
    assert {"claude"} == {r["client"] for r in ready.records(last) if r["kind"] == "made"}
    assert "" == ready.git("status", "--porcelain")
    assert not Path(ready.store().pending).exists()


@pytest.mark.parametrize("kind", ["slashes", "no branch", "worktree", "link to a branch"])
def test_the_shell_of_a_detached_commit_finds_head_wherever_it_is(ready: Repo, tmp_path: Path, kind: str) -> None:
    detached(ready)
    place = ready
    if kind == "slashes":
        ready.git("checkout", "-q", "-b", "topic/with/slashes")
        ready.git("pack-refs", "--all")
    elif kind == "no branch":
        ready.git("checkout", "-q", "--detach")
    elif kind == "worktree":
        ready.git("worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
        place = Repo(tmp_path / "beside")
    else:
        ready.git("branch", "other")
        ready.git("symbolic-ref", "refs/heads/alias", "refs/heads/other")
        ready.git("symbolic-ref", "HEAD", "refs/heads/alias")
    oid = place.commit("feat: there", {"there.txt": "there\n"})
    wait_until("the capsule", lambda: ready.capsules_on([oid]) == [1] and not workers(ready) and not workers(place))


def test_DET_01_a_commit_whose_shell_was_killed_is_found_by_the_next(ready: Repo) -> None:
    detached(ready)
    wait_until("first delivery", lambda: ready.capsules_on(["HEAD"]) == [1])
    ready.env["GITMEM"] = "off"
    lost = ready.commit("feat: lost", {"l.txt": "l\n"})
    del ready.env["GITMEM"]
    ready.commit("feat: next", {"m.txt": "m\n"})
    wait_until("both capsules", lambda: ready.capsules_on([lost, "HEAD"]) == [1, 1])


@pytest.mark.skipif(REF_FORMAT != "files", reason="the state files of a reftable lie elsewhere")
def test_a_plain_commit_starts_no_python_before_its_message(ready: Repo, tmp_path: Path) -> None:
    log = tmp_path / "log"
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\necho "$@" >>{log}\n')
    fake.chmod(0o755)
    shim = str(ROOT / "hooks/git-hook")
    ready.run("sh", shim, str(fake), ENTRY, "prepare-commit-msg", ".git/COMMIT_EDITMSG", "message")
    assert not log.exists()
    (ready.path / ".git/SQUASH_MSG").write_text("x")
    ready.run("sh", shim, str(fake), ENTRY, "prepare-commit-msg", ".git/COMMIT_EDITMSG", "message")
    assert log.exists()


@pytest.mark.parametrize("missing", ["python", "entry"])
def test_HOK_05_a_gitmem_that_is_gone_leaves_commits_working_and_silent(
    ready: Repo, tmp_path: Path, missing: str
) -> None:
    argv = ["sh", str(ROOT / "hooks/git-hook"), sys.executable, ENTRY, "post-commit"]
    argv[2 if missing == "python" else 3] = str(tmp_path / "gone")
    done = ready.run(*argv)
    assert (b"", b"") == (done.stdout, done.stderr)


def test_a_python_that_fails_never_fails_a_commit_or_a_push(ready: Repo, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    for event in EVENTS:
        ready.run("sh", str(ROOT / "hooks/git-hook"), str(broken), ENTRY, event)


def test_S17_two_repositories_know_nothing_of_each_other(ready: Repo, tmp_path: Path) -> None:
    other = Repo.create(tmp_path / "other")
    other.commit("chore: begin", {"x.txt": "x\n"})
    other.gitmem("init", "--no-pages")
    ready.env["GIT_DIR"] = str(ready.path / ".git")
    done = ready.gitmem("-C", str(other.path), "show", "--json")
    assert other.head().encode() in done.stdout
    assert [] == [r for r in other.records() if r["commit"] in ready.history()]


def test_records_of_a_commit_before_the_first_are_no_trouble(repo: Repo) -> None:
    repo.gitmem("init", "--no-pages")
    oid = repo.commit("feat: the very first", {"a.txt": "a\n"})
    assert [1] == repo.capsules_on([oid])
    assert records.SHARED_REF in repo.git("for-each-ref", "--format=%(refname)")
