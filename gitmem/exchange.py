"""Sync: fetch, join, push. What others wrote is joined here first, what is new here goes on top of what they have.

The local ref is always what the remote holds, then one commit with what it lacks, then one with what is held back:
lines with a secret, and lines that somebody else wants forgotten and no person has looked at. A single parent
throughout, so history that was purged stays purged. Nothing of `remote.*` is written.
"""

from __future__ import annotations

import os
import time

from gitmem import comparing, files, mirror, notes, purging, records, trash, trust, writer
from gitmem.comparing import Held, Plan
from gitmem.errors import GitError, GitmemError, GitTimeout
from gitmem.git import ask, network
from gitmem.git.network import NOTES, SHARDS, Update, tracking
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gitmem.git.run import Git
    from gitmem.mirror import Mirror
    from gitmem.store import Store

TRIES = 4  # of a hook; a command tries until its time is over
HOOK_SECONDS = 4.0
COMMAND_SECONDS = 1800.0  # a million notes that were never sent take minutes
PAUSE_SECONDS = 0.05
SLOW = "it did not answer in time, 'gitmem sync' waits longer"


class Joined(NamedTuple):
    """What a join came to. send: the commit with what the remote has and what it lacks, none where nothing goes."""

    plan: Plan
    send: str | None
    changes: bool  # whether the remote's notes would change by it
    sharded: bool  # whether the remote has shards


class Report(NamedTuple):
    """outcome: sent, nothing, fetched, refused, busy. waiting: lines on commits that the remote does not have yet.
    said: git's own words when it is refused."""

    remote: str
    outcome: str
    received: int = 0
    sent: int = 0
    dropped: int = 0
    waiting: int = 0
    held: tuple[Held, ...] = ()
    tries: int = 0
    said: str | None = None


class Way(NamedTuple):
    """How a sync goes. pushed: commits that go to the remote at this moment. tries: None until the time is over.
    everything: send also what is on commits that the remote does not have."""

    deadline: float  # monotonic seconds
    shards: int = 1
    fetch_only: bool = False
    fetched: bool = False  # what was fetched last is tried first, one connection less
    tries: int | None = None
    pushed: tuple[str, ...] = ()
    everything: bool = False


def sync(
    store: Store, remote: str, way: Way, *, url: str | None = None, places: list[tuple[str, str]] | None = None
) -> Report:
    """Fetches, joins and pushes until the remote holds what it lacks. Never raises for what the other side refuses.

    url: only that place of a remote that has several. places: of the remote, when the caller has asked already.
    """
    places = places or (network.places(store.git, remote) if network.safe_name(remote) else [])
    if not places:
        raise GitmemError(f"there is no remote '{remote}'", "'git remote -v' lists them")
    if len(places) > 1 and url in [place for _, place in places]:
        places = [place for place in places if place[1] == url]
    reports = [_sync(store, name, place, way)._replace(remote=remote) for name, place in places]
    worst = next((one for one in reports if one.outcome in ("refused", "busy")), reports[0])
    counts = {key: sum(getattr(one, key) for one in reports) for key in ("received", "sent", "dropped")}
    if worst.outcome in ("sent", "nothing"):
        _note_sent(store, remote)
    return worst._replace(**counts)


def _note_sent(store: Store, remote: str) -> None:
    """Leaves the tip that a remote has all of where the shell of pre-push finds it (hooks/git-hook)."""
    path = f"{store.place.common_state_dir}/sent/{remote}"
    tip = store.tip(records.SHARED_REF)
    if "/" in remote or remote.startswith("."):
        return  # no name for a file
    if tip is None:
        files.remove(path)
    elif (files.read(path) or b"").strip() != tip.encode():
        files.replace(path, tip.encode() + b"\n", durable=False)


def _sync(store: Store, remote: str, url: str, way: Way) -> Report:
    git = network.connected(store.git)
    git.deadline = way.deadline
    report = Report(remote, "fetched" if way.fetch_only else "nothing")
    unmoved, before, home = 0, None, home_shard(store, way.shards)
    writer.remove_stale_locks(store.place, "refs/gitmem")
    purging.check(store, remote)
    while True:
        try:
            if not (way.fetched and report.tries == 0):
                network.fetch(git, remote, url)
            tip = store.tip(tracking(remote, home))
            joined = join(store, remote, way, url=url)
            plan = joined.plan
            report = report._replace(received=report.received + plan.received, dropped=report.dropped + len(plan.gone),
                                     waiting=plan.waiting, held=plan.held)  # fmt: skip
            if way.fetch_only or not joined.changes:
                return report
            report = report._replace(tries=report.tries + 1)
            outcome = _push(store, git, remote, url, home, tip, joined)
        except GitmemError as error:
            return report._replace(outcome="refused", said=SLOW if isinstance(error, GitTimeout) else error.message)
        finally:
            writer.tidy(store.git, store.objects, store.place)
        if outcome is None or outcome.done:
            return report._replace(outcome="sent", sent=plan.sending)
        # not moved by anybody, and refused again: that is a decision of the other side, not a race
        unmoved = unmoved + 1 if report.tries > 1 and tip == before else 0
        report = report._replace(said=outcome.said)
        if unmoved >= (1 if way.tries else 3):
            return report._replace(outcome="refused")
        pause = PAUSE_SECONDS * 2 ** min(report.tries, 6) * (int.from_bytes(os.urandom(2)) / 65536)
        if (way.tries is not None and report.tries >= way.tries) or time.monotonic() + pause >= way.deadline:
            return report._replace(outcome="busy")
        time.sleep(pause)
        before = tip
        if way.shards > 1 and report.tries % 2 == 0:
            home = f"{SHARDS}{int.from_bytes(os.urandom(2)) % way.shards:02x}"  # this one is crowded


def home_shard(store: Store, shards: int) -> str:
    """The ref that this clone writes to: by the clone's own id, so that clones spread evenly."""
    if shards == 1:
        return NOTES
    path = store.place.common_state_dir + "/clone-id"
    own = files.read(path) or b""
    if not own:
        own = os.urandom(8).hex().encode()
        files.replace(path, own)
    return f"{SHARDS}{int(records.hash_of(own), 16) % shards:02x}"


def _push(
    store: Store, git: Git, remote: str, url: str, home: str, tip: str | None, joined: Joined
) -> network.Outcome | None:
    """None where the shards of the remote need nothing: what others forgot stays in theirs until they sync."""
    oid = joined.send  # where nothing is there yet, it can go to any ref
    if joined.sharded or (home != NOTES and joined.plan.lines):
        oid = _on_top(store, tip, joined.plan.lines)
        if not joined.plan.lines:
            mirror.took(store, remote, {}, joined.send)
            return None
    if oid is None:
        raise GitError("nothing was made to push")
    [outcome] = network.push(git, url, [Update(home, oid)])
    if outcome.done:
        store.git.run("update-ref", tracking(remote, home), oid)
        if joined.sharded or home != NOTES:
            mirror.took(store, remote, {home: oid}, joined.send)
    return outcome


def _on_top(store: Store, tip: str | None, lines: dict[str, list[bytes]]) -> str | None:
    """The outgoing lines on top of what one shard holds."""
    finals = {commit: notes.join(had, lines[commit]) for commit, had in store.lines_at(tip, lines)}
    return _built(store, tip, tip, finals, "records")


def _built(
    store: Store, parent: str | None, tree_of: str | None, finals: dict[str, list[bytes]], subject: str,
    blobs: dict[str, str] | None = None, deleted: Sequence[str] = (),
) -> str | None:  # fmt: skip
    return writer.build(
        store.git, store.objects, store.place, parent=parent, tree_of=tree_of, finals=finals, blobs=blobs,
        deleted=deleted, author=store.author(), subject=subject,
    )  # fmt: skip


def preview(store: Store, remote: str, way: Way) -> Plan:
    """What a join with what was fetched last would come to. Writes nothing, opens no connection."""
    there = mirror.as_known(store, remote)
    local = store.tip(records.SHARED_REF)
    return comparing.compare(store, there, local, _publicity(remote, way, None), note=False)


def _publicity(remote: str, way: Way, url: str | None) -> comparing.Unpublished:
    """How to tell which commits the remote does not have."""
    if way.everything or way.fetch_only:
        return comparing.everything_is_public

    def unpublished(store: Store, oids: Collection[str]) -> set[str]:
        missing = comparing.unpublished(store, oids, remote=remote, pushed=way.pushed)
        if not missing or url is None or ask.has_refs(store.git, f"refs/remotes/{remote}/"):
            return missing
        tips = network.heads(network.connected(store.git), url)  # this clone keeps none of them
        return comparing.unpublished(store, oids, remote=remote, pushed=[*way.pushed, *store.present(tips)])

    return unpublished


def join(store: Store, remote: str, way: Way, *, url: str | None = None) -> Joined:
    """Makes the local ref what the remote holds and what is new here, as two commits at most on top of it."""
    store.take_up_lost(way.deadline)
    with files.Lock(store.place.common_state_dir + "/lock", deadline=way.deadline):
        there = mirror.refresh(store, remote)
        while True:
            local = store.tip(records.SHARED_REF)
            plan = comparing.compare(
                store, there, local, _publicity(remote, way, url), quiet=frozenset(trust.read_looked(store).ids)
            )
            new, send = _build(store, there, local, plan)
            try:
                if new != local:
                    writer.move(store.git, store.objects, store.place, records.SHARED_REF, new, local)
            except GitError:
                if store.tip(records.SHARED_REF) == local or time.monotonic() > way.deadline:
                    raise
                continue  # somebody's own git notes was faster
            trash.keep(store, plan.gone)
            return Joined(plan, send, send is not None and send != there.tip, there.sharded)


def _build(store: Store, there: Mirror, local: str | None, plan: Plan) -> tuple[str | None, str | None]:
    """(the new local tip, the commit to send). Where nothing is there yet, all that is here without its history."""
    if there.tip is None and not plan.sending:
        return local, None
    send: str | None = _built(
        store, there.tip, there.tip or local, plan.shared, "records", deleted=plan.strange
    )  # fmt: skip
    if not (plan.kept or plan.blobs):
        return send, send
    return _built(store, send, send, plan.kept, "stays here: not sent", plan.blobs), send


def default_remote(store: Store) -> str | None:
    """The remote of the present branch, else origin, else the only one there is."""
    known = network.remotes(store.git)
    branch = ask.branch(store.git)
    configured = ask.effective_config(store.git, rf"^branch\.{_pattern(branch)}\.remote$") if branch else {}
    named = [*(values[-1] for values in configured.values()), "origin", *(known if len(known) == 1 else ())]
    return next((name for name in named if name in known), None)


def _pattern(text: str) -> str:
    return "".join(char if char.isalnum() else "." for char in text)


def fold(store: Store, remote: str, way: Way) -> Report:
    """Joins all shards of a remote into its one ref and removes them, each only as it was joined."""
    report = sync(store, remote, way)
    shards = mirror.shard_tips(store, remote)
    if report.outcome in ("refused", "busy") or not shards:
        return report
    git = network.connected(store.git)
    git.deadline = way.deadline
    [(name, url), *_] = network.places(store.git, remote)
    whole, tip = (store.tip(tracking(name, ref)) for ref in ("refs/gitmem/all", NOTES))
    finals = {commit: notes.join(theirs, ours) for commit, theirs, ours in mirror.differing(store, tip, whole)}
    oid = _built(store, tip, tip, finals, "shards folded")
    if oid is None:
        return report
    outcomes = network.push(git, url, [Update(NOTES, oid)])
    if all(one.done for one in outcomes):
        outcomes = network.push(git, url, [Update(ref, "", lease) for ref, lease in shards.items()])
        network.fetch(git, name, url)
        join(store, name, way, url=url)
    writer.tidy(store.git, store.objects, store.place)
    failed = [one for one in outcomes if not one.done]
    return report._replace(outcome="refused" if failed else "sent", said=failed[0].said if failed else None)
