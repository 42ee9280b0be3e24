"""Several clones and a remote: nothing lost, no conflicts, nothing sent that must not be."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pty
import random
import re
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem import joining, records
from tests.repo import ROOT, Repo

NOTES = records.SHARED_REF
REPORT = os.environ.get("GITMEM_REPORT")  # read before the environment is sealed
SECRET = "ghp_" + "R4nd0mL00k1ngT0k3nV4lu3Abcd3fGh1jKlM"


@pytest.fixture
def hub(ready: Repo, tmp_path: Path) -> Repo:
    """A bare repository that `ready` has pushed to."""
    bare = ready.add_remote(tmp_path / "hub.git")
    ready.git("push", "-q", "-u", "origin", "main")
    return bare


def clone(hub: Repo, name: str, *, mail: str = "") -> Repo:
    path = hub.path.parent / name
    hub.git("clone", "-q", str(hub.path), str(path))
    other = Repo(path)
    if mail:
        other.env = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                     for what, value in (("EMAIL", mail), ("NAME", mail.split("@")[0].title()))}  # fmt: skip
    other.gitmem("init", "--no-pages")
    return other


def texts(repo: Repo, rev: str = "HEAD") -> list[str]:
    return sorted(str(r["text"]) for r in repo.records(rev) if "text" in r)


def say(repo: Repo, text: str, *options: str) -> str:
    """Adds a decision; its id."""
    return str(repo.document("add", "decision", text, *options)["id"])


def tip_tree(repo: Repo, ref: str = NOTES) -> str:
    return repo.git("rev-parse", f"{ref}^{{tree}}")


def lines_on(repo: Repo, ref: str = NOTES) -> list[str]:
    """Every line of every note."""
    return sorted(row for row in repo.git("grep", "-h", "", ref).splitlines() if row)


def plant(repo: Repo, line: bytes, rev: str = "HEAD") -> None:
    """Writes a line as another program would."""
    repo.git("notes", "--ref=gitmem", "append", "-F", "-", rev, stdin=line)


# ---- two clones


def test_GIT_05_two_clones_with_different_records_on_one_commit_get_the_same_set(ready: Repo, hub: Repo) -> None:
    other = clone(hub, "other")
    say(ready, "from here")
    say(other, "from there")
    plant(ready, b"\n\n")
    for repo in (ready, other, ready):
        repo.gitmem("sync")
    assert ["from here", "from there"] == texts(ready) == texts(other)
    assert 1 == sum(ready.capsules_on(["HEAD"]))
    assert tip_tree(ready) == tip_tree(other) == tip_tree(hub)
    assert [] == [row for row in lines_on(hub) if not row.strip()]


def test_a_sync_says_what_it_did_and_a_second_one_does_nothing(ready: Repo, hub: Repo) -> None:
    say(ready, "one")
    assert "origin: received 0 records, sent 2 records\n" == ready.say("sync")
    tip = ready.git("rev-parse", NOTES)
    assert "origin: received 0 records, sent 0 records\n" == ready.say("sync")
    assert tip == ready.git("rev-parse", NOTES) == hub.git("rev-parse", NOTES)
    assert "1" == ready.git("rev-list", "--count", NOTES)  # one commit, not one for each record


def test_a_dry_run_of_sync_opens_no_connection_and_changes_nothing(ready: Repo, hub: Repo) -> None:
    ready.git("remote", "set-url", "origin", str(hub.path) + "-gone")
    before = ready.state_files()
    assert "origin: would have received 0 records, sent 1 record\n" == ready.say("sync", "--dry-run")
    assert before == ready.state_files()


def test_records_made_while_others_push_are_not_lost(ready: Repo, hub: Repo) -> None:
    other = clone(hub, "other")
    for n in range(4):
        say(ready, f"here {n}")
        ready.gitmem("sync")
        say(other, f"there {n}")
        other.gitmem("sync")
    ready.gitmem("sync")
    assert 8 == len(texts(ready)) == len(texts(other))
    assert "8" == hub.git("rev-list", "--count", NOTES)


def test_only_what_is_ours_goes_and_no_remote_setting_is_written(ready: Repo, hub: Repo) -> None:
    ready.gitmem("add", "event", "mine alone", "--private")
    before = ready.git("config", "--local", "--list")
    ready.gitmem("sync")
    assert before == ready.git("config", "--local", "--list")
    assert ["refs/heads/main", NOTES] == hub.git("for-each-ref", "--format=%(refname)").split()
    assert "mine alone" not in "".join(lines_on(hub))


def test_SYN_05_a_fetch_with_the_clones_own_settings_keeps_unsent_notes(ready: Repo, hub: Repo) -> None:
    ready.gitmem("sync")
    say(ready, "not sent yet")
    for words in (
        ("fetch",),
        ("fetch", "--prune"),
        ("fetch", "--all", "--prune", "--tags"),
        ("remote", "update", "-p"),
    ):
        ready.git(*words)
        assert ["not sent yet"] == texts(ready)


def test_what_a_forced_fetch_threw_away_is_taken_up_by_the_next_sync(ready: Repo, hub: Repo) -> None:
    ready.gitmem("sync")
    say(ready, "not sent yet")
    ready.git("fetch", "-q", "origin", f"+{NOTES}:{NOTES}")
    assert [] == texts(ready)
    ready.gitmem("sync")
    assert ["not sent yet"] == texts(ready)
    assert any("not sent yet" in line for line in lines_on(hub))


# ---- many clones at once


def race(hub: Repo, count: int, *, shards: int = 1, rounds: int = 20) -> list[list[dict[str, Any]]]:
    """Clones that each have a record and sync at once until they say it is done; the reports of each."""
    clones = []
    for n in range(count):
        path = hub.path.parent / f"racer-{n}"
        hub.git("clone", "-q", "--no-local", "--depth=1", f"file://{hub.path}", str(path))
        repo = Repo(path)
        repo.git("config", "gitmem.enabled", "true")
        (path / ".gitmem").mkdir()
        (path / ".gitmem/config.toml").write_text(f"[sync]\nshards = {shards}\n")
        clones.append(repo)

    def work(n: int) -> list[dict[str, Any]]:
        repo, reports = clones[n], []
        repo.gitmem("add", "decision", f"by {n}")
        for _ in range(rounds):
            done = repo.gitmem("sync", "--json", ok=(0, 1))
            reports.append(json.loads(done.stdout))
            if done.returncode == 0:
                break
        return reports

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def check_race(hub: Repo, count: int, reports: list[list[dict[str, Any]]]) -> None:
    assert ["sent"] * count == [one[-1]["outcome"] for one in reports]
    if REPORT:
        tries = sorted(sum(report["tries"] for report in one) for one in reports)
        syncs = max(len(one) for one in reports)
        with Path(REPORT).open("a") as file:
            file.write(f"{count} clones: tries median {tries[count // 2]}, worst {tries[-1]}; at most {syncs} syncs each,"
                       f" {sum(n <= 3 for n in tries)} within 3 tries\n")  # fmt: skip
    refs = [ref for ref in hub.git("for-each-ref", "--format=%(refname)").split() if ref != "refs/heads/main"]
    found = [json.loads(row).get("text") for ref in refs for row in lines_on(hub, ref)]
    assert sorted(f"by {n}" for n in range(count)) == sorted(text for text in found if text)  # all, and none twice


@pytest.mark.parametrize("count", [2, 8, pytest.param(32, marks=pytest.mark.soak)])
def test_SYN_01_clones_that_push_at_once_lose_nothing(ready: Repo, hub: Repo, count: int) -> None:
    check_race(hub, count, race(hub, count))


@pytest.mark.parametrize(("count", "shards"), [(6, 16), pytest.param(100, 256, marks=pytest.mark.soak)])
def test_SYN_02_shards_take_many_writers(ready: Repo, hub: Repo, count: int, shards: int) -> None:
    reports = race(hub, count, shards=shards, rounds=3)
    check_race(hub, count, reports)
    assert sum(one[0]["outcome"] == "sent" and one[0]["tries"] <= 3 for one in reports) >= 0.95 * count
    ready.gitmem("sync")
    assert sorted(f"by {n}" for n in range(count)) == texts(ready)


def test_shards_fold_into_one_ref(ready: Repo, hub: Repo) -> None:
    race(hub, 3, shards=16)
    ready.gitmem("sync")
    before = texts(ready)
    ready.gitmem("sync", "--fold")
    assert [NOTES] == [r for r in hub.git("for-each-ref", "--format=%(refname)").split() if r != "refs/heads/main"]
    fresh = clone(hub, "fresh")
    assert ["by 0", "by 1", "by 2"] == before == texts(fresh) == texts(ready)
    assert "origin: received 0 records, sent 0 records\n" == ready.say("sync")
    say(ready, "after")
    assert "origin: received 0 records, sent 1 record\n" == ready.say("sync")


# ---- the join


WHO = ("a" * 12, "b" * 12)


def event(n: int, w: str = WHO[0]) -> bytes:
    return records.line_of("event", "c" * 40, n, text=f"event {n}", w=w)


def id_of(line: bytes) -> str:
    record = records.parse(line)
    assert record is not None
    return record.id


def retraction(target: bytes, n: int, *, w: str, forget: bool) -> bytes:
    return records.line_of("retract", "c" * 40, n, ids=[id_of(target)], w=w, forget=forget)


POOL = [event(n, WHO[n % 2]) for n in range(6)] + [b"no record", b'{"v":9,"kind":"novel"}']
POOL += [
    retraction(POOL[n], 100 + n, w=WHO[m], forget=forget)
    for n in range(6) for m in range(2) for forget in (False, True)
]  # fmt: skip
NOTE = st.lists(st.sampled_from(POOL), max_size=12)


@given(NOTE, NOTE, NOTE)
def test_the_join_is_commutative_associative_and_idempotent(
    one: list[bytes], two: list[bytes], three: list[bytes]
) -> None:
    assert joining.join(one, two) == joining.join(two, one)
    assert joining.join(joining.join(one, two), three) == joining.join(one, joining.join(two, three))
    assert joining.join(one, one, one) == joining.join(one) == joining.join(joining.join(one))
    assert {line for line in one if joining.MARK in line} <= set(joining.join(one, two))


@given(NOTE, st.integers(0, 5))
def test_what_its_author_forgot_never_comes_back_and_nobody_else_can_take_it(note: list[bytes], n: int) -> None:
    own, other = WHO[n % 2], WHO[(n + 1) % 2]
    assert POOL[n] not in joining.join(note, [retraction(POOL[n], 1, w=own, forget=True)], [POOL[n]])
    calm = [line for line in note if joining.MARK not in line]
    foreign = retraction(POOL[n], 1, w=other, forget=True)
    assert POOL[n] in joining.join(calm, [foreign, POOL[n]])
    assert joining.contested(POOL[n], joining.forgets([foreign]))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3, 4))])
def test_SYN_03_replicas_that_meet_in_any_order_end_with_one_tree(ready: Repo, hub: Repo, seed: int) -> None:
    chance = random.Random(seed)
    for n in range(5):
        ready.commit(f"feat: {n}", {"f": str(n)})
    ready.git("push", "-q")
    replicas = [ready, *(clone(hub, f"replica-{n}") for n in range(4))]
    commits = ready.history()
    known: list[str] = []
    forgotten: set[str] = set()
    for step in range(60):
        repo = chance.choice(replicas)
        action = chance.choice(["add", "add", "forget", "sync", "sync"])
        if action == "add":
            known.append(f"record {step}")
            repo.gitmem("add", "event", known[-1], "--commit", chance.choice(commits))
        elif action == "sync":
            repo.gitmem("sync")
        else:
            here = [row for row in lines_on(repo) if '"kind":"event"' in row]
            if here:
                row = json.loads(chance.choice(here))
                forgotten.add(row["text"])
                purge(repo, row["id"]) if chance.random() < 0.3 else repo.gitmem("forget", f"rec-{row['id']}")
    for _ in range(2):
        for repo in chance.sample(replicas, len(replicas)):
            repo.gitmem("sync")
    assert 1 == len({tip_tree(repo) for repo in (*replicas, hub)})
    shown = sorted(text for rev in commits for text in texts(ready, rev))
    assert sorted(set(known) - forgotten) == shown


# ---- a remote that will not


def declined_by_hook(hub: Repo, _: Repo) -> None:
    hook = hub.path / "hooks/update"
    hook.write_text('#!/bin/sh\ncase $1 in refs/notes/*) echo "not here" >&2; exit 1;; esac\n')
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)


def hidden(hub: Repo, _: Repo) -> None:
    hub.git("config", "receive.hideRefs", "refs/notes")


@pytest.mark.parametrize("trouble", [declined_by_hook, hidden], ids=["declined", "hidden"])
def test_SYN_04_a_server_that_declines_never_costs_a_push(ready: Repo, hub: Repo, trouble: object) -> None:
    trouble(hub, ready)  # type: ignore[operator]
    ready.git("config", "gitmem.sync", "auto")
    ready.commit("feat: more", {"f": "1"})
    begun = time.monotonic()
    done = ready.run("git", "push", "-q", "origin", "main")
    assert time.monotonic() - begun < 5
    assert ready.head() == hub.git("rev-parse", "main")
    said = [row for row in done.stderr.decode().splitlines() if row.startswith("gitmem: ")]
    assert 1 == len(said)
    assert said[0].startswith("gitmem: the notes were not sent to 'origin': ")
    assert "" == hub.git("for-each-ref", NOTES)
    assert 2 == ready.document("sync", "--dry-run")["sent"]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        ("sleep 60", b"it did not answer in time, 'gitmem sync' waits longer;"),
        ("echo 'Permission denied (publickey,password).' >&2; exit 255", b"git push: "),
        ("exit 1", b"git push: "),
    ],
    ids=["slow", "password", "gone"],
)
def test_SYN_04_a_server_that_wants_a_password_is_gone_or_never_answers(
    ready: Repo, hub: Repo, tmp_path: Path, trouble: str, said: bytes
) -> None:
    slow = tmp_path / "ssh"
    slow.write_text(f'#!/bin/sh\ncase "$*" in *receive-pack*) if [ -f "$0.slow" ]; then {trouble}; fi;; esac\n'
                    'for last; do :; done; eval "exec $last"\n')  # fmt: skip
    slow.chmod(0o755)
    ready.git("remote", "set-url", "origin", f"ssh://host{hub.path}")
    ready.env["GIT_SSH"] = str(slow)
    ready.git("config", "gitmem.sync", "auto")
    ready.commit("feat: more", {"f": "1"})
    ready.git("push", "-q", "origin", "main")
    assert tip_tree(ready) == tip_tree(hub)  # it works as long as the server does
    say(ready, "later")
    Path(f"{slow}.slow").touch()
    begun = time.monotonic()
    done = push_hook(ready)
    assert time.monotonic() - begun < 5
    assert 0 == done.returncode
    assert b"the notes were not sent to 'origin': " + said in done.stderr
    assert 1 == done.stderr.count(b"gitmem: ")
    Path(f"{slow}.slow").unlink()
    ready.gitmem("sync")
    assert tip_tree(ready) == tip_tree(hub)


def push_hook(repo: Repo) -> subprocess.CompletedProcess[bytes]:
    """The hook alone, as git would start it for a push of main that goes through."""
    row = f"refs/heads/main {repo.head()} refs/heads/main {'0' * len(repo.head())}\n".encode()
    return repo.run(sys.executable, "-P", "-m", "gitmem", "hook", "git", "pre-push", "origin", "url", stdin=row)


def test_a_push_sends_the_notes_along_once_a_person_said_so(ready: Repo, hub: Repo) -> None:
    ready.commit("feat: one", {"f": "1"})
    ready.git("push", "-q", "origin", "main")
    assert "" == hub.git("for-each-ref", NOTES)
    ready.gitmem("init", "--no-pages", "--sync", "auto")
    ready.commit("feat: two", {"f": "2"})
    assert b"" == ready.run("git", "push", "-q", "origin", "main").stderr
    assert tip_tree(ready) == tip_tree(hub)
    other = clone(hub, "other")
    say(other, "from there")
    other.gitmem("sync")
    ready.commit("feat: three", {"f": "3"})
    ready.git("push", "-q", "origin", "main")  # what was fetched last is old: joined on the way
    assert ["from there"] == texts(ready, "HEAD~1")
    assert tip_tree(ready) == tip_tree(hub)


def test_never_means_that_nothing_is_sent(ready: Repo, hub: Repo) -> None:
    ready.git("config", "gitmem.sync", "never")
    assert "origin: received 0 records, sent 0 records\n" == ready.say("sync")
    assert "" == hub.git("for-each-ref", NOTES)


def test_a_remote_that_is_not_there_is_said(ready: Repo, hub: Repo) -> None:
    assert (
        b"gitmem: there is no remote 'nowhere'\nhint: 'git remote -v' lists them\n"
        == ready.gitmem("sync", "nowhere", ok=(1,)).stderr
    )
    ready.git("remote", "set-url", "origin", str(hub.path) + "-gone")
    done = ready.gitmem("sync", ok=(1,))
    assert done.stderr.startswith(b"gitmem: 'origin' did not take the notes: git fetch: ")
    assert done.stderr.endswith(b"hint: they stay here and go with the next sync\n")
    assert 1 == sum(ready.capsules_on(["HEAD"]))


# ---- secrets, and what must go for good


def purge(repo: Repo, oid: str, *, typed: str | None = None, ok: int = 0) -> str:
    """`gitmem forget --purge` with a person at a terminal of its own; what it printed there."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "forget", "--purge", f"rec-{oid}"], cwd=repo.path, env=repo.environment(),
        stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(follower)
    shown, answered = "", False
    while True:
        try:
            piece = os.read(leader, 4096).decode()
        except OSError:
            break
        if not piece:
            break
        shown += piece
        code = re.search(r"type (\w+) to go on: ", shown)
        if code and not answered:
            answered = True
            os.write(leader, f"{typed if typed is not None else code[1]}\n".encode())
    os.close(leader)
    assert ok == process.wait(60), shown
    return shown


def holds(repo: Repo, oid: str) -> bool:
    return repo.run("git", "cat-file", "-e", oid, ok=(0, 1, 128)).returncode == 0


def test_SYN_09_a_purged_secret_is_gone_here_and_there_and_stays_gone(ready: Repo, hub: Repo) -> None:
    other = clone(hub, "other")
    plant(ready, records.canonical({"kind": "event", "text": "x"}))  # somebody's junk stays
    line = leak(ready)
    blob = ready.git("rev-parse", f"{NOTES}:{where(ready)}")
    ready.git("push", "-q", "origin", NOTES)
    other.gitmem("sync")
    assert any(SECRET in row for row in lines_on(other))
    shown = purge(ready, id_of(line))
    assert "gone from the notes of 'origin'" in shown
    for repo in (ready, hub):
        assert SECRET not in repo.git("log", "-p", NOTES)
    other.gitmem("sync")
    ready.gitmem("sync")
    assert not any(SECRET in row for repo in (ready, other, hub) for row in lines_on(repo))
    assert tip_tree(ready) == tip_tree(other) == tip_tree(hub)
    for repo in (ready, hub):
        repo.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        repo.git("gc", "-q", "--prune=now")
        assert not holds(repo, blob)
    assert SECRET.encode() not in b"".join(
        data for name, data in ready.state_files().items() if name.startswith(".git/gitmem/")
    )


def leak(repo: Repo, mail: str = "ada@example.com") -> bytes:
    """A secret that got into the notes by another way than ours."""
    fields = {"v": 1, "kind": "event", "commit": repo.head(), "at": 5, "text": f"use {SECRET}", "w": records.who(mail)}
    line = records.canonical(fields | {"id": records.content_id(fields)})
    plant(repo, line)
    return line


def where(repo: Repo) -> str:
    return next(
        row for row in repo.git("ls-tree", "-r", "--name-only", NOTES).split() if row.replace("/", "") == repo.head()
    )


def test_a_secret_is_held_back_whoever_wrote_it_and_everything_else_goes(ready: Repo, hub: Repo) -> None:
    line = leak(ready)
    say(ready, "harmless")
    report = ready.document("sync")
    assert [
        {
            "commit": ready.head(),
            "id": id_of(line),
            "reason": "secret (github-token): 'gitmem forget --purge' takes it out",
        }
    ] == report["held"]
    assert ("sent", 2) == (report["outcome"], report["sent"])
    assert not any(SECRET in row for row in lines_on(hub))
    assert any(SECRET in row for row in lines_on(ready))  # nothing of the user's is lost
    assert [] == [row for row in hub.git("log", "-p", NOTES).splitlines() if SECRET in row]
    assert 0 == ready.document("sync")["sent"]
    ready.gitmem("forget", f"rec-{id_of(line)}")
    assert ["harmless"] == texts(ready)


def test_purging_asks_a_person(ready: Repo) -> None:
    oid = say(ready, "wrong")[4:]
    assert (
        b"gitmem: this needs a person at a terminal\n"
        in ready.run("setsid", sys.executable, "-P", "-m", "gitmem", "forget", "--purge", oid, ok=(1,)).stderr
    )
    assert "not confirmed, nothing was changed" in purge(ready, oid, typed="yes", ok=1)
    ready.env["CLAUDECODE"] = "1"
    assert b"an agent is at work here" in ready.gitmem("forget", "--purge", oid, ok=(1,)).stderr
    assert ["wrong"] == texts(ready)


def test_forget_hides_a_record_everywhere_and_an_unclear_id_nothing(ready: Repo, hub: Repo) -> None:
    oid = say(ready, "wrong")
    say(ready, "right")
    ready.gitmem("add", "event", "mine alone", "--private")
    other = clone(hub, "other")
    ready.gitmem("sync")
    for bad in ("rec-0000", "rec-x", "../../x", "rec-zzzzzzzzzzzzzzzz"):
        before = ready.state_files()
        ready.gitmem("forget", bad, ok=(1, 2))
        assert before == ready.state_files()
    assert f"forgot {oid} in 1 note\n" == ready.say("forget", oid[:10])
    ready.gitmem("sync")
    other.gitmem("sync")
    assert ["right"] == texts(other)
    private = next(r["id"] for r in ready.records(ref=records.PRIVATE_REF))
    ready.gitmem("forget", f"rec-{private}")
    assert [] == ready.records(ref=records.PRIVATE_REF)


def test_forgetting_a_record_that_was_carried_on_reaches_every_copy(ready: Repo, hub: Repo) -> None:
    oid = say(ready, "wrong")
    other = clone(hub, "other")
    ready.gitmem("sync")
    other.gitmem("sync")
    other.commit("feat: amended", None, "--amend")  # carries the record along, and does not know what happens meanwhile
    purge(ready, oid[4:])
    other.gitmem("sync")
    ready.gitmem("sync")
    assert not any('"text":"wrong"' in row for repo in (ready, other, hub) for row in lines_on(repo))


# ---- other people


def test_REV_01_what_others_wrote_is_listed_by_author_kept_or_dropped(ready: Repo, hub: Repo) -> None:
    people = [clone(hub, name, mail=f"{name}@example.com") for name in ("bob", "eve", "kim")]
    people[0].commit("feat: by bob", {"b": "1"})
    people[0].git("push", "-q", "origin", "main")
    ready.git("pull", "-q", "--ff-only")
    ids = [say(one, f"by {n}", "--commit", ready.git("rev-parse", "HEAD~1")) for n, one in enumerate(people)]
    leaked = leak(people[2], "kim@example.com")
    for one in people:
        one.gitmem("sync")
    assert [id_of(leaked)] == [held["id"] for held in people[2].document("sync")["held"]]
    ready.gitmem("sync")
    assert not any(SECRET in row for row in lines_on(ready))
    found = ready.document("review")["items"]
    assert [("foreign", "by 1"), ("foreign", "by 2"), ("team", "by 0")] == sorted(
        (one["trust"], one["record"]["text"]) for one in found
    )
    assert {"Bob"} == {one["author"] for one in found if one["trust"] == "team"}
    assert [f"kept {ids[0]}", f"kept {ids[1]}"] == ready.say("review", "--keep", *ids[:2]).splitlines()[:2]
    ready.gitmem("review", "--drop", ids[2])
    assert "nothing to look at\n" == ready.say("review")
    assert ["by 0", "by 1"] == texts(ready, "HEAD~1")
    ready.gitmem("sync")
    people[0].gitmem("sync")
    assert ["by 0", "by 1"] == texts(people[0], "HEAD~1")


def test_TRU_02_mine_team_stranger_and_a_capsule_that_lies(ready: Repo, hub: Repo) -> None:
    bob = clone(hub, "bob", mail="bob@example.com")
    bob.commit("feat: by bob", {"b": "1"})
    bob.git("push", "-q", "origin", "main")
    eve = clone(hub, "eve", mail="eve@example.com")
    for one, text in ((bob, "team"), (eve, "strange")):
        say(one, text)
        one.gitmem("sync")
    ready.git("pull", "-q", "--ff-only")
    ready.gitmem("sync")
    say(ready, "mine")
    true = ready.capsule()
    fields = {k: v for k, v in true.items() if k != "id"} | {"summary": "feat: a lie", "v": 7, "a": "feat: a lie"}
    lie = records.canonical(fields | {"id": records.content_id(fields)})
    plant(ready, lie)
    shown = ready.document("show")
    assert true == shown["capsule"]
    assert ["feat: a lie"] == [one["summary"] for one in shown["foreign_capsules"]]
    levels = {r["text"]: shown["trust"][r["id"]] for r in shown["records"] if "text" in r}
    assert {"mine": "mine", "team": "team", "strange": "foreign"} == levels
    assert "strange" in ready.say("show")
    assert "(foreign: by nobody of this history)" in ready.say("show")
    found = {one["record"].get("text", one["why"]): one["trust"] for one in ready.document("review")["items"]}
    assert {"team": "team", "strange": "foreign", "says something else than its commit": "foreign"} == found


def test_a_lying_capsule_keeps_no_true_one_out(ready: Repo) -> None:
    ready.env["GITMEM"] = "off"
    ready.commit("feat: true", {"f": "1"})
    fields = {"v": 7, "kind": "capsule", "commit": ready.head(), "at": 5, "type": "fix", "summary": "fix: a lie"}
    plant(ready, records.canonical(fields | {"id": records.content_id(fields)}))
    del ready.env["GITMEM"]
    ready.run(sys.executable, "-P", "-m", "gitmem", "hook", "git", "post-commit")
    assert "feat: true" == ready.document("show")["capsule"]["summary"]
    assert ["feat: true"] == [row["capsule"]["summary"] for row in ready.document("log", "-n", "1")]


def test_somebody_elses_forgetting_hides_at_once_and_drops_after_a_look(ready: Repo, hub: Repo) -> None:
    other = clone(hub, "other", mail="bob@example.com")
    oid = say(ready, "disputed")
    ready.gitmem("sync")
    other.gitmem("sync")
    purge(other, oid[4:])
    ready.gitmem("sync")
    assert [] == texts(ready)
    assert any("disputed" in row for row in lines_on(ready))
    assert not any("disputed" in row for row in lines_on(hub))  # and it does not come back by us
    [item] = [one for one in ready.document("review")["items"] if one["why"]]
    assert ("somebody else asks to forget it", "mine") == (item["why"], item["trust"])
    ready.gitmem("review", "--drop", oid)
    ready.gitmem("sync")
    assert not any("disputed" in row for row in lines_on(ready))
    assert tip_tree(ready) == tip_tree(hub)
    trash = (ready.path / ".git/gitmem/trash/notes.jsonl").read_text()
    assert "disputed" in trash


def test_what_somebody_else_wanted_forgotten_can_be_kept(ready: Repo, hub: Repo) -> None:
    other = clone(hub, "other", mail="bob@example.com")
    oid = say(ready, "disputed")
    ready.gitmem("sync")
    other.gitmem("sync")
    purge(other, oid[4:])
    ready.gitmem("sync")
    ready.gitmem("review", "--keep", oid)
    ready.gitmem("sync")
    other.gitmem("sync")
    assert ["disputed"] == texts(ready) == texts(other)


# ---- a new clone


def test_BKF_02_a_new_clone_fetches_first_and_makes_nothing_twice(ready: Repo, hub: Repo) -> None:
    for n in range(3):
        ready.commit(f"feat: {n}", {"f": str(n)})
    old = ready.capsule("HEAD~1")
    fields = {k: v for k, v in old.items() if k not in ("id", "domains", "symbols")} | {"older": True}
    ready.git("update-ref", "-d", NOTES)
    (ready.path / ".git/gitmem/tips.json").unlink()
    for rev in ("HEAD~1", "HEAD~2"):
        mine = fields | {"commit": ready.git("rev-parse", rev), "at": 1_700_000_000}
        if rev == "HEAD~1":
            mine["at"] = old["at"]
            plant(ready, records.canonical(mine | {"id": records.content_id(mine)}), rev)
    ready.git("push", "-q", "origin", "main", NOTES)
    other = clone(hub, "other")
    assert [1, 1, 1, 1] == other.capsules_on(["HEAD", "HEAD~1", "HEAD~2", "HEAD~3"])
    assert other.capsule("HEAD~1").get("older") is True
    assert 0 == other.document("backfill", "--all")["written"]


def test_init_goes_on_when_the_remote_does_not_answer(ready: Repo, hub: Repo) -> None:
    path = hub.path.parent / "other"
    hub.git("clone", "-q", str(hub.path), str(path))
    other = Repo(path)
    other.git("remote", "set-url", "origin", "/nonexistent/hub.git")
    done = other.gitmem("init", "--no-pages")
    assert b"gitmem: the notes of 'origin' cannot be had now: git fetch: " in done.stderr
    assert [1] == other.capsules_on(["HEAD"])


def test_S17_memory_of_one_repository_never_shows_in_another(ready: Repo, tmp_path: Path) -> None:
    say(ready, "only here")
    other = Repo.create(tmp_path / "second")
    other.commit("chore: begin", {"g": "1"})
    other.gitmem("init", "--no-pages")
    ready.env["GIT_DIR"] = str(ready.path / ".git")
    shown = ready.run(sys.executable, "-P", "-m", "gitmem", "-C", str(other.path), "show", "--json")
    assert other.head() == json.loads(shown.stdout)["commit"]
    assert "only here" not in shown.stdout.decode() + other.say("log") + other.say("status")


def test_a_push_of_nothing_starts_nothing_and_a_new_note_goes_with_it(ready: Repo, hub: Repo) -> None:
    ready.git("config", "gitmem.sync", "auto")
    ready.gitmem("sync")
    ready.env["GITMEM_TRACE"] = "1"
    assert b"" == ready.run("git", "push", "-q", "origin", "main").stderr  # no git of ours was started
    del ready.env["GITMEM_TRACE"]
    say(ready, "later")
    ready.git("push", "-q", "origin", "main")
    assert tip_tree(ready) == tip_tree(hub)
    ready.git("config", "gitmem.sync", "ask")
    say(ready, "not yet")
    ready.git("push", "-q", "origin", "main")
    assert tip_tree(ready) != tip_tree(hub)


def test_status_says_what_the_remote_lacks(ready: Repo, hub: Repo) -> None:
    def row() -> str:
        return next(line for line in ready.say("status").splitlines() if line.startswith("sync"))

    assert "sync       gitmem.sync ask; never with origin: 'gitmem sync'" == row()
    ready.gitmem("sync")
    assert "sync       gitmem.sync ask; origin has all notes" == row()
    say(ready, "more")
    assert "sync       gitmem.sync ask; origin lacks 1 note, or has another state of them" == row()
    assert {"setting": "ask", "remote": "origin", "unsent_notes": 1} == ready.document("status")["sync"]


@pytest.mark.soak
def test_a_million_notes_are_sent_cloned_and_followed() -> None:
    command = [sys.executable, str(ROOT / "bench/sync_bench.py"), str(Path(sys.executable).parent / "gitmem")]
    done = subprocess.run([*command, "--sizes", "1000000"], capture_output=True, text=True, check=False, timeout=3000)
    assert (0, "") == (done.returncode, done.stderr)  # it compares the trees of all three itself
    assert done.stdout.startswith("1000000 notes: first sync ")
