"""A commit's records and those of the commits it was made from."""

from __future__ import annotations

from gitmem import records
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitmem.store import Store

MAX_STEPS = 256  # of rewriting that are followed


class Ancestor(NamedTuple):
    """A commit that became the one asked for."""

    commit: str
    operation: str  # amend, rebase, squash, cherry-pick, revert
    reading: records.Reading


def former(store: Store, reading: records.Reading) -> Iterator[Ancestor]:
    """The former commits along `link` records, nearest first, each once; they may be long gone as commits."""
    seen: set[str] = set()
    queue = _links(reading)
    while queue and len(seen) < MAX_STEPS:
        old, operation = queue.pop(0)
        if old in seen:
            continue
        seen.add(old)
        found = store.reading(old)
        yield Ancestor(old, operation, found)
        queue += _links(found)


def _links(reading: records.Reading) -> list[tuple[str, str]]:
    links = [record.fields for record in reading.records if record.kind == "link"]
    pairs = [(link.get("old"), link.get("operation")) for link in links]
    return [(old, str(operation)) for old, operation in pairs if isinstance(old, str) and old.isalnum()]
