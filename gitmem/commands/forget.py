"""`gitmem forget ID`: hides a record everywhere. `--purge`: takes it out of the notes and their history."""

from __future__ import annotations

import time

from gitmem import forgetting, output
from gitmem.approval import ask_person
from gitmem.errors import BadRevision, GitmemError
from gitmem.opening import open_store
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from gitmem.forgetting import Purged

SECONDS = 120.0


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    store.require_enabled()
    found = [forgetting.find(store, wanted) for wanted in args.ids]  # all are there before one goes
    gone = next((oid for oid, holders in found if not holders), None)
    if gone is not None and not args.purge:
        raise BadRevision(f"rec-{gone} was purged", "nothing of it is left in this clone")
    said = []
    for oid, holders in found:
        purged = None
        if not args.dry_run:
            if args.purge:
                places = counted(len(holders), "note")
                ask_person(f"purge rec-{oid} from {places} and the notes' history, here and on the remotes?")
                remotes_too = store.setting("gitmem.sync") != "never"
                deadline = time.monotonic() + SECONDS
                purged = forgetting.purge(store, oid, holders, deadline=deadline, remotes_too=remotes_too)
            else:
                forgetting.retract(store, oid, holders)
        said.append((oid, len(holders), purged))
    if args.json:
        rows = [
            {"id": f"rec-{oid}", "notes": count, "purged": purged._asdict() if purged else None}
            for oid, count, purged in said
        ]
        output.say_json({"dry_run": args.dry_run, "forgotten": rows})
    else:
        for oid, count, purged in said:
            verb = "purged" if args.purge else "forgot"
            verb = f"not done: {verb}" if args.dry_run else verb
            where = " and the notes' history, here and on the remotes" if args.purge else ""
            output.say(f"{verb} rec-{oid} in {counted(count, 'note')}{where}")
            if purged:
                _explain(purged)
    failed = [pair for _, _, purged in said if purged for pair in purged.failed]
    if failed:
        raise GitmemError(
            f"'{failed[0][0]}' did not take the purged notes: {failed[0][1]}",
            "run the same again; until then nothing is synced with it",
        )
    return 0


def _explain(purged: Purged) -> None:
    for remote in purged.remotes:
        output.say(f"gone from the notes of '{remote}'")
    output.say(
        "the objects go with git's next 'git gc --prune=now'; other clones lose the line with their next 'gitmem sync',"
    )
    output.say(
        "but what was pushed may live on in their reflogs, and on the host until it collects garbage: change the secret"
    )
