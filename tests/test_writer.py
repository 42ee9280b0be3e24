"""The one writer: races, kills, other people's hands on the ref, every layout of the tree."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem import files, layout, notes, records
from gitmem.errors import GitError, Locked
from tests.repo import OBJECT_FORMAT, REF_FORMAT, ROOT, Repo

DIGITS = 64 if OBJECT_FORMAT == "sha256" else 40
AUTHOR = "Ada Example <ada@example.com>"


def oid(n: int) -> str:
    return hashlib.sha256(b"%d" % n).hexdigest()[:DIGITS]


def line(commit: str, n: int = 0) -> bytes:
    return records.line_of("event", commit, 1000 + n, text=f"event {n}")


def append(repo: Repo, additions: dict[str, list[bytes]], *, seconds: float = 30) -> layout.Written:
    return repo.store().append(additions, author=AUTHOR, subject="test", deadline=time.monotonic() + seconds)


def tree(repo: Repo, ref: str = records.SHARED_REF) -> dict[str, str]:
    rows = repo.git("ls-tree", "-r", ref).splitlines()
    return {row.split("\t")[1]: row.split()[2] for row in rows}


def forget_the_ref(repo: Repo) -> None:
    """A ref of another origin takes the place of ours."""
    repo.git("update-ref", "-d", records.SHARED_REF)
    (repo.path / ".git/gitmem/tips.json").unlink()


WRITER = """
import sys, time; sys.path.append(sys.argv[1])
from gitmem.git.run import Git
from gitmem.store import Store
from gitmem import records
for commit in sys.argv[3:]:
    line = records.line_of("event", commit, int(sys.argv[2]), text="by " + sys.argv[2])
    Store.open(Git()).append({commit: [line]}, subject="race", deadline=time.monotonic() + 60)
"""


def test_GIT_01_sixteen_writers_on_sixteen_commits_and_forty_on_one_lose_nothing(ready: Repo) -> None:
    shared = ready.commit("feat: the one commit", {"a.txt": "a\n"})
    singles = [ready.commit(f"feat: {n}", {f"f{n}.txt": "x\n"}) for n in range(16)]
    ready.git("worktree", "add", "-q", str(ready.path.parent / "other"), "-b", "side")
    argv = [sys.executable, "-c", WRITER, str(ROOT)]
    env = ready.environment()
    running = [subprocess.Popen([*argv, str(n), singles[n]], cwd=ready.path, env=env) for n in range(16)]
    running += [subprocess.Popen([*argv, str(n), shared], cwd=ready.path, env=env) for n in range(40)]
    other = Repo(ready.path.parent / "other")
    for n in range(5):
        other.git("commit", "-q", "--amend", "--allow-empty", "-m", f"feat: amended {n}")
    assert [0] * 56 == [one.wait() for one in running]
    assert 40 == sum(r["kind"] == "event" for r in ready.records(shared))
    assert [1] * 16 == [sum(r["kind"] == "event" for r in ready.records(c)) for c in singles]
    assert 1 == len([r for r in other.records("HEAD") if r["kind"] == "capsule"])
    assert "" == ready.git("for-each-ref", "refs/gitmem")


def test_GIT_02_a_person_using_git_notes_meanwhile_loses_nothing_either(ready: Repo) -> None:
    commits = [ready.commit(f"feat: {n}", {f"f{n}.txt": "x\n"}) for n in range(8)]
    argv = [sys.executable, "-c", WRITER, str(ROOT), "7", *commits]
    running = subprocess.Popen(argv, cwd=ready.path, env=ready.environment())
    reported = []
    for n in range(20):  # git's own command may lose the race for the ref's lock, and then says so
        done = ready.run("git", "notes", "--ref=gitmem", "append", "-m", f"by hand {n}", commits[n % 8], ok=None)
        reported += [n] if done.returncode == 0 else []
    assert 0 == running.wait()
    ready.commit("feat: the next write", {"n.txt": "n\n"})
    for n in reported:
        assert f"by hand {n}" in ready.git("notes", "--ref=gitmem", "show", commits[n % 8])
    for commit in commits:
        assert 1 == sum(r.get("text") == "by 7" for r in ready.records(commit))
    assert [1] * 8 == ready.capsules_on(commits)


def test_what_a_foreign_hand_overwrote_comes_back_and_what_it_removed_does_not(ready: Repo) -> None:
    """`git notes` moves the ref without comparing: the note of a writer in between is gone, exit status 0."""
    before = ready.git("rev-parse", records.SHARED_REF)
    lost = ready.commit("feat: written in between", {"a.txt": "a\n"})
    ready.gitmem("add", "decision", "kept")
    removed = ready.commit("feat: whose note is removed", {"c.txt": "c\n"})
    ready.git("notes", "--ref=gitmem", "remove", removed)
    ready.commit("feat: sees the removal", {"d.txt": "d\n"})
    ready.git("update-ref", records.SHARED_REF, before)
    assert [0] == ready.capsules_on([lost])
    ready.commit("feat: next", {"b.txt": "b\n"})
    assert ["capsule", "decision"] == [r["kind"] for r in ready.records(lost)]
    assert [1, 0] == ready.capsules_on(["HEAD", removed])
    ready.git("update-ref", "-d", records.SHARED_REF)
    ready.commit("feat: a fresh start is a fresh start", {"b.txt": "c\n"})
    assert [1, 0] == ready.capsules_on(["HEAD", lost])


def test_nothing_new_makes_no_commit(ready: Repo) -> None:
    append(ready, {oid(1): [line(oid(1))]})
    before = ready.git("rev-parse", records.SHARED_REF)
    assert layout.Written(0, 0) == append(ready, {oid(1): [line(oid(1))]})
    assert before == ready.git("rev-parse", records.SHARED_REF)


def test_a_folder_of_more_than_256_notes_splits_and_every_note_is_found(ready: Repo) -> None:
    commits = ["ab" + oid(n)[2:] for n in range(300)]
    append(ready, {c: [line(c)] for c in commits[:256]})
    assert all(path.count("/") == 1 for path in tree(ready) if path.startswith("ab/"))
    append(ready, {c: [line(c)] for c in commits[256:]})
    assert all(path.count("/") == 2 for path in tree(ready) if path.startswith("ab/"))
    assert 300 == len([p for p in tree(ready) if p.startswith("ab/")])
    assert all(lines == [line(c)] for c, lines in ready.store().note_lines(commits))
    split = ready.git("rev-parse", records.SHARED_REF + "^{tree}")
    ready.git("update-ref", "-d", records.SHARED_REF)
    append(ready, {c: [line(c)] for c in reversed(commits)})
    alone = tree(ready)
    assert {p: b for p, b in tree(ready, split).items() if p.startswith("ab/")} == alone


def later_version(record: bytes) -> bytes:
    fields = json.loads(record) | {"v": 9, "zz": [1]}
    return records.canonical(fields | {"id": records.content_id(fields)})


def test_SYN_08_any_layout_is_read_and_what_is_no_record_is_kept(ready: Repo) -> None:
    a, b, c = ("ab" + oid(n)[2:] for n in range(3))
    good = [line(x) for x in (a, b, c)]
    odd = [b"a sentence by hand", b'{"broken": ', later_version(good[0]) + b"\r"]

    def blob(*lines: bytes) -> str:
        return ready.git("hash-object", "-w", "--stdin", stdin=b"\n\n".join(lines) + b"\n")

    first, second = blob(good[0], odd[0], odd[2]), blob(good[0], odd[1])
    rows = "".join(
        f"M 100644 {o} {p}\n"
        for o, p in (
            (first, a),
            (second, f"{a[:2]}/{a[2:]}"),
            (blob(good[1]), f"{b[:2]}/{b[2:4]}/{b[4:]}"),
            (blob(good[2]), c),
        )
    )
    stream = f"commit {records.SHARED_REF}\ncommitter A <a@b.c> 1 +0000\ndata 1\nx\n" + rows
    forget_the_ref(ready)
    ready.git("fast-import", "--quiet", stdin=stream.encode())
    assert [good[1]] == dict(ready.store().note_lines([b]))[b]
    append(ready, {a: [line(a, 5)]})
    [(_, found)] = ready.store().note_lines([a])
    assert sorted({good[0], line(a, 5), *odd}) == found
    assert {f"{x[:2]}/{x[2:]}" for x in (a, b, c)} == set(tree(ready))
    assert 2 == len(ready.store().reading(a).unreadable)
    said = ready.say("show", "--raw", ready.head())
    assert "capsule" not in said  # its note was on the ref that this test replaced


@pytest.mark.skipif(REF_FORMAT != "files", reason="a reftable has no lock file for each ref")
def test_GIT_06_a_stale_lock_is_removed_and_a_fresh_one_is_not(ready: Repo) -> None:
    lock = ready.path / ".git" / f"{records.SHARED_REF}.lock"
    lock.touch()
    with pytest.raises(Locked):
        append(ready, {oid(1): [line(oid(1))]}, seconds=0.3)
    assert lock.exists()
    os.utime(lock, (time.time() - 3600,) * 2)
    assert 1 == append(ready, {oid(1): [line(oid(1))]}).added
    assert not lock.exists()


def kill_at_each_step(repo: Repo, steps: int, tmp: Path) -> list[str]:
    """Commits once with every git call of the hook in turn being the last thing its process group ever does."""
    shim = tmp / "shim"
    shim.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (shim / "git").write_text(
        f'#!/bin/sh\necho x >>"$COUNT"\nn=$(wc -l <"$COUNT")\n'
        f'[ "$n" -eq "$STEP" ] && [ "$WHEN" = before ] && kill -9 $PPID && exit 1\n'
        f'{real} "$@"\nstatus=$?\n[ "$n" -eq "$STEP" ] && kill -9 $PPID\nexit $status\n'
    )
    (shim / "git").chmod(0o755)
    commits = []
    for when in ("before", "after"):
        for step in range(1, steps + 1):
            commits.append(repo.commit(f"feat: {when} {step}", {"n.txt": f"{when} {step}\n"}, "--no-verify"))
            count = tmp / f"count-{when}-{step}"
            env = repo.environment() | {"COUNT": str(count), "STEP": str(step), "WHEN": when}
            env["PATH"] = f"{shim}:{env['PATH']}"
            subprocess.run(
                [sys.executable, "-I", "-S", str(ROOT / "gitmem/entry.py"), "git", "post-commit"],
                cwd=repo.path,
                env=env,
                capture_output=True,
                timeout=60,
                check=False,
            )
    return commits


def test_GIT_06_killed_at_any_call_of_git_the_next_run_finds_everything_readable(ready: Repo, tmp_path: Path) -> None:
    ready.gitmem("hooks", "uninstall")
    commits = kill_at_each_step(ready, 8, tmp_path)
    ready.gitmem("doctor", "--fix")
    ready.gitmem("backfill")
    assert [1] * len(commits) == ready.capsules_on(commits)
    assert "" == ready.git("fsck", "--no-dangling", "--no-progress")
    assert "" == ready.git("status", "--porcelain")


def test_a_torn_last_line_spoils_nothing_but_itself(ready: Repo) -> None:
    store = ready.store()
    store.defer({oid(1): [line(oid(1))]})
    with Path(store.pending).open("ab") as file:
        file.write(b'{"do":"line","commit":"ab')
    store.defer({oid(2): [line(oid(2))]})
    ready.gitmem("doctor", "--fix")
    assert [[line(oid(n))] for n in (1, 2)] == [lines for _, lines in ready.store().note_lines([oid(1), oid(2)])]
    trash = ready.path / ".git/gitmem/trash/pending.jsonl"
    assert b'{"do":"line","commit":"ab\n' == trash.read_bytes()
    assert not Path(store.pending).exists()


def test_a_full_note_takes_no_more_and_says_so(ready: Repo) -> None:
    commit = ready.head()
    written = append(ready, {commit: [line(commit, n) for n in range(80)]})
    assert 17 == written.left_out
    assert 1 == sum(r.get("cut") == ["records"] for r in ready.records(commit))
    done = ready.gitmem("add", "event", "one more", ok=(1,))
    assert b"is full" in done.stderr


def test_fast_import_that_fails_is_said_in_gits_words_and_leaves_no_crash_report(ready: Repo) -> None:
    with pytest.raises(GitError, match="fast-import"):
        ready.store().append({oid(1): [line(oid(1))]}, author="no brackets", subject="x", deadline=time.monotonic() + 5)
    assert [] == list((ready.path / ".git").glob("fast_import_crash_*"))


def test_an_interrupted_append_is_not_seen(tmp_path: Path) -> None:
    path = str(tmp_path / "x" / "log")
    files.append(path, b"one")
    assert files.take(path, path + ".taken")
    files.append(path, b"two\n")
    assert b"one\n" == files.read(path + ".taken")
    assert b"two\n" == files.read(path)
    assert not files.take(path + ".none", path)


def test_the_lock_is_let_go_by_a_process_that_dies(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    script = (
        "import sys, time; sys.path.append(sys.argv[1]); from gitmem import files\n"
        "with files.Lock(sys.argv[2], deadline=time.monotonic() + 5): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script, str(ROOT), path], stdout=subprocess.PIPE)
    assert holder.stdout is not None and b"held\n" == holder.stdout.readline()
    with pytest.raises(Locked), files.Lock(path, deadline=time.monotonic() + 0.05):
        pass
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with files.Lock(path, deadline=time.monotonic() + 5):
        pass


note_lines = st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")).filter(bytes.strip), max_size=6)


@given(note_lines, note_lines, note_lines)
def test_joining_notes_is_commutative_associative_and_idempotent(
    a: list[bytes], b: list[bytes], c: list[bytes]
) -> None:
    assert notes.join(a, b) == notes.join(b, a)
    assert notes.join(notes.join(a, b), c) == notes.join(a, notes.join(b, c))
    assert notes.join(a, a) == notes.join(a)
    assert notes.join(a) == notes.lines(notes.render(notes.join(a)))


def test_random_layouts_come_home(ready: Repo) -> None:
    rng = random.Random(4)
    commits = [("ab" if n % 2 else "cd") + oid(n)[2:] for n in range(60)]
    cuts = (lambda c: c, lambda c: f"{c[:2]}/{c[2:]}", lambda c: f"{c[:2]}/{c[2:4]}/{c[4:]}")
    stream = f"commit {records.SHARED_REF}\ncommitter A <a@b.c> 1 +0000\ndata 1\nx\n"
    for commit in commits:
        body = line(commit).decode() + "\n"
        stream += f"M 100644 inline {rng.choice(cuts)(commit)}\ndata {len(body)}\n{body}\n"
    forget_the_ref(ready)
    ready.git("fast-import", "--quiet", stdin=stream.encode())
    append(ready, {commits[0]: [line(commits[0], 1)], commits[1]: [line(commits[1], 1)]})
    assert {f"{c[:2]}/{c[2:]}" for c in commits} == set(tree(ready))
    assert {c: 2 if n < 2 else 1 for n, c in enumerate(commits)} == {
        c: len(found) for c, found in ready.store().note_lines(commits)
    }
