#!/usr/bin/env python3
"""What sharing notes costs: pushes with and without them (N12), and sync at a thousand to a million notes.

    sync_bench.py GITMEM --push                    # N12: interleaved pushes, bare and with gitmem.sync auto
    sync_bench.py GITMEM --push --delay 0.1        # the same over an ssh that takes that long to connect
    sync_bench.py GITMEM --sizes 1000,100000       # first sync, a new clone, one more record, nothing new
    sync_bench.py GITMEM --history 100000          # a history of its own, backfilled, shared, cloned, shared again

GITMEM: the command. All remotes are local folders, which is the hardest case: a push to one costs 20 ms, over a network
hundreds. Wall time; --push prints ratios of medians of interleaved runs. Needs Python 3.9+ and git.
"""

import argparse
import hashlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ENV = {**{k: v for k, v in os.environ.items() if not k.startswith("GIT_")}, "GIT_CONFIG_NOSYSTEM": "1",
       "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
       "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}  # fmt: skip


def run(cwd, *argv, stdin=None, quiet=True):
    done = subprocess.run(argv, cwd=cwd, env=ENV, input=stdin, capture_output=quiet, check=False)
    if done.returncode:
        sys.exit(f"{argv} ended with {done.returncode}: {done.stderr.decode() if quiet else ''}")
    return done.stdout.decode() if quiet else ""


def timed(cwd, *argv):
    begun = time.monotonic()
    run(cwd, *argv)
    return time.monotonic() - begun


def commit(repo, n):
    with open(f"{repo}/file.txt", "a") as file:
        file.write(f"line {n}\n")
    run(repo, "git", "add", "-A")
    run(repo, "git", "commit", "-q", "-m", f"feat: change {n}")


def delayed(work, delay):
    """An ssh that waits before it runs the command here: what connecting costs, without a network."""
    path = f"{work}/ssh"
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nsleep {delay}\nfor last; do :; done\neval "exec $last"\n')
    os.chmod(path, 0o755)
    ENV["GIT_SSH"] = path
    ENV["GIT_SSH_VARIANT"] = "simple"


def pushes(work, gitmem, runs, delay):
    """Medians of: bare push of one commit, the same with its note; bare push of nothing, the same with gitmem."""
    repos = {}
    if delay:
        delayed(work, delay)
    for name in ("bare", "gitmem"):
        repo, hub = f"{work}/{name}", f"{work}/{name}.git"
        run(work, "git", "init", "-q", "-b", "main", repo)
        run(work, "git", "init", "-q", "--bare", hub)
        run(repo, "git", "remote", "add", "origin", f"ssh://host{hub}" if delay else hub)
        commit(repo, 0)
        if name == "gitmem":
            run(repo, gitmem, "init", "--no-pages", "--sync", "auto")
        run(repo, "git", "push", "-q", "-u", "origin", "main")
        repos[name] = repo
    times = {}
    for n in range(1, runs + 1):
        for name, repo in repos.items():
            commit(repo, n)
            times.setdefault(("one commit", name), []).append(timed(repo, "git", "push", "-q", "origin", "main"))
            times.setdefault(("nothing", name), []).append(timed(repo, "git", "push", "-q", "origin", "main"))
    for what, goal in (("nothing", 1.2), ("one commit", 2.5)):
        bare, ours = (statistics.median(times[what, name]) * 1000 for name in ("bare", "gitmem"))
        print(f"push of {what}: bare {bare:.0f} ms, with notes {ours:.0f} ms, ratio {ours / bare:.2f} (goal {goal})")


def notes_of(count):
    """A fast-import stream of a notes ref of so many capsule-like records, as gitmem lays them out."""
    digits = [hashlib.sha1(b"%d" % n).hexdigest() for n in range(count)]
    deep = count > 50_000
    yield b"commit refs/notes/gitmem\ncommitter a <a@example.com> 1700000000 +0000\ndata 1\nx\n"
    for n, oid in enumerate(digits):
        fields = (f'"a":"feat(api): change {n} (2 files, +{n % 90} -{n % 30})","added":{n % 90},"at":{1600000000 + n},'
                  f'"commit":"{oid}","domains":[["src:api",1],["tests",1]],"files":2')  # fmt: skip
        rest = (f'"kind":"capsule","paths":["src/api/m{n % 999}.py","tests/test_m{n % 999}.py"],"removed":{n % 30},'
                f'"scope":"api","summary":"feat(api): change {n}","type":"feat","v":1')  # fmt: skip
        id_ = hashlib.sha256(("{" + fields + "," + rest + "}").encode()).hexdigest()[:16]
        line = ("{" + fields + f',"id":"{id_}",' + rest + "}\n").encode()
        path = f"{oid[:2]}/{oid[2:4]}/{oid[4:]}" if deep else f"{oid[:2]}/{oid[2:]}"
        yield b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(line), line)
    yield b"done\n"


def fill(repo, count):
    process = subprocess.Popen(["git", "fast-import", "--quiet", "--done"], cwd=repo, env=ENV, stdin=subprocess.PIPE)
    for piece in notes_of(count):
        process.stdin.write(piece)
    process.stdin.close()
    if process.wait():
        sys.exit("fast-import failed")


def peak_mb():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def share(work, gitmem, repo, hub, rows, *, everything=()):
    rows.append(("first sync", timed(repo, gitmem, "sync", *everything)))
    rows.append(("nothing new", timed(repo, gitmem, "sync", *everything)))
    other = f"{work}/other"
    run(work, "git", "clone", "-q", hub, other)
    run(other, "git", "config", "gitmem.enabled", "true")
    rows.append(("new clone, fetch", timed(other, gitmem, "sync", "--fetch-only")))
    rows.append(("git fetch of the same", plain_fetch(work, hub)))
    run(other, gitmem, "add", "decision", "from there")
    rows.append(("one more record", timed(other, gitmem, "sync", *everything)))
    rows.append(("and back", timed(repo, gitmem, "sync", *everything)))
    trees = {run(where, "git", "rev-parse", "refs/notes/gitmem^{tree}") for where in (repo, other, hub)}
    if len(trees) != 1:
        sys.exit("the three do not hold the same notes")
    shutil.rmtree(other)


def plain_fetch(work, hub):
    run(work, "git", "init", "-q", f"{work}/plain")
    took = timed(f"{work}/plain", "git", "fetch", "-q", hub, "refs/notes/gitmem:refs/notes/gitmem")
    shutil.rmtree(f"{work}/plain")
    return took


def start(work, name):
    repo, hub = f"{work}/{name}", f"{work}/{name}.git"
    run(work, "git", "init", "-q", "-b", "main", repo)
    run(work, "git", "init", "-q", "--bare", "-b", "main", hub)
    run(repo, "git", "remote", "add", "origin", hub)
    run(repo, "git", "config", "gitmem.enabled", "true")
    return repo, hub


def sizes(work, gitmem, counts):
    for count in counts:
        repo, hub = start(work, f"notes-{count}")
        commit(repo, 0)
        run(repo, "git", "push", "-q", "-u", "origin", "main")
        fill(repo, count)
        run(repo, "git", "gc", "-q")
        rows = []
        share(work, gitmem, repo, hub, rows, everything=("--all",))
        print(f"{count} notes: " + ", ".join(f"{what} {took:.2f} s" for what, took in rows) + f"; peak {peak_mb():.0f} MB")
        shutil.rmtree(repo)
        shutil.rmtree(hub)


def history(work, gitmem, count):
    here = os.path.dirname(os.path.abspath(__file__))
    repo, hub = f"{work}/history", f"{work}/history.git"
    run(work, sys.executable, f"{here}/make_repo.py", repo, "--commits", str(count))
    run(work, "git", "init", "-q", "--bare", hub)
    run(repo, "git", "remote", "add", "origin", hub)
    run(repo, "git", "config", "gitmem.enabled", "true")
    run(repo, "git", "push", "-q", "origin", "HEAD:refs/heads/main")
    run(hub, "git", "symbolic-ref", "HEAD", "refs/heads/main")
    run(repo, "git", "fetch", "-q", "origin")
    rows = [("backfill", timed(repo, gitmem, "backfill"))]
    run(repo, "git", "config", "user.name", "a")
    share(work, gitmem, repo, hub, rows)
    print(f"{count} commits: " + ", ".join(f"{what} {took:.1f} s" for what, took in rows) + f"; peak {peak_mb():.0f} MB")


def main():
    parser = argparse.ArgumentParser(description="what sharing notes costs")
    parser.add_argument("gitmem")
    parser.add_argument("--push", action="store_true")
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--sizes", default="")
    parser.add_argument("--history", type=int, default=0)
    args = parser.parse_args()
    work = tempfile.mkdtemp(prefix="sync-bench-")
    gitmem = os.path.abspath(args.gitmem)
    try:
        if args.push:
            pushes(work, gitmem, args.runs, args.delay)
        if args.sizes:
            sizes(work, gitmem, [int(size) for size in args.sizes.split(",")])
        if args.history:
            history(work, gitmem, args.history)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
