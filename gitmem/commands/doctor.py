"""`gitmem doctor`: every check one line; `--fix` repairs what needs no decision."""

from __future__ import annotations

import os
import time

from gitmem import annotate, configfile, files, hooksetup, output, records, state, writer
from gitmem.errors import GitmemError, Locked
from gitmem.git import ask
from gitmem.opening import open_store
from gitmem.store import COMMAND_SECONDS, Store
from gitmem.values import NamedTuple, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator


class Check(NamedTuple):
    ok: bool
    what: str
    hint: str = ""


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    fixed = _fix(store, args.dry_run) if args.fix else []
    checks = list(_checks(store))
    bad = [check for check in checks if not check.ok]
    if args.json:
        output.say_json({"fixed": fixed, "checks": [check._asdict() for check in checks], "problems": len(bad)})
    else:
        for line in fixed:
            output.say(f"{'would fix' if args.dry_run else 'fixed'}  {line}")
        for check in checks:
            output.say(f"{'ok     ' if check.ok else 'problem'}  {check.what}")
            if check.hint and not check.ok:
                output.say(f"         hint: {check.hint}")
    return 1 if args.strict and bad else 0


def _checks(store: Store) -> Iterator[Check]:
    major, minor = ask.version(store.git)
    yield Check((major, minor) >= (2, 30), f"git {major}.{minor}", "gitmem needs git 2.30 or later")
    yield Check(
        store.enabled, "switched on in this clone" if store.enabled else "not set up in this clone", "run 'gitmem init'"
    )
    if not store.enabled:
        return
    try:
        warnings = configfile.load(store).warnings
    except GitmemError as error:
        warnings = (error.message,)
    hooks, seen = hooksetup.states(store), state.coverage(store)
    for hook in hooks:
        if hook.runs:
            yield Check(True, f"{hook.event} runs ({hook.why})")
    yield _evidence(store)
    if seen.commits and seen.commits == seen.capsules:
        yield Check(True, f"capsules on all of the last {counted(seen.commits, 'commit')}")
    yield from (Check(False, what, hint) for what, hint in state.problems(store, hooks, seen, warnings))
    yield from _foreign(store)


def _evidence(store: Store) -> Check:
    """Whether commits made since the installation have their capsules: the proof that hooks fire."""
    at = hooksetup.installed(store).get("at")
    if not isinstance(at, int) or ask.head_commit(store.git) is None:
        return Check(True, "no commit yet to prove that hooks fire")
    commits = ask.commits(store.git, "--first-parent", "--max-count=20", f"--since={at}", "HEAD")
    if not commits:
        return Check(True, "no commit since the installation to prove that hooks fire")
    lacking = annotate.missing(store, commits)
    what = f"capsules on {len(commits) - len(lacking)} of {counted(len(commits), 'commit')} since the installation"
    return Check(not lacking, what, "run 'gitmem backfill', then look why with 'gitmem hooks status'")


def _foreign(store: Store) -> Iterator[Check]:
    for ref in (records.SHARED_REF, records.PRIVATE_REF):
        try:
            store.blobs(ref)
        except GitmemError as error:
            yield Check(False, f"'{ref}' cannot be read: {error.message}", "run 'git fsck'")
    for name in ("state_dir", "common_state_dir"):
        path = getattr(store.place, name)
        if os.path.islink(path):
            yield Check(False, f"'{path}' is a symbolic link", "remove it: gitmem follows no links in its own places")


def _way(store: Store) -> str | None:
    way = hooksetup.installed(store).get("way")
    return way if isinstance(way, str) and way in ("config", "files") else None


def _fix(store: Store, dry_run: bool) -> list[str]:
    fixed = []
    for ref in (records.SHARED_REF, records.PRIVATE_REF):
        path = f"{store.place.common_dir}/{ref}.lock"
        if os.path.exists(path) and time.time() - os.lstat(path).st_mtime > writer.STALE_LOCK_SECONDS:
            fixed.append(f"stale lock '{ref}.lock' removed")
            if not dry_run:
                files.remove(path)
    if store.enabled and store.has_waiting():
        count = state.waiting_count(store)
        fixed.append(f"{count} waiting records written")
        if not dry_run:
            try:
                annotate.deliver(store, configfile.load(store), deadline=time.monotonic() + COMMAND_SECONDS)
            except Locked:
                fixed[-1] = "waiting records are being written by another run"
    if store.enabled and state.coverage(store).mine_missing:
        wanted = ask.commits(store.git, f"--max-count={state.RECENT}", "HEAD")
        fixed.append(f"{len(annotate.missing(store, wanted))} missing capsules written")
        if not dry_run:
            annotate.fill(store, wanted, configfile.load(store), deadline=time.monotonic() + COMMAND_SECONDS)
    if store.enabled and any(not one.runs for one in hooksetup.states(store)):
        fixed += [step.what for step in hooksetup.install(store, _way(store), dry_run=dry_run)]
    return fixed
