"""pre-push, its local part: what waits is delivered, pushed commits get their capsules, a `branch` record says what
the branch was, so that a squash can be recognised later in any clone."""

from __future__ import annotations

import sys
import time

from gitmem import ancestry, annotate, exchange, records
from gitmem.errors import Locked
from gitmem.git import ask, network, patchids
from gitmem.values import counted

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
    going = _prepare(store, settings, remote, rows, deadline=deadline)
    if remote and store.setting("gitmem.sync") == "auto" and not _names_notes(rows) and not ancestry.is_dry_run():
        tips = {oid for row in rows for oid in row.split(" ")[1:2] if oid.strip("0")}
        _share(store, settings, remote, tuple(tips | going), begun + exchange.HOOK_SECONDS)


def _names_notes(rows: Sequence[str]) -> bool:
    """Whether the push itself writes to our refs: two pushes at once would be in each other's way."""
    return any(word == network.NOTES or word.startswith(network.SHARDS) for row in rows for word in row.split(" ")[2:3])


def _share(store: Store, settings: Settings, remote: Sequence[str], pushed: tuple[str, ...], deadline: float) -> None:
    """Sends the notes along, in the time that is left. Says in one line when that did not work, and why."""
    name = remote[0]
    store.use_deadline(deadline)
    places = network.places(store.git, name) if network.safe_name(name) else []
    if not places:
        return  # a push to a bare address
    known = store.tip(network.tracking(name, exchange.home_shard(store, settings.shards))) is not None
    way = exchange.Way(deadline, shards=settings.shards, fetched=known, tries=exchange.TRIES, pushed=pushed)
    report = exchange.sync(store, name, way, url=remote[1] if len(remote) > 1 else None, places=places)
    if report.outcome in ("refused", "busy"):
        sys.stderr.write(f"gitmem: the notes were not sent to '{name}': {report.said}; they go with the next push\n")
    if report.held:
        sys.stderr.write(f"gitmem: {counted(len(report.held), 'record')} held back: 'gitmem sync' names them\n")


def _prepare(
    store: Store, settings: Settings, remote: Sequence[str], rows: Sequence[str], *, deadline: float
) -> set[str]:
    """Writes what is missing; the commits that go to the remote, as far as they were looked at."""
    going: set[str] = set()
    pushed = [words for row in rows if len(words := row.split(" ")) == 4]
    try:
        annotate.deliver(store, settings, deadline=deadline)
    except Locked:
        pass  # another run delivers it
    for _, oid, target, _ in pushed:
        if target.startswith("refs/heads/") and set(oid) != {"0"}:
            going |= _annotate_branch(store, settings, oid, target, remote=(remote or ["origin"])[0], deadline=deadline)
    return going


def _annotate_branch(
    store: Store, settings: Settings, head: str, target: str, *, remote: str, deadline: float
) -> set[str]:  # fmt: skip
    known = f"--remotes={remote}"
    wanted = ask.commits(store.git, f"--max-count={annotate.MAX_FILL}", head, "--not", known)
    annotate.fill(store, wanted, settings, deadline=deadline)
    trunk = _trunk(store, remote)
    if trunk is None or target == "refs/heads/" + trunk.rsplit("/", 1)[1]:
        return {oid for oid, _ in wanted}  # what is pushed to the trunk stays as it is: nothing to recognise later
    base = ask.merge_base(store.git, trunk, head)
    if base is not None and base != head:
        annotate.write_or_defer(
            store, {head: [branch_line(store, base, head)]}, subject="branch as it was pushed", deadline=deadline
        )
    return {oid for oid, _ in wanted}


def _trunk(store: Store, remote: str) -> str | None:
    """The remote's main branch, as a ref of this clone."""
    names = [f"refs/remotes/{remote}/{name}" for name in ("HEAD", *TRUNKS)]
    rows = ask.refs(store.git, "%(refname) %(symref)", *names)
    there = {row.partition(" ")[0]: row.partition(" ")[2] for row in rows}
    return there.get(names[0]) or next((name for name in names[1:] if name in there), None)


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
