"""`gitmem repair`: leads from rewritten commits to what they were before; lists what nothing leads to."""

from __future__ import annotations

import time

from gitmem import output, repairing
from gitmem.opening import open_store
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

SECONDS = 600.0
SHOWN = 20


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    store.require_enabled()
    done = repairing.repair(store, deadline=time.monotonic() + SECONDS, dry_run=args.dry_run)
    if args.json:
        output.say_json(
            {"dry_run": args.dry_run, "placed": [one._asdict() for one in done.placed],
             "lost": [one._asdict() for one in done.lost], "not_compared": done.not_compared}
        )  # fmt: skip
        return 0
    verb = "would link" if args.dry_run else "linked"
    for one in done.placed[:SHOWN]:
        output.say(f"{verb} {one.old[:12]} -> {one.new[:12]} ({one.operation}: {one.reason})")
    if len(done.placed) > SHOWN:
        output.say(f"{verb} {len(done.placed) - SHOWN} more")
    told = [lost for lost in done.lost if lost.records]
    for lost in told[:SHOWN]:
        text = f"{output.one_line(lost.said)} [{counted(lost.records, 'record')}]"
        text += "" if lost.here else " (not in this clone: perhaps on a branch that was not fetched)"
        output.say(f"lost and found: {lost.commit[:12]} {text}")
    placed = counted(len(done.placed), "commit")
    output.say(f"{placed} placed, {len(done.lost)} lost and found, {len(told)} of them with more than a capsule")
    if done.lost:
        output.say("hint: 'gitmem show COMMIT' reads them; nothing of them is deleted")
    if done.not_compared:
        output.say(f"{done.not_compared} older commits were not compared")
    return 0
