"""What is being purged and where that is not done yet: until it is, nothing is built on what a remote holds."""

from __future__ import annotations

from gitmem import files, records
from gitmem.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store import Store


def _path(store: Store) -> str:
    return store.place.common_state_dir + "/purging.json"


def unfinished(store: Store) -> dict[str, list[str]]:
    """id -> the remotes that may still hold it."""
    found = files.read_object(_path(store))
    return {oid: [str(name) for name in names] for oid, names in found.items() if isinstance(names, list)}


def note(store: Store, oid: str, remotes: list[str]) -> None:
    """Remembers what is left to do; nothing is forgotten about it when none is left."""
    found = {**unfinished(store), oid: remotes}
    left = {key: names for key, names in found.items() if names}
    if left:
        files.replace(_path(store), records.canonical(left))
    else:
        files.remove(_path(store))


def check(store: Store, remote: str) -> None:
    """Raises Refused while a remote may hold what was purged here: a sync would bring its history back."""
    for oid, remotes in unfinished(store).items():
        if remote in remotes:
            raise Refused(
                f"rec-{oid} is not purged from '{remote}' yet", f"run 'gitmem forget --purge rec-{oid}' again"
            )
