"""All that is known of one commit: its own records, those of the commits it was made from, and what content tells."""

from __future__ import annotations

from gitmem import chain, likeness, mirror, records, trust
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.finding import Found
    from gitmem.records import Record
    from gitmem.store import Store

MANY_NOTES = 20_000  # beyond, a search through all of them takes seconds
MAX_OLDS = 64  # commits of one squash whose records are read


class Memory(NamedTuple):
    """found: only where no link leads further. false: capsules that say something else than the commit does."""

    commit: str
    reading: records.Reading
    capsule: Record | None
    false: list[Record]
    former: list[chain.Ancestor]
    found: list[Found]
    private: frozenset[str]  # ids of records that never leave this clone

    @property
    def others(self) -> list[Record]:
        """All but the capsule that counts, and capsules of other commits, which belong to those."""
        own = self.reading.records
        return [r for r in own if r is not self.capsule and not (r.kind == "capsule" and r.commit != self.commit)]


def gather(store: Store, commit: str) -> Memory:
    """Reads everything; searches by content only where nothing else is known."""
    reading = store.reading(commit)
    former = list(chain.former(store, reading))
    capsule, false = trust.true_capsule(store, commit, reading.records)
    found = likeness.find(store, commit) if not former and _is_worth_a_search(store, reading) else []
    own = [lines for _, lines in store.note_lines([commit], ref=records.PRIVATE_REF)]
    private = frozenset(record.id for lines in own for record in records.read(lines).records)
    return Memory(commit, reading, capsule, false, former, found, private)


def _is_worth_a_search(store: Store, reading: records.Reading) -> bool:
    """Where nobody wrote anything here. A capsule alone is no reason to search a large history."""
    said = [r for r in reading.records if r.kind not in ("capsule", "made", "branch", "link")]
    has_capsule = any(r.kind == "capsule" for r in reading.records)
    return not said and not (has_capsule and mirror.more_than(store, MANY_NOTES))


def readings(store: Store, found: Found) -> list[tuple[str, records.Reading]]:
    """The records of what was found by content."""
    return [(old, store.reading(old)) for old in found.olds[:MAX_OLDS]]
