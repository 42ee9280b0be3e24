"""Every command: documented, one JSON document, manners of a program one can live with."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gitmem import settings
from gitmem.arguments import COMMANDS, parser
from tests.repo import ROOT, Repo

SAMPLES: dict[str, list[list[str]]] = {
    "init": [["--no-pages"]], "uninstall": [["--dry-run"]], "hooks": [["status"], ["install"]], "status": [[]], "doctor": [[], ["--fix"]],
    "show": [[], ["--flat"]], "log": [[], ["--type", "feat"]], "add": [["decision", "it is so"]], "backfill": [["--all"]],
    "reflect-prepare": [["--dry-run"], ["--replay", "5"]], "reflect": [[]], "check": [[], ["--staged"]], "trim": [["--dry-run"]],
    "reflect-commit": [["--dry-run"]], "sync": [["--dry-run"], []], "review": [[], ["--keep-all"]], "repair": [[]],
    "forget": [["--dry-run", "rec-SAID"], ["rec-SAID"]],
}  # fmt: skip


def test_INT_01_every_command_has_help_examples_and_a_place_in_the_reference() -> None:
    reference = (ROOT / "docs/commands.md").read_text()
    for command in COMMANDS:
        assert f"## gitmem {command.name}" in reference
        assert command.examples
        for example in command.examples:
            assert example in reference
    assert {command.name for command in COMMANDS} == SAMPLES.keys()


def test_INT_01_the_reference_is_what_the_parser_says() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/make_reference.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("name", SAMPLES)
def test_INT_01_json_is_one_document_that_fits_its_schema(ready: Repo, tmp_path: Path, name: str) -> None:
    ready.gitmem("init")
    ready.commit("feat: x", {"a.py": "def a(): pass\n"})
    ready.add_remote(tmp_path / "hub.git")
    said = ready.document("add", "event", "something")["id"]
    schemas = json.loads((ROOT / "docs/schema/commands.json").read_text())
    for options in SAMPLES[name]:
        options = [said if word == "rec-SAID" else word for word in options]
        done = ready.gitmem(name, *options, "--json", ok=(0, 1))
        document: Any = json.loads(done.stdout)
        schema = schemas["$defs"]["show-flat" if options == ["--flat"] else name]
        jsonschema.validate(document, schema | {"$defs": schemas["$defs"]})


def test_INT_01_settings_are_documented_in_one_table() -> None:
    text = (ROOT / "docs/settings.md").read_text()
    for key in settings.KEYS:
        assert f"| `{key.name}` |" in text


def test_INT_02_a_reader_that_goes_away_is_no_error(ready: Repo) -> None:
    for n in range(30):
        ready.commit(f"feat: {n} " + "x" * 80, {"a.txt": f"{n}\n"})
    script = f"{sys.executable} -P -m gitmem log -n 1000 --json | head -n 1"
    done = ready.run("sh", "-c", script)
    assert b"" == done.stderr


def test_INT_02_an_interrupt_is_130_and_no_traceback(repo: Repo) -> None:
    rows = "".join(
        f"commit refs/heads/main\ncommitter A <a@b.c> {n} +0000\ndata 1\nx\nM 100644 inline f\ndata 5\n{n:05}\n"
        for n in range(9000)
    )
    repo.git("fast-import", "--quiet", stdin=rows.encode())
    repo.git("config", "gitmem.enabled", "true")
    argv = [sys.executable, "-P", "-m", "gitmem", "backfill", "--jobs", "2"]
    running = subprocess.Popen(
        argv, cwd=repo.path, env=repo.environment(), stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    )  # fmt: skip
    time.sleep(1.0)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (130, b"gitmem: interrupted\n") == (running.returncode, err)


def on_terminal(repo: Repo, *args: str, columns: int = 40, **env: str) -> str:
    """What a command prints on a terminal of so many columns."""
    leader, follower = pty.openpty()
    environment = repo.environment() | {"COLUMNS": str(columns), "TERM": "xterm"} | env
    if env.get("NO_COLOR") == "":
        del environment["NO_COLOR"]
    running = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", *args],
        cwd=repo.path,
        env=environment,
        stdout=follower,
        stderr=follower,
        stdin=follower,
    )
    os.close(follower)
    said = b""
    while select.select([leader], [], [], 20)[0]:
        try:
            chunk = os.read(leader, 4096)
        except OSError:
            break
        if not chunk:
            break
        said += chunk
    os.close(leader)
    assert 0 == running.wait()
    return said.decode().replace("\r\n", "\n")


def test_INT_02_colour_only_where_it_is_wanted(ready: Repo) -> None:
    ready.commit("feat: colourful", {"a.txt": "a\n"})
    assert "\x1b[33m" in on_terminal(ready, "log", NO_COLOR="")
    assert "\x1b" not in on_terminal(ready, "log", NO_COLOR="1")
    assert "\x1b" not in on_terminal(ready, "log", NO_COLOR="", TERM="dumb")
    assert "\x1b" not in ready.say("log")
    assert "\x1b[33m" in ready.say("log", "--color", "always")


def test_INT_02_progress_is_for_terminals(ready: Repo) -> None:
    for n in range(3):
        ready.commit(f"feat: {n}", {"a.txt": f"{n}\n"})
    ready.git("update-ref", "-d", "refs/notes/gitmem")
    assert "backfill" in on_terminal(ready, "backfill", columns=30)
    ready.git("update-ref", "-d", "refs/notes/gitmem")
    assert b"" == ready.gitmem("backfill").stderr


@pytest.mark.parametrize(("argv", "status", "first"), [
    (["nonsense"], 2, "gitmem: argument COMMAND: invalid choice: 'nonsense'"), (["stauts"], 2, "gitmem: argument COMMAND: invalid choice: 'stauts'"),
    (["show", "nope"], 1, "gitmem: 'nope' names no commit of this repository"), (["log", "-n", "0"], 2, "gitmem: argument -n/--max-count: '0' is no number"),
    (["add", "decision", "x", "--verdict", "PASS"], 2, "gitmem: a decision is one statement"), (["add", "event", "  "], 2, "gitmem: there is no text"),
    (["add", "event", "x" * 9000], 1, "gitmem: the text is longer than 8192 bytes"), (["show", "rec-zz"], 2, "gitmem: 'rec-zz' is no record id"),
    (["show", "rec-0000"], 1, "gitmem: 'rec-0000': no record has that id"), (["-C", "/nowhere/at/all", "status"], 1, "gitmem: "),
])  # fmt: skip
def test_wrong_usage_and_expected_failures_are_two_lines_with_a_hint(
    ready: Repo, argv: list[str], status: int, first: str
) -> None:
    done = ready.gitmem(*argv, ok=(status,))
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith(first)
    assert (b"", True) == (done.stdout, len(lines) == 1 or lines[1].startswith("hint: "))
    if argv == ["stauts"]:
        assert "hint: did you mean 'status'?" == lines[1]


def test_our_own_bug_is_status_3_with_a_log(ready: Repo) -> None:
    script = "import sys, gitmem.commands.status as s; s.gather = lambda store: 1 / 0; from gitmem.cli import main; sys.exit(main(['status']))"
    done = ready.run(sys.executable, "-c", script, ok=(3,))
    path = re.search(r"'(/[^']+\.log)'", done.stderr.decode())
    assert path is not None and "ZeroDivisionError" in open(path[1]).read()
    os.unlink(path[1])


def test_saying_the_same_twice_adds_nothing_and_a_devlog_holds_everything(ready: Repo) -> None:
    argv = [
        "add",
        "devlog",
        "login done",
        "--artifact",
        "src/login.py",
        "--decision",
        "cookies",
        "--learning",
        "[gotcha] SameSite",
        "--blocker",
        "none",
        "--verdict",
        "PASS",
    ]
    first = ready.document(*argv)
    again = ready.document(*argv)
    assert (True, False) == (first["added"], again["added"])
    [devlog] = [r for r in ready.records() if r["kind"] == "devlog"]
    assert ["src/login.py"] == devlog["artifacts"] and "PASS" == devlog["verdict"]
    shown = ready.document("show", first["id"])
    assert devlog == shown


def test_log_filters_combine(ready: Repo) -> None:
    ready.commit("feat: api", {"src/api/a.py": "x = 1\n"})
    ready.commit("fix: api", {"src/api/a.py": "x = 2\n"})
    ready.commit("feat: web", {"src/web/w.py": "x = 1\n"})
    ready.gitmem("add", "decision", "so be it")

    def summaries(*args: str) -> list[str]:
        return [row["capsule"]["summary"] for row in ready.document("log", *args)]

    assert ["feat: api"] == summaries("--type", "feat", "--domain", "src:api")
    assert ["fix: api", "feat: api"] == summaries("--path", "src/api")
    assert ["feat: web"] == summaries("--kind", "decision")
    assert ["feat: web"] == summaries("HEAD~1..HEAD")
    assert 2 == len(summaries("-n", "2"))


def test_MOD_02_a_tracked_file_may_narrow_and_never_widen(ready: Repo) -> None:
    text = "mode = 'auto'\nsync = 'auto'\nshare = ['session']\n[tiers]\nsilent = ['sync']\n[hook]\nmode = 'sync'\nspeed = 9\n[novel]\nx = 1\n"
    ready.commit("chore: merged from somebody", {".gitmem/config.toml": text})
    status = ready.document("status")
    assert "ask" == status["mode"]
    found = [c["what"] for c in ready.document("doctor")["checks"] if not c["ok"]]
    for key in ("mode", "sync", "share", "tiers"):
        assert f"config.toml: '{key}' may not stand in config.toml: say it in this clone with 'git config'" in found
    assert {"config.toml: unknown key 'novel'", "config.toml: unknown key 'hook.speed'"} <= set(found)
    assert "gitmem.sync" not in ready.git("config", "--list", "--local")


@pytest.mark.parametrize(
    "text",
    [
        "[hook\n",
        "\xff",
        "a = " + "[" * 5000,
        "x" * 70_000,
        "[hook]\nmode = 'fast'\n",
        "hook = 1\n",
        "domains = 1\n[hook]\n",
    ],
)
def test_a_config_that_does_not_read_is_said_and_commits_go_on(ready: Repo, text: str) -> None:
    ready.write({".gitmem/config.toml": text.encode("latin-1")})
    oid = ready.commit("feat: x", {"a.txt": "a\n"})
    assert [1] == ready.capsules_on([oid])
    assert any("config.toml" in p["what"] for p in ready.document("status")["problems"])


def test_S7_a_symbolic_link_is_not_followed(ready: Repo, tmp_path: Any) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text("[hook]\nmode = 'detached'\n")
    (ready.path / ".gitmem").mkdir()
    (ready.path / ".gitmem/config.toml").symlink_to(secret)
    assert any("symbolic link" in p["what"] for p in ready.document("status")["problems"])
    oid = ready.commit("feat: x", {"a.txt": "a\n"})
    assert [1] == ready.capsules_on([oid])


def test_the_parser_takes_no_abbreviations() -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["log", "--max", "3"])
