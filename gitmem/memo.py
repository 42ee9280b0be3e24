"""What prepare-commit-msg saw and post-commit no longer can: the commits a squash, cherry-pick or revert comes from."""

from __future__ import annotations

import os

from gitmem import files, patterns, quickjson, records
from gitmem.annotate import Link
from gitmem.git import ask
from gitmem.git.run import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store import Header, Store

MAX_SQUASH_BYTES = 1 << 20
MAX_SQUASHED = 64
STATES = (("CHERRY_PICK_HEAD", "cherry-pick"), ("REVERT_HEAD", "revert"))


def write(store: Store) -> None:
    """Notes the operation under way with the HEAD it starts from; forgets an older note when there is none."""
    sources = [[oid, operation] for ref, operation in STATES if (oid := ask.ref_tip(store.git, ref))]
    squash = files.read(store.place.git_dir + "/SQUASH_MSG", max_bytes=MAX_SQUASH_BYTES) or b""
    found = patterns.compiled(r"^commit ([0-9a-f]{40,64})$", patterns.MULTILINE).findall(decode(squash))
    sources += [[oid, "squash"] for oid in found[:MAX_SQUASHED]]
    if sources:
        head = ask.head_commit(store.git)
        files.replace(_path(store), records.canonical({"head": head, "sources": sources}))
    else:
        files.remove(_path(store))


def read(store: Store, head: Header) -> list[Link]:
    """The links of the commit just made, from a note that was made for it; the note is used once."""
    data = files.read(_path(store))
    if data is None:
        return []
    files.remove(_path(store))
    try:
        noted = quickjson.loads(data)
        if noted["head"] != (head.parents[0] if head.parents else None) or os.path.exists(
            store.place.git_dir + "/SQUASH_MSG"
        ):
            return []
        return [Link(str(old), head.oid, str(operation)) for old, operation in noted["sources"]]
    except (ValueError, KeyError, TypeError):
        return []


def _path(store: Store) -> str:
    return store.place.state_dir + "/commit-memo.json"
