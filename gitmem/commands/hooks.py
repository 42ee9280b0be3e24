"""`gitmem hooks install | uninstall | status`."""

from __future__ import annotations

from gitmem import hooksetup, output
from gitmem.opening import open_store
from gitmem.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    if args.action == "status":
        return _status(args, store)
    if args.action == "install":
        store.require_enabled()
        steps = hooksetup.install(store, args.hooks, dry_run=args.dry_run)
    else:
        steps = hooksetup.uninstall(store, dry_run=args.dry_run)
    if args.json:
        output.say_json({"dry_run": args.dry_run, "steps": [step._asdict() for step in steps]})
    else:
        for step in steps:
            output.say(f"{'would: ' if args.dry_run else ''}{step.what} ({step.where})")
    return 0


def _status(args: Namespace, store: Store) -> int:
    states = hooksetup.states(store)
    if args.json:
        output.say_json({"hooks": [state._asdict() for state in states]})
    else:
        for state in states:
            output.say(f"{'runs' if state.runs else 'does not run'}: {state.event} ({state.why})")
    return 0
