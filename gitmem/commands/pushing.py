"""pre-push, its local part: what waits is delivered, pushed commits get their capsules, a `branch` record says what
the branch was, so that a squash can be recognised later in any clone."""

from __future__ import annotations

import sys
import time

from gitmem import annotate, exchange, records
from gitmem.errors import Locked
from gitmem.git import ask, network, patchids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.settings import Settings
    from gitmem.store import Store

MAX_COMMITS = 64
MAX_FILES = 64
TRUNKS = ("main", "master", "trunk", "develop")


def before_push(
    store: Store, settings: Settings, remote: Sequence[str], rows: Sequence[str], *, deadline: float
) -> None:
    """rows: `local-ref local-oid remote-ref remote-oid`; remote: its name, if any."""
    begun = time.monotonic()
    _prepare(store, settings, remote, rows, deadline=deadline)
    if remote and store.setting("gitmem.sync") == "auto" and not _only_notes(rows):
        _share(store, settings, remote[0], begun + exchange.HOOK_SECONDS)


def _only_notes(rows: Sequence[str]) -> bool:
    """Whether somebody pushes the notes by hand: they would overtake themselves."""
    return bool(rows) and all(" refs/notes/gitmem " in row for row in rows)


def _share(store: Store, settings: Settings, remote: str, deadline: float) -> None:
    """Sends the notes along, in the time that is left. Says in one line when that did not work, and why."""
    if remote not in network.remotes(store.git):
        return  # a push to a bare address
    store.use_deadline(deadline)
    known = ask.exact_ref(store.git, network.tracking(remote, exchange.home_shard(store, settings.shards))) is not None
    report = exchange.sync(
        store, remote, shards=settings.shards, fetched=known, deadline=deadline, tries=exchange.TRIES
    )  # fmt: skip
    if report.outcome in ("refused", "busy"):
        sys.stderr.write(f"gitmem: the notes were not sent to '{remote}': {report.said}; they go with the next push\n")
    if report.held:
        sys.stderr.write(f"gitmem: {len(report.held)} records held back: 'gitmem sync' names them\n")


def _prepare(store: Store, settings: Settings, remote: Sequence[str], rows: Sequence[str], *, deadline: float) -> None:
    pushed = [words for row in rows if len(words := row.split(" ")) == 4]
    try:
        annotate.deliver(store, settings, deadline=deadline)
    except Locked:
        pass  # another run delivers it
    for _, oid, target, _ in pushed:
        if target.startswith("refs/heads/") and set(oid) != {"0"}:
            _annotate_branch(store, settings, oid, target, remote=(remote or ["origin"])[0], deadline=deadline)


def _annotate_branch(
    store: Store, settings: Settings, head: str, target: str, *, remote: str, deadline: float
) -> None:  # fmt: skip
    known = f"--remotes={remote}"
    wanted = ask.commits(store.git, f"--max-count={annotate.MAX_FILL}", head, "--not", known)
    annotate.fill(store, wanted, settings, deadline=deadline)
    trunk = _trunk(store, remote)
    if trunk is None or target == "refs/heads/" + trunk.rsplit("/", 1)[1]:
        return  # what is pushed to the trunk itself stays there as it is: nothing to recognise later
    base = ask.merge_base(store.git, trunk, head)
    if base is not None and base != head:
        annotate.write_or_defer(
            store, {head: [branch_line(store, base, head)]}, subject="branch as it was pushed", deadline=deadline
        )


def _trunk(store: Store, remote: str) -> str | None:
    """The remote's main branch, as a ref of this clone."""
    head = ask.symbolic_ref(store.git, f"refs/remotes/{remote}/HEAD")
    if head is not None:
        return head
    return next((ref for name in TRUNKS if ask.ref_tip(store.git, ref := f"refs/remotes/{remote}/{name}")), None)


def branch_line(store: Store, base: str, head: str) -> bytes:
    """The `branch` record of base..head: its commits and files with their patch ids."""
    oids = [oid for oid, _ in ask.commits(store.git, f"--max-count={MAX_COMMITS}", f"{base}..{head}")]
    [newest] = annotate.bare(store, [(head, ())])
    ids = {} if store.partial else patchids.of_commits(store.git, oids)
    whole, files = (None, []) if store.partial else patchids.of_range(store.git, base, head)
    pairs = sorted(records.short_hash(path, 8) + patch[:8] for path, patch in files)
    return records.line_of(
        "branch", head, newest.at, base=base, head=head, commits=[[oid, ids.get(oid, "")] for oid in oids], patch=whole,
        files=pairs[:MAX_FILES], w=records.who(newest.mail), cut=["files"] if len(pairs) > MAX_FILES else None,
    )  # fmt: skip
