#!/usr/bin/env python3
"""What the hook adds to commits beyond all usual size, beside what it adds to one of four files.

    large_commits.py GITMEM --rounds 7
    large_commits.py GITMEM --goal 'blob/plain<=1.3' --goal 'files/raw<=3'

Each round makes one commit of every kind without a hook and then runs the post-commit hook that `gitmem init`
installed, alone and timed. raw: `git diff --raw HEAD~1 HEAD` of the commit with the many files.
Kinds: plain (4 files edited), blob (50 MB of text added), line (one line of 5 MB added), files (10,000 files added),
edits (the 10,000 files edited). A goal A/B<=X compares the medians, in processor time with 'cpu:' before it.

Needs Python 3.11+, git and an installed gitmem. No packages.
"""

import argparse
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

KINDS = ("plain", "blob", "line", "files", "edits")


def main() -> int:
    p = argparse.ArgumentParser(description="the hook on commits of all sizes")
    p.add_argument("gitmem", help="the command, as a path")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--goal", action="append", default=[])
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = measure(folder, os.path.abspath(args.gitmem), args.rounds, args.kinds.split(","))
    print(f"| {'kind':8} | wall ms | processor ms |\n|---|---:|---:|")
    for kind, (wall, cpu) in times.items():
        print(f"| {kind:8} | {wall:7.1f} | {cpu:12.1f} |")
    return 0 if all([reached(goal, times) for goal in args.goal]) else 1


def reached(goal: str, times: dict[str, tuple[float, float]]) -> bool:
    found = re.fullmatch(r"(cpu:)?(\w+)/(\w+)<=([\d.]+)", goal)
    if found is None:
        sys.exit(f"not a goal: {goal}")
    cpu, over, under, most = found.groups()
    ratio = times[over][bool(cpu)] / times[under][bool(cpu)]
    print(f"{goal}: {ratio:.2f} {'held' if ratio <= float(most) else 'missed'}")
    return ratio <= float(most)


def measure(folder: str, gitmem: str, rounds: int, kinds: list[str]) -> dict[str, tuple[float, float]]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": folder, "GITMEM": "off"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "bench", f"GIT_{who}_EMAIL": "bench@example.org"}

    def run(*argv: str, **more: str) -> tuple[float, float]:
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(argv, cwd=folder, env=env | more, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return 1000 * wall, 1000 * cpu

    run("git", "init", "-q", "-b", "main")
    for n in range(12):
        write(folder, f"src/m{n}.py", "".join(f"def f{i}(x):\n    return x + {i}\n\n" for i in range(40)))
    run("git", "add", "-A")
    run("git", "commit", "-qm", "feat: all")
    run(gitmem, "init", GITMEM="")
    run("git", "add", "-A")
    run("git", "commit", "-qm", "docs: pages")
    samples: dict[str, list[tuple[float, float]]] = {}
    for n in range(rounds + 1):
        for kind in kinds:
            change(folder, kind, n)
            run("git", "add", "-A")
            run("git", "commit", "-qm", f"feat(src): {kind} {n}")
            if kind == "files":
                samples.setdefault("raw", []).append(run("git", "diff", "--raw", "HEAD~1", "HEAD"))
            samples.setdefault(kind, []).append(run(".git/hooks/post-commit", GITMEM=""))
            if kind == "edits":
                run("git", "rm", "-rq", f"pkg{n}")
                run("git", "commit", "-qm", "chore: drop")
            for _ in range(4):  # so that no kind stands in the window of the next
                write(folder, "src/m9.py", f"def g(x):\n    return x * {random.random()}\n")
                run("git", "commit", "-qam", "fix(src): less")
                run(".git/hooks/post-commit", GITMEM="")
            close(folder, gitmem, run)
    return {k: tuple(statistics.median(column) for column in zip(*v[1:], strict=True)) for k, v in samples.items()}


def close(folder: str, gitmem: str, run) -> None:
    """Closes what became due, so that each commit is judged in a window of its own."""
    if os.path.exists(folder + "/.git/gitmem/reflect-prompt.json"):
        run(gitmem, "reflect-commit", "--no-change", "--reason", "a measurement", GITMEM="")


def change(folder: str, kind: str, n: int) -> None:
    if kind == "plain":
        for i in range(4):
            with open(f"{folder}/src/m{i}.py", "a", encoding="ascii") as file:
                file.write(f"def h{n}_{i}(x):\n    return x * {n}\n\n")
    elif kind == "blob":
        row = " ".join(f"{random.randrange(10**6)}" for _ in range(14)) + "\n"
        write(folder, f"data/big{n}.txt", f"{n}\n" + row * (50_000_000 // len(row)))
    elif kind == "line":
        write(folder, f"src/min{n}.js", "".join(f"var a{i}={i * n};" for i in range(330_000)) + "\n")
    elif kind == "files":
        for i in range(10_000):
            write(folder, f"pkg{n}/d{i % 100}/f{i}.py", f"VALUE_{i} = {n}\n")
    elif kind == "edits":
        for i in range(10_000):
            write(folder, f"pkg{n}/d{i % 100}/f{i}.py", f"VALUE_{i} = {n}\nOTHER = {n}\n")


def write(folder: str, path: str, text: str) -> None:
    os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
    with open(f"{folder}/{path}", "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
