"""Recall, precision and time of gitmem/redact.py beside detect-secrets' default plugins."""

from __future__ import annotations

import collections
import pathlib
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


if __name__ == "__main__":
    bench_corpus()
