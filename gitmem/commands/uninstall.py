"""`gitmem uninstall`: the exact inverse of `init` for hooks and settings. Notes stay, unless `--data`."""

from __future__ import annotations

import shutil

from gitmem import hooksetup, output
from gitmem.errors import Refused
from gitmem.git import ask, network
from gitmem.git.run import decode
from gitmem.opening import open_store
from gitmem.records import PRIVATE_REF
from gitmem.store import Store
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    refs = _refs(store) if args.data else []
    if args.data and not args.yes and not args.dry_run:
        raise Refused(
            f"'--data' would delete {counted(len(store.blobs()), 'note')} of this clone and all its state",
            "look first with '--dry-run', then say it with '--yes'; what was pushed stays on the remote",
        )
    steps = hooksetup.uninstall(store, dry_run=args.dry_run)
    steps += _settings(store, args.dry_run)
    for ref in refs:
        steps.append(hooksetup.Step("ref deleted", ref))
        if not args.dry_run:
            store.git.run("update-ref", "-d", ref)
    if args.data:
        steps.append(hooksetup.Step("state deleted", store.place.common_state_dir))
        if not args.dry_run:
            shutil.rmtree(store.place.common_state_dir, ignore_errors=True)
            shutil.rmtree(store.place.state_dir, ignore_errors=True)
    if args.json:
        output.say_json({"dry_run": args.dry_run, "steps": [step._asdict() for step in steps]})
        return 0
    for step in steps:
        output.say(f"{'would: ' if args.dry_run else ''}{step.what} ({step.where})")
    if not args.data and not args.dry_run:
        output.say("capsules stay in 'refs/notes/gitmem'; 'gitmem uninstall --data' removes them too")
        if PRIVATE_REF in _refs(store):
            output.say(f"private records stay in '{PRIVATE_REF}', and no hook keeps 'git push --mirror' from them now")
    return 0


def _settings(store: Store, dry_run: bool) -> list[hooksetup.Step]:
    steps = []
    for key in sorted(key for key in store.config if key.startswith("gitmem.")):
        steps.append(hooksetup.Step("setting removed", key))
        if not dry_run:
            ask.unset_config(store.git, key)
    there = ask.local_config(store.git, r"^transfer\.hiderefs$").get("transfer.hiderefs", [])
    ours = [pattern for pattern in network.HIDDEN if pattern in there]
    if ours:
        steps.append(hooksetup.Step("setting removed", "transfer.hideRefs"))
        for pattern in [] if dry_run else ours:
            words = ("config", "--local", "--fixed-value", "--unset-all", "transfer.hideRefs", pattern)
            store.git.run(*words, ok=(0, 5))
    return steps


def _refs(store: Store) -> list[str]:
    out = store.git.run("for-each-ref", "--format=%(refname)", "refs/notes/gitmem", "refs/gitmem").out
    return decode(out).split()
