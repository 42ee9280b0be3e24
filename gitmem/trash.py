"""What was dropped from notes stays here for a month: one line each, with the day it went."""

from __future__ import annotations

import os
import time

from gitmem import files, quickjson, records
from gitmem.errors import GitmemError, Refused

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
    """Adds lines that are leaving their notes, each once, and lets go of what has been here for long. Never in the
    way of what it is done for."""
    at = int(time.time())
    listed = list(gone)
    if not listed and not os.path.exists(_path(store)):
        return
    try:
        rows = _rows(store)
        had = {(entry.get("commit"), entry.get("line")) for row in rows if (entry := _entry(row))}
        entries = [
            {"at": at, "commit": commit, "line": line.decode("utf-8", "surrogateescape")} for commit, line in listed
        ]
        new = [records.canonical(entry) for entry in entries if (entry["commit"], entry["line"]) not in had]
        kept = [row for row in rows if not _is_old(row, at)]
        if new or len(kept) < len(rows):
            _write(store, [*kept, *new])
    except (OSError, GitmemError) as error:
        store.log_failure("trash", error)


def _rows(store: Store) -> list[bytes]:
    try:
        return (files.read(_path(store), max_bytes=4 * MAX_BYTES) or b"").splitlines()
    except Refused:  # far too large: somebody else's doing
        os.replace(_path(store), _path(store) + ".1")
        return []


def _write(store: Store, rows: list[bytes]) -> None:
    """The newest rows that fit."""
    size, first = 0, len(rows)
    while first and size + len(rows[first - 1]) < MAX_BYTES:
        first -= 1
        size += len(rows[first]) + 1
    files.replace(_path(store), b"".join(row + b"\n" for row in rows[first:]))


def _entry(row: bytes) -> dict[str, Any]:
    try:
        found = quickjson.loads(row)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_old(row: bytes, now: int) -> bool:
    at = _entry(row).get("at")
    return isinstance(at, int) and now - at > KEEP_SECONDS


def without(store: Store, gone: Callable[[dict[str, Any]], bool]) -> int:
    """Lets go of the entries that a test names; the number of them. What does not parse stays."""
    rows = _rows(store)
    kept = [row for row in rows if not ((entry := _entry(row)) and gone(entry))]
    if len(kept) < len(rows):
        files.replace(_path(store), b"".join(row + b"\n" for row in kept))
    return len(rows) - len(kept)
