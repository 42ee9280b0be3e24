"""`gitmem backfill`: capsules for commits made before, or without, gitmem."""

from __future__ import annotations

from gitmem import output
from gitmem.history import backfill
from gitmem.opening import open_store
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    store.require_enabled()
    report = backfill(
        store, args.range, everything=args.all, since=args.since, jobs=args.jobs, dry_run=args.dry_run,
        watch=lambda chunks, total: output.progress(chunks, total=total, title="backfill"),
    )  # fmt: skip
    if args.json:
        output.say_json({**report._asdict(), "dry_run": args.dry_run})
        return 0
    verb = "would write" if args.dry_run else "wrote"
    written, commits = counted(report.written, "capsule"), counted(report.commits, "commit")
    output.say(f"{verb} {written} for {commits}; {report.had} had one")
    if report.boundary:
        output.say(
            f"{report.boundary} commits at the shallow boundary left out; 'git fetch --unshallow' brings their parents"
        )
    if report.uncounted:
        output.say(f"{report.uncounted} capsules without line counts (marked cut: lines)")
    return 0
