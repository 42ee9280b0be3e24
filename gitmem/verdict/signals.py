"""The verdict: does this change make one of the four living documents untrue, and which?

Pure: values in, values out. Rules are data (rules.py); evidence is gathered file by file (evidence.py).
"""

from __future__ import annotations

from gitmem.patch import FilePatch
from gitmem.values import NamedTuple
from gitmem.verdict.evidence import gather
from gitmem.verdict.names import Surface
from gitmem.verdict.places import Found
from gitmem.verdict.rules import (
    ARCHITECTURE,
    ARCHITECTURE_POINTS,
    DEFAULT,
    HOW,
    LEAST_POINTS,
    LEAST_SHARE,
    MOST_POINTS,
    PAGE_SHARE,
    PAGES,
    RELEVANT_POINTS,
    THIN,
    USUAL_MOST_POINTS,
    Rule,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Evidence(NamedTuple):
    """One observation. line: in the new file, None for what went or where hunks are not known."""

    path: str
    line: int | None
    what: str


class Signal(NamedTuple):
    """A rule that found evidence. pages: most affected first. evidence: strongest first."""

    name: str
    pages: tuple[str, ...]
    evidence: tuple[Evidence, ...]


class Verdict(NamedTuple):
    """The answer with its reasons.

    targets: page file names, most affected first, () when not relevant. reasons: sentences for people.
    left_out: role -> count of files. score: points; rules.RELEVANT_POINTS and more are relevant. surfaces: (path, names that come and go) of the files
    that count.
    """

    relevant: bool
    targets: tuple[str, ...]
    signals: tuple[Signal, ...]
    reasons: tuple[str, ...]
    left_out: dict[str, int]
    score: float
    surfaces: tuple[tuple[str, Surface], ...] = ()


def judge(
    files: Sequence[FilePatch],
    subjects: Sequence[str],
    rules: Sequence[Rule] = DEFAULT,
    *,
    accepted: frozenset[str] = frozenset(),
    roles: Mapping[str, str] = {},
) -> Verdict:
    """The verdict over one window.

    files: the net difference of the window. subjects: of its commits; they add, never subtract.
    accepted: paths of pages whose new blob a reflection record accepted, no evidence of work by hand.
    roles: path -> role of files that attributes or [ignore] leave out besides roles.role.
    """
    gathered = gather(files, subjects, rules, accepted, roles)
    points = _points(gathered.found)
    score = round(sum(points.values()), 1)
    relevant = score >= RELEVANT_POINTS and any(item.weight >= 1 for item in gathered.found)
    signals = _signals(gathered.found, rules) if relevant else ()
    targets = _targets(gathered.found) if relevant else ()
    return Verdict(
        relevant,
        targets,
        signals,
        _reasons(gathered.found, relevant, gathered.left_out),
        gathered.left_out,
        score,
        gathered.surfaces,
    )


def _points(found: Sequence[Found]) -> dict[str, float]:
    """Points by kind, each kind cut at its maximum."""
    points: dict[str, float] = {}
    for item in found:
        points[item.kind] = min(points.get(item.kind, 0.0) + item.weight, MOST_POINTS.get(item.kind, USUAL_MOST_POINTS))
    return points


def _signals(found: Sequence[Found], rules: Sequence[Rule]) -> tuple[Signal, ...]:
    signals = []
    for rule in rules:
        mine = sorted((item for item in found if item.rule == rule.name), key=lambda item: -item.weight)
        if mine and sum(item.weight for item in mine) >= RELEVANT_POINTS / 2:
            signals.append(
                Signal(rule.name, rule.pages, tuple(Evidence(item.path, item.line, item.what) for item in mine[:20]))
            )
    return tuple(signals)


def _targets(found: Sequence[Found]) -> tuple[str, ...]:
    """Pages by the points of the evidence that concerns them, each kind cut at its maximum.

    A page is chosen for its share of the strongest page's points; how-it-works.md also for evidence of its own.
    """
    kinds: dict[tuple[str, str], float] = {}
    for item in found:
        most = MOST_POINTS.get(item.kind, USUAL_MOST_POINTS) or USUAL_MOST_POINTS
        for rank, page in enumerate(item.pages):
            kinds[page, item.kind] = min(most, kinds.get((page, item.kind), 0.0) + item.weight * PAGE_SHARE[rank])
    architecture = sum(value for (page, kind), value in kinds.items() if page == HOW and kind in ARCHITECTURE)
    thin = 0.3 if architecture >= ARCHITECTURE_POINTS else 1.0
    points = {
        page: sum(value * (thin if kind in THIN else 1.0) for (at, kind), value in kinds.items() if at == page)
        for page in PAGES
    }
    least = max(max(points.values()) * LEAST_SHARE, LEAST_POINTS)
    chosen = [page for page in PAGES if points[page] >= least or (page == HOW and architecture >= ARCHITECTURE_POINTS)]
    return tuple(sorted(chosen, key=lambda page: -points[page])) or (PAGES[0],)


def _reasons(found: Sequence[Found], relevant: bool, left_out: dict[str, int]) -> tuple[str, ...]:
    best = sorted(found, key=lambda item: -item.weight)[:5]
    reasons = [
        f"{item.rule}: {item.what} ({item.path})" if item.path else f"{item.rule}: {item.what}"
        for item in best
        if item.weight > 0
    ]
    if not relevant:
        reasons.insert(0, "nothing that the documents would state has changed")
    if left_out:
        reasons.append("left out: " + ", ".join(f"{count} {role}" for role, count in sorted(left_out.items())))
    return tuple(reasons)
