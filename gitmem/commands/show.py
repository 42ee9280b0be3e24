"""`gitmem show [REV | rec-ID]`: the records of a commit, its capsule first."""

from __future__ import annotations

from gitmem import forgetting, memory, output, records, trust
from gitmem.capsule import flat
from gitmem.errors import BadRevision
from gitmem.git import ask
from gitmem.opening import open_store
from gitmem.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from gitmem.finding import Found
    from gitmem.memory import Memory
    from gitmem.records import Record

HIDDEN_FIELDS = ("a", "added", "at", "client", "commit", "files", "id", "kind", "removed", "summary", "text", "v", "w")
ORDER = ("type", "scope", "breaking", "why", "domains", "signals", "symbols", "paths", "tests", "refs", "reverts")
WIDTH = 116
MIN_ABBREVIATION = 7


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    if args.rev.startswith("rec-"):
        return _show_record(args, store, args.rev.removeprefix("rec-"))
    commit = _commit(store, args.rev)
    reading = store.reading(commit)
    if args.raw:
        for record in (*reading.records, *reading.hidden):
            output.say(record.line.decode("utf-8", "replace"))
        for line in reading.unreadable:
            output.say(line.decode("utf-8", "replace"))
        return 0
    known = memory.gather(store, commit)
    capsule = known.capsule
    if args.flat:
        rows = flat(capsule.fields, output.day(int(capsule.fields["at"]))) if capsule else []
        if args.json:
            output.say_json(rows)
        else:
            for row in rows:
                output.say("  ".join(output.one_line(row[key]) for key in ("date", "domain", "type", "summary")))
        return 0
    if args.json:
        output.say_json(_document(store, known))
    else:
        _print(store, known)
    return 0


def _commit(store: Store, rev: str) -> str:
    """The commit that a user named; also one that is no longer, or not yet, in this clone but has a note."""
    try:
        return ask.resolve_commit(store.git, rev)
    except BadRevision:
        if len(rev) < MIN_ABBREVIATION or not set(rev) <= records.HEX:
            raise
        found = [oid for oid in store.blobs() if oid.startswith(rev)]
        if len(found) != 1:
            raise
        return found[0]


def _document(store: Store, known: Memory) -> dict[str, Any]:
    mine, team = trust.me(store), trust.people(store)
    return {
        "trust": {record.id: trust.level(record, mine, team) for record in known.others},
        "foreign_capsules": [record.fields for record in known.false],
        "commit": known.commit,
        "capsule": known.capsule.fields if known.capsule else None,
        "records": [record.fields for record in known.others],
        "former": [
            {"commit": one.commit, "operation": one.operation, "records": [r.fields for r in one.reading.records]}
            for one in known.former
        ],
        "found": [_found(store, one) for one in known.found],
        "unreadable": len(known.reading.unreadable),
    }


def _found(store: Store, one: Found) -> dict[str, Any]:
    olds = memory.readings(store, one)
    return {
        "commits": list(one.olds), "operation": one.operation, "reason": one.reason, "sure": one.sure,
        "records": [record.fields for _, reading in olds for record in reading.records if record.kind != "branch"],
    }  # fmt: skip


def _print(store: Store, known: Memory) -> None:
    output.say(f"commit {known.commit}")
    if known.capsule is None:
        output.say("no capsule here; 'gitmem sync' fetches what others wrote, 'gitmem backfill' makes what is missing")
    else:
        _print_record(known.capsule)
    shown = [record for record in known.others if record.kind not in ("link", "branch", "retract")]
    mine, team = (trust.me(store), trust.people(store)) if shown else (None, {})
    for record in shown:
        foreign = " (foreign: by nobody of this history)" * (trust.level(record, mine, team) == "foreign")
        _print_record(record, foreign + " (private)" * (record.id in known.private))
    for record in known.false:
        output.say(f"\nforeign capsule rec-{record.id}: it says something else than the commit does")
    if known.reading.unreadable:
        output.say(f"\n{len(known.reading.unreadable)} lines are no records of ours; 'gitmem show --raw' shows them")
    for match in known.found:
        sure = "found by" if match.sure else "probably, by"
        output.say(f"\n{sure} {match.reason} ({match.operation}):")
        for old, reading in memory.readings(store, match):
            _print_former(old, "", reading)
    for one in known.former:
        word = "reverts " if one.operation == "revert" else f"formerly ({one.operation}) "
        output.say()
        _print_former(one.commit, word, one.reading)


def _print_former(commit: str, word: str, reading: records.Reading) -> None:
    old = records.capsule_of(commit, reading.records)
    output.say(f"{word}{commit[:12]}{': ' + _one_line(old.fields.get('a', '')) if old else ''}")
    for record in reading.records:
        if record.kind not in records.HOOK_KINDS and record.fields.get("text"):
            output.say(f"    {output.one_line(record.kind)}: {_one_line(record.fields['text'])}")


def _print_record(record: Record, mark: str = "") -> None:
    at = output.day(int(record.fields["at"]))
    title = record.fields.get("a") or record.fields.get("text") or ""
    output.say(f"\n{output.one_line(record.kind)}  {at}  rec-{output.one_line(record.id)}{mark}")
    if title:
        output.say(f"    {_one_line(title)}")
    keys = [key for key in (*ORDER, *sorted(record.fields.keys() - set(ORDER))) if key in record.fields]
    for key in keys:
        if key not in HIDDEN_FIELDS:
            _print_field(key, record.fields[key])


def _print_field(key: str, value: Any) -> None:
    """`key: value`, folded between items so that long lists stay readable."""
    parts = _one_line(value).split(", ") if isinstance(value, list) else [_one_line(value)]
    row = f"    {output.one_line(key)}: {parts[0]}"
    for part in parts[1:]:
        if len(row) + len(part) > WIDTH:
            output.say(row + ",")
            row = f"      {part}"
        else:
            row += f", {part}"
    output.say(row)


def _one_line(value: Any) -> str:
    if isinstance(value, list):
        pairs = all(isinstance(one, list) for one in value)
        return ", ".join(output.one_line(" ".join(map(str, one))) if pairs else _one_line(one) for one in value)
    if isinstance(value, dict):
        return "; ".join(f"{output.one_line(key)} {_one_line(one)}" for key, one in sorted(value.items()))
    return output.one_line(str(value))


def _show_record(args: Namespace, store: Store, wanted: str) -> int:
    """The record of an id, or of a beginning of one that only one record has."""
    oid, holders = forgetting.find(store, wanted)
    if not holders:
        raise BadRevision(f"rec-{oid} was purged", "nothing of it is left in this clone")
    record = records.parse(holders[0].line)
    if record is None:
        output.say(holders[0].line.decode("utf-8", "replace"))
    elif args.json:
        output.say_json(record.fields)
    else:
        output.say(f"commit {output.one_line(record.commit)}")
        _print_record(record)
    return 0
