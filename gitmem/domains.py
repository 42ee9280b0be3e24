"""Which part of a project a path belongs to: ordered rules, the first that fits names the domain."""

from __future__ import annotations

from gitmem.values import NamedTuple, remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# name -> folders that mean it. The first six count as one of the two outermost folders only: deeper down `hooks` or
# `commands` is ordinary code.
OUTER = (
    ("skills", ("skills",)),
    ("commands", ("commands",)),
    ("roles", ("roles",)),
    ("agents", ("agents",)),
)
DOC_FOLDERS = ("docs", "doc", "documentation")
DOC_ENDINGS = (".md", ".mdx", ".rst", ".adoc")
LATER = (
    ("scripts", ("scripts", "bin", "tools")),
    ("hooks", ("hooks", ".husky", ".githooks")),
    ("rules", ("rules",)),
    ("templates", ("templates",)),
)
TEST_FOLDERS = (
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "testdata",
    "e2e",
    "cypress",
    "fixtures",
    "__snapshots__",
)
CI_FOLDERS = (".github", ".circleci", ".ci", ".buildkite")
CI_NAMES = (".gitlab-ci.yml", ".travis.yml", "jenkinsfile", "azure-pipelines.yml", ".pre-commit-config.yaml")
DEPS_NAMES = (
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb",
    "pyproject.toml", "setup.py", "setup.cfg", "pipfile", "pipfile.lock", "poetry.lock", "uv.lock", "go.mod",
    "go.sum", "cargo.toml", "cargo.lock", "composer.json", "composer.lock", "gemfile", "gemfile.lock", "pom.xml",
    "build.gradle", "build.gradle.kts", "mix.exs", "mix.lock", "flake.lock",
)  # fmt: skip
CONFIG_FOLDERS = ("config", "conf", "settings")
CONFIG_ENDINGS = (".toml", ".ini", ".cfg", ".conf", ".yml", ".yaml", ".json", ".properties")
MAX_DOMAINS = 12


class Folder(NamedTuple):
    """What a folder says of all its files, empty where it has nothing to say."""

    first: str  # the domain that goes before all others
    tests: bool
    later: str  # the domain of those that are no tests
    rest: str  # the domain of those whose names say nothing either; empty at the top


@remember(4096)
def _said_by(folder: str) -> Folder:
    """folder: as git writes it, empty for the top."""
    whole, folders = folder.split("/"), folder.lower().split("/")
    outer = folders[:2]
    first = next((domain for domain, places in OUTER if any(part in places for part in outer)), "")
    later = next((domain for domain, places in LATER if any(part in places for part in outer)), "")
    if any(part in DOC_FOLDERS for part in folders):
        later = "docs"
    elif not later and folders[0] in CI_FOLDERS:
        later = "ci"
    if any(part in CONFIG_FOLDERS for part in outer):
        rest = "config"
    else:
        rest = f"src:{whole[1] if len(whole) > 1 and whole[0] == 'src' else whole[0]}" if folder else ""
    return Folder(first, any(part in TEST_FOLDERS for part in folders), later, rest)


def _is_test_name(name: str) -> bool:
    stem = name.partition(".")[0]
    return (
        stem.startswith("test_")
        or stem.endswith(("_test", "_spec"))
        or ".test." in name
        or ".spec." in name
        or (name.endswith((".java", ".kt", ".php", ".cs")) and stem.endswith(("test", "tests")))
        or name == "conftest.py"
    )


def domain_of(path: str, rules: Sequence[tuple[str, Sequence[str]]] = ()) -> str:
    """The domain of one path. `rules`: (name, folders or `*.ending` or file names) that go before the defaults."""
    for domain, places in rules:
        if any(fits(place, path) for place in places):
            return domain
    folder, _, name = path.rpartition("/")
    said, name = _said_by(folder), name.lower()
    if said.first:
        return said.first
    if said.tests or _is_test_name(name):
        return "tests"
    if name.endswith(DOC_ENDINGS):
        return "docs"
    return said.later or _by_name(name) or said.rest or _at_top(name)


def fits(place: str, path: str) -> bool:
    """Whether a path lies in a place: `*.ending`, leading folders `a/b` or `a/**`, any folder's or file's name."""
    place, low = place.lower().removesuffix("**").removesuffix("*"), path.lower()
    *folders, name = low.split("/")
    if place.startswith("*."):
        return name.endswith(place[1:])
    if "/" in place.strip("/"):
        return low.startswith(place.strip("/") + "/") or low == place
    return place.strip("/") in folders or place == name


def _by_name(name: str) -> str:
    if name in CI_NAMES:
        return "ci"
    return "deps" if name in DEPS_NAMES or (name.startswith("requirements") and name.endswith(".txt")) else ""


def _at_top(name: str) -> str:
    return "config" if name.startswith(".") or name.endswith(CONFIG_ENDINGS) else "root"


class Counts(NamedTuple):
    """What many paths belong to. domains: [[name, distinct paths]], largest first, then by name; the rest is summed up
    as `other`."""

    domains: list[list[str | int]]
    tests: int


def count(paths: Iterable[str], rules: Sequence[tuple[str, Sequence[str]]] = ()) -> Counts:
    """Domains and tests of distinct paths, folder by folder: of ten thousand files most say the same."""
    counted: dict[str, int] = {}
    tests = 0
    for folder, names in _by_folder(paths).items():
        said = _said_by(folder)
        if not folder or rules or len(names) <= FEW or _speak(names):
            for name in names:
                domain = domain_of(f"{folder}/{name}" if folder else name, rules)
                counted[domain] = counted.get(domain, 0) + 1
                tests += said.tests or _is_test_name(name.lower())
        else:
            domain = said.first or ("tests" if said.tests else said.later or said.rest)
            counted[domain] = counted.get(domain, 0) + len(names)
            tests += len(names) if said.tests else 0
    ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    shown: list[list[str | int]] = [[name, number] for name, number in ordered[:MAX_DOMAINS]]
    if rest := sum(number for _, number in ordered[MAX_DOMAINS:]):
        shown.append(["other", rest])
    return Counts(shown, tests)


FEW = 8  # names of one folder that are looked at one by one


def _by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in dict.fromkeys(paths):
        folder, _, name = path.rpartition("/")
        if folder in found:
            found[folder].append(name)
        else:
            found[folder] = [name]
    return found


def _speak(names: list[str]) -> bool:
    """Whether any of the names may say something that its folder does not."""
    text = "\n".join(names).lower()
    return any(mark in text for mark in ("test", "spec", "requirements", *DOC_ENDINGS)) or any(
        name in text for name in (*DEPS_NAMES, *CI_NAMES)
    )
