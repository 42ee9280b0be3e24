"""Writes docs/commands.md and docs/settings.md from the parser and the table of settings; `--check` only compares."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gitmem.arguments import COMMANDS, parser
from gitmem.settings import CLONE_ONLY, KEYS

HERE = Path(__file__).parent


def options(actions: list[argparse.Action]) -> list[str]:
    rows = []
    for action in actions:
        if action.dest in ("help", "repo", "json", "dry_run"):
            continue
        value = action.metavar or ("|".join(action.choices) if action.choices else action.dest.upper())
        names = ", ".join(action.option_strings) or str(value)
        shown = names if action.nargs == 0 or not action.option_strings else f"{names} {value}"
        choices = (
            f"; one of {', '.join(action.choices)}"
            if action.choices and action.option_strings and action.metavar
            else ""
        )
        rows.append(f"| `{shown.replace('|', chr(92) + '|')}` | {action.help or ''}{choices} |")
    return rows


def commands() -> str:
    top = parser()
    subparsers = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    text = [
        "# Commands",
        "",
        "Made by `docs/make_reference.py` from the parser; a test compares them.",
        "",
        "Every command takes `--help`, `--json` (one JSON document on standard output, described in",
        "`schema/commands.json`) and `-C DIR` / `--repo DIR`. Every command that changes something takes `--dry-run`,",
        "which changes no byte. Results go to standard output, talk to standard error. Exit status: 0 done, 1 expected",
        "failure (one line, then a hint), 2 wrong usage, 3 a bug of gitmem (with the path of a log), 130 interrupted.",
        "`gitmem` is installed as `git-mem` too, so `git mem status` works.",
        "",
    ]
    for command in COMMANDS:
        text += [
            f"## gitmem {command.name}",
            "",
            f"{command.summary[0].upper()}{command.summary[1:]}. {command.details}",
            "",
        ]
        rows = options(subparsers.choices[command.name]._actions)
        if rows:
            text += ["| option | meaning |", "|---|---|", *rows, ""]
        text += ["```sh", *command.examples, "```", ""]
    return "\n".join(text)


def settings() -> str:
    text = [
        "# Settings",
        "",
        "Made by `docs/make_reference.py` from the table in `gitmem/settings.py`.",
        "",
        "`clone`: this clone's own git configuration (`git config KEY VALUE`). What publishes or grants stands there",
        "only. `file`: the tracked `.gitmem/config.toml`, which anybody's merge can change, so it may narrow and never",
        f"widen: the tables {', '.join(f'`{key}`' for key in CLONE_ONLY)} are refused in it and reported by `gitmem doctor`.",
        "`schema/config.json` describes the file; an unknown key is a warning. `GITMEM=off` in the environment switches",
        "every hook off.",
        "",
        "| key | where | default | values | meaning |",
        "|---|---|---|---|---|",
    ]
    for key in KEYS:
        text.append(
            f"| `{key.name}` | {key.where} | `{key.default}` | {', '.join(key.values) or 'any'} | {key.meaning} |"
        )
    return "\n".join([*text, ""])


def main() -> int:
    wrong = [
        name
        for name, text in (("commands.md", commands()), ("settings.md", settings()))
        if not put(HERE / name, text, check="--check" in sys.argv)
    ]
    for name in wrong:
        sys.stderr.write(f"docs/{name} is not what the code says; run docs/make_reference.py\n")
    return 1 if wrong else 0


def put(path: Path, text: str, *, check: bool) -> bool:
    if check:
        return path.exists() and path.read_text() == text
    path.write_text(text)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
