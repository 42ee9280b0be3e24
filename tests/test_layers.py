"""The house: layers, one module a dependency, what a hook loads and which git commands it runs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import gitmem
from tests.repo import ROOT, Repo

PACKAGE = Path(gitmem.__file__).parent
CORE = 1
# Modules of one rank never import a sibling; the core has its own small order, checked for cycles.
RANKS = {
    "errors": 0, "values": 0, "quickjson": 0, "patterns": 0, "__init__": 0,
    "changes": CORE, "patch": CORE, "records": CORE, "subject": CORE, "domains": CORE, "symbols": CORE, "capsule": CORE,
    "notes": CORE, "joining": CORE, "manifest": CORE, "redact": CORE, "redact_rules": CORE, "pages": CORE, "checks": CORE, "settings": CORE, "sections": CORE, "clients": CORE, "verdict": CORE,
    "git": 2, "files": 2, "output": 2, "resources": 2, "render": 2.5, "excerpts": 2,
    "nearby": 3, "rejoin": 3, "layout": 3, "writer": 4, "store": 4.5, "mirror": 5, "trash": 5, "purging": 5, "comparing": 5.5, "ancestry": 2, "exchange": 6, "trust": 5, "forgetting": 6, "reviewing": 7, "finding": 6, "likeness": 7, "repairing": 7, "memory": 7.5, "approval": 7, "configfile": 5, "annotate": 5, "window": 5, "hooksetup": 5, "chain": 5,
    "memo": 6, "history": 6, "state": 7, "reflect_state": 5.5, "reflection": 6, "accepting": 7, "freshness": 7, "replay": 7, "survey": 7, "drafts": 7.5, "opening": 7.5,
    "commands": 8, "arguments": 8, "cli": 9, "entry": 9, "__main__": 10,
}  # fmt: skip
ORDERED = ("verdict", "git")  # packages whose modules use each other
PRIVATE_HELPERS = {
    "commands.hook": {"commands.pushing", "commands.reflecting"}
}  # one use case in two files: a commit does not load the second
OWNERS = {"rich": "output", "yaml": "pages", "jinja2": "render", "unidiff": "excerpts"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [n if is_module(n) else node.module for n in names]
    return found


def is_module(dotted: str) -> bool:
    path = PACKAGE.parent / Path(*dotted.split("."))
    return path.with_suffix(".py").exists() or path.is_dir()


def rank(module: str) -> float:
    return RANKS[module.split(".")[0]]


def test_every_module_imports_only_from_lower_ranks() -> None:
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        here = name_of(path).removesuffix(".__init__")
        for name in imports(path):
            if not name.startswith("gitmem."):
                continue
            there = name.removeprefix("gitmem.")
            same_package = there.split(".")[0] == here.split(".")[0] and there.split(".")[0] in ORDERED
            allowed = rank(there) < rank(here) or same_package or there in PRIVATE_HELPERS.get(here, ())
            in_core = rank(there) == rank(here) == CORE
            if not allowed and not in_core:
                wrong.append(f"{here} imports {there}")
    assert [] == wrong


def test_the_core_has_no_cycles_and_no_edge() -> None:
    core = {name_of(p): imports(p) for p in PACKAGE.rglob("*.py") if rank(name_of(p)) <= CORE}
    edges = {
        m: {i.removeprefix("gitmem.") for i in names if i.startswith("gitmem.")} & core.keys()
        for m, names in core.items()
    }
    done: set[str] = set()
    while ready := [m for m in edges if m not in done and edges[m] <= done]:
        done.update(ready)
    assert set() == edges.keys() - done
    forbidden = {"os", "time", "random", "locale", "socket", "subprocess"}
    assert {} == {m: sorted(forbidden & set(names)) for m, names in core.items() if forbidden & set(names)}


def test_each_third_party_package_is_imported_in_one_module() -> None:
    for path in PACKAGE.rglob("*.py"):
        for name in imports(path):
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and top not in ("gitmem", "_sha256", "_sha2"):
                assert OWNERS.get(top) == name_of(path), f"{name_of(path)} imports {name}"


def test_only_the_git_package_starts_processes() -> None:
    starters = ("posix_spawn", "posix_spawnp", "system", "popen", "execv", "fork")
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        calls = [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in starters]
        assert not calls or name_of(path) in ("git.run", "git.program"), f"{path}: {calls}"
        assert "subprocess" not in imports(path)


def test_broad_handlers_stand_in_two_places() -> None:
    broad = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler) and getattr(node.type, "id", None) in (
                None,
                "Exception",
                "BaseException",
            ):
                if not any(isinstance(n, ast.Raise) for n in node.body) and not isinstance(
                    node.type, ast.Tuple | ast.Attribute
                ):
                    broad.add(name_of(path))
    assert {"cli", "commands.hook"} == broad


SLOW = "pygit2 yaml jinja2 unidiff rich click dataclasses ssl asyncio importlib.metadata typing pathlib subprocess argparse tomllib json re functools contextlib collections enum".split()


def test_a_commit_hook_loads_only_light_modules(ready: Repo) -> None:
    """N13: the modules that a post-commit has loaded at its end."""
    ready.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "feat: x")
    script = (
        "import sys; sys.path.append(sys.argv[1]); from gitmem.commands.hook import main; "
        "main(['git', 'post-commit']); print(*sorted(sys.modules))"
    )
    ready.run(sys.executable, "-I", "-S", str(PACKAGE / "entry.py"), "git", "post-commit")  # patterns are known then
    done = ready.run(sys.executable, "-I", "-S", "-c", script, str(PACKAGE.parent))
    loaded = done.stdout.decode().split()
    assert "gitmem.capsule" in loaded
    assert [] == [name for name in SLOW if name in loaded]


def test_a_commit_hook_runs_seven_git_processes_at_most(ready: Repo) -> None:
    """N13: the list of calls of a post-commit that finds everything in order."""
    ready.env["GITMEM"] = "off"
    ready.commit("feat(api): list posts", {"src/api/posts.py": "def list_posts():\n    return []\n"})
    ready.env |= {"GITMEM": "", "GITMEM_TRACE": "1"}
    done = ready.run(sys.executable, "-I", "-S", str(PACKAGE / "entry.py"), "git", "post-commit")
    calls = [line for line in done.stderr.decode().splitlines() if line.startswith("gitmem:") and " git " in line]
    names = [next(w for w in line.split(" git ")[1].split() if w in KNOWN) for line in calls]
    # the two that stay end last; pages need no process more, and a clone that is known two less
    assert names == ["rev-parse", "config", "fast-import", "cat-file", "diff-tree"]


KNOWN = ("rev-parse", "config", "cat-file", "diff-tree", "fast-import", "update-ref", "var", "log", "rev-list")


def test_the_package_has_no_telltale_of_the_machine() -> None:
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False)
    for name in done.stdout.split():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".yaml", ".sh", "") and path.is_file():
            text = path.read_text(errors="replace")
            assert "/wo" + "rk/" not in text, name
