"""`gitmem init`: sets up this clone, and says what it did."""

from __future__ import annotations

import sys
import time

from gitmem import configfile, drafts, exchange, hooksetup, output
from gitmem.errors import GitmemError
from gitmem.git import ask, network
from gitmem.git.run import Git
from gitmem.history import backfill
from gitmem.store import Store
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

FIRST_COMMITS = 500  # that init gives their capsules; the rest is said how to do
FETCH_SECONDS = 30.0


def run(args: Namespace) -> int:
    store = Store.open(Git(args.repo))
    if not args.dry_run:
        ask.committer(store.git)
    steps = _enable(store, args.dry_run)
    steps += hooksetup.install(store, args.hooks, dry_run=args.dry_run)
    # before the first commit there is nothing to draft from, and what a pull brings would have them in its way
    wants_pages = not args.no_pages and store.place.top is not None and ask.head_commit(store.git) is not None
    if args.dry_run:
        pages = drafts.write_drafts(store, now=time.time(), dry_run=True) if wants_pages else []
        return _report(args, [*steps, *_drafted(pages)], None, [])
    store = Store.open(Git(args.repo))
    try:
        configfile.load(store)
    except GitmemError as error:  # the defaults hold until it is mended
        output.tell(f"gitmem: {error.message}")
    steps += _share(args, store)
    report = backfill(
        store, newest=FIRST_COMMITS, jobs=args.jobs,
        watch=lambda chunks, total: output.progress(chunks, total=total, title="capsules"),
    )  # fmt: skip
    steps += _drafted(drafts.write_drafts(store, now=time.time(), dry_run=False) if wants_pages else [])
    idle = [state for state in hooksetup.states(store) if not state.runs]
    return _report(args, steps, report.written, idle)


def _share(args: Namespace, store: Store) -> list[hooksetup.Step]:
    """What this clone may send, and what others sent already: their capsules need not be made again."""
    remote = exchange.default_remote(store)
    choice = args.sync or (_ask(remote) if remote and not args.yes and store.setting("gitmem.sync") is None else None)
    steps = []
    if choice:
        ask.set_config(store.git, "gitmem.sync", choice)
        steps.append(hooksetup.Step(f"sync set to '{choice}'", "gitmem.sync"))
    if remote:
        way = exchange.Way(time.monotonic() + FETCH_SECONDS, fetch_only=True)
        report = exchange.sync(store, remote, way)
        if report.outcome == "refused":
            output.tell(f"gitmem: the notes of '{remote}' cannot be had now: {report.said}")
            output.tell("hint: 'gitmem sync' fetches them later")
        elif report.received:
            steps.append(hooksetup.Step(f"notes of {counted(report.received, 'commit')} fetched", remote))
    return steps


def _ask(remote: str) -> str | None:
    """A person's choice; nobody is asked where there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    sys.stderr.write(
        f"send capsules and shared records along with every 'git push' to '{output.inert(remote)}'? [y/N] "
    )
    sys.stderr.flush()
    return "auto" if sys.stdin.readline().strip().lower() in ("y", "yes") else "ask"


def _drafted(pages: list[str]) -> list[hooksetup.Step]:
    return [hooksetup.Step("page drafted; read it, mend it, commit it", page) for page in pages]


def _enable(store: Store, dry_run: bool) -> list[hooksetup.Step]:
    steps = [] if store.enabled else [hooksetup.Step("gitmem switched on in this clone", "gitmem.enabled")]
    there = ask.local_config(store.git, r"^transfer\.hiderefs$").get("transfer.hiderefs", [])
    hide = [pattern for pattern in network.HIDDEN if pattern not in there]
    if hide:
        steps.append(hooksetup.Step("private records hidden from fetches and pushes", "transfer.hideRefs"))
    if not dry_run:
        ask.set_config(store.git, "gitmem.enabled", "true")
        for pattern in hide:
            store.git.run("config", "--local", "--add", "transfer.hideRefs", pattern)
    return steps


def _report(args: Namespace, steps: list[hooksetup.Step], written: int | None, idle: list[hooksetup.State]) -> int:
    if args.json:
        output.say_json({"dry_run": args.dry_run, "steps": [step._asdict() for step in steps], "capsules": written or 0,
                         "hooks_not_running": [state._asdict() for state in idle]})  # fmt: skip
        return 1 if idle else 0
    for step in steps:
        output.say(f"{'would: ' if args.dry_run else ''}{step.what} ({step.where})")
    if not steps:
        output.say("nothing to set up: all is in place")
    if args.dry_run:
        return 0
    output.say(f"wrote {counted(written or 0, 'capsule')} for the newest commits")
    for state in idle:
        output.tell(f"gitmem: {state.event} does not run: {state.why}")
    output.say("every commit from now on gets its capsule; see them with 'git log --notes=gitmem'")
    output.say("the rest of the history: 'gitmem backfill --all'; how things stand: 'gitmem status'")
    if idle:
        raise GitmemError("not all hooks run", "'gitmem doctor' says why")
    return 0
