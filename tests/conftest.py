"""Every test is sealed: a home of its own, no system configuration, fixed names and dates, an editor that fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.repo import ROOT, Repo, git_version

hypothesis.settings.register_profile(
    "gitmem", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("gitmem")


@pytest.fixture(scope="session")
def sealed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def seal(monkeypatch: pytest.MonkeyPatch, sealed_home: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITMEM", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR", "OPENCODE")):
            if name not in ("GIT_EXEC_PATH", "GIT_TEMPLATE_DIR"):
                monkeypatch.delenv(name)
    sealed = {
        "HOME": str(sealed_home),
        "XDG_CONFIG_HOME": str(sealed_home / "config"),
        "XDG_STATE_HOME": str(sealed_home / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_EDITOR": "false",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Ada Example",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Ada Example",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
    }
    for name, value in sealed.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repository."""
    return Repo.create(tmp_path / "repo")


@pytest.fixture
def ready(repo: Repo) -> Repo:
    """A repository with one commit and gitmem set up."""
    repo.commit("chore: begin", {"README.md": "# a project\n"})
    repo.gitmem("init", "--no-pages")
    return repo


@pytest.fixture(scope="session")
def has_config_hooks() -> bool:
    return git_version() >= (2, 54)


@pytest.fixture(scope="session")
def modern_git() -> Iterator[str | None]:
    """The folder of a recent git's command, None where there is none; MODERN_GIT names its prefix."""
    prefix = os.environ.get("MODERN_GIT", str(ROOT / ".modern-git"))
    yield os.path.join(prefix, "bin") if shutil.which("git", path=os.path.join(prefix, "bin")) else None


def pytest_report_header() -> str:
    version = ".".join(str(part) for part in git_version())
    return f"git {version}; object format {os.environ.get('TEST_OBJECT_FORMAT', 'sha1')}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("-m"):
        return
    chosen = [item for item in items if item.get_closest_marker("soak") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
