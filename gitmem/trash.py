"""What was dropped from notes stays here for a month: one line each, with the day it went."""

from __future__ import annotations

import os
import time

from gitmem import files, quickjson, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from gitmem.store import Store

KEEP_SECONDS = 30 * 86400
MAX_BYTES = 16 << 20


def _path(store: Store) -> str:
    return store.place.common_state_dir + "/trash/notes.jsonl"


def keep(store: Store, gone: Iterable[tuple[str, bytes]]) -> None:
    """Adds lines that are leaving their notes, and lets go of what has been here for long."""
    at = int(time.time())
    for commit, line in gone:
        entry = {"at": at, "commit": commit, "line": line.decode("utf-8", "surrogateescape")}
        files.append(_path(store), records.canonical(entry))
    if os.path.exists(_path(store)):
        without(store, lambda entry: at - int(entry["at"]) > KEEP_SECONDS)


def without(store: Store, gone: Callable[[dict[str, Any]], bool]) -> int:
    """Lets go of the entries that a test names; the number of them. What does not parse stays."""
    rows = (files.read(_path(store), max_bytes=MAX_BYTES) or b"").splitlines()
    kept = [row for row in rows if not _matches(row, gone)]
    if len(kept) < len(rows):
        files.replace(_path(store), b"".join(row + b"\n" for row in kept))
    return len(rows) - len(kept)


def _matches(row: bytes, test: Callable[[dict[str, Any]], bool]) -> bool:
    try:
        return test(quickjson.loads(row))
    except (ValueError, KeyError, TypeError):
        return False
