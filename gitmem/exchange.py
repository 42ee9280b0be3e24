"""Sync: fetch, join, push. What others wrote is joined here first, what is new here goes on top of what they have.

The local ref is always what the remote holds, then one commit with what it lacks, then one with what is held back:
lines with a secret, and lines that somebody else wants forgotten and no person has looked at. A single parent
throughout, so history that was purged stays purged. Nothing of `remote.*` is written.
"""

from __future__ import annotations

import os
import time

from gitmem import files, joining, mirror, notes, records, trash, writer
from gitmem.errors import GitError, GitmemError, GitTimeout
from gitmem.git import ask, network
from gitmem.git.network import NOTES, SHARDS, Update, tracking
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from gitmem.git.run import Git
    from gitmem.mirror import Mirror
    from gitmem.store import Store

TRIES = 4  # of a hook; a command tries until its time is over
HOOK_SECONDS = 4.0
COMMAND_SECONDS = 120.0
PAUSE_SECONDS = 0.05


class Held(NamedTuple):
    """A line that is not sent. reason: `secret` with its kind, or who wants it forgotten."""

    commit: str
    id: str
    reason: str


class Joined(NamedTuple):
    """What a join of this clone with what was fetched came to."""

    sending: int  # lines that the remote lacks
    received: int  # lines that were new here
    dropped: int  # lines that their authors had forgotten
    held: tuple[Held, ...]
    send: str | None  # the commit that holds what the remote has and what it lacks
    lines: dict[str, list[bytes]]  # commit -> lines that the remote lacks, where it has notes at all


class Report(NamedTuple):
    """outcome: sent, nothing, fetched, refused, busy. said: git's own words when it is refused."""

    remote: str
    outcome: str
    received: int
    sent: int
    dropped: int
    held: tuple[Held, ...]
    tries: int
    said: str | None


def sync(
    store: Store, remote: str, *, shards: int = 1, fetch_only: bool = False, fetched: bool = False,
    deadline: float, tries: int | None = None,
) -> Report:  # fmt: skip
    """Fetches, joins and pushes until the remote holds what is here. Never raises for what the other side refuses.

    fetched: what was fetched last is tried first, one connection less. deadline: monotonic seconds.
    """
    git = network.connected(store.git)
    git.deadline = deadline
    url = network.url_of(store.git, remote) if network.safe_name(remote) else None
    if url is None:
        raise GitmemError(f"there is no remote '{remote}'", "'git remote -v' lists them")
    received = dropped = attempt = unmoved = 0
    home = home_shard(store, shards)
    before: str | None = None
    while True:
        try:
            if not (fetched and attempt == 0):
                network.fetch(git, remote, url)
            target = tracking(remote, home)
            tip = ask.exact_ref(store.git, target)
            joined = join(store, remote, deadline=deadline)
        except GitError as error:
            return _refused(remote, received, dropped, attempt, error)
        received, dropped = received + joined.received, dropped + joined.dropped
        if fetch_only or not joined.sending:
            return Report(
                remote, "fetched" if fetch_only else "nothing", received, 0, dropped, joined.held, attempt, None
            )
        attempt += 1
        try:
            sent = _push(store, git, remote, url, home, tip, joined)
        except GitError as error:
            return _refused(remote, received, dropped, attempt, error, joined)
        if sent.done:
            return Report(remote, "sent", received, joined.sending, dropped, joined.held, attempt, None)
        # not moved by anybody, and refused again: that is a decision of the other side, not a race
        unmoved = unmoved + 1 if attempt > 1 and tip == before else 0
        if unmoved >= (1 if tries else 3):
            return Report(remote, "refused", received, 0, dropped, joined.held, attempt, sent.said)
        pause = PAUSE_SECONDS * 2 ** min(attempt, 6) * (int.from_bytes(os.urandom(2)) / 65536)
        if (tries is not None and attempt >= tries) or time.monotonic() + pause >= deadline:
            return Report(remote, "busy", received, 0, dropped, joined.held, attempt, sent.said)
        time.sleep(pause)
        before = tip
        if shards > 1 and attempt % 2 == 0:
            home = f"{SHARDS}{int.from_bytes(os.urandom(2)) % shards:02x}"  # this one is crowded


def _refused(
    remote: str, received: int, dropped: int, tries: int, error: GitError, joined: Joined | None = None
) -> Report:
    said = "it did not answer in time" if isinstance(error, GitTimeout) else error.message
    return Report(remote, "refused", received, 0, dropped, joined.held if joined else (), tries, said)


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


def _push(store: Store, git: Git, remote: str, url: str, home: str, tip: str | None, joined: Joined) -> network.Outcome:
    oid = joined.send  # where nothing is there yet, it can go to any ref
    if joined.lines and (home != NOTES or mirror.sharded(store, remote)):
        oid = _on_top(store, tip, joined)
    if oid is None:
        raise GitError("nothing was made to push")
    [outcome] = network.push(git, url, [Update(home, oid)])
    if outcome.done:
        store.git.run("update-ref", tracking(remote, home), oid)
        mirror.took(store, remote, home, oid, joined.send)
    return outcome


def _on_top(store: Store, tip: str | None, joined: Joined) -> str | None:
    """The outgoing lines on top of what one shard holds."""
    finals = {commit: notes.join(lines, joined.lines[commit]) for commit, lines in store.lines_at(tip, joined.lines)}
    return _built(store, tip, tip, finals, "records")


def _built(
    store: Store, parent: str | None, tree_of: str | None, finals: dict[str, list[bytes]], subject: str
) -> str | None:
    return writer.build(
        store.git, store.objects, store.place, parent=parent, tree_of=tree_of, finals=finals,
        author=ask.committer(store.git), subject=subject,
    )  # fmt: skip


def preview(store: Store, remote: str) -> Joined:
    """What a join with what was fetched last would come to. Writes nothing."""
    there = mirror.as_known(store, remote)
    return _compare(store, there, ask.exact_ref(store.git, records.SHARED_REF), note=False).joined


def join(store: Store, remote: str, *, deadline: float) -> Joined:
    """Makes the local ref what the remote holds and what is new here, as two commits at most on top of it."""
    store.take_up_lost(deadline)
    with files.lock(store.place.common_state_dir + "/lock", deadline=deadline):
        there = mirror.refresh(store, remote)
        while True:
            local = ask.exact_ref(store.git, records.SHARED_REF)
            plan = _compare(store, there, local)
            new, send = _build(store, there, local, plan)
            try:
                if new != local:
                    writer.move(store.git, store.place, records.SHARED_REF, new, local)
            except GitError:
                if ask.exact_ref(store.git, records.SHARED_REF) == local or time.monotonic() > deadline:
                    raise
                continue  # somebody's own git notes was faster
            trash.keep(store, plan.gone)
            return plan.joined._replace(send=send)


class _Plan(NamedTuple):
    joined: Joined
    shared: dict[str, list[bytes]]  # commit -> lines of its note as both sides will hold it, where that is a change
    kept: dict[str, list[bytes]]  # the same where lines are held back that stay here
    gone: list[tuple[str, bytes]]  # lines that are dropped


def _compare(store: Store, there: Mirror, local: str | None, *, also: Collection[str] = (), note: bool = True) -> _Plan:
    """What each side lacks. Only notes that differ are read, and those that hold what is newly forgotten."""
    if local is None and there.tip is not None:  # nothing here to compare with: all of it is taken as it is
        if note:
            mirror.write_forgets(store, mirror.all_forgets(store, there.tip))
        count = mirror.count(store, there.tip)
        return _Plan(Joined(0, count, 0, (), None, {}), {}, {}, [])
    plan = _Plan(Joined(0, 0, 0, (), None, {}), {}, {}, [])
    sending = received = 0
    held: list[Held] = []
    asked: dict[str, set[str]] = {}
    for commit, theirs, ours in mirror.differing(store, there.tip, local, also=also):
        asked = joining.merged(asked, joining.forgets([*theirs, *ours]))
        whole = joining.merged(there.forgets, asked)
        union = notes.join(theirs, ours)
        stays = [line for line in union if not joining.dropped(line, whole)]
        plan.gone.extend((commit, line) for line in union if joining.dropped(line, whole))
        had, has = set(ours), set(theirs)
        received += sum(line not in had for line in stays)
        mine = [line for line in stays if line not in has]
        back = {line: reason for line in mine if (reason := _why_held(line, whole))}
        held += [Held(commit, joining.line_id(line, records.parse(line)), reason) for line, reason in back.items()]
        sending += len(mine) - len(back)
        final = [line for line in stays if line not in back]
        if there.tip is not None and len(mine) > len(back):
            plan.joined.lines[commit] = [line for line in mine if line not in back]
        if final != sorted(theirs if there.tip is not None else ours):
            plan.shared[commit] = final
        if back:
            plan.kept[commit] = stays
    newly = {oid for oid in asked if asked[oid] - there.forgets.get(oid, set())}
    if newly:
        known = joining.merged(there.forgets, asked)
        if note:
            mirror.write_forgets(store, known)
        holders = {commit for tip in (there.tip, local) if tip for commit, _ in mirror.grep(store, tip, sorted(newly))}
        return _compare(store, there._replace(forgets=known), local, also=holders, note=note)
    joined = plan.joined._replace(sending=sending, received=received, dropped=len(plan.gone), held=tuple(held))
    return plan._replace(joined=joined)


def _why_held(line: bytes, asked: joining.Forgets) -> str | None:
    if joining.contested(line, asked):
        return "somebody else asks to forget it: 'gitmem review' decides"
    kinds = records.secrets(line)
    return f"secret ({', '.join(kinds)})" if kinds else None


def _build(store: Store, there: Mirror, local: str | None, plan: _Plan) -> tuple[str | None, str | None]:
    """(the new local tip, the commit to send). Where nothing is there yet, all that is here without its history."""
    if there.tip is None and not plan.joined.sending:
        return local, None
    send: str | None = _built(store, there.tip, there.tip or local, plan.shared, "records")
    new = _built(store, send, send, plan.kept, "held back: not sent") if plan.kept else send
    return new, send


def default_remote(store: Store) -> str | None:
    """The remote of the present branch, else origin, else the only one there is."""
    known = network.remotes(store.git)
    branch = ask.branch(store.git)
    configured = ask.effective_config(store.git, rf"^branch\.{_pattern(branch)}\.remote$") if branch else {}
    named = [*(values[-1] for values in configured.values()), "origin", *(known if len(known) == 1 else ())]
    return next((name for name in named if name in known), None)


def _pattern(text: str) -> str:
    return "".join(char if char.isalnum() else "." for char in text)


def fold(store: Store, remote: str, *, deadline: float) -> Report:
    """Joins all shards of a remote into its one ref and removes them, each only as it was joined."""
    report = sync(store, remote, fetch_only=True, deadline=deadline)
    git = network.connected(store.git)
    git.deadline = deadline
    url = network.url_of(store.git, remote) or remote
    shards = mirror.shard_tips(store, remote)
    joined = join(store, remote, deadline=deadline)
    tip = ask.exact_ref(store.git, tracking(remote, NOTES))
    if joined.send is None or not shards:
        return report
    finals = {commit: notes.join(theirs, ours) for commit, theirs, ours in mirror.differing(store, tip, joined.send)}
    oid = _built(store, tip, tip, finals, "shards folded")
    if oid is None:
        return report
    outcomes = network.push(git, url, [Update(NOTES, oid)])
    if all(one.done for one in outcomes):
        outcomes = network.push(git, url, [Update(ref, "", lease) for ref, lease in shards.items()])
        network.fetch(git, remote, url)
        join(store, remote, deadline=deadline)
    failed = [one for one in outcomes if not one.done]
    count = len(shards) - len(failed)
    return report._replace(outcome="refused" if failed else "sent", sent=count, said=failed[0].said if failed else None)
