"""Recall, precision and time of gitmem/redact.py beside detect-secrets' default plugins. `python redact_bench.py [corpus|real]`."""

from __future__ import annotations

import collections
import pathlib
import subprocess
import sys
import tempfile
import time

import redact_corpus as corpus
from gitmem import redact
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings


def theirs(path: pathlib.Path) -> list[tuple[int, str, str]]:
    found = SecretsCollection()
    found.scan_file(str(path))
    return [(s.line_number, s.type, s.secret_value or "") for _, s in found]


def overlaps(line: str, value: str, secret: str) -> bool:
    at, start = line.find(secret), line.find(value)
    return bool(value) and start < at + len(secret) and at < start + len(value)


def bench_corpus() -> None:
    pos, neg = corpus.positives(), corpus.negatives()
    hit = {"ours": collections.Counter(), "theirs": collections.Counter()}
    false = {"ours": collections.Counter(), "theirs": collections.Counter()}
    by = {"ours": collections.Counter(), "theirs": collections.Counter()}
    total = collections.Counter(k for k, *_ in pos)
    missed = collections.Counter()
    clock = time.perf_counter()
    for kind, suffix, block, secret in pos:
        out, counts = redact.redact(block)
        gone = secret not in out
        hit["ours"][kind] += gone
        by["ours"].update(counts)
        if not gone:
            missed[(kind, suffix)] += 1
    wrong = []
    for line in neg:
        out, counts = redact.redact(line)
        false["ours"].update(counts.keys())
        if counts:
            wrong.append((line, out))
    ours_s = time.perf_counter() - clock
    with tempfile.TemporaryDirectory() as tmp, default_settings():
        clock = time.perf_counter()
        for number, item in enumerate(pos):  # a file for each, so that its parsers of YAML and INI see something valid
            path = pathlib.Path(tmp, f"f{item[1]}")
            path.write_text(("[main]\n" if item[1] == ".ini" else "") + item[2] + "\n")
            found = theirs(path)
            kinds = {k for _, k, value in found if item[0].startswith("pem") or value in item[2] and overlaps(item[2], value, item[3])}
            by["theirs"].update(kinds)
            hit["theirs"][item[0]] += bool(kinds)
        false_lines = set()
        for number, line in enumerate(neg):
            path = pathlib.Path(tmp, "harmless.txt")
            path.write_text(line + "\n")
            for _, kind, _ in theirs(path):
                false["theirs"][kind] += 1
                false_lines.add(number)
        theirs_s = time.perf_counter() - clock
    print(f"{'kind':24}{'n':>5}{'ours':>8}{'theirs':>8}")
    for kind in total:
        print(f"{kind:24}{total[kind]:5}{hit['ours'][kind] / total[kind]:8.1%}{hit['theirs'][kind] / total[kind]:8.1%}")
    n = sum(total.values())
    print(f"{'ALL':24}{n:5}{sum(hit['ours'].values()) / n:8.1%}{sum(hit['theirs'].values()) / n:8.1%}")
    print("\nour misses by kind and format:", dict(missed))
    print(f"\nharmless lines {len(neg)}: ours flags {len(wrong)}, theirs {len(false_lines)}")
    for side in ("ours", "theirs"):
        print(f"precision by kind, {side}:")
        for kind in sorted(set(by[side]) | set(false[side])):
            t, f = by[side][kind], false[side][kind]
            print(f"   {kind:40}{t:6} true {f:5} false {t / (t + f):8.1%}")
    for line, out in wrong[:60]:
        print("FALSE", line[:110], "=>", out[:150])
    print(f"\ntime: ours {ours_s:.2f} s, theirs {theirs_s:.2f} s")


def bench_real(repos: list[str]) -> None:
    for repo in repos:
        with tempfile.TemporaryDirectory() as tmp:
            git = subprocess.run(["git", "-C", f"/work/.mirror/{repo}/repo", "archive", "HEAD"], capture_output=True, check=True)
            subprocess.run(["tar", "-x", "-C", tmp], input=git.stdout, check=True)
            files = []
            for path in sorted(pathlib.Path(tmp).rglob("*")):
                if path.is_file() and not path.is_symlink() and path.stat().st_size < 1_000_000:
                    data = path.read_bytes()
                    if b"\0" not in data[:8000]:
                        files.append((path, data.decode("utf-8", "replace")))
            size = sum(len(t) for _, t in files)
            counts, clock = collections.Counter(), time.perf_counter()
            hits = []
            for path, text in files:
                for f in redact.find(text):
                    counts[f.kind] += 1
                    hits.append((path.relative_to(tmp), f, text))
            ours_s = time.perf_counter() - clock
            with open(f"/tmp/redact/out/{repo}.txt", "w") as log:
                for path, f, text in hits:
                    start = text.rfind("\n", 0, f.start) + 1
                    end = text.find("\n", f.end)
                    log.write(f"{f.kind}\t{path}:{f.line}\t{text[max(start, f.start - 50):f.start]}»{text[f.start:f.end][:70]}«{text[f.end:end][:20]}\n")
            print(f"{repo}: {len(files)} files, {size / 1e6:.1f} MB; ours {sum(counts.values())} in {ours_s:.1f} s {dict(counts)}", flush=True)
            if "--ours" in sys.argv:
                continue
            counts, clock = collections.Counter(), time.perf_counter()
            with default_settings():
                for path, _ in files:
                    counts.update(kind for _, kind, _ in theirs(path))
            print(f"   theirs {sum(counts.values())} in {time.perf_counter() - clock:.1f} s {dict(counts)}", flush=True)


if __name__ == "__main__":
    pathlib.Path("/tmp/redact/out").mkdir(exist_ok=True)
    if sys.argv[1:2] == ["real"]:
        bench_real([a for a in sys.argv[2:] if not a.startswith("--")])
    else:
        bench_corpus()
