"""`gitmem status`: how this clone's memory stands, on one screen."""

from __future__ import annotations

import time

from gitmem import configfile, exchange, hooksetup, mirror, output, state
from gitmem.errors import GitmemError
from gitmem.opening import open_store
from gitmem.store import Store
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    found = gather(store)
    if args.json:
        output.say_json(found)
    else:
        _print(found)
    return 1 if args.strict and (found["problems"] or not found["enabled"]) else 0


def gather(store: Store) -> dict[str, Any]:
    """All that `status` says, as one document."""
    if not store.enabled:
        return {"enabled": False, "problems": [], "hint": "run 'gitmem init'"}
    try:
        settings = configfile.load(store)
        warnings, mode = settings.warnings, settings.hook_mode
    except GitmemError as error:
        warnings, mode = (error.message,), "sync"
    hooks, seen = hooksetup.states(store), state.coverage(store)
    problems = state.problems(store, hooks, seen, warnings)
    try:
        notes = len(store.blobs())
    except GitmemError as error:
        notes = 0
        problems.insert(0, (f"the notes cannot be read: {error.message}", "run 'gitmem doctor'"))
    return {
        "enabled": True,
        "mode": store.setting("gitmem.mode") or "ask",
        "hook_mode": mode,
        "hooks": {one.event: one.runs for one in hooks},
        "capsules": {"recent_commits": seen.commits, "with_capsule": seen.capsules, "notes": notes},
        "waiting": state.waiting_count(store),
        "sync": _sync(store),
        "problems": [{"what": what, "hint": hint} for what, hint in problems],
        "failures": state.last_failures(store),
    }


def _sync(store: Store) -> dict[str, Any]:
    remote = exchange.default_remote(store)
    return {
        "setting": store.setting("gitmem.sync") or "ask",
        "remote": remote,
        "unsent_notes": mirror.unsent(store, remote) if remote else None,
    }


def _sync_line(sync: dict[str, Any]) -> str:
    if sync["remote"] is None:
        return "no remote"
    if sync["unsent_notes"] is None:
        return f"never with {output.one_line(sync['remote'])}: 'gitmem sync'"
    count = sync["unsent_notes"]
    said = f"lacks {counted(count, 'note')}, or has another state of them" if count else "has all notes"
    return f"{output.one_line(sync['remote'])} {said}"


def _print(found: dict[str, Any]) -> None:
    if not found["enabled"]:
        output.say("gitmem is not set up in this clone")
        output.say("hint: run 'gitmem init'")
        return
    capsules, hooks = found["capsules"], found["hooks"]
    running = [event for event, runs in hooks.items() if runs]
    recent = f"{capsules['with_capsule']} of the last {counted(capsules['recent_commits'], 'commit')}"
    output.say(f"capsules   {recent}; {counted(capsules['notes'], 'note')} in all")
    output.say(
        f"hooks      {len(running)} of {len(hooks)} run; hook.mode {found['hook_mode']}, gitmem.mode {found['mode']}"
    )
    output.say(f"waiting    {counted(found['waiting'], 'record')}")
    output.say(f"sync       gitmem.sync {found['sync']['setting']}; {_sync_line(found['sync'])}")
    for failure in found["failures"][:1]:
        when = output.age(time.time() - int(failure.get("at", 0)))
        output.say(f"failure    {when}: {failure.get('where')}: {failure.get('error')}")
    for problem in found["problems"]:
        output.say(f"problem    {problem['what']}")
        if problem["hint"]:
            output.say(f"           hint: {problem['hint']}")
    if not found["problems"]:
        output.say("problems   none")
