"""All settings in one table: what they mean, where they may stand, what they are when nobody says anything.

What publishes or grants stands in this clone's git configuration only. The tracked `config.toml`, which anybody's
merge can change, may narrow and never widen.
"""

from __future__ import annotations

from gitmem.domains import fits
from gitmem.values import NamedTuple
from gitmem.verdict.custom import read_rules
from gitmem.verdict.rules import DEFAULT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gitmem.changes import Change


class Key(NamedTuple):
    """One setting. `where`: `clone` (git config) or `file` (.gitmem/config.toml)."""

    name: str
    where: str
    default: str
    values: tuple[str, ...]  # allowed, empty: any
    meaning: str


KEYS = (
    Key("gitmem.enabled", "clone", "false", ("true", "false"), "set by `gitmem init`; nothing runs without it"),
    Key("gitmem.mode", "clone", "ask", ("off", "read", "ask", "auto"),
        "off: hooks do nothing; read: they capture nothing; ask and auto: every commit gets its capsule"),
    Key("gitmem.sync", "clone", "ask", ("never", "ask", "auto"),
        "auto: `git push` sends the notes along; ask: only `gitmem sync` does; never: that one only fetches"),
    Key("hook.mode", "file", "sync", ("sync", "detached"),
        "sync: the commit waits for its capsule; detached: a worker writes it right after"),
    Key("domains", "file", "[]", (), "list of {name, paths}: domains that go before the defaults"),
    Key("signals", "file", "[]", (),
        "list of {name, paths, pages, points, off}: adds a signal, changes one, or switches it off"),
    Key("ignore", "file", "{}", (), "role = [paths]: files that no verdict looks at, counted under that role"),
    Key("freshness.mode", "file", "fail", ("fail", "warn"), "whether `gitmem check` ends with 1 for a stale page"),
    Key("freshness.days", "file", "30", (), "a page older than this is stale when a relevant commit came since"),
    Key("freshness.commits", "file", "10", (), "a page with so many relevant commits since is stale at any age"),
    Key("sync.shards", "file", "1", ("1", "16", "64", "256"),
        "refs on the remote that the clones spread over: more than a dozen people who push at once need more than one"),
    Key("budget.page", "file", "2000", (), "tokens that one page should not exceed"),
    Key("budget.total", "file", "6000", (), "tokens that the four pages together should not exceed"),
)  # fmt: skip
# Tables of a config.toml that would publish or grant: refused there, whatever they hold.
CLONE_ONLY = ("enabled", "gitmem", "mode", "share", "tiers")
CLONE_ONLY_SAID = "'{}' may not stand in config.toml: say it in this clone with 'git config'"
SHARDS = (1, 16, 64, 256)
CHOICES = {key.name: key.values for key in KEYS if key.name in ("hook.mode", "freshness.mode")}
COUNTS = {"freshness.days": 30, "freshness.commits": 10, "budget.page": 2000, "budget.total": 6000}

# Every path of a commit is held against every place: a tracked file must not make commits slow.
MAX_PATTERNS = 20
MAX_PLACES = 20

Patterns = tuple[tuple[str, tuple[str, ...]], ...]


class Settings(NamedTuple):
    """What `config.toml` says, checked."""

    hook_mode: str = "sync"
    freshness_mode: str = "fail"
    counts: tuple[tuple[str, int], ...] = tuple(COUNTS.items())
    domains: Patterns = ()
    ignored: Patterns = ()
    custom: tuple[dict[str, Any], ...] = ()  # the [[signals]] that hold
    warnings: tuple[str, ...] = ()
    shards: int = 1

    def count(self, name: str) -> int:
        return dict(self.counts)[name]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the verdict."""
        return read_rules(self.custom)[0] if self.custom else DEFAULT

    def roles(self, changes: Iterable[Change]) -> dict[str, str]:
        """path -> role of the files that `[ignore]` takes out."""
        if not self.ignored:
            return {}
        return {c.path: role for c in changes for role, paths in self.ignored if any(fits(p, c.path) for p in paths)}


def read_settings(table: dict[str, Any]) -> Settings:
    """Settings from the tables of a parsed `config.toml`. What is wrong becomes a warning and its default."""
    tables = {top: found for top, found in table.items() if isinstance(found, dict)}
    flat = {f"{top}.{key}": value for top, found in tables.items() for key, value in found.items()}
    chosen, warnings = _unknown(table, flat), []
    values: dict[str, Any] = {}
    for name, allowed in CHOICES.items():
        values[name] = flat.get(name, allowed[0])
        if values[name] not in allowed:
            warnings.append(f"{name} is {values[name]!r}, not {' or '.join(map(repr, allowed))}")
            values[name] = allowed[0]
    counts = {}
    for name, default in COUNTS.items():
        counts[name] = flat.get(name, default)
        if not isinstance(counts[name], int) or isinstance(counts[name], bool) or not 0 < counts[name] <= 1_000_000:
            warnings.append(f"{name} is {counts[name]!r}, not a number from 1 to 1000000")
            counts[name] = default
    shards = flat.get("sync.shards", 1)
    if shards not in SHARDS or isinstance(shards, bool):
        warnings.append(f"sync.shards is {shards!r}, not 1, 16, 64 or 256")
        shards = 1
    domains, wrong = _patterns(table.get("domains", []))
    warnings += ["a [[domains]] entry needs 'name' and 'paths', at most 20 folders or file names; 20 entries"] * wrong
    ignored, wrong = _patterns([{"name": role, "paths": paths} for role, paths in _table(table, "ignore").items()])
    warnings += ["an [ignore] entry is a role with a list of folders or file names"] * wrong
    _, custom, rule_warnings = read_rules(table.get("signals", []))
    return Settings(
        values["hook.mode"], values["freshness.mode"], tuple(counts.items()), domains, ignored, custom,
        (*chosen, *warnings, *rule_warnings), shards,
    )  # fmt: skip


def _table(table: dict[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name, {})
    return found if isinstance(found, dict) else {}


def _unknown(table: dict[str, Any], flat: dict[str, Any]) -> list[str]:
    named = {key.name for key in KEYS if key.where == "file"}
    tops = {name.partition(".")[0] for name in named}
    said = [CLONE_ONLY_SAID.format(key) for key in sorted(table) if key in CLONE_ONLY]
    said += [f"unknown key '{key}'" for key in sorted(table) if key not in tops and key not in CLONE_ONLY]
    groups = {name.partition(".")[0] for name in named if "." in name}
    said += [f"unknown key '{key}'" for key in sorted(flat) if key.partition(".")[0] in groups and key not in named]
    for key in sorted(groups):
        if key in table and not isinstance(table[key], dict):
            said.append(CLONE_ONLY_SAID.format(key) if key == "sync" else f"'{key}' is no table")
    return said


def _patterns(listed: Any) -> tuple[Patterns, int]:
    """(the entries that hold, how many do not)."""
    if not isinstance(listed, list):
        return (), 1
    good = [rule for rule in listed[:MAX_PATTERNS] if _is_pattern(rule)]
    return tuple((str(rule["name"]), tuple(rule["paths"])) for rule in good), len(listed) - len(good)


def _is_pattern(rule: Any) -> bool:
    return (
        isinstance(rule, dict)
        and isinstance(rule.get("name"), str)
        and 0 < len(rule["name"]) <= 40
        and isinstance(rule.get("paths"), list)
        and len(rule["paths"]) <= MAX_PLACES
        and all(isinstance(path, str) and path for path in rule["paths"])
    )


def to_json(settings: Settings) -> dict[str, Any]:
    return settings._asdict()


def from_json(data: dict[str, Any]) -> Settings:
    """The inverse of `to_json`, through JSON."""

    def pairs(listed: list[Any]) -> Patterns:
        return tuple((name, tuple(paths)) for name, paths in listed)

    return Settings(
        data["hook_mode"], data["freshness_mode"], tuple((name, count) for name, count in data["counts"]),
        pairs(data["domains"]), pairs(data["ignored"]), tuple(data["custom"]), tuple(data["warnings"]),
        data["shards"],
    )  # fmt: skip
