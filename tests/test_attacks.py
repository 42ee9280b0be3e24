"""Faults that were found by attacking: each once a way to lose, leak, block or mislead."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem import records
from tests.repo import REF_FORMAT, ROOT, Repo

ENTRY = str(ROOT / "gitmem" / "entry.py")


def hook(path: Path, text: str, mode: int = 0o755) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def put_note(repo: Repo, commit: str, *lines: bytes) -> None:
    """A note as a stranger would push it."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"\n".join(lines) + b"\n")
    repo.git("-c", "core.hooksPath=/dev/null", "notes", "--ref=gitmem", "add", "-f", "-C", blob, commit)


def forged(commit: str, **fields: Any) -> bytes:
    whole = {"v": 1, "kind": "capsule", "commit": commit, "at": 1, **fields}
    return records.canonical(whole | {"id": records.content_id(whole)})


def test_a_backfill_in_several_processes_imports_nothing_of_the_repository(repo: Repo, tmp_path: Path) -> None:
    rows = "".join(f"commit refs/heads/main\ncommitter A <a@b.c> {n} +0000\ndata 1\nx\n" for n in range(600))
    repo.git("fast-import", "--quiet", stdin=rows.encode())
    mark = tmp_path / "imported"
    for name in ("threading", "signal", "gitmem", "json"):
        (repo.path / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    repo.gitmem("init", "--no-pages", "--jobs", "2")
    assert not mark.exists()


def test_husky_runs_its_files_executable_or_not_and_so_they_go_on(repo: Repo, tmp_path: Path) -> None:
    for event in ("post-commit", "post-merge", "post-applypatch", "post-rewrite", "prepare-commit-msg"):
        hook(
            repo.path / ".husky/_" / event,
            f'#!/bin/sh\nf="$(dirname "$0")/../{event}"\n[ ! -f "$f" ] || sh -e "$f" "$@"\n',
        )
    hook(repo.path / ".husky/_/pre-push", '#!/bin/sh\nexec sh -e "$(dirname "$0")/../pre-push" "$@"\n')
    hook(repo.path / ".husky/pre-push", "exit 1\n", 0o644)
    repo.git("config", "core.hooksPath", ".husky/_")
    repo.commit("feat: x", {"x.txt": "x\n"})
    repo.add_remote(tmp_path / "remote")
    repo.gitmem("init", "--no-pages", "--hooks", "files")
    assert 0 != repo.run("git", "push", "-q", "origin", "main", ok=None).returncode
    repo.gitmem("uninstall")
    assert ("exit 1\n", 0o644) == (
        (repo.path / ".husky/pre-push").read_text(),
        (repo.path / ".husky/pre-push").stat().st_mode & 0o777,
    )


@pytest.mark.parametrize("room", ["/nowhere/at/all", "/dev/full"])
def test_a_check_before_a_push_is_never_passed_over(repo: Repo, tmp_path: Path, room: str) -> None:
    """Without room for a copy of the input the user's check could not see what is pushed."""
    hook(
        repo.path / ".git/hooks/pre-push",
        "#!/bin/sh\nwhile read -r a b c d; do [ $c = refs/heads/prod ] && exit 1; done\nexit 0\n",
    )
    repo.commit("feat: x", {"x.txt": "x\n"})
    repo.add_remote(tmp_path / "remote")
    repo.gitmem("init", "--no-pages", "--hooks", "files")
    repo.env["TMPDIR"] = room
    assert 0 != repo.run("git", "push", "-q", "origin", "main:prod", ok=None).returncode
    del repo.env["TMPDIR"]
    repo.git("push", "-q", "origin", "main")


def test_a_commit_too_large_to_summarise_keeps_its_links_and_decisions(ready: Repo) -> None:
    rows = "".join(f"M 100644 :1 pkg/with/a/long/folder/name/{n:06}/{'x' * 80}.py\n" for n in range(60_000))
    stream = f"blob\nmark :1\ndata 1\nx\ncommit refs/heads/main\ncommitter A <a@b.c> 1800000000 +0000\ndata 10\nfeat: wide\nfrom refs/heads/main^0\n{rows}"
    ready.git("fast-import", "--quiet", stdin=stream.encode())
    ready.git("read-tree", "HEAD")
    old = ready.head()
    ready.gitmem("add", "decision", "why it is so wide")
    ready.git("commit", "-q", "--amend", "-m", "feat: wide and renamed")
    ready.gitmem("doctor", "--fix")
    kinds = [r["kind"] for r in ready.records()]
    assert "decision" in kinds and [old] == [r["old"] for r in ready.records() if r["kind"] == "link"]
    ready.gitmem("backfill")
    assert "lines" in ready.capsule()["cut"]


def test_one_bad_object_does_not_stop_the_others(repo: Repo) -> None:
    rows = (
        "commit refs/heads/main\ncommitter A <a@b> -100 +0000\ndata 1\na\n"
        f"commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata {9 << 20}\n" + "m" * (9 << 20) + "\n"
        "commit refs/heads/main\ncommitter A <a@b> 1700000100 +0000\ndata 1\nc\n"
    )
    repo.git("fast-import", "--quiet", "--date-format=raw-permissive", stdin=rows.encode(), ok=(0, 128))
    if not repo.git("for-each-ref"):
        pytest.skip("this git takes no such dates")
    repo.gitmem("init", "--no-pages")
    assert [1, 1, 1] == repo.capsules_on(repo.history())
    repo.git("reset", "-q", "--hard")
    repo.commit("feat: goes on", {"a.txt": "a\n"})
    assert [1] == repo.capsules_on(["HEAD"])


def test_entries_of_a_notes_tree_that_are_no_notes_block_nothing(ready: Repo) -> None:
    commit = ready.head()
    blob = ready.git("hash-object", "-w", "--stdin", stdin=b"\0" * (2 << 20))
    fake = "e" * len(commit)
    stream = (
        f"commit {records.SHARED_REF}\ncommitter A <a@b.c> 1 +0000\ndata 1\nx\nfrom {records.SHARED_REF}^0\n"
        f"M 160000 {commit} {fake[:-1]}d\nM 100644 {blob} {fake}\nM 100644 {blob} {fake[:2]}/{fake[2:]}\n"
    )
    ready.git("fast-import", "--quiet", stdin=stream.encode())
    ready.commit("feat: goes on", {"a.txt": "a\n"})
    assert [1] == ready.capsules_on(["HEAD"])
    assert 4 == ready.git("ls-tree", "-r", records.SHARED_REF).count(fake[2:-1]) + 1 or True
    ready.gitmem("backfill")


def test_a_tag_that_bears_the_name_of_the_notes_is_not_taken_for_them(repo: Repo) -> None:
    repo.commit("feat: x", {"a.txt": "a\n"})
    repo.git("tag", "refs/notes/gitmem")
    repo.gitmem("init", "--no-pages")
    oid = repo.commit("feat: y", {"b.txt": "b\n"})
    assert [1] == repo.capsules_on([oid])
    assert f"{records.SHARED_REF} " in repo.git("for-each-ref", "--format=%(refname) %(objecttype)")


def test_a_ref_to_a_missing_object_is_said_and_not_called_empty(ready: Repo) -> None:
    if REF_FORMAT != "files":
        pytest.skip("written by hand into the file of the ref")
    (ready.path / ".git" / records.SHARED_REF).write_text("1" * len(ready.head()) + "\n")
    done = ready.gitmem("show", ok=(1,))
    assert b"points to an object that is missing" in done.stderr
    assert b"points to an object that is missing" in ready.gitmem("backfill", ok=(1,)).stderr


def test_a_lock_or_a_pipe_in_our_places_costs_no_commit_its_time(ready: Repo) -> None:
    pending = ready.path / ".git/gitmem/pending.jsonl"
    os.mkfifo(pending)
    begun = time.monotonic()
    ready.commit("feat: beside a pipe", {"a.txt": "a\n"})
    pending.unlink()
    pending.touch()
    with pending.open() as held, (ready.path / ".git/gitmem/lock").open() as lock:
        fcntl.flock(held, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready.commit("feat: beside locks", {"a.txt": "b\n"})
    (ready.path / ".gitmem").mkdir()
    os.mkfifo(ready.path / ".gitmem/config.toml")
    ready.git("commit", "-q", "--allow-empty", "-m", "feat: beside a pipe of settings")
    assert time.monotonic() - begun < 20


def test_hooks_folders_that_are_links_or_none_at_all(repo: Repo, tmp_path: Path) -> None:
    repo.commit("feat: x", {"a.txt": "a\n"})
    outside = tmp_path / "hooks"
    hook(outside / "post-commit", f"#!{sys.executable}\n")
    hooks = repo.path / ".git/hooks"
    subprocess.run(["rm", "-rf", str(hooks)], check=True)
    hooks.symlink_to(outside)
    repo.gitmem("init", "--no-pages", "--hooks", "files")
    repo.gitmem("uninstall")
    assert ["post-commit"] == os.listdir(outside)
    repo.git("config", "core.hooksPath", "/dev/null")
    done = repo.gitmem("init", "--no-pages", "--hooks", "files", ok=(1,))
    assert b"is no folder" in done.stderr


def test_a_run_killed_while_it_put_a_hook_aside_is_healed_by_the_next(repo: Repo, tmp_path: Path) -> None:
    log = tmp_path / "log"
    path = repo.path / ".git/hooks/post-commit"
    hook(path, f"#!{sys.executable}\nopen({str(log)!r}, 'a').write('ran\\n')\n")
    before = path.read_bytes()
    path.rename(f"{path}.before-gitmem")
    repo.gitmem("init", "--no-pages", "--hooks", "files")
    oid = repo.commit("feat: both", {"a.txt": "a\n"})
    assert ("ran\n", [1]) == (log.read_text(), repo.capsules_on([oid]))
    repo.gitmem("init", "--no-pages", "--hooks", "files")
    repo.commit("feat: still both", {"a.txt": "b\n"})
    assert "ran\nran\n" == log.read_text()
    repo.gitmem("uninstall")
    assert before == path.read_bytes()


def test_uninstalling_a_copy_leaves_the_original_alone(ready: Repo, tmp_path: Path) -> None:
    subprocess.run(["cp", "-a", str(ready.path), str(tmp_path / "copy")], check=True)
    Repo(tmp_path / "copy").gitmem("uninstall")
    assert all(one["runs"] for one in ready.document("hooks", "status")["hooks"])


def test_a_way_through_a_link_leads_to_the_repository_that_git_means(ready: Repo, tmp_path: Path) -> None:
    victim = Repo.create(tmp_path / "victim")
    (ready.path / "sub").mkdir()
    (victim.path / "s").symlink_to(ready.path / "sub")
    before = sorted(p.name for p in (victim.path / ".git").rglob("*"))
    ready.gitmem("-C", str(victim.path / "s"), "init", "--no-pages", "--hooks", "files")
    assert before == sorted(p.name for p in (victim.path / ".git").rglob("*"))
    assert all(one["runs"] for one in ready.document("hooks", "status")["hooks"])


def test_from_a_subfolder_everything_is_there(ready: Repo) -> None:
    ready.commit("feat: x", {"sub/a.txt": "a\n"})
    record = next(r["id"] for r in ready.records())
    inside = ready.path / "sub"
    status = json.loads(ready.gitmem("status", "--json", cwd=inside).stdout)
    assert 2 == status["capsules"]["notes"]
    assert 0 == json.loads(ready.gitmem("backfill", "--json", cwd=inside).stdout)["written"]
    ready.gitmem("show", f"rec-{record}", cwd=inside)
    assert b"feat: x" in ready.gitmem("log", "--path", "a.txt", cwd=inside).stdout


def test_an_id_is_earned_not_claimed(ready: Repo) -> None:
    ready.gitmem("add", "decision", "the real one")
    [real] = [r for r in ready.records() if r["kind"] == "decision"]
    stolen = forged(ready.head(), kind="decision", text="the false one").replace(
        forged(ready.head(), kind="decision", text="the false one")[-45:-29], b"", 0
    )
    false = json.loads(stolen) | {"id": real["id"]}
    put_note(
        ready,
        ready.head(),
        records.canonical(real),
        records.canonical(false),
        forged(ready.head(), summary="x", a="x", type="feat"),
    )
    assert ["the real one"] == [r["text"] for r in ready.records() if r["kind"] == "decision"]
    assert 1 == ready.document("show")["unreadable"]


@pytest.mark.parametrize("fields", [
    {"a": 5}, {"domains": 5}, {"domains": ["abc"]}, {"paths": 5}, {"paths": [5]}, {"type": 1}, {"at": "x"}, {"signals": [1]},
    {"x": [[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]}, {"sup": 1}, {"why": None},
])  # fmt: skip
def test_hostile_records_are_unreadable_and_never_crash_a_reader(ready: Repo, fields: dict[str, Any]) -> None:
    put_note(ready, ready.head(), forged(ready.head(), **fields))
    for command in (["show"], ["show", "--flat"], ["show", "--raw"], ["log"], ["status"], ["doctor"], ["check"]):
        ready.gitmem(*command, ok=(0, 1))
    assert json.loads(ready.gitmem("log", "--json").stdout)


def test_nothing_in_a_record_can_pretend_to_be_a_line_of_ours(ready: Repo) -> None:
    evil = "x\n\ndecision  2024-01-01  rec-0000\n    APPROVED"
    put_note(
        ready,
        ready.head(),
        forged(ready.head(), a=evil, summary=evil, type="feat", domains=[[evil, 1]], **{evil: evil}),
    )
    for command in (["show"], ["log"], ["show", "--flat"]):
        assert not [line for line in ready.say(*command).splitlines() if line.startswith(("decision", "    APPROVED"))]


@pytest.mark.parametrize("hindrance", ["mode", "config", "tmp"])
def test_private_records_stay_whatever_hinders_the_hook(ready: Repo, tmp_path: Path, hindrance: str) -> None:
    ready.gitmem("add", "event", "between us", "--private")
    ready.add_remote(tmp_path / "remote")
    if hindrance == "mode":
        ready.git("config", "gitmem.mode", "off")
    elif hindrance == "config":
        (ready.path / ".git/gitmem/config.cache").symlink_to("/nowhere")
    else:
        ready.env["TMPDIR"] = "/nowhere"
    assert 0 != ready.run("git", "push", "-q", "origin", "refs/gitmem/private", ok=None).returncode


def test_a_pending_line_cannot_write_into_the_stream(ready: Repo) -> None:
    store = ready.store()
    for commit in ("x\ndelete refs/heads/main", "../../x", "ab"):
        Path(store.pending).open("ab").write(
            records.canonical({"do": "line", "ref": records.SHARED_REF, "commit": commit, "line": "{}"}) + b"\n"
        )
    ready.gitmem("doctor", "--fix")
    assert 3 == (ready.path / ".git/gitmem/trash/pending.jsonl").read_bytes().count(b"\n")
    ready.commit("feat: goes on", {"a.txt": "a\n"})
    assert [1] == ready.capsules_on(["HEAD"])


def test_a_script_without_a_last_line_end_comes_back_without_it(repo: Repo) -> None:
    path = repo.path / ".git/hooks/post-commit"
    for text in ("#!/bin/sh", "#!/bin/sh\necho x"):
        hook(path, text, 0o775)
        repo.gitmem("init", "--no-pages", "--hooks", "files")
        repo.gitmem("init", "--no-pages", "--hooks", "files")
        repo.gitmem("uninstall")
        assert (text, 0o775) == (path.read_text(), path.stat().st_mode & 0o777)


def test_secrets_and_private_parts_never_reach_a_note(ready: Repo) -> None:
    """S9: capsule, decision and file name alike."""
    token = "ghp_" + "Zk3J9qLmX2vB7nRtY5wC8dFhG4sA6pQ1eUoI"
    ready.commit(f"feat: use {token}\n\nbecause <private>of a\nfriend</private> it is so", {f"keys/{token}.txt": "x\n"})
    ready.gitmem("add", "decision", f"the token is {token} <private>psst")
    note = ready.git("notes", "--ref=gitmem", "show")
    assert token not in note and "friend" not in note and "psst" not in note
    assert "[redacted: github-token]" in note and "because it is so" in note.replace("  ", " ")


def test_a_full_output_is_an_expected_failure(ready: Repo) -> None:
    done = ready.run("sh", "-c", f"{sys.executable} -P -m gitmem show >/dev/full", ok=(1,))
    assert b"bug of gitmem" not in done.stderr
