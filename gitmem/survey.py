"""What a repository shows of itself without guessing: the material of the first drafts."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter

from gitmem import records
from gitmem.errors import GitmemError
from gitmem.git import ask
from gitmem.git.run import decode
from gitmem.output import day
from gitmem.values import NamedTuple
from gitmem.verdict.places import under
from gitmem.verdict.roles import role
from gitmem.verdict.rules import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitmem.store import Store

LANGUAGES = {
    suffix: name
    for name, suffixes in (
        ("Python", "py"), ("JavaScript", "js mjs jsx"), ("TypeScript", "ts tsx"), ("Go", "go"), ("Ruby", "rb"),
        ("PHP", "php"), ("Java", "java"), ("Kotlin", "kt"), ("Rust", "rs"), ("C#", "cs"), ("C", "c h"),
        ("C++", "cpp cc hpp"), ("Swift", "swift"), ("Scala", "scala"), ("Elixir", "ex exs"), ("Shell", "sh"),
        ("SQL", "sql"), ("Vue", "vue"), ("Svelte", "svelte"), ("Lua", "lua"), ("Dart", "dart"), ("Haskell", "hs"),
    )
    for suffix in suffixes.split()
}  # fmt: skip
BUILDS = frozenset((
    "pyproject.toml", "setup.py", "package.json", "pnpm-lock.yaml", "go.mod", "Cargo.toml", "pom.xml", "build.gradle",
    "build.gradle.kts", "composer.json", "Gemfile", "mix.exs", "Makefile", "Dockerfile", "CMakeLists.txt",
    "meson.build",
    "requirements.txt", "flake.nix",
))  # fmt: skip
ENTRIES = ("main.py", "manage.py", "app.py", "main.go", "main.rs", "index.js", "index.ts", "server.js", "server.ts",
           "artisan")  # fmt: skip
MAX_READ_BYTES = 256 << 10
MAX_LISTED = 12
MAX_SCRIPTS = 6  # of one manifest


class Survey(NamedTuple):
    name: str
    description: str  # of the manifest, empty when it has none
    paragraph: str  # the first of the README
    readme: str
    languages: list[tuple[str, int]]  # files, most first
    builds: list[str]
    folders: list[tuple[str, int]]  # top-level, tracked files, most first
    commands: list[str]
    commands_left: int  # that are not listed
    entries: list[str]
    places: list[tuple[str, list[str], int]]  # signal, some of its files, how many
    tags: list[tuple[str, str]]  # (name, day), newest first
    recent: list[tuple[str, str]]  # (day, subject) of the newest features
    commits: int


def survey(store: Store) -> Survey:
    """Looks at HEAD's tree, not at the work tree, so that the drafts are about what is committed."""
    paths = _paths(store)
    readme = next((p for p in sorted(paths) if "/" not in p and p.lower().startswith("readme")), "")
    manifests = _manifests(store, paths)
    counted = [path for path in paths if role(path) is None]
    suffixes = Counter(LANGUAGES.get(path.rpartition(".")[2].lower(), "") for path in counted)
    folders = Counter(path.partition("/")[0] + "/" for path in paths if "/" in path)
    top = (store.place.top or store.place.common_dir).rstrip("/")
    fallback = top.removesuffix("/.git").removesuffix(".git").rpartition("/")[2]
    return Survey(
        manifests.get("name") or fallback,
        manifests.get("description", ""),
        first_paragraph(_text(store, readme)) if readme else "",
        readme,
        [(name, count) for name, count in suffixes.most_common(8) if name],
        sorted(path for path in paths if path in BUILDS),
        folders.most_common(MAX_LISTED),
        manifests.get("commands", [])[:MAX_LISTED],
        manifests.get("left", 0) + len(manifests.get("commands", [])[MAX_LISTED:]),
        [path for path in counted if path.rpartition("/")[2] in ENTRIES and path.count("/") <= 3][:MAX_LISTED],
        _places(counted),
        _tags(store),
        _recent(store),
        _count(store),
    )


def _paths(store: Store) -> list[str]:
    if ask.head_commit(store.git) is None:
        return []
    return decode(store.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD").out).split("\0")[:-1]


def _text(store: Store, path: str) -> str:
    try:
        found = store.objects.get(f"HEAD:{path}")
    except GitmemError:
        return ""
    return found.data[:MAX_READ_BYTES].decode("utf-8", "replace") if found and found.kind == "blob" else ""


def first_paragraph(text: str) -> str:
    """The first paragraph that says something: no heading, badge, picture, list, markup or front matter."""
    text = re.sub(r"<!--.*?-->", "", text.replace("\r\n", "\n"), flags=re.DOTALL)
    for block in re.split(r"\n\s*\n", text):
        rows = [row.strip() for row in block.split("\n") if row.strip()]
        if not rows or rows[0].startswith(
            ("#", "=", "- ", "---", "* ", "+ ", "!", "[!", "[![", "<", "|", "```", ">", "..", "---")
        ):
            continue
        if len(rows) > 1 and set(rows[1]) <= set("=-~^"):
            continue
        plain = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", " ".join(rows))
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain).replace("**", "").replace("`_", "`").strip()
        if len(plain.split()) >= 4:
            return plain[:600]
    return ""


def _manifests(store: Store, paths: list[str]) -> dict[str, Any]:
    """name, description, commands as the manifests at the top say them."""
    found: dict[str, Any] = {"commands": [], "left": 0}
    if "pyproject.toml" in paths:
        _pyproject(_text(store, "pyproject.toml"), found)
    for path in ("package.json", "composer.json"):
        if path in paths:
            _package(_text(store, path), found, _runner(path, paths))
    if "go.mod" in paths and (module := re.match(r"module\s+(\S+)", _text(store, "go.mod"))):
        found.setdefault("name", module[1].rstrip("/").rpartition("/")[2])
        found["commands"] += [p.split("/")[1] for p in paths if re.fullmatch(r"cmd/[^/]+/main\.go", p)]
    if "Cargo.toml" in paths:
        _cargo(_text(store, "Cargo.toml"), found)
    if "pom.xml" in paths and (
        artifact := re.search(
            r"</parent>.*?<artifactId>([^<]+)|<artifactId>([^<]+)", _text(store, "pom.xml"), re.DOTALL
        )
    ):
        found.setdefault("name", (artifact[1] or artifact[2]).strip())
    return {key: value for key, value in found.items() if value}


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _table(data: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _pyproject(text: str, found: dict[str, Any]) -> None:
    data = _toml(text)
    for table in (_table(data, "project"), _table(data, "tool", "poetry")):
        for key in ("name", "description"):
            if isinstance(table.get(key), str):
                found.setdefault(key, table[key])
        found["commands"] += sorted(_table(table, "scripts"))


def _runner(path: str, paths: Sequence[str]) -> str:
    """What runs the scripts of a manifest, by the lock file beside it."""
    if path == "composer.json":
        return "composer run"
    locks = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun"))
    return next((program for lock, program in locks if lock in paths), "npm") + " run"


def _package(text: str, found: dict[str, Any], runner: str) -> None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(data, dict):
        return
    for key in ("name", "description"):
        if isinstance(data.get(key), str):
            found.setdefault(key, data[key])
    if isinstance(data.get("bin"), dict):
        found["commands"] += sorted(data["bin"])
    usual = ("dev", "start", "build", "test", "lint")  # what people look for first
    scripts = {name for name, what in _table(data, "scripts").items() if not str(what).lstrip().startswith("echo ")}
    names = sorted(scripts, key=lambda name: (name not in usual, name))
    found["commands"] += [f"{runner} {name}" for name in names[:MAX_SCRIPTS]]
    found["left"] += len(names[MAX_SCRIPTS:])


def _cargo(text: str, found: dict[str, Any]) -> None:
    data = _toml(text)
    table = _table(data, "package")
    for key in ("name", "description"):
        if isinstance(table.get(key), str):
            found.setdefault(key, table[key])
    bins = data.get("bin")
    found["commands"] += (
        [b["name"] for b in bins if isinstance(b, dict) and "name" in b] if isinstance(bins, list) else []
    )


def _places(paths: list[str]) -> list[tuple[str, list[str], int]]:
    found = []
    for rule in DEFAULT:
        if rule.name in ("routes", "models"):
            mine = [path for path in paths if under(path, rule.paths)]
            if mine:
                found.append((rule.name, mine[:6], len(mine)))
    return found


def _tags(store: Store) -> list[tuple[str, str]]:
    out = store.git.run(
        "for-each-ref", "--sort=-creatordate", "--count=5", "--format=%(refname:short) %(creatordate:unix)", "refs/tags"
    ).out
    rows = (line.rpartition(" ") for line in decode(out).splitlines())
    return [(name, day(int(at))) for name, _, at in rows if at.isdigit()]


def _recent(store: Store) -> list[tuple[str, str]]:
    """The newest features by their capsules, newest first."""
    if ask.head_commit(store.git) is None:
        return []
    oids = [oid for oid, _ in ask.commits(store.git, "--first-parent", "--max-count=200", "HEAD")]
    found = []
    for oid, lines in store.note_lines(oids):
        capsule = records.capsule_of(oid, records.read(lines).records)
        if capsule and capsule.fields.get("type") == "feat":
            found.append((day(int(capsule.fields["at"])), str(capsule.fields["summary"])))
    return found[:8]


def _count(store: Store) -> int:
    return 0 if ask.head_commit(store.git) is None else int(store.git.run("rev-list", "--count", "HEAD").out)
