"""The engine: judges a window, writes or extends the manifest, notices that a reflection was committed."""

from __future__ import annotations

import os
import time

from gitmem import files, manifest, quickjson, records, window
from gitmem.capsule import files_of
from gitmem.changes import MAX_COUNTED_FILES
from gitmem.errors import Refused
from gitmem.git import ask
from gitmem.git.commits import Difference, Known, read_difference
from gitmem.git.run import decode, encode
from gitmem.manifest import FOLDER, ORDER, Manifest, Size, Window
from gitmem.values import NamedTuple
from gitmem.verdict.signals import Verdict, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.changes import Commit
    from gitmem.settings import Settings
    from gitmem.store import Store


LINKS = 20  # commits back from HEAD whose links are followed to a manifest's head


class Judged(NamedTuple):
    window: Window
    verdict: Verdict
    size: Size


class Prepared(NamedTuple):
    """What a run of the engine came to. status: prepared, extended, skipped."""

    status: str
    judged: Judged
    manifest: Manifest | None
    fresh: bool  # a reflection became due by this run


class Accepted(NamedTuple):
    """A reflection whose pages were accepted and wait for their commit."""

    id: str
    base: str
    head: str
    targets: tuple[str, ...]
    blobs: dict[str, str]


def judge_window(store: Store, found: Window, settings: Settings, newest: Commit | None = None) -> Judged:
    """The verdict over a window's net difference. newest: the commit at its head, where that was read just now."""
    if found.base == found.head:
        return judged(found, Difference((), ()), store, settings)
    base, head = store.tree(found.base), store.tree(found.head)
    known = None
    if newest and newest.oid == found.head and newest.parents and len(newest.changes) > MAX_COUNTED_FILES:
        known = Known(store.tree(newest.parents[0]), newest.changes)
    difference = read_difference(store.differ, base, head, partial=store.partial, known=known)
    return judged(found, difference, store, settings)


def judged(found: Window, difference: Difference, store: Store, settings: Settings) -> Judged:
    """The verdict over a difference that was read already."""
    changes = difference.changes
    known = accepted_blobs(store)
    roles = settings.roles(changes) | linguist_roles(store, [change.path for change in changes])
    pages = frozenset(
        c.path for c in changes if c.path.startswith(FOLDER + "/") and _blob(store, found.head, c.path) in known
    )
    verdict = judge(files_of(changes), found.subjects, settings.rules, accepted=pages, roles=roles)
    added, removed = sum(c.added for c in changes if c.added), sum(c.removed for c in changes if c.removed)
    size = Size(tuple(change.path for change in changes), added, removed)
    return Judged(found._replace(truncated=(*found.truncated, *difference.truncated)), verdict, size)


def _blob(store: Store, rev: str, path: str) -> str | None:
    found = store.objects.get(f"{rev}:{path}")
    return found.oid if found else None


def linguist_roles(store: Store, paths: Sequence[str]) -> dict[str, str]:
    """path -> role by `linguist-generated` and `linguist-vendored`; nothing is asked where no attributes name them."""
    if store.place.top is None or not paths:
        return {}
    try:
        attributes = files.read(store.place.top + "/.gitattributes", max_bytes=1 << 20) or b""
    except (OSError, Refused):
        return {}
    if b"linguist-" not in attributes:
        return {}
    asked = b"".join(encode(path) + b"\0" for path in paths)
    out = store.git.run(
        "check-attr", "-z", "--stdin", "linguist-generated", "linguist-vendored", stdin=asked, ok=(0, 1)
    ).out
    words = decode(out).split("\0")
    rows = zip(words[0::3], words[1::3], words[2::3], strict=False)
    return {path: name.removeprefix("linguist-") for path, name, value in rows if value in ("set", "true")}


def snapshot(store: Store, rev: str = "HEAD") -> dict[str, str | None]:
    """The blob of each page at a revision."""
    return {page: _blob(store, rev, f"{FOLDER}/{page}") for page in ORDER}


def manifest_path(store: Store) -> str:
    return store.place.state_dir + "/reflect-prompt.json"


def waiting_path(store: Store, branch: str) -> str:
    """Where a manifest waits while another branch is checked out; the name is hashed, never a path."""
    return f"{store.place.state_dir}/reflect/{records.short_hash(branch, 16)}.json"


def read_manifest(store: Store) -> Manifest | str | None:
    """The pending manifest of this worktree, None without one, or the code of what is wrong with it."""
    data = files.read(manifest_path(store), max_bytes=manifest.MAX_BYTES)
    return None if data is None else manifest.parse(data)


def reflect_lock(store: Store, seconds: float) -> files.Lock:
    """Held by whoever changes the manifest or accepts a reflection. Entering raises Locked."""
    return files.Lock(store.place.state_dir + "/reflect.lock", deadline=time.monotonic() + seconds)


def write_manifest(store: Store, found: Manifest) -> None:
    files.replace(manifest_path(store), manifest.render(found))


def utc(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def prepare(
    store: Store, found: Judged, *, now: float, agent: str = "", session: str = "",
    force: bool = False, targets: Sequence[str] | None = None,
) -> Prepared:  # fmt: skip
    """Writes or extends the manifest when the verdict asks for it, or somebody does. Call it under `reflect_lock`."""
    old = read_manifest(store)
    pending = old if isinstance(old, Manifest) and old.base == found.window.base else None
    if pending is not None and set(pending.targets) - set(found.verdict.targets):
        targets = [*found.verdict.targets, *(t for t in pending.targets if t not in found.verdict.targets)]
    if not (found.verdict.relevant or force or pending or targets):
        return Prepared("skipped", found, None, False)
    chosen = targets or found.verdict.targets or list(ORDER)
    taken = pending.snapshot if pending and not force else snapshot(store, found.window.head)
    made = manifest.build(
        found.window, found.verdict, found.size, taken, at=utc(now), agent=agent, session=session, targets=chosen
    )
    if pending is not None and not force:
        kept = {key: pending.fields[key] for key in ("attempts", "state", "errors", "session_id", "trigger_agent")}
        made = Manifest(made.fields | kept)
    write_manifest(store, made)
    return Prepared("extended" if pending else "prepared", found, made, pending is None)


def rejected_again(store: Store, due: Manifest, errors: Sequence[str]) -> Manifest:
    """Counts a refusal; from the second on the manifest is parked. The pages stay as they were."""
    counted = manifest.rejected(due, errors)
    write_manifest(store, counted)
    return counted


def next_window(store: Store, head: str) -> Window:
    """The window of the next run: from the base of what is pending, of what was thrown away, else the usual one.

    A manifest of another branch is put aside, one of this branch is taken up again.
    """
    settle(store, head)
    pending = read_manifest(store)
    if isinstance(pending, Manifest):
        return window.extended_window(store, pending, head)
    lost = thrown_away(store, head)
    if lost is not None:
        return window.extended_window(store, Manifest({"base": lost.base}), head)
    return window.usual_window(store, head)


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
        return Accepted(found["id"], found["base"], found["head"], tuple(found["targets"]), dict(found["blobs"]))
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
    there = all(_blob(store, head, path) == blob for path, blob in found.blobs.items())
    return found if there else None


def thrown_away(store: Store, head: str) -> Accepted | None:
    """The accepted reflection whose pages are neither in HEAD nor staged any more: the work is due again."""
    found = read_accepted(store)
    if found is None or all(_blob(store, head, path) == blob for path, blob in found.blobs.items()):
        return None
    staged = all(_blob(store, "", path) == blob for path, blob in found.blobs.items())
    return None if staged else found


def reflection_line(commit: str, at: int, w: str, outcome: str, found: Accepted, reason: str = "") -> bytes:
    """The `reflection` record. outcome: accepted, committed, no-change."""
    return records.line_of(
        "reflection", commit, at, manifest=found.id, base=found.base, head=found.head, targets=list(found.targets),
        blobs=found.blobs, outcome=outcome, reason=reason, w=w,
    )  # fmt: skip
