"""`gitmem review`: what others wrote since the last look, by author; keep it, or drop it."""

from __future__ import annotations

import itertools

from gitmem import forgetting, output, reviewing
from gitmem.opening import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from gitmem.reviewing import Item

SHOWN = 50


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    store.require_enabled()
    reviewing.check_choice(keep=bool(args.keep), drop=bool(args.drop), everything=args.keep_all)
    kept: list[str] = []
    dropped: list[str] = []
    keeps, drops = ([forgetting.find(store, one) for one in named or []] for named in (args.keep, args.drop))
    if not args.dry_run:
        if args.keep_all:
            reviewing.keep_all(store)
        kept = reviewing.keep(store, keeps)
        dropped = reviewing.drop(store, drops)
    found = reviewing.items(store)
    if args.json:
        rows = [
            {
                "commit": one.commit,
                "author": one.author,
                "trust": one.trust,
                "why": one.why,
                "record": one.record.fields,
            }
            for one in found
        ]
        output.say_json({"dry_run": args.dry_run, "kept": kept, "dropped": dropped, "items": rows})
        return 0
    for oid in kept:
        output.say(f"kept rec-{oid}")
    for oid in dropped:
        output.say(f"dropped rec-{oid}")
    _list(found)
    return 0


def _list(found: list[Item]) -> None:
    if not found:
        output.say("nothing to look at")
        return
    for author, group in itertools.groupby(found[:SHOWN], key=lambda one: (one.author, one.trust)):
        output.say(f"{output.one_line(author[0])} ({author[1]})")
        for one in group:
            text = one.record.fields.get("text") or one.record.fields.get("a") or one.record.kind
            if "secret" in one.why:
                text = "(not shown)"
            output.say(f"  rec-{one.record.id} {one.record.kind} on {one.commit[:12]}: {output.one_line(str(text))}")
            if one.why:
                output.say(f"    {one.why}")
    if len(found) > SHOWN:
        output.say(f"and {len(found) - SHOWN} more; '--json' lists all")
    output.say("'gitmem review --keep rec-ID', '--drop rec-ID', or '--keep-all'")
