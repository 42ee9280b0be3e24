"""Faults that attacks on sync have found, each with the kind it stands for."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem import records
from tests.repo import Repo
from tests.test_sync import NOTES, SECRET, clone, hub, id_of, leak, lines_on, plant, purge, say, texts, tip_tree

__all__ = ["hub"]


def made(kind: str, commit: str, **fields: Any) -> bytes:
    """A record with an honest id, whatever its fields hold."""
    whole = {"v": 1, "kind": kind, "commit": commit, "at": 5, **fields}
    return records.canonical(whole | {"id": records.content_id(whole)})


def sharded(repo: Repo, shards: int = 16) -> None:
    repo.commit("chore: shards", {".gitmem/config.toml": f"[sync]\nshards = {shards}\n"})
    repo.git("push", "-q", "origin", "main")


def everywhere(repo: Repo, text: str) -> list[str]:
    """The refs in whose history a text stands."""
    refs = repo.git("for-each-ref", "--format=%(refname)").split()
    return [ref for ref in refs if text in repo.git("log", "-p", ref, "--")]


# ---- purge


def test_a_purge_that_a_remote_does_not_take_can_be_run_again_and_no_sync_undoes_it(ready: Repo, hub: Repo) -> None:
    oid = say(ready, "SECRETWORD")[4:]
    ready.gitmem("sync")
    hub.path.rename(f"{hub.path}-gone")
    assert "'origin' did not take the purged notes" in purge(ready, oid, ok=1)
    assert [] == everywhere(ready, "SECRETWORD")
    Path(f"{hub.path}-gone").rename(hub.path)
    done = ready.gitmem("sync", ok=(1,))
    assert f"rec-{oid} is not purged from 'origin' yet".encode() in done.stderr
    assert [] == everywhere(ready, "SECRETWORD")
    purge(ready, oid)
    ready.gitmem("sync")
    assert [] == everywhere(ready, "SECRETWORD") == everywhere(hub, "SECRETWORD")


def test_a_purge_reaches_shards_and_what_other_clones_joined_of_them(ready: Repo, hub: Repo) -> None:
    sharded(ready)
    oid = say(ready, "SECRETWORD")[4:]
    ready.gitmem("sync")
    other = clone(hub, "other")
    other.commit("feat: other", {"o": "1"})
    other.git("push", "-q", "origin", "main")
    other.gitmem("sync")
    purge(ready, oid)
    other.gitmem("sync")
    other.commit("feat: more", {"o": "2"})
    other.git("push", "-q", "origin", "main")
    assert ", sent 1 record\n" in other.say("sync")
    assert [] == everywhere(other, "SECRETWORD") == everywhere(hub, "SECRETWORD") == everywhere(ready, "SECRETWORD")
    assert "refs/gitmem/joining" not in other.git("for-each-ref") + ready.git("for-each-ref")


def test_a_purge_reaches_what_was_fetched_from_a_remote_of_another_name(ready: Repo, hub: Repo) -> None:
    oid = say(ready, "SECRETWORD")[4:]
    ready.gitmem("sync")
    ready.git("remote", "rename", "origin", "up")
    purge(ready, oid)
    assert [] == everywhere(ready, "SECRETWORD") == everywhere(hub, "SECRETWORD")


# ---- what the other side does


def test_a_shard_that_is_gone_from_the_server_is_sent_again(ready: Repo, hub: Repo) -> None:
    sharded(ready)
    say(ready, "KEEPME")
    ready.gitmem("sync")
    [shard] = [
        ref for ref in hub.git("for-each-ref", "--format=%(refname)").split() if ref.startswith("refs/gitmem/s/")
    ]
    (ready.path / ".git/gitmem/clone-id").write_text("another")
    say(ready, "other")
    ready.gitmem("sync")
    hub.git("update-ref", "-d", shard)
    ready.gitmem("sync")
    assert {"KEEPME", "other"} <= set(texts(clone(hub, "fresh"), "HEAD"))


def test_a_ref_of_the_other_side_that_holds_no_notes_is_left_alone(ready: Repo, hub: Repo) -> None:
    before = hub.git("rev-parse", "main")
    hub.git("symbolic-ref", NOTES, "refs/heads/main")
    assert b"'refs/notes/gitmem' of 'origin' holds no notes" in ready.gitmem("sync", ok=(1,)).stderr
    assert before == hub.git("rev-parse", "main")


@pytest.mark.parametrize("w", [["x"], {"a": 1}, 7, None])
def test_a_record_with_an_author_that_is_no_text_is_no_record(ready: Repo, hub: Repo, w: object) -> None:
    line = made("decision", ready.head(), text="hi", w=w)
    plant(ready, line)
    plant(ready, made("retract", ready.head(), ids=[json.loads(line)["id"]], forget=True, w=w))
    for command in (["sync"], ["show"], ["show", "--json"], ["review"], ["repair"]):
        ready.gitmem(*command)


@pytest.mark.parametrize("head", ["x\nHEAD", "HEAD:f", "--help", "\x00x", "HEAD^{tree}"])
def test_a_branch_record_cannot_make_git_do_anything(ready: Repo, head: str) -> None:
    plant(ready, made("branch", ready.head(), head=head, base="x", patch="y", commits=[["HEAD", ""]], files=[]))
    ready.env["GITMEM"] = "off"
    ready.commit("feat: squashed (#3)", {"g": "".join(f"line number {n} abcdef\n" for n in range(9))})
    del ready.env["GITMEM"]
    assert [] == ready.document("show")["found"]


def test_a_note_beyond_all_size_is_in_nobodys_way(ready: Repo, hub: Repo, tmp_path: Path) -> None:
    ready.commit("feat: more", {"f": "1"})
    ready.git("push", "-q", "origin", "main")
    ready.gitmem("sync")
    other = clone(hub, "other")
    plant(other, b"x" * 2_000_000, "HEAD~1")
    other.git("push", "-q", "origin", NOTES)
    say(ready, "small", "--commit", "HEAD")
    ready.gitmem("sync")
    assert ["small"] == texts(ready)
    for command in (["show", "HEAD~1"], ["status"], ["log"], ["backfill", "--all"], ["doctor"], ["review"]):
        ready.gitmem(*command)
    fresh = clone(hub, "fresh")
    assert ["small"] == texts(fresh)


def test_a_note_of_ones_own_that_is_too_large_stays_and_stops_nothing(ready: Repo, hub: Repo) -> None:
    ready.commit("feat: more", {"f": "1"})
    ready.git("push", "-q", "origin", "main")
    plant(ready, b"y" * 2_000_000, "HEAD~1")
    say(ready, "small")
    ready.gitmem("sync")
    assert 2_000_000 < len(ready.git("notes", "--ref=gitmem", "show", "HEAD~1"))
    assert [] == [row for row in lines_on(hub) if row.startswith("yyy")]
    ready.commit("feat: goes on", {"f": "2"})
    assert [1] == ready.capsules_on(["HEAD"])


# ---- what people push


def test_a_push_that_names_the_notes_itself_is_left_to_it(ready: Repo, hub: Repo) -> None:
    ready.gitmem("sync")
    ready.git("config", "gitmem.sync", "auto")
    ready.commit("feat: three", {"f": "3"})
    ready.git("push", "-q", "--atomic", "origin", "main", NOTES)
    assert ready.head() == hub.git("rev-parse", "main")
    assert tip_tree(ready) == tip_tree(hub)


def test_a_dry_run_of_a_push_sends_nothing(ready: Repo, hub: Repo) -> None:
    if not os.path.exists("/proc/self/cmdline"):
        pytest.skip("what git was asked is known only where there is a /proc")
    ready.git("config", "gitmem.sync", "auto")
    ready.commit("feat: three", {"f": "3"})
    for option in ("--dry-run", "-n"):
        ready.git("push", "-q", option, "origin", "main")
        assert "" == hub.git("for-each-ref", NOTES)


def test_work_that_nobody_pushed_is_nobodys_business(ready: Repo, hub: Repo) -> None:
    ready.git("config", "gitmem.sync", "auto")
    ready.git("checkout", "-q", "-b", "alone")
    ready.commit("feat: acquisition of acme", {"acme.txt": "x"})
    ready.git("checkout", "-q", "main")
    ready.commit("feat: public", {"f": "1"})
    ready.git("push", "-q", "origin", "main")
    assert "acme" not in "".join(lines_on(hub))
    assert "1 record wait until their commits are pushed\n" in ready.say("sync")
    assert 1 == ready.document("sync")["waiting"]
    ready.git("branch", "-q", "-D", "alone")  # lost is not public either
    ready.gitmem("sync")
    assert "acme" not in "".join(lines_on(hub))
    assert any("acme" in row for row in lines_on(ready))
    ready.gitmem("sync", "--all")
    assert "acme" in "".join(lines_on(hub))


def test_what_a_commit_was_before_goes_with_it(ready: Repo, hub: Repo) -> None:
    ready.commit("feat: first words", {"f": "1"})
    ready.commit("feat: second words", None, "--amend")
    ready.commit("feat: third words", None, "--amend")
    ready.git("push", "-q", "origin", "main")
    ready.gitmem("sync")
    other = clone(hub, "other")
    assert 2 == len(other.document("show", "origin/main")["former"])


def test_all_places_of_a_remote_get_the_notes(ready: Repo, hub: Repo, tmp_path: Path) -> None:
    second = Repo(tmp_path / "second.git")
    hub.git("clone", "-q", "--bare", str(hub.path), str(second.path))
    ready.git("remote", "set-url", "--add", "origin", str(second.path))
    ready.gitmem("sync")
    assert tip_tree(ready) == tip_tree(hub) == tip_tree(second)
    ready.git("config", "gitmem.sync", "auto")
    ready.commit("feat: more", {"f": "1"})
    assert b"" == ready.run("git", "push", "-q", "origin", "main").stderr
    assert tip_tree(ready) == tip_tree(hub) == tip_tree(second)


def test_a_mirror_remote_takes_notes_alone(ready: Repo, hub: Repo) -> None:
    ready.git("config", "remote.origin.mirror", "true")
    ready.gitmem("sync", "--all")
    assert tip_tree(ready) == tip_tree(hub)
    assert ["refs/heads/main", NOTES] == hub.git("for-each-ref", "--format=%(refname)").split()


def test_never_is_never(ready: Repo, hub: Repo) -> None:
    ready.git("config", "gitmem.sync", "never")
    assert b"'--fold' pushes" in ready.gitmem("sync", "--fold", ok=(2,)).stderr
    oid = say(ready, "wrong")[4:]
    purge(ready, oid)
    assert "" == hub.git("for-each-ref", NOTES)


def test_remotes_within_each_others_names_are_told_apart(ready: Repo, hub: Repo, tmp_path: Path) -> None:
    ready.git("remote", "rename", "origin", "o")
    second = Repo.create(tmp_path / "second.git", "--bare")
    if ready.run("git", "remote", "add", "o/s", str(second.path), ok=None).returncode:
        pytest.skip("this git takes no remote's name within another's")
    ready.git("push", "-q", "o/s", "main")
    ready.gitmem("sync", "o")
    say(ready, "both")
    ready.gitmem("sync", "o/s")
    ready.gitmem("sync", "o")
    assert tip_tree(ready) == tip_tree(hub) == tip_tree(second)


# ---- secrets


def test_no_place_of_a_line_hides_a_secret(ready: Repo, hub: Repo) -> None:
    head = ready.head()
    hidden = json.dumps({"y": SECRET}).replace("ghp", "\\u0067hp")
    plant(ready, hidden.encode())
    for fields in ({"text": "a", "old": SECRET}, {"text": "b", "w": SECRET}, {"text": "c", "commits": [["x", SECRET]]},
                   {"text": "d", "novel": {SECRET: 1}}):  # fmt: skip
        plant(ready, made("decision", head, **fields))
    report = ready.document("sync")
    assert 5 == len(report["held"])
    assert [] == [row for row in lines_on(hub) if SECRET in row or "u0067hp" in row]


def test_what_lies_in_the_tree_and_is_no_note_is_not_sent(ready: Repo, hub: Repo) -> None:
    head = ready.head()
    blob = ready.git("hash-object", "-w", "--stdin", stdin=f"key {SECRET}\n".encode())
    odd = ready.git("mktree", stdin=f"100644 blob {blob}\t{head[4:]}\n".encode())
    rows = ready.git("ls-tree", NOTES) + f"\n040000 tree {odd}\t{head[:4]}\n100644 blob {blob}\tREADME\n"
    tree = ready.git("mktree", stdin=rows.encode())
    ready.git("update-ref", NOTES, ready.git("commit-tree", "-p", NOTES, "-m", "odd", tree))
    ready.gitmem("sync")
    assert SECRET not in hub.git("log", "-p", NOTES)
    assert [1] == ready.capsules_on(["HEAD"])


# ---- manners


def test_what_was_dropped_is_dropped_once(ready: Repo, hub: Repo) -> None:
    ready.gitmem("sync")
    other = clone(hub, "other", mail="eve@example.com")
    capsule = ready.capsule()["id"]
    plant(other, made("retract", ready.head(), ids=[capsule], forget=True, w="e" * 12))
    other.git("push", "-q", "origin", NOTES)
    assert 1 == ready.document("sync")["dropped"]
    assert [0, 0, 0] == [ready.document("sync")["dropped"] for _ in range(3)]
    trash = ready.path / ".git/gitmem/trash/notes.jsonl"
    assert 1 == len(trash.read_bytes().splitlines())
    trash.write_bytes(trash.read_bytes() * 100_000)
    say(ready, "goes on")
    ready.gitmem("sync")
    assert "goes on" in "".join(lines_on(hub))


def test_settings_of_grep_blind_nobody(ready: Repo) -> None:
    for key in ("grep.lineNumber", "grep.column", "grep.heading", "grep.break", "grep.fullName", "color.grep"):
        ready.git("config", key, "always" if key.startswith("color") else "true")
    ready.git("config", "grep.patternType", "perl")
    oid = say(ready, "use redis")
    assert "use redis" in ready.say("show", oid)


@pytest.mark.parametrize("ref", [NOTES, "refs/gitmem/joining", "refs/gitmem/remotes/origin/notes/gitmem"])
def test_a_lock_that_a_kill_left_behind_is_removed(ready: Repo, hub: Repo, ref: str) -> None:
    if (ready.path / ".git/reftable").exists():
        pytest.skip("a reftable has one lock for all refs")
    ready.gitmem("sync")
    say(ready, "more")
    lock = ready.path / f".git/{ref}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    os.utime(lock, (time.time() - 600, time.time() - 600))
    ready.gitmem("sync")
    assert tip_tree(ready) == tip_tree(hub)


def test_saying_it_twice_is_saying_it_once(ready: Repo, hub: Repo) -> None:
    oid = say(ready, "disputed", "--by", "me")
    plant(ready, made("retract", ready.head(), ids=[oid[4:]], forget=True, w="e" * 12))
    for _ in range(2):
        (ready.path / ".git/gitmem/forgotten.json").unlink(missing_ok=True)
        ready.gitmem("review", "--keep", oid)
    assert ["disputed"] == texts(ready)
    second = say(ready, "wrong")
    for _ in range(2):
        ready.gitmem("forget", second)
    assert 2 == len([row for row in lines_on(ready) if '"kind":"retract"' in row])
    assert b"no record has that id" in ready.gitmem("review", "--dry-run", "--keep", "rec-nonsense00", ok=(1,)).stderr


def test_repair_links_to_no_commit_that_is_not_there(ready: Repo) -> None:
    folder = ready.path / ".git/filter-repo"
    folder.mkdir()
    (folder / "commit-map").write_text(f"old new\n{ready.head()} {'a' * len(ready.head())}\n")
    assert [] == ready.document("repair")["placed"]


def test_a_leak_of_somebody_else_is_named_and_not_shown(ready: Repo, hub: Repo) -> None:
    line = leak(ready, "bob@example.com")
    shown = ready.say("review")
    assert f"rec-{id_of(line)} event" in shown
    assert SECRET not in shown


def test_a_clone_of_ours_can_be_the_server_of_shards(ready: Repo, hub: Repo) -> None:
    hub.gitmem("init", "--no-pages")
    sharded(ready)
    say(ready, "in a shard")
    ready.gitmem("sync")
    assert "in a shard" in texts(clone(hub, "other"), "origin/main~0") + texts(ready)
    assert any(ref.startswith("refs/gitmem/s/") for ref in hub.git("for-each-ref", "--format=%(refname)").split())
    ready.gitmem("add", "event", "mine alone", "--private")
    assert "private" not in ready.git("ls-remote", str(ready.path))


def test_what_was_purged_is_said_to_be_gone(ready: Repo) -> None:
    oid = say(ready, "hush")
    purge(ready, oid[4:])
    for command in (["show", oid], ["forget", oid]):
        assert f"gitmem: {oid} was purged\n".encode() in ready.gitmem(*command, ok=(1,)).stderr
    assert f"not done: purged {oid} in 0 notes" in ready.say("forget", "--purge", "--dry-run", oid)


def test_an_unfinished_purge_is_a_problem_until_it_is_done(ready: Repo, hub: Repo) -> None:
    oid = say(ready, "hush")
    ready.gitmem("sync")
    hook = hub.path / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    purge(ready, oid[4:], ok=1)
    problem = {"what": f"{oid} is not purged from origin yet", "hint": f"run 'gitmem forget --purge {oid}' again"}
    assert problem in ready.document("status")["problems"]
    done = ready.gitmem("sync", ok=(1,))
    assert f"gitmem: {oid} is not purged from 'origin' yet\nhint: run 'gitmem forget --purge".encode() in done.stderr
    hook.unlink()
    purge(ready, oid[4:])
    ready.gitmem("sync")
    assert "sync       gitmem.sync ask; origin has all notes" in ready.say("status")


def test_a_note_of_a_commit_that_is_not_here_can_be_read(ready: Repo, hub: Repo) -> None:
    other = clone(hub, "other")
    other.git("checkout", "-q", "-b", "topic")
    oid = other.commit("feat: elsewhere", {"e": "1"})
    say(other, "decided elsewhere")
    other.git("push", "-q", "origin", "topic")
    other.gitmem("sync")
    ready.gitmem("sync")
    assert "(not in this clone: perhaps on a branch that was not fetched)" in ready.say("repair")
    for name in (oid, oid[:10]):
        assert "decided elsewhere" in ready.say("show", name)
    assert b"names no commit of this repository" in ready.gitmem("show", "0000000", ok=(1,)).stderr


def test_log_tells_what_was_said_of_the_commits_before_a_squash(ready: Repo, hub: Repo) -> None:
    from tests.test_finding import branch_of, server_squash

    branch_of(ready, 2)
    server_squash(hub, touched="base.txt")
    ready.git("checkout", "-q", "main")
    ready.git("pull", "-q", "--ff-only")  # the topic is still known here
    ready.gitmem("repair")
    [row] = ready.document("log", "--kind", "decision")
    assert [["decision", "decided 0"], ["decision", "decided 1"]] == sorted(row["texts"])


def test_private_records_are_marked(ready: Repo) -> None:
    assert ready.say("add", "event", "mine", "--private").startswith("added private event rec-")
    shown = ready.say("show")
    assert " (private)\n    mine" in shown
    assert 1 == shown.count("(private)")


def test_what_a_person_has_dealt_with_is_not_named_again(ready: Repo, hub: Repo) -> None:
    line = leak(ready)
    assert 1 == len(ready.document("sync")["held"])
    ready.gitmem("forget", f"rec-{id_of(line)}")
    assert [] == ready.document("sync")["held"]
    other = clone(hub, "other", mail="eve@example.com")
    oid = say(other, "theirs")
    other.gitmem("sync")
    ready.gitmem("sync")
    other.gitmem("forget", oid)
    other.gitmem("sync")
    ready.gitmem("sync")
    assert [] == [one for one in ready.document("review")["items"] if one["record"].get("text") == "theirs"]
    assert not any(SECRET in row for row in lines_on(hub))


def test_a_shard_that_holds_no_notes_is_refused_beside_a_ref_that_does(ready: Repo, hub: Repo) -> None:
    ready.gitmem("sync")
    hub.git("update-ref", "refs/gitmem/s/0a", "refs/heads/main")
    assert b"'refs/gitmem/s/0a' of 'origin' holds no notes" in ready.gitmem("sync", ok=(1,)).stderr
