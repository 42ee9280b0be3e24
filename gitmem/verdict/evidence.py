"""Evidence that a window changes what the documents state, gathered file by file and weighed by the rules."""

from __future__ import annotations

from gitmem.patch import FilePatch
from gitmem.values import NamedTuple
from gitmem.verdict import lines, names, prose
from gitmem.verdict.places import LAYERS, TOOLS, Found, by_path, outside, renamed, service, under
from gitmem.verdict.roles import contract, manifest, role
from gitmem.verdict.rules import DOES, HOW, STATE, Rule
from gitmem.verdict.volume import Sides, volume

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Gathered(NamedTuple):
    found: list[Found]
    left_out: dict[str, int]
    surfaces: tuple[tuple[str, names.Surface], ...]


def gather(
    files: Sequence[FilePatch],
    subjects: Sequence[str],
    rules: Sequence[Rule],
    accepted: frozenset[str],
    roles: Mapping[str, str],
) -> Gathered:
    """All evidence of a window and the roles of the files that were left out."""
    counted, left_out, texts = _sort_out(files, roles)
    sides = _sides(counted)
    surfaces = [(item, names.surface(item.patch)) for item in sides]
    words = {sign: prose.mentioned(texts, sign) | prose.named(subjects) for sign in "+-"}
    found = _named(surfaces, rules, words)
    direct = [piece for item in sides for piece in _file_evidence(item, rules)]
    found.extend(_priced(direct + _state(files, accepted) + volume(sides), rules))
    found.extend(_priced(_support(found, texts, subjects), rules))
    bumped = sum(1 for item, surface in surfaces if manifest(item.patch.path) and not surface.come and not surface.gone)
    if bumped:
        left_out["version"] = bumped
    return Gathered(found, left_out, tuple((item.patch.path, surface) for item, surface in surfaces))


def _named(
    surfaces: Sequence[tuple[Sides, names.Surface]], rules: Sequence[Rule], words: Mapping[str, frozenset[str]]
) -> list[Found]:
    """Evidence of names that appear in the window or go from it; what only changed its file is none."""
    both = _moved(surfaces)
    found: list[Found] = []
    for item, surface in surfaces:
        for sign, listed in (("+", surface.come), ("-", surface.gone)):
            for name in listed:
                if (name.kind, name.name) not in both or under(item.patch.path, _STATEMENTS):
                    found.extend(_weigh(item.patch, name, sign, rules, words[sign]))
    return found


def _priced(pieces: Sequence[Found], rules: Sequence[Rule]) -> list[Found]:
    """Direct evidence with the points of its rule: its weight so far is a share. A rule that is switched off drops it."""
    points = {(rule.name, kind): value for rule in rules for kind, value in rule.kinds.items()}
    return [
        piece._replace(weight=piece.weight * points[piece.rule, piece.kind])
        for piece in pieces
        if points.get((piece.rule, piece.kind))
    ]


# Files of statements that are carried out once: a column dropped there and in the schema file was not moved.
_STATEMENTS = ("migrations", "migration", "migrate", "versions", "updates")


def _moved(surfaces: Sequence[tuple[Sides, names.Surface]]) -> set[tuple[str, str]]:
    """(kind, name) that appear in one file of the window and go from another."""
    come: set[tuple[str, str]] = set()
    gone: set[tuple[str, str]] = set()
    for item, surface in surfaces:
        if not under(item.patch.path, _STATEMENTS):
            come.update((name.kind, name.name) for name in surface.come)
            gone.update((name.kind, name.name) for name in surface.gone)
    return come & gone


def _sort_out(
    files: Sequence[FilePatch], roles: Mapping[str, str]
) -> tuple[list[FilePatch], dict[str, int], list[FilePatch]]:
    counted: list[FilePatch] = []
    texts: list[FilePatch] = []
    left_out: dict[str, int] = {}
    for patch in files:
        why = roles.get(patch.path) or role(patch.path)
        if why is None:
            why = (
                "binary" if patch.binary else lines.made_by_machine(patch.plus or patch.minus, names.suffix(patch.path))
            )
        if why is None:
            counted.append(patch)
            continue
        left_out[why] = left_out.get(why, 0) + 1
        if why in ("docs", "changelog") and not patch.binary:
            texts.append(patch)
    return counted, left_out, texts


def _sides(counted: Sequence[FilePatch]) -> list[Sides]:
    """Each counted file with the lines that stand on one side of the whole window only."""
    plus = {lines.squeeze(line) for patch in counted for line in patch.plus}
    minus = {lines.squeeze(line) for patch in counted for line in patch.minus}
    return [
        Sides(
            patch,
            lines.side(patch.plus, minus, names.suffix(patch.path)),
            lines.side(patch.minus, plus, names.suffix(patch.path)),
        )
        for patch in counted
    ]


# Set by the system or by the place that runs the code, not by who installs it.
_PLATFORM_ENV = (
    "VERCEL",
    "GITHUB_",
    "NODE_ENV",
    "HOME",
    "PATH",
    "PWD",
    "TERM",
    "SHELL",
    "USER",
    "TMPDIR",
    "XDG_",
    "LC_",
    "LANG",
    "NO_COLOR",
    "CI_",
    "TRAVIS",
    "APPDATA",
    "LOCALAPPDATA",
    "PYTEST_",
    "NETLIFY",
    "HOSTNAME",
    "NEXT_RUNTIME",
    "EDITOR",
    "VISUAL",
    "SSH_",
)
_TEMPORARY = ("_old", "_new", "_tmp", "_temp", "_backup", "_bak", "_join")


def _weigh(patch: FilePatch, name: names.Name, sign: str, rules: Sequence[Rule], words: frozenset[str]) -> list[Found]:
    found: list[Found] = []
    line_text = (patch.plus if sign == "+" else patch.minus)[name.at].lower()
    if name.kind in ("table", "column") and sign == "+" and ("drop" in line_text or "remove" in line_text):
        sign = "-"
    if (name.kind == "env" and (name.name.startswith(_PLATFORM_ENV) or "TEST_" in name.name)) or (
        name.kind == "table" and name.name.endswith(_TEMPORARY)
    ):
        return []
    tool = under(patch.path, TOOLS)
    for rule in rules:
        kind, weight = _weight(patch, name, rule)
        if weight <= 0:
            continue
        if sign == "-" and name.kind in ("env", "setting", "input"):
            weight *= 0.8
        pages = tuple(page for page in rule.pages if sign == "+" or page != STATE)
        what = f"{name.kind} '{name.name}' {'appears' if sign == '+' else 'goes'}"
        line = patch.line(name.at) if sign == "+" else None
        found.append(
            Found(rule.name, "tool" if tool else kind, weight * (0.3 if tool else 1.0), pages, patch.path, line, what)
        )
        if name.kind in ("env", "setting", "dep", "option", "service") and not tool and service(name.name):
            found.extend(
                _priced(
                    [Found("integration", "service", 0.7, (HOW,), patch.path, line, what + ", a service outside")],
                    rules,
                )
            )
        if name.kind in ("func", "class", "param", "setting", "type") and name.public and name.name in words:
            found.append(
                Found(
                    rule.name,
                    "documented",
                    rule.kinds.get("documented", 0.0),
                    pages,
                    patch.path,
                    line,
                    what + " and is documented",
                )
            )
    return found


def _weight(patch: FilePatch, name: names.Name, rule: Rule) -> tuple[str, float]:
    """The kind under which the rule counts the name, and its points; 'func@' for a func below the rule's paths."""
    if not name.public:
        return name.kind, 0.0
    near, far = name.kind + "@", rule.kinds.get(name.kind, 0.0)
    if rule.kinds.get(near, 0.0) > far and _within(patch.path, rule):
        if rule.name == "models" and (
            patch.status not in "AD"
            or patch.path.lower().rpartition("/")[0].rpartition("/")[2] not in rule.paths
            or under(patch.path, _STATEMENTS)
        ):
            return near, 0.0
        return near, rule.kinds[near]
    if name.kind in ("func", "class", "type", "field", "param"):
        low = "/" + patch.path
        far *= (
            0.0
            if "/internal/" in low and name.kind != "param"
            else 0.5
            if "/_" in low and not low.endswith("__.py")
            else 1.0
        )
    return name.kind, far


def _within(path: str, rule: Rule) -> bool:
    if rule.name == "contracts":
        return contract(path)
    return bool(rule.paths) and under(path, rule.paths)


def _file_evidence(item: Sides, rules: Sequence[Rule]) -> list[Found]:
    patch = item.patch
    return [
        *by_path(patch),
        *_stated(item),
        *_under_rules(item, rules),
        *renamed(patch, rules),
        *outside(patch),
        *_layer(item),
    ]


def _stated(item: Sides) -> list[Found]:
    """What a document promises, and what a constant beside a rule word decides."""
    patch, found = item.patch, []
    suffix = names.suffix(patch.path)
    if contract(patch.path) and suffix in ("md", "rst", "adoc") and (item.come.code or item.gone.code):
        pages = (DOES, STATE) if item.come.code else (DOES,)
        found.append(Found("contracts", "promise", 1.0, pages, patch.path, None, "a requirement document changed"))
    rule = None if manifest(patch.path) else lines.changed_rule(item.gone.code, item.come.code)
    if rule is not None and suffix not in ("html", "css", "json", "xaml", "svg", "sql"):
        what = f"a rule changed: {rule[1][:80]}"
        found.append(Found("interface", "rule", 1.0, (DOES,), patch.path, patch.line(rule[0]), what))
    return found


def _under_rules(item: Sides, rules: Sequence[Rule]) -> list[Found]:
    """A file below a rule's paths whose lines were not read, or where any line counts."""
    patch, found = item.patch, []
    if patch.added is None and not patch.binary and not patch.plus and not patch.minus:
        what = "a file changed whose lines were not read"
        found += [
            Found(r.name, "unread@", 1.0, r.pages, patch.path, None, what) for r in rules if _within(patch.path, r)
        ]
    if item.come.code or item.gone.code:
        what = "a file changed that the rule names"
        chosen = [rule for rule in rules if "change@" in rule.kinds and under(patch.path, rule.paths)]
        found += [Found(rule.name, "change@", 1.0, rule.pages, patch.path, None, what) for rule in chosen]
    return found


def _layer(item: Sides) -> list[Found]:
    fresh = len(item.come.code) - len(item.gone.code)
    if fresh < 20 or not under(item.patch.path, LAYERS):
        return []
    what = f"{fresh} net new lines in a storage or transport layer"
    return [Found("structure", "layer", min(1.0, fresh / 150), (HOW,), item.patch.path, None, what)]


def _state(files: Sequence[FilePatch], accepted: frozenset[str]) -> list[Found]:
    for patch in files:
        if patch.path.lower().endswith(".gitmem/bootstrap/current-state.md") and patch.path not in accepted:
            for index, line in enumerate(patch.plus):
                if line.lstrip().startswith(("- [", "* [")) and " · " in line:
                    return [
                        Found(
                            "state", "entry", 1.0, (STATE,), patch.path, patch.line(index), "an entry was added by hand"
                        )
                    ]
    return []


def _told_pages(text: str) -> tuple[str, ...]:
    """Nothing becomes ready by a removal."""
    return (DOES,) if text.lower().startswith(("remove", "drop", "deprecat")) else (DOES, STATE)


def _support(found: Sequence[Found], texts: Sequence[FilePatch], subjects: Sequence[str]) -> list[Found]:
    """Announcements in subjects and change logs: worth something only beside other evidence."""
    if not any(item.weight >= 1 for item in found):
        return []
    support = []
    told = prose.announcements(subjects)
    if told:
        support.append(
            Found(
                "interface",
                "subject",
                (2 + min(len(told), 3)) / 3,
                _told_pages(told[0]),
                "",
                None,
                f"a subject announces it: '{told[0][:60]}'",
            )
        )
    documented = sum(len(patch.plus) for patch in texts if role(patch.path) == "docs" and patch.status != "D")
    if documented >= 4 and any(item.kind in ("some", "func", "class", "param") for item in found):
        support.append(
            Found(
                "interface", "docs", 1.0, (DOES, STATE), "", None, f"{documented} lines of documentation came with it"
            )
        )
    entry = prose.changelog_entry(texts)
    if entry:
        support.append(
            Found(
                "interface",
                "announced",
                1.0,
                _told_pages(entry[1]),
                entry[0],
                None,
                f"the change log announces: '{entry[1][:60]}'",
            )
        )
    return support
