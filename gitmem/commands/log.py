"""`gitmem log [RANGE]`: commits by what their capsules say, newest first."""

from __future__ import annotations

import os

from gitmem import chain, output, records, trust
from gitmem.git import ask
from gitmem.opening import open_store
from gitmem.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import Any


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    if args.path and store.place.top is not None:
        # as git takes it: relative to where one stands
        args.path = os.path.relpath(os.path.join(args.repo or ".", args.path), store.place.top)
    rows = []
    for row in _rows(store, args):
        rows.append(row)
        if row["capsule"] is None:
            row["subject"] = _subject(store, row["commit"])
        if len(rows) == args.max_count:
            break
    if args.json:
        output.say_json(rows)
        return 0
    colour = output.wants_colour(args.color)
    for row in rows:
        output.print_painted(_line(row, colour))
        for kind, text in row["texts"]:
            output.say(f"    {output.one_line(kind)}: {output.one_line(text)}")
    return 0


def _line(row: dict[str, Any], colour: bool) -> str:
    capsule = row["capsule"]
    text = capsule["a"] if capsule and "a" in capsule else f"{row.get('subject', '')} (no capsule)"
    kinds = [kind for kind in row["kinds"] if kind not in ("capsule", "link", "branch", "decision", "event", "devlog")]
    date = output.day(capsule["at"]) if capsule else "          "
    return " ".join(
        (
            output.paint(row["commit"][:12], "33", colour),
            output.paint(date, "2", colour),
            output.paint(text, "1" if capsule and capsule.get("breaking") else "0", colour),
            *([output.paint(f"[{' '.join(kinds)}]", "36", colour)] if kinds else []),
        )
    ).rstrip()


def _rows(store: Store, args: Namespace) -> Iterator[dict[str, Any]]:
    if args.range is None and ask.head_commit(store.git) is None:
        return
    oids = [oid for oid, _ in ask.commits(store.git, *_revisions(store, args.range))]
    for start in range(0, len(oids), 256):
        group = oids[start : start + 256]
        private = dict(store.note_lines(group, ref=records.PRIVATE_REF))
        for oid, lines in store.note_lines(group):
            reading = records.read([*lines, *private[oid]])
            capsule = records.capsule_of(oid, _honest(store, oid, reading.records))
            told = [*reading.records, *_carried_on(store, reading)]
            kinds = sorted({record.kind for record in told})
            if _matches(args, capsule.fields if capsule else None, kinds):
                said = dict.fromkeys((r.kind, str(r.fields["text"])) for r in told if r.fields.get("text"))
                texts = [list(pair) for pair in said]
                yield {"commit": oid, "capsule": capsule.fields if capsule else None, "kinds": kinds, "texts": texts}


def _carried_on(store: Store, reading: records.Reading) -> list[records.Record]:
    """What was said of the commits that this one was made from, where no hook could carry it over."""
    former = [one for one in chain.former(store, reading) if one.operation != "revert"]
    return [r for one in former for r in one.reading.records if r.kind in ("decision", "devlog", "event")]


def _honest(store: Store, oid: str, found: Sequence[records.Record]) -> list[records.Record]:
    """The records without capsules that say something else than the commit's message does."""
    commit = store.objects.get(oid)
    if commit is None:
        return list(found)
    head, _, message = commit.data.decode("utf-8", "surrogateescape").partition("\n\n")
    if "\nencoding " in head:
        return list(found)  # git would have to translate the message first
    parents = head.count("\nparent ")
    return [r for r in found if r.kind != "capsule" or trust.fits_message(r, message, parents)]


def _subject(store: Store, oid: str) -> str:
    found = store.objects.get(oid)
    return found.data.partition(b"\n\n")[2].decode("utf-8", "replace").partition("\n")[0] if found else ""


def _revisions(store: Store, range_: str | None) -> list[str]:
    if range_ is None:
        return ["HEAD"]
    base, dots, head = range_.partition("..")
    if not dots:
        return [ask.resolve_commit(store.git, base)]
    return [ask.resolve_commit(store.git, head or "HEAD"), "--not", ask.resolve_commit(store.git, base or "HEAD")]


def _matches(args: Namespace, capsule: dict[str, Any] | None, kinds: list[str]) -> bool:
    if args.kind and args.kind not in kinds:
        return False
    if not (args.type or args.domain or args.path):
        return True
    if capsule is None:
        return False
    domains = [name for name, _ in capsule.get("domains", [])]
    return (
        (not args.type or capsule.get("type") == args.type)
        and (not args.domain or args.domain in domains)
        and (
            not args.path
            or any(p == args.path or p.startswith(args.path.rstrip("/") + "/") for p in capsule.get("paths", []))
        )
    )
