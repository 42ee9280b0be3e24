"""How every command opens the store: what an interrupted run left behind is finished first."""

from __future__ import annotations

import os

from gitmem import accepting, reflect_state
from gitmem.errors import GitmemError
from gitmem.git.run import Git
from gitmem.output import tell
from gitmem.store import Store


def open_store(folder: str | None, *, enabled: bool = False) -> Store:
    """The store around a folder. enabled: refuse a clone that nobody set up.

    A journal of reflect-commit is finished, or moved to the trash with a notice.
    """
    store = Store.open(Git(folder))
    if enabled:
        store.require_enabled()
    if os.path.exists(accepting.journal_path(store)):
        try:
            with reflect_state.reflect_lock(store, 2.0):
                done = accepting.recover(store)
            if done is not None:
                tell(f"gitmem: finished the interrupted reflection {done.id}")
        except GitmemError as error:
            tell(f"gitmem: {error.message}")
    return store
