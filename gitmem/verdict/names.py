"""Named things that appear in or go from one file: functions, routes, tables, options, settings and the like.

Names are compared, not lines: a name on one side only is a change of surface, on both sides it is a move.
"""

from __future__ import annotations

from gitmem import patterns
from gitmem.patch import FilePatch
from gitmem.values import NamedTuple
from gitmem.verdict import languages
from gitmem.verdict.lines import is_comment
from gitmem.verdict.roles import contract, manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from gitmem.verdict.languages import Finder

_COMPILED: dict[str, re.Pattern[str]] = {}
# Longest text of one side that is searched; a longer one is cut (REF-25: a 50 MB file, a 5 MB line).
MAX_CHARS = 1_000_000
MAX_LINE_CHARS = 2_000
_DECLARED = frozenset(("func", "class", "type"))
# Kinds worth listing as symbols of a commit; the others (control, widget, const, dep, input, platform ...) only weigh in a verdict.
SYMBOLS = frozenset(
    (
        "func",
        "class",
        "type",
        "route",
        "table",
        "column",
        "option",
        "command",
        "env",
        "setting",
        "rpc",
        "field",
        "message",
        "job",
        "param",
    )
)


class Name(NamedTuple):
    """One named thing of one side.

    kind: see languages.py. public: reachable from outside its module as far as its own line says.
    at: position in FilePatch.plus or minus.
    """

    kind: str
    name: str
    public: bool
    at: int


class Surface(NamedTuple):
    """What a file's change does to names: those only on the added side, those only on the removed side."""

    come: list[Name]
    gone: list[Name]


def suffix(path: str) -> str:
    """The part after the last dot of the file name, lower case, '' without one."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def surface(patch: FilePatch) -> Surface:
    """Names on one side only, in the order of the patch. Costs nothing for languages without finders."""
    finders = finders_for(patch.path) if patch.plus or patch.minus else ()
    if not finders:
        return Surface([], [])
    come, gone = found(patch.path, patch.plus, finders), found(patch.path, patch.minus, finders)
    if patch.path.rpartition("/")[2] in _TOPS:
        python = patch.path.endswith(".py")
        offered, withdrawn = exports(patch.plus, python), exports(patch.minus, python)
        if offered is not None and withdrawn is not None:
            come.update({(name.kind, name.name): name for name in offered})
            gone.update({(name.kind, name.name): name for name in withdrawn})
    return Surface(
        [name for key, name in come.items() if key not in gone], [name for key, name in gone.items() if key not in come]
    )


def finders_for(path: str) -> tuple[Finder, ...]:
    """The finders that read this file, by its name first and its suffix second."""
    low = path.lower()
    name = low.rpartition("/")[2]
    tail = suffix(low)
    if (
        tail
        in (
            "yaml",
            "yml",
            "json",
            "toml",
            "ini",
            "conf",
            "cfg",
            "config",
            "xml",
            "props",
            "txt",
            "in",
            "mod",
            "gemspec",
            "gradle",
        )
        or "." not in name
    ):
        return _data_file(low, name, tail)
    if name.startswith(".env") or ".env." in name or name.endswith((".env", ".envrc")):
        return languages.ENVFILE
    if tail == "rb" and (name == "routes.rb" or "/routes/" in low):
        return languages.RUBY_ROUTES + languages.RUBY
    if tail in ("csproj", "fsproj", "kts") and manifest(low):
        return languages.MANIFEST
    if name.endswith((".d.ts", ".d.mts")):
        return languages.DECLARATIONS
    finders = languages.BY_SUFFIX.get(tail, ())
    if finders and _configures(low, name):
        finders += (languages.CONFIG_NAMES,) + {"py": languages.SETTINGS, "php": languages.PHP_CONFIG}.get(tail, ())
    return finders


def _data_file(low: str, name: str, tail: str) -> tuple[Finder, ...]:
    if name == "dockerfile" or name.startswith("dockerfile"):
        return languages.DOCKER
    if manifest(low) or name in ("gemfile", "makefile"):
        return languages.MANIFEST
    if tail in ("yaml", "yml", "json") and contract(low):
        return (
            languages.JSON_SCHEMA
            if name.endswith(".schema.json") or "schema" in low.rpartition("/")[0]
            else languages.OPENAPI
        )
    if tail == "xml":
        return languages.XML
    if "compose" in name or ("/templates/" in low and tail in ("yaml", "yml")):
        return languages.COMPOSE
    if name.startswith((".env", "env.")):
        return languages.ENVFILE
    if name.startswith(("application", "appsettings", "values.y")) or (
        _configures(low, name) and tail in ("yaml", "yml", "json", "toml", "ini", "conf")
    ):
        return languages.CONFIG
    return ()


def _configures(low: str, name: str) -> bool:
    parts = low.split("/")[:-1]
    return name.startswith(("settings", "config", "default_settings", "conf.")) or any(
        part in ("config", "conf", "settings", "configs") for part in parts
    )


def found(path: str, lines: list[str], finders: tuple[Finder, ...]) -> dict[tuple[str, str], Name]:
    """Names of one side by (kind, name), the first occurrence of each."""
    tail = suffix(path)
    text, kept = _text(lines, tail)
    names: dict[tuple[str, str], Name] = {}
    for guards, pattern in finders:
        for guard in guards:  # a loop: any() over a generator was an eighth of a backfill
            if guard in text:
                break
        else:
            if guards:
                continue
        compiled = _COMPILED.get(pattern)
        if compiled is None:
            compiled = _COMPILED[pattern] = patterns.compiled(pattern)
        _collect(compiled, text, kept, tail, names)
    if tail == "sql" and "create table" not in text.lower():
        _collect(patterns.compiled(languages.SQL_COLUMNS[1]), text, kept, tail, names)
    if tail == "py" and "=" in text and ("def " in text or ": " in text):
        for name in parameters(lines):
            names.setdefault((name.kind, name.name), name)
    return names


def _text(lines: list[str], tail: str) -> tuple[str, list[int]]:
    """All lines that are no comments, each preceded by a line end, and the index of each."""
    kept = []
    texts = [""]
    marks = "" if tail in ("html", "vue", "erb", "env", "example", "") else "/#*<;%\"'-"
    for index, line in enumerate(lines):
        head = line.lstrip()
        if not head or (head[0] in marks and is_comment(head, tail)):
            continue
        kept.append(index)
        texts.append(line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS])
    text = "\n".join(texts)
    return (text if len(text) <= MAX_CHARS else text[:MAX_CHARS]) + "\n", kept


def _collect(
    pattern: re.Pattern[str], text: str, kept: list[int], tail: str, names: dict[tuple[str, str], Name]
) -> None:
    at = row = 0
    for match in pattern.finditer(text):
        group = match.lastgroup
        if group is None or group == "access":
            continue
        kind = group.rstrip("0123456789")
        value = match.group(group).strip()
        if kind == "framework":
            value = _generation(value)
        start = match.start(group)
        row += text.count("\n", at, start)
        at = start
        if not value or len(value) > 120 or (kind, value) in names:
            continue
        public = kind not in _DECLARED or _public(match, value, tail)
        names[kind, value] = Name(kind, value, public, kept[min(row, len(kept)) - 1] if kept else 0)


def _generation(text: str) -> str:
    """'next 15' of 'next": "^15': what is equal for all versions of one generation."""
    name = text.rstrip("0123456789")
    return name.rstrip(" \"'^~>=:,@(") + " " + text[len(name) :]


def _public(match: re.Match[str], name: str, tail: str) -> bool:
    """Whether the declaration itself opens the name to others."""
    if tail in ("py", "pyi", "rb", "rake", "sh", "bash"):
        return not name.startswith("_")
    if tail == "go":
        return name[:1].isupper()
    if tail in ("rs", "java", "cs", "razor"):
        return match.group("access") in _OPEN or match.group("access").startswith("public ")
    if tail in ("php", "kt", "kts", "scala"):
        return not any(word in match.group("access") for word in ("private", "protected", "internal"))
    return match.group().lstrip().startswith("export ")


_OPEN = ("pub ", "public ")


# Files whose imports and lists are what a package offers.
_TOPS = frozenset(("__init__.py", "index.ts", "index.js", "index.d.ts", "index.mjs", "lib.rs"))


def exports(lines: list[str], python: bool) -> list[Name] | None:
    """Names a package hands on at its top: kind 'export'. None when it hands on all of a module ('*').

    python: imports and lists of names count; elsewhere only export { } and pub use.
    """
    names: list[Name] = []
    listing = False
    for at, line in enumerate(lines):
        text = line.strip()
        if text.startswith(("from ",) if python else ("export {", "export type {", "export *", "pub use ")):
            if "*" in text:
                return None
            listing = not python and "{" in text and "}" not in text
            text = text.partition(" import ")[2] or text.partition("{")[2].partition("}")[0] or text.rpartition("::")[2]
        elif listing or (python and text.endswith(",") and line[:1] in " \t"):
            listing = listing and "}" not in text
        else:
            continue
        words = [piece.rpartition(" as ")[2].strip(" \"'()[]{};") for piece in text.split(",")]
        if all(word.isidentifier() or not word for word in words):
            names.extend(Name("export", word, True, at) for word in words if word and word[0] != "_")
    return names


def parameters(lines: list[str]) -> list[Name]:
    """Parameters with a default in Python signatures of public functions: kind 'param'.

    A lone line that a signature may hold (name: type = value, or name=None,) counts where no bracket opened before it
    on the same side: inside a call it would be an argument.
    """
    names: list[Name] = []
    owner, depth = "", 0
    for index, line in enumerate(lines):
        text = line.strip()
        if text.startswith(("def ", "async def ")):
            owner, _, text = text.partition("def ")[2].partition("(")
            depth = 1
            names.extend(_defaults(owner, text, index))
        elif owner:
            names.extend(_defaults(owner, text, index))
        elif not depth and line[:1] in " \t" and text.endswith(",") and _lone(text):
            names.extend(_defaults("lone", text, index))
        depth = max(
            0,
            depth
            + text.count("(")
            + text.count("[")
            + text.count("{")
            - text.count(")")
            - text.count("]")
            - text.count("}"),
        )
        if not depth:
            owner = ""
    return names


_LITERALS = ("None", "True", "False", "()", "[]", "{}", '""', "''")
_ARGUMENTS = frozenset(
    (
        "is_flag",
        "default",
        "required",
        "multiple",
        "null",
        "blank",
        "help",
        "nargs",
        "editable",
        "primary_key",
        "unique",
        "autouse",
        "check",
        "capture_output",
        "text",
        "shell",
        "indent",
        "exist_ok",
        "parents",
        "hidden",
        "hide_input",
        "db_index",
        "index",
        "verbose",
        "reverse",
        "follow_redirects",
        "allow_redirects",
        "stream",
        "safe",
        "many",
        "read_only",
        "nullable",
    )
)


def _lone(text: str) -> bool:
    """Whether one line alone looks like a parameter with its default."""
    name = text.partition("=")[0].partition(":")[0].strip()
    if not name.isidentifier() or name in _ARGUMENTS:
        return False
    value = text.partition("=")[2].strip(" ,")
    return value in _LITERALS or value.isdigit() or (": " in text and " = " in text)


def _defaults(owner: str, text: str, index: int) -> list[Name]:
    if (owner.startswith("_") and owner != "__init__") or "=" not in text:
        return []
    names = []
    for piece in text.split(","):
        left, equals, _ = piece.partition("=")
        word = left.split(":", 1)[0].strip().lstrip("*")
        if equals and word.isidentifier() and not word.startswith("_"):
            names.append(Name("param", word, True, index))
    return names
