"""The engine in post-commit: judge, write or extend the manifest, notice a committed reflection; one line when due."""

from __future__ import annotations

import sys
import time

from gitmem import files, records, reflect_state, reflection, window
from gitmem.errors import Locked
from gitmem.manifest import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.changes import Commit
    from gitmem.settings import Settings
    from gitmem.store import Store

LOCK_SECONDS = 0.2  # a reflect-commit under way is not waited for: the mark stays, the next commit takes it in


def after_commit(store: Store, settings: Settings, commit: Commit) -> list[bytes]:
    """Runs the engine on HEAD. The `reflection` record when this commit holds an accepted reflection."""
    if store.objects.get(f"{commit.oid}:{FOLDER}") is None:
        return []  # no pages here: nothing that could become untrue
    try:
        with reflect_state.reflect_lock(store, LOCK_SECONDS):
            return _run(store, settings, commit)
    except Locked:
        return []


def _run(store: Store, settings: Settings, commit: Commit) -> list[bytes]:
    done = reflect_state.committed(store, commit.oid)
    if done is not None:
        files.remove(reflect_state.accepted_path(store))
        window.write_mark(store, commit.oid)
        return [reflection.reflection_line(commit.oid, commit.at, records.who(commit.mail), "committed", done)]
    found = reflection.judge_window(store, reflection.next_window(store, commit.oid), settings, commit)
    if reflect_state.thrown_away(store, commit.oid) is not None:
        files.remove(reflect_state.accepted_path(store))
    made = reflection.prepare(store, found, now=time.time())
    window.write_mark(store, commit.oid)
    if made.added and made.manifest is not None and not made.manifest.parked:
        pages, due = ", ".join(made.added), "is due for" if made.status == "prepared" else "that is due takes in"
        sys.stderr.write(f"gitmem: a reflection {due} {pages}: run 'gitmem reflect'\n")
    return []
