"""`gitmem sync [REMOTE]`: fetch what others remember, join, push what is new here."""

from __future__ import annotations

import time

from gitmem import annotate, configfile, exchange, output
from gitmem.errors import GitmemError, Locked, UsageError
from gitmem.opening import open_store
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from gitmem.exchange import Report

SHOWN = 20  # held lines that are listed; the document of --json has all


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    store.require_enabled()
    remote = args.remote or exchange.default_remote(store)
    if remote is None:
        raise GitmemError(
            "there is no remote to sync with", "'git remote add origin URL', or name one: 'gitmem sync NAME'"
        )
    settings = configfile.load_or_defaults(store)
    way = exchange.Way(
        time.monotonic() + exchange.COMMAND_SECONDS, shards=settings.shards, everything=args.all,
        fetch_only=args.fetch_only or store.setting("gitmem.sync") == "never",
    )  # fmt: skip
    if args.fold and way.fetch_only:
        raise UsageError("'--fold' pushes", "it cannot go with '--fetch-only', nor where 'gitmem.sync' is 'never'")
    if args.dry_run:
        plan = exchange.preview(store, remote, way)
        counts = (plan.received, plan.sending, len(plan.gone), plan.waiting, plan.held)
        return _say(args, exchange.Report(remote, "dry-run", *counts))
    try:
        annotate.deliver(store, settings, deadline=way.deadline)
    except Locked:
        pass  # another run is at it
    return _say(args, (exchange.fold if args.fold else exchange.sync)(store, remote, way))


def _say(args: Namespace, report: Report) -> int:
    failed = report.outcome in ("refused", "busy")
    if args.json:
        output.say_json(report._asdict() | {"held": [one._asdict() for one in report.held]})
        return 1 if failed else 0
    would = "would have " if args.dry_run else ""
    said = [
        f"{would}received {counted(report.received, 'record')}",
        f"sent {counted(report.sent, 'record')}",
    ]
    if report.dropped:
        said.append(f"dropped {report.dropped} that their authors forgot")
    output.say(f"{report.remote}: {', '.join(said)}")
    if report.waiting:
        output.say(f"{counted(report.waiting, 'record')} wait until their commits are pushed")
    for one in report.held[:SHOWN]:
        output.say(f"held back: rec-{one.id} on {one.commit[:12]}: {one.reason}")
    if len(report.held) > SHOWN:
        output.say(f"held back: {len(report.held) - SHOWN} more")
    if failed:
        raise GitmemError(
            f"'{report.remote}' did not take the notes: {report.said}",
            "they stay here and go with the next sync"
            if report.outcome == "refused"
            else "many push at once: try again",
        )
    return 0
