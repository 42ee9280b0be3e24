"""`[[signals]]` of a config.toml: a project's own rules beside, in the place of, or without those that are shipped."""

from __future__ import annotations

from gitmem.verdict.rules import DEFAULT, PAGES, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MAX_RULES = 40
FIELDS = ("name", "off", "pages", "paths", "points")
KINDS = frozenset(kind for rule in DEFAULT for kind in rule.kinds) | {"change@", "file@", "func@", "class@", "unread@"}
ANY_CHANGE = {"change@": 10.0, "file@": 10.0, "unread@": 8.0}  # what a new signal is worth that says only where


def read_rules(listed: Iterable[Any]) -> tuple[tuple[Rule, ...], tuple[dict[str, Any], ...], tuple[str, ...]]:
    """(all rules in order, the entries that hold, what is wrong with the others).

    An entry: name; paths, whole segments or ends of paths; pages, file names of pages; points, evidence kind -> number;
    off, true to drop the signal. What an entry for a known name leaves out stays as it is shipped.
    """
    rules = {rule.name: rule for rule in DEFAULT}
    kept: list[dict[str, Any]] = []
    warnings: list[str] = []
    given: list[Any] = list(listed) if isinstance(listed, list | tuple) else [listed]
    for entry in given:
        reason = _wrong(entry)
        if reason is None and len(kept) < MAX_RULES:
            kept.append(entry)
            if entry.get("off"):
                rules.pop(entry["name"], None)
            else:
                rules[entry["name"]] = _rule(entry, rules.get(entry["name"]))
        else:
            warnings.append(f"a [[signals]] entry is left out: {reason or f'more than {MAX_RULES}'}")
    return tuple(rules.values()), tuple(kept), tuple(warnings)


def _rule(entry: dict[str, Any], shipped: Rule | None) -> Rule:
    base = shipped or Rule(entry["name"], (), dict(ANY_CHANGE), (PAGES[0],))
    points = {kind: float(value) for kind, value in entry.get("points", {}).items()}
    paths = tuple(path.strip("/").lower() for path in entry["paths"]) if "paths" in entry else base.paths
    return Rule(entry["name"], paths, base.kinds | points, tuple(entry.get("pages", base.pages)))


def _wrong(entry: Any) -> str | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not 0 < len(entry["name"]) <= 40:
        return "it needs a 'name' of at most 40 characters"
    if unknown := [key for key in entry if key not in FIELDS]:
        return f"unknown key '{unknown[0]}'"
    paths, pages, points = entry.get("paths", []), entry.get("pages", []), entry.get("points", {})
    if not isinstance(paths, list) or not all(isinstance(path, str) and path.strip("/") for path in paths):
        return "'paths' is a list of folders or file names"
    if not isinstance(pages, list) or not all(page in PAGES for page in pages) or ("pages" in entry and not pages):
        return f"'pages' is a list of {', '.join(PAGES)}"
    if not isinstance(points, dict) or not all(
        kind in KINDS and isinstance(value, int | float) and 0 <= value <= 100 for kind, value in points.items()
    ):
        return f"'points' maps kinds of evidence ({', '.join(sorted(KINDS))}) to numbers from 0 to 100"
    known = any(rule.name == entry["name"] for rule in DEFAULT)
    return None if known or entry.get("off") or paths else "a new signal needs 'paths'"
