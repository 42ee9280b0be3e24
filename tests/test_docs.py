"""README and docs are true: their commands run, their output is what is printed, their links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gitmem import records
from tests.repo import OBJECT_FORMAT, ROOT, Repo, git_version

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("bench/*.md")])


def session() -> list[tuple[str, list[str]]]:
    """(command, lines it prints) of the console session in the README."""
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```console\n(.*?)```", text, re.DOTALL)
    assert block is not None
    steps: list[tuple[str, list[str]]] = []
    for line in block[1].splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps


def pattern(line: str) -> str:
    """A line of the session as a pattern: dates and what an ellipsis stands for may differ."""
    escaped = re.escape(line).replace("…", ".*")
    escaped = re.sub(r"(rec\\-|commit\\ |on\\ |^)[0-9a-f]{4}\.\*", r"\1[0-9a-f]+", escaped)
    return re.sub(r"\d{4}\\-\d\d\\-\d\d", r"\\d{4}-\\d\\d-\\d\\d", escaped)


@pytest.mark.skipif(
    git_version() >= (2, 54), reason="the session shows hook files; a recent git gets configuration hooks"
)
@pytest.mark.skipif(OBJECT_FORMAT != "sha1", reason="the session is one of SHA-1")
def test_the_session_in_the_readme_is_what_happens(repo: Repo) -> None:
    repo.commit("chore: begin", {"README.md": "# blog\n"})
    for command, expected in session():
        if command.startswith("git commit -q -m"):
            repo.write({"src/api/posts.py": "@app.get('/posts')\ndef list_posts():\n    return sorted(posts)\n",
                        "tests/test_posts.py": "def test_lists():\n    assert True\n\n"})  # fmt: skip
            repo.git("add", "src", "tests")
        argv = shlex.split(command)
        done = repo.gitmem(*argv[1:]) if argv[0] == "gitmem" else repo.run(*argv)
        said = done.stdout.decode().splitlines()
        assert len(expected) == len(said), (command, said)
        for wanted, got in zip(expected, said, strict=True):
            assert re.fullmatch(pattern(wanted), got), (command, wanted, got)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_manual_never_tells_anybody_to_install_somebody_elses_program() -> None:
    for page in PAGES:
        assert not re.search(r"(pip|pipx|uv)\s+(tool\s+)?install\s+gitmem\b", page.read_text()), page


def test_make_targets_named_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(
        re.findall(r"`?make ([a-z-]+)", (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text())
    ):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_hooks_table_names_every_hook() -> None:
    from gitmem.hooksetup import EVENTS

    text = (ROOT / "docs/how-it-works.md").read_text()
    assert all(f"| {event} |" in text for event in EVENTS)
    assert records.SHARED_REF in text and records.PRIVATE_REF in text


def test_the_schema_of_the_config_names_every_key_of_the_file() -> None:
    import json

    from gitmem.settings import KEYS

    properties = json.loads((ROOT / "docs/schema/config.json").read_text())["properties"]
    for key in KEYS:
        if key.where == "file":
            top, _, below = key.name.partition(".")
            assert top in properties and (not below or below in properties[top]["properties"])
