"""The verdict over the last windows of a history, so that a team can tune its rules with figures."""

from __future__ import annotations

from collections import Counter

from gitmem import reflection, window
from gitmem.manifest import Window
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.settings import Settings
    from gitmem.store import Store


class Replay(NamedTuple):
    windows: int
    relevant: int
    signals: list[tuple[str, int]]  # in how many windows, most first
    pages: list[tuple[str, int]]


def replay(store: Store, settings: Settings, head: str, *, count: int) -> Replay:
    """Judges the last `count` windows of three commits along first parents, side by side."""
    line = window.first_parents(store, head, most=count * window.USUAL + 1)
    signals: Counter[str] = Counter()
    pages: Counter[str] = Counter()
    windows = relevant = 0
    for start in range(0, len(line.steps) - window.USUAL, window.USUAL):
        part = line.steps[start : start + window.USUAL + 1]
        subjects = tuple(step.subject for step in reversed(part[:-1]))
        found = Window(part[-1].oid, part[0].oid, "", subjects, ())
        verdict = reflection.judge_window(store, found, settings).verdict
        windows += 1
        relevant += verdict.relevant
        signals.update(signal.name for signal in verdict.signals)
        pages.update(verdict.targets)
    return Replay(windows, relevant, signals.most_common(), pages.most_common())
