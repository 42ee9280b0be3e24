"""Capsules for a whole history: every commit one, the same as the hook's, whatever interrupts it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from gitmem import history, records
from tests.repo import Repo

STREAM = """blob
mark :1
data 2
a

reset refs/heads/main
commit refs/heads/main
mark :2
committer Ada <ada@example.com> 1600000000 +0000
data 9
feat: one
M 100644 :1 a.txt
M 100644 :1 "tab\\there"
M 100644 :1 "bytes-\\377"

commit refs/heads/left
mark :3
committer Ada <ada@example.com> 1600000100 +0200
data 10
feat: left
from :2
M 100644 :1 l.txt

commit refs/heads/right
mark :4
committer Ada <ada@example.com> 1600000200 -0700
data 11
feat: right
from :2
R a.txt renamed.txt

commit refs/heads/root
mark :5
committer Ada <ada@example.com> 1600000300 +0000
data 13
feat: orphan

M 100644 :1 o.txt

commit refs/heads/main
mark :6
committer Ada <ada@example.com> 1600000400 +0000
data 7
octopus
from :2
merge :3
merge :4
merge :5
M 100644 :1 l.txt
M 100644 :1 o.txt
R a.txt renamed.txt

commit refs/heads/main
mark :7
committer Ada <ada@example.com> 1600000500 +0000
data 0
from :6

commit refs/heads/main
mark :8
committer Ada <ada@example.com> 1600000600 +0000
data 12
feat: binary
from :7
M 100644 inline b.bin
data 4
\0\1\2
"""


@pytest.fixture
def odd(repo: Repo) -> Repo:
    """Merges, an octopus, two roots, an empty commit without a message, a rename, binary and non-UTF-8 names."""
    wide = "commit refs/heads/main\ncommitter Ada <ada@example.com> 1600000700 +0000\ndata 10\nfeat: wide\n"
    wide += "".join(f"M 100644 :1 wide/{n:05}.txt\n" for n in range(10_000))
    repo.git("fast-import", "--quiet", stdin=(STREAM + "\n" + wide).encode())
    repo.git("config", "gitmem.enabled", "true")
    repo.git("reset", "-q", "--hard")
    return repo


def test_BKF_01_every_commit_gets_one_capsule_equal_to_the_hooks(odd: Repo) -> None:
    report = odd.document("backfill", "--all")
    assert (8, 0, 8, 0, 1) == tuple(report[k] for k in ("commits", "had", "written", "boundary", "uncounted"))
    oids = odd.history("--all", "--not", "--glob=refs/notes/*")
    assert [1] * 8 == odd.capsules_on(oids)
    by_backfill = {oid: odd.capsule(oid) for oid in oids}
    tip = odd.git("rev-parse", records.SHARED_REF)
    assert 0 == odd.document("backfill", "--all")["written"]
    assert tip == odd.git("rev-parse", records.SHARED_REF)
    odd.git("update-ref", "-d", records.SHARED_REF)
    for oid in oids:
        odd.git("checkout", "-q", "--force", oid)
        odd.run(
            sys.executable,
            "-I",
            "-S",
            os.path.join(os.path.dirname(records.__file__), "entry.py"),
            "git",
            "post-commit",
        )
        assert by_backfill[oid] == odd.capsule(oid)


def test_N6_a_large_blob_is_known_by_its_size_and_the_rest_is_read(ready: Repo) -> None:
    """The hook stops git where it would inflate such a blob; the backfill does not, and both see the same."""
    large = "row\n" * (6 << 18)
    first = ready.commit("feat: data", {"data/big.txt": large, "src/small.py": "def small():\n    return 1\n"})
    assert (2, 2, 0) == tuple(ready.capsule()[key] for key in ("files", "added", "removed"))
    assert "lines" not in ready.capsule().get("cut", [])
    changed = ready.commit(
        "fix: data", {"data/big.txt": large + "row\n", "src/small.py": "def small():\n    return 2\n"}
    )
    ready.git("mv", "data/big.txt", "data/huge.txt")
    moved = ready.commit("chore: move", {"src/small.py": "def small():\n    return 3\n"})
    gone = ready.commit("chore: drop", {"src/small.py": "def small():\n    return 4\n"})
    ready.git("rm", "-q", "data/huge.txt")
    gone = ready.commit("chore: drop", {"src/small.py": "def small():\n    return 5\n"})
    by_hook = {oid: ready.capsule(oid) for oid in (first, changed, moved, gone)}
    assert [1, 1, 1] == [by_hook[oid]["removed"] for oid in (changed, moved, gone)]
    ready.git("update-ref", "-d", records.SHARED_REF)
    (ready.path / ".git/gitmem/tips.json").unlink()
    ready.document("backfill", "--all")
    assert by_hook == {oid: ready.capsule(oid) for oid in by_hook}


def test_BKF_01_interrupted_at_random_it_goes_on_where_it_was(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(
        f"commit refs/heads/main\ncommitter Ada <ada@example.com> {1_600_000_000 + n} +0000\ndata 3\nx{n % 10}\nM 100644 inline f{n % 7}\ndata 4\n{n:04}\n"
        for n in range(3000)
    )
    repo.git("fast-import", "--quiet", stdin=rows.encode())
    repo.git("config", "gitmem.enabled", "true")
    repo.git("reset", "-q", "--hard")
    rng = random.Random(3)
    script = "import sys; from gitmem import history; history.BATCH = 256; from gitmem.cli import main; sys.exit(main(['backfill', '--jobs', sys.argv[1]]))"
    for turn, stop in enumerate((signal.SIGKILL, signal.SIGINT, signal.SIGKILL)):
        argv = [sys.executable, "-c", script, str(1 + turn % 2)]
        running = subprocess.Popen(
            argv,
            cwd=repo.path,
            env=repo.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(0.15 + rng.random() * 0.4)
        os.killpg(running.pid, stop)
        running.wait()
    for lock in (repo.path / ".git/refs").rglob("*.lock"):  # what a kill left of git's own lock is an hour old
        os.utime(lock, (time.time() - 3600,) * 2)
    assert history.BATCH > 256
    repo.gitmem("backfill")
    assert [1] * 3000 == repo.capsules_on_all()
    assert "" == repo.git("fsck", "--no-dangling", "--no-progress")


def test_a_range_a_date_and_a_bad_range(ready: Repo) -> None:
    ready.env["GITMEM"] = "off"
    oids = [ready.commit(f"feat: {n}", {"a.txt": f"{n}\n"}) for n in range(4)]
    assert 2 == ready.document("backfill", "HEAD~3..HEAD~1")["written"]
    assert [0, 1, 1, 0] == ready.capsules_on(oids)
    for bad in ("nope", "a..b", "--output=stolen..HEAD", "..nope"):
        done = ready.gitmem("backfill", "--", bad, ok=(1,))
        assert b"names no commit of this repository" in done.stderr
    assert not (ready.path / "stolen").exists()
    done = ready.gitmem("backfill", "HEAD", "--all", ok=(2,))
    assert b"give a range or '--all', not both" in done.stderr


def test_without_an_identity_it_says_so_before_the_work(repo: Repo) -> None:
    repo.commit("feat: x", {"a.txt": "a\n"})
    repo.git("config", "gitmem.enabled", "true")
    repo.env |= {"GIT_COMMITTER_NAME": "", "GIT_COMMITTER_EMAIL": "", "EMAIL": ""}
    repo.git("config", "user.useConfigOnly", "true")
    done = repo.gitmem("backfill", ok=(1,))
    assert b"gitmem: git knows no name to write notes with" in done.stderr
    assert b"hint: run 'git config user.name NAME'" in done.stderr
