"""The engine: judges a window, writes or extends the manifest."""

from __future__ import annotations

import time

from gitmem import files, manifest, records, reflect_state, window
from gitmem.capsule import files_of
from gitmem.changes import MAX_COUNTED_FILES
from gitmem.errors import Refused
from gitmem.git import ask
from gitmem.git.difference import Difference, Known, read_difference
from gitmem.manifest import FOLDER, ORDER, Manifest, Size, Window
from gitmem.values import NamedTuple
from gitmem.verdict.signals import Verdict, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.changes import Commit
    from gitmem.settings import Settings
    from gitmem.store import Store


class Judged(NamedTuple):
    window: Window
    verdict: Verdict
    size: Size


class Prepared(NamedTuple):
    """What a run of the engine came to. status: prepared, extended, skipped. added: pages that became due by it."""

    status: str
    judged: Judged
    manifest: Manifest | None
    added: tuple[str, ...] = ()


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
    paths = tuple(change.path for change in changes)
    known, folder = reflect_state.accepted_blobs(store), FOLDER + "/"
    roles = settings.roles(changes) | linguist_roles(store, paths)
    ours = [path for path in paths if path.startswith(folder)] if known else []
    pages = frozenset(path for path in ours if reflect_state.blob_at(store, found.head, path) in known)
    verdict = judge(files_of(changes), found.subjects, settings.rules, accepted=pages, roles=roles)
    lines = [(change.added or 0, change.removed or 0) for change in changes if change.added or change.removed]
    size = Size(paths, sum(added for added, _ in lines), sum(removed for _, removed in lines))
    return Judged(found._replace(truncated=(*found.truncated, *difference.truncated)), verdict, size)


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
    rows = ask.attributes(store.git, paths, "linguist-generated", "linguist-vendored")
    return {path: name.removeprefix("linguist-") for path, name, value in rows if value in ("set", "true")}


def snapshot(store: Store, rev: str = "HEAD") -> dict[str, str | None]:
    """The blob of each page at a revision."""
    return {page: reflect_state.blob_at(store, rev, f"{FOLDER}/{page}") for page in ORDER}


def utc(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def prepare(
    store: Store, found: Judged, *, now: float, agent: str = "", session: str = "",
    force: bool = False, asked: bool = False, targets: Sequence[str] | None = None,
) -> Prepared:  # fmt: skip
    """Writes or extends the manifest when the verdict asks for it, or somebody does. Call it under `reflect_lock`.

    asked: by a person, who has seen the pages as they are now: the snapshot is taken anew.
    """
    old = reflect_state.read_manifest(store)
    pending = old if isinstance(old, Manifest) and old.base == found.window.base else None
    if pending and not (force or targets) and _is_undone(pending, found):
        files.remove(reflect_state.manifest_path(store))
        return Prepared("skipped", found, None)
    if targets is None and pending is not None and set(pending.targets) - set(found.verdict.targets):
        targets = [*found.verdict.targets, *(t for t in pending.targets if t not in found.verdict.targets)]
    if not (found.verdict.relevant or force or pending or targets):
        return Prepared("skipped", found, None)
    chosen = targets or found.verdict.targets or list(ORDER)
    taken = pending.snapshot if pending and not force and not asked else snapshot(store, found.window.head)
    made = manifest.build(
        found.window, found.verdict, found.size, taken, at=utc(now), agent=agent, session=session, targets=chosen
    )
    if pending is not None and not force:
        kept = {key: pending.fields[key] for key in ("attempts", "state", "errors", "session_id", "trigger_agent")}
        made = Manifest(made.fields | kept)
    reflect_state.write_manifest(store, made)
    had = pending.targets if pending else ()
    return Prepared("extended" if pending else "prepared", found, made, tuple(t for t in made.targets if t not in had))


def _is_undone(pending: Manifest, found: Judged) -> bool:
    """Whether of what made a reflection due nothing is left: the same work and what came after it, read as a whole."""
    was_due = pending.fields["heuristic_verdict"] == "relevant"
    return was_due and not found.verdict.relevant and not found.window.truncated


def look_again(store: Store, settings: Settings, head: str) -> None:
    """Judges anew what is due where the commit it was due for is not in this history: its branch may be gone. Call it
    under `reflect_lock`."""
    due = reflect_state.read_manifest(store)
    if not isinstance(due, Manifest) or ask.is_ancestor(store.git, due.head, head):
        return
    if due.base in ask.EMPTY_TREE.values() or ask.is_ancestor(store.git, due.base, head):
        prepare(store, judge_window(store, window.extended_window(store, due, head), settings), now=time.time())


def rejected_again(store: Store, due: Manifest, errors: Sequence[str]) -> Manifest:
    """Counts a refusal; from the second on the manifest is parked. The pages stay as they were."""
    counted = manifest.rejected(due, errors)
    reflect_state.write_manifest(store, counted)
    return counted


def next_window(store: Store, head: str) -> Window:
    """The window of the next run: from the base of what is pending, of what was thrown away, else the usual one.

    A manifest of another branch is put aside, one of this branch is taken up again.
    """
    reflect_state.settle(store, head)
    pending = reflect_state.read_manifest(store)
    if isinstance(pending, Manifest):
        return window.extended_window(store, pending, head)
    lost = reflect_state.thrown_away(store, head)
    if lost is not None:
        return window.extended_window(store, Manifest({"base": lost.base}), head)
    return window.usual_window(store, head)


def reflection_line(commit: str, at: int, w: str, outcome: str, found: reflect_state.Accepted) -> bytes:
    """The `reflection` record. outcome: accepted, committed, no-change."""
    return records.line_of(
        "reflection", commit, at, manifest=found.id, base=found.base, head=found.head, targets=list(found.targets),
        blobs=found.blobs, outcome=outcome, reason=found.reason, w=w,
    )  # fmt: skip
