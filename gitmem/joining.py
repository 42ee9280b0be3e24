"""How two states of a note become one: the union of their lines, without those that were forgotten.

Commutative, associative, idempotent: a `retract` with `forget` is never dropped itself, and whether it drops a line
depends on the two alone. So clones that have seen the same lines hold the same lines, in whatever order they came.
"""

from __future__ import annotations

from gitmem import notes, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

    from gitmem.records import Record

    Forgets = Mapping[str, Set[str]]  # id of a line -> who wants it forgotten (`w`)

TEXT = '"forget":true'
MARK = TEXT.encode()  # what a line that drops others cannot do without


def line_id(line: bytes, record: Record | None) -> str:
    """What a line is named by: its record's id, else a hash of its bytes."""
    return record.id if record else records.hash_of(line)


def forgets(lines: Iterable[bytes]) -> dict[str, set[str]]:
    """What the `retract` records among the lines want forgotten."""
    found: dict[str, set[str]] = {}
    for line in lines:
        record = records.parse(line) if MARK in line else None
        if record is not None and record.kind == "retract" and record.fields.get("forget") is True:
            for oid in record.fields.get("ids", []):
                found.setdefault(oid, set()).add(str(record.fields.get("w", "")))
    return found


def merged(*several: Forgets) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in several:
        for oid, askers in one.items():
            found.setdefault(oid, set()).update(askers)
    return found


def dropped(line: bytes, asked: Forgets) -> bool:
    """Whether a line goes: its own author asks for it, or it is a capsule, which can be made again."""
    askers, record = _askers(line, asked)
    if not askers or record is None or record.kind == "retract":
        return False
    author = record.fields.get("w")
    return author in askers if author else record.kind == "capsule"


def parted(lines: Iterable[bytes], asked: Forgets) -> tuple[list[bytes], list[bytes]]:
    """(the lines that stay, those that go)."""
    stays: list[bytes] = []
    gone: list[bytes] = []
    for line in lines:
        (gone if dropped(line, asked) else stays).append(line)
    return stays, gone


def contested(line: bytes, asked: Forgets) -> bool:
    """Whether somebody else than its author wants a line forgotten: hidden, and a person has to look."""
    askers, record = _askers(line, asked)
    return bool(askers) and not (record and record.kind == "retract") and not dropped(line, asked)


def _askers(line: bytes, asked: Forgets) -> tuple[Set[str], Record | None]:
    if not asked:
        return frozenset(), None
    record = records.parse(line)
    return asked.get(line_id(line, record), frozenset()), record


def join(*several: Iterable[bytes], asked: Forgets | None = None) -> list[bytes]:
    """The lines of one note from several states of it. asked: what records of other notes want forgotten besides."""
    union = notes.join(*several)
    whole = merged(forgets(union), asked or {})
    return parted(union, whole)[0] if whole else union
