"""The verdict on small changes of every kind and language, and on labelled windows of real histories."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.patch import FilePatch
from gitmem.verdict.signals import judge
from tests.repo import ROOT
from tests.verdict_cases import NEGATIVE, POSITIVE

CLONES = os.environ.get("GITMEM_CLONES", "")  # read before the tests are sealed
REPORTED = ("koel/koel", "spring-projects/spring-petclinic", "simonw/sqlite-utils")  # the half that was not tuned on


@pytest.mark.parametrize(
    ("files", "signal", "pages"), [case[1:] for case in POSITIVE], ids=[case[0] for case in POSITIVE]
)
def test_REF_08_each_of_these_alone_is_relevant(files: list[FilePatch], signal: str, pages: set[str]) -> None:
    verdict = judge(files, ["update"])
    found = {item.name: item for item in verdict.signals}
    assert verdict.relevant and signal in found, verdict.reasons
    assert pages <= set(found[signal].pages) and pages <= set(verdict.targets)


@pytest.mark.parametrize(("files", "roles"), [case[1:] for case in NEGATIVE], ids=[case[0] for case in NEGATIVE])
def test_REF_07_none_of_these_is(files: list[FilePatch], roles: set[str]) -> None:
    verdict = judge(files, ["update"])
    assert not verdict.relevant, verdict.reasons
    assert roles <= set(verdict.left_out)


def test_the_same_files_in_any_number_of_runs_give_the_same_verdict() -> None:
    for _, files, *_rest in POSITIVE[:20]:
        assert judge(files, ["update"]) == judge(files, ["update"])


@pytest.mark.soak
def test_REF_29_on_real_histories_the_goals_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Needs clones of the labelled repositories: GITMEM_CLONES names their folder."""
    if not CLONES:
        pytest.skip("GITMEM_CLONES names no folder of clones")
    gitmem = f"{sys.executable} -P -m gitmem"
    argv = [sys.executable, str(ROOT / "bench/verdict_repos.py"), str(ROOT / "tests/data/reflection_windows.jsonl"), "--clones", CLONES, "--json",
            "--setup", f"{gitmem} init --yes", "--command", f"{gitmem} reflect-prepare --range {{range}} --json --dry-run"]  # fmt: skip
    for confidence, least in (("high,medium,low", 0.74), ("high", 0.92)):
        chosen = [word for repo in REPORTED for word in ("--repo", repo)]
        done = subprocess.run([*argv, "--confidence", confidence, *chosen], capture_output=True, text=True, check=True)
        table = json.loads(done.stdout)
        with capsys.disabled():
            for name, row in table.items():
                print(f"{name}: precision {row['precision']:.3f} recall {row['recall']:.3f} F1 {row['f1']:.3f}")  # noqa: T201
        assert table["ALL"]["f1"] >= least
        assert table["ALL"]["docs"]["all (micro)"][2] >= 0.70
