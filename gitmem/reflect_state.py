"""What waits in this clone: the manifest of a reflection that is due, by branch, and one that was accepted but not
committed."""

from __future__ import annotations

import os
import time

from gitmem import files, manifest, quickjson, records, window
from gitmem.git import ask
from gitmem.manifest import Manifest
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store import Store

LINKS = 20  # commits back from HEAD whose links are followed to a manifest's head


class Accepted(NamedTuple):
    """A reflection whose pages were accepted and wait for their commit."""

    id: str
    base: str
    head: str
    targets: tuple[str, ...]
    blobs: dict[str, str]
    reason: str = ""  # why a target was left as it is


def manifest_path(store: Store) -> str:
    return store.place.state_dir + "/reflect-prompt.json"


def waiting_path(store: Store, branch: str) -> str:
    """Where a manifest waits while another branch is checked out; the name is hashed, never a path."""
    return f"{store.place.state_dir}/reflect/{records.short_hash(branch, 16)}.json"


def read_manifest(store: Store) -> Manifest | str | None:
    """The pending manifest of this worktree, None without one, or the code of what is wrong with it."""
    data = files.read(manifest_path(store), max_bytes=manifest.MAX_BYTES)
    return None if data is None else manifest.parse(data)


def write_manifest(store: Store, found: Manifest) -> None:
    files.replace(manifest_path(store), manifest.render(found))


def reflect_lock(store: Store, seconds: float) -> files.Lock:
    """Held by whoever changes the manifest or accepts a reflection. Entering raises Locked."""
    return files.Lock(store.place.state_dir + "/reflect.lock", deadline=time.monotonic() + seconds)


def settle(store: Store, head: str) -> None:
    """Puts a manifest of another branch aside, and takes up again the one that waits for this branch. One whose commit
    is gone stays with the history it began in, or goes: there is no branch that it could wait for."""
    pending = read_manifest(store)
    if isinstance(pending, Manifest) and not _belongs(store, pending, head):
        owner = _branch_of(store, pending)
        if owner is None:
            files.remove(manifest_path(store))
        else:
            files.make_folder(store.place.state_dir + "/reflect")
            os.replace(manifest_path(store), waiting_path(store, owner))
            data = owner.encode("utf-8", "surrogateescape")
            files.replace(waiting_path(store, owner) + ".name", data, durable=False)
        pending = None
    if os.path.isdir(store.place.state_dir + "/reflect"):
        _take_up(store, head, free=pending is None)


def _take_up(store: Store, head: str, *, free: bool) -> None:
    here = ask.branch(store.git) or ""
    names = set(waiting_branches(store))
    for name in names - set(ask.refs(store.git, "%(refname:short)", "refs/heads")):
        files.remove(waiting_path(store, name))
        files.remove(waiting_path(store, name) + ".name")
    path = waiting_path(store, here)
    if free and here in names and os.path.exists(path):
        found = manifest.parse(files.read(path, max_bytes=manifest.MAX_BYTES) or b"")
        if isinstance(found, Manifest) and _belongs(store, found, head):
            os.replace(path, manifest_path(store))
            files.remove(path + ".name")


def _belongs(store: Store, found: Manifest, head: str) -> bool:
    """Whether a manifest is about the history of HEAD: its commit is in it, became one of it, or is gone while what
    it began from is still there."""
    if _led_to(store, found.head, head):
        return True
    began_here = found.base in ask.EMPTY_TREE.values() or ask.is_ancestor(store.git, found.base, head)
    return began_here and _branch_of(store, found) is None


def _branch_of(store: Store, pending: Manifest) -> str | None:
    """A branch that holds the manifest's commit, or what it became; None where none does any more."""
    for oid in (pending.head, *_became(store, pending.head)):
        names = ask.branches_with(store.git, oid)
        if names:
            return names[0]
    return None


def _became(store: Store, old: str) -> list[str]:
    """The commits that links lead to from one that may be gone; only looked for where it is on no branch."""
    from gitmem import mirror  # a hook comes here once in a blue moon

    return [new for _, new, _ in mirror.links(store, [old]) if new.isalnum()]


def _led_to(store: Store, old: str, head: str) -> bool:
    """Whether a commit is HEAD or before it, or became one that is, by a rewrite that `link` records tell of."""
    newest = store.commit_header(head)
    if newest is not None and old in (head, *newest.parents):
        return True
    near = [step.oid for step in window.first_parents(store, head, most=LINKS).steps]
    if old in near or ask.is_ancestor(store.git, old, head):
        return True
    notes = store.note_lines(near)
    return any(
        r.kind == "link" and r.fields.get("old") == old for _, lines in notes for r in records.read(lines).records
    )


def waiting_branches(store: Store) -> list[str]:
    """The branches whose manifests wait for them."""
    try:
        names = sorted(os.listdir(store.place.state_dir + "/reflect"))
    except FileNotFoundError:
        return []
    found = (files.read(f"{store.place.state_dir}/reflect/{name}") or b"" for name in names if name.endswith(".name"))
    return [name.decode("utf-8", "surrogateescape") for name in found]


def accepted_path(store: Store) -> str:
    return store.place.state_dir + "/accepted.json"


def read_accepted(store: Store) -> Accepted | None:
    try:
        found = quickjson.loads(files.read(accepted_path(store)) or b"null")
        blobs, targets, reason = dict(found["blobs"]), tuple(found["targets"]), str(found.get("reason", ""))
        return Accepted(found["id"], found["base"], found["head"], targets, blobs, reason)
    except (ValueError, KeyError, TypeError):
        return None


def write_accepted(store: Store, found: Accepted) -> None:
    files.replace(accepted_path(store), records.canonical(found._asdict() | {"targets": list(found.targets)}))


def accepted_blobs(store: Store) -> frozenset[str]:
    """The pages' blobs that the last reflection accepted: no work by hand."""
    found = read_accepted(store)
    return frozenset(found.blobs.values()) if found else frozenset()


def committed(store: Store, head: str) -> Accepted | None:
    """The accepted reflection when a commit holds its pages."""
    found = read_accepted(store)
    if found is None or not found.blobs:
        return None
    there = all(blob_at(store, head, path) == blob for path, blob in found.blobs.items())
    return found if there else None


def thrown_away(store: Store, head: str) -> Accepted | None:
    """The accepted reflection whose pages are neither in HEAD nor staged any more: the work is due again."""
    found = read_accepted(store)
    if found is None or all(blob_at(store, head, path) == blob for path, blob in found.blobs.items()):
        return None
    staged = all(blob_at(store, "", path) == blob for path, blob in found.blobs.items())
    return None if staged else found


def blob_at(store: Store, rev: str, path: str) -> str | None:
    found = store.objects.get(f"{rev}:{path}")
    return found.oid if found else None
