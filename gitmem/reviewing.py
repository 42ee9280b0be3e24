"""What others wrote and nobody here has looked at: by author, with what is wrong with it."""

from __future__ import annotations

import time

from gitmem import files, forgetting, joining, mirror, records, trash, trust
from gitmem.errors import UsageError
from gitmem.git import ask
from gitmem.trust import Looked, read_looked
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitmem.forgetting import Holder
    from gitmem.records import Record
    from gitmem.store import Store

    Found = tuple[str, list[Holder]]  # an id, and the places of its line

MAX_KEPT = 5000  # ids that were looked at one by one


class Item(NamedTuple):
    """trust: mine, team, foreign. why: what makes a person look; empty for what is only new."""

    commit: str
    record: Record
    author: str
    trust: str
    why: str


def _write_looked(store: Store, looked: Looked) -> None:
    files.replace(trust.looked_path(store), records.canonical({"tip": looked.tip, "ids": list(looked.ids[-MAX_KEPT:])}))


def items(store: Store) -> list[Item]:
    """What there is to look at, by author, strangers first, then in the order of time."""
    looked = read_looked(store)
    tip = ask.exact_ref(store.git, records.SHARED_REF)
    if tip is None:
        return []
    since = looked.tip if looked.tip and ask.is_commit(store.git, looked.tip) else None
    mine, team, asked = trust.me(store), trust.people(store), mirror.read_forgets(store)
    found: list[Item] = []
    for commit, had, has in mirror.differing(store, since, tip):
        whole = joining.merged(asked, joining.forgets(has))
        hidden = {record.id for record in records.read(has).hidden} - whole.keys()
        for line in set(has) - set(had):
            record = records.parse(line)
            if record is not None and record.id not in looked.ids and record.id not in hidden:
                found += _look(store, commit, record, mine, team, whole)
    order = {"foreign": 0, "team": 1, "mine": 2}
    return sorted(found, key=lambda one: (order[one.trust], one.author, int(one.record.fields["at"]), one.record.id))


def _look(
    store: Store, commit: str, record: Record, mine: str | None, team: dict[str, str], asked: dict[str, set[str]]
) -> Iterator[Item]:
    level = trust.level(record, mine, team)
    w = str(record.fields.get("w", ""))
    author = team.get(w) or (f"stranger {w}" if w else "nobody named")
    if record.kind == "capsule":
        if record.commit == commit and trust.honest(store, record) is False:
            yield Item(commit, record, author, "foreign", "says something else than its commit")
    elif joining.contested(record.line, asked):
        yield Item(commit, record, author, level, "somebody else asks to forget it")
    elif kinds := records.secrets(record.line):
        yield Item(commit, record, author, level, f"holds a secret ({', '.join(kinds)})")
    elif level != "mine" and record.kind not in records.HOOK_KINDS:  # those are listed only when something is wrong
        yield Item(commit, record, author, level, "")


def keep(store: Store, found: Iterable[Found]) -> list[str]:
    """Looked at and fine. What somebody else wanted forgotten is said again, by the one who keeps it."""
    kept = []
    for oid, holders in found:
        asked = mirror.read_forgets(store)
        for holder in holders:
            record = records.parse(holder.line)
            if record is not None and joining.contested(holder.line, asked) and not _is_kept(store, holder.commit, oid):
                fields = {k: v for k, v in record.fields.items() if k not in ("at", "commit", "id", "kind", "v")}
                fields |= {"sup": [oid], "w": trust.me(store) or ""}
                again = records.line_of(record.kind, holder.commit, int(time.time()), **fields)
                store.append({holder.commit: [again]}, subject=f"keep rec-{oid}")
        kept.append(oid)
    _remember(store, kept)
    return kept


def _is_kept(store: Store, commit: str, oid: str) -> bool:
    """Whether somebody has said it again already."""
    return any(oid in record.fields.get("sup", []) for record in store.reading(commit).records)


def drop(store: Store, found: Iterable[Found]) -> list[str]:
    """Looked at and not wanted: hidden, and dropped here where it was asked for."""
    gone = []
    for oid, holders in found:
        asked = mirror.read_forgets(store)
        contested = any(joining.contested(holder.line, asked) for holder in holders)
        if contested:
            trash.keep(store, [(holder.commit, holder.line) for holder in holders])
        forgetting.retract(store, oid, holders, forget=contested)
        if contested:  # the yes of a person here counts as the author's own
            authors = {str(r.fields.get("w", "")) for h in holders if (r := records.parse(h.line))}
            mirror.write_forgets(store, joining.merged(asked, {oid: authors}))
        gone.append(oid)
    _remember(store, gone)
    return gone


def keep_all(store: Store) -> None:
    """Everything that is here counts as looked at."""
    _write_looked(store, Looked(ask.exact_ref(store.git, records.SHARED_REF), ()))


def _remember(store: Store, ids: list[str]) -> None:
    looked = read_looked(store)
    _write_looked(store, looked._replace(ids=tuple(dict.fromkeys([*looked.ids, *ids]))))


def check_choice(*, keep: bool, drop: bool, everything: bool) -> None:
    if sum((keep, drop, everything)) > 1:
        raise UsageError("one of '--keep', '--drop' and '--keep-all' at a time")
