"""`gitmem reflect`: the work order that is due, for reading."""

from __future__ import annotations

import time

from gitmem import configfile, output, reflect_state, reflection
from gitmem.errors import GitError, Unreadable
from gitmem.excerpts import excerpts
from gitmem.git import ask
from gitmem.git.run import decode
from gitmem.manifest import Manifest
from gitmem.opening import open_store
from gitmem.render import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from gitmem.store import Store

MAX_EXCERPT_LINES = 80
MAX_PATCH_BYTES = 1 << 20
ABOUT = {
    "what-is.md": "identity, users, value",
    "how-it-works.md": "architecture, modules, data flow, integrations, storage",
    "what-it-does.md": "features, business rules, workflows, public commands, endpoints, options",
    "current-state.md": "what is delivered; a diary: new entries added, none removed",
}


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    head = ask.head_commit(store.git)
    if head is not None and store.enabled:
        with reflect_state.reflect_lock(store, 2.0):
            reflect_state.settle(store, head)
            reflection.look_again(store, configfile.load_or_defaults(store), head)
    due = reflect_state.read_manifest(store)
    branches = reflect_state.waiting_branches(store)
    if isinstance(due, str):
        raise Unreadable(
            f"{due}: the manifest cannot be trusted", "run 'gitmem reflect-prepare --force' to write it anew"
        )
    if args.json:
        output.say_json({"due": due.fields if due else None, "waiting_branches": branches})
        return 0
    if due is None:
        output.say("no reflection is due")
    else:
        output.say(work_order(store, due).rstrip("\n"))
    for branch in branches:
        output.say(f"due on {branch}; it waits until that branch is checked out")
    return 0


def work_order(store: Store, due: Manifest) -> str:
    """The manifest as a text for an agent or a person, with the lines of the diff that the evidence names."""
    fields = due.fields
    places = [(e["path"], e["line"]) for signal in fields["signals"] for e in signal["evidence"] if e["path"]]
    now = time.time()
    return render(
        "work-order.txt", id=due.id, parked=due.parked, attempts=due.attempts, diff_summary=fields["diff_summary"],
        git_range=fields["git_range"], commits=fields["commits"], reasons=fields["heuristic_reasons"],
        truncated=fields["truncated"], errors=fields["errors"], now=reflection.utc(now), today=reflection.utc(now)[:10],
        pages=[{"name": page, "about": ABOUT[page]} for page in due.targets],
        excerpts=excerpts(_patch(store, due, places), places, max_lines=MAX_EXCERPT_LINES),
    )  # fmt: skip


def _patch(store: Store, due: Manifest, places: list[tuple[str, int | None]]) -> str:
    paths = list(dict.fromkeys(path for path, _ in places))[:20]
    if not paths:
        return ""
    pinned = ("-c", "core.quotePath=false", "-c", "core.bigFileThreshold=1m")
    try:
        out = store.git.run(*pinned, "diff-tree", "-p", "-U0", "-M", "--no-ext-diff", "--no-textconv", "--no-color",
                            due.base, due.head, "--", *paths).out  # fmt: skip
    except GitError:
        return ""  # a commit of the window has been rewritten away: the reasons stand without excerpts
    return decode(out[:MAX_PATCH_BYTES])
