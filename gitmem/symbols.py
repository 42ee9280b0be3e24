"""What a commit adds to and takes from the surface of a project, by name."""

from __future__ import annotations

from gitmem.verdict.names import SYMBOLS, Surface

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_SYMBOLS = 30
MAX_NAME = 80


def symbols(surfaces: Iterable[tuple[str, Surface]]) -> list[str]:
    """`+func name`, `-route /path` …, at most 30: public names first, what comes before what goes, in the order of the
    patch. What goes from one file and comes in another has moved and is neither."""
    come: dict[str, bool] = {}
    gone: dict[str, bool] = {}
    for _, surface in surfaces:
        come.update((f"{name.kind} {name.name}", name.public) for name in surface.come if name.kind in SYMBOLS)
        gone.update((f"{name.kind} {name.name}", name.public) for name in surface.gone if name.kind in SYMBOLS)
    named = [("+" + name, public) for name, public in come.items() if name not in gone]
    named += [("-" + name, public) for name, public in gone.items() if name not in come]
    named.sort(key=lambda one: not one[1])
    return [name[:MAX_NAME] for name, _ in named[:MAX_SYMBOLS]]
