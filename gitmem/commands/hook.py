"""`gitmem hook git EVENT`: what git's hooks do. Exit status 0 whatever happens, but for a push that must not be."""

from __future__ import annotations

import os
import sys
import time

from gitmem import annotate, clients, configfile, files, memo, patterns, records
from gitmem.errors import GitmemError, Locked, NotARepository
from gitmem.git import ask
from gitmem.git.commits import read_commits
from gitmem.git.run import Git, decode
from gitmem.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitmem.changes import Commit
    from gitmem.settings import Settings
    from gitmem.store import Header

BUDGET_SECONDS = 2.3  # of one hook, its children included; HOK-08 allows 2.5
LOCK_SECONDS = 1.8  # of these, how long the lock is waited for
DELIVER_SECONDS = 60.0  # of a detached worker
PRIVATE, SHARDS = "refs/gitmem/", "refs/gitmem/s/"
WITH_INPUT = ("post-rewrite", "pre-push")
REFUSED = 10  # tells hooks/git-hook that a push must not be


def main(argv: Sequence[str]) -> int:
    """Runs one event. Nothing is printed where the clone has not been set up."""
    if len(argv) < 2 or argv[0] != "git" or argv[1] not in EVENTS:
        return 0
    event, arguments = argv[1], argv[2:]
    if os.environ.get("GITMEM") == "off":
        return 0
    git = Git()
    git.deadline = time.monotonic() + (DELIVER_SECONDS if event == "deliver" else BUDGET_SECONDS)
    store = None
    try:
        rows = decode(sys.stdin.buffer.read()).splitlines() if event in WITH_INPUT else []
        if event == "pre-push" and refused(rows):  # before anything that may fail
            return REFUSED
        store = Store.nearby(git)
        if not store.enabled or store.setting("gitmem.mode") in ("off", "read"):
            return 0
        path = store.place.common_state_dir + "/patterns.cache"
        patterns.use(files.kept(path, patterns.FORM))
        EVENTS[event](store, arguments, rows)
        if (new := patterns.learned()) is not None:
            files.keep(path, patterns.FORM, new)
        return 0
    except NotARepository:
        return 0
    except Exception as error:  # noqa: BLE001  # the hook boundary: no failure of ours may hurt a commit
        _report(store, event, error)
        return 0


def refused(rows: Sequence[str]) -> bool:
    """Whether a push names a ref that must stay here; nothing comes before this, no mode and no setting."""
    for row in rows:
        for name in row.split(" ")[0:3:2]:
            if name.startswith(PRIVATE) and not name.startswith(SHARDS):
                sys.stderr.write(f"gitmem: '{name}' holds private records and is never pushed\n")
                sys.stderr.write(
                    "hint: push 'refs/notes/gitmem' to share capsules; private records stay in this clone\n"
                )
                return True
    return False


def _report(store: Store | None, event: str, error: Exception) -> None:
    said = error.message if isinstance(error, GitmemError) else f"{type(error).__name__}: {error}"
    try:
        sys.stderr.write(f"gitmem: {event}: {said}\n")
    except OSError:
        pass  # the caller has closed it
    if os.environ.get("GITMEM_TRACE"):
        import traceback

        traceback.print_exc()
    if store is not None:
        store.log_failure(event, error)


def _lock_deadline(store: Store) -> float:
    return (store.git.deadline or time.monotonic()) - (BUDGET_SECONDS - LOCK_SECONDS)


def rebasing(place: ask.Place) -> bool:
    """Whether a rebase is under way, in either back end; `git am` uses one of the folders for itself."""
    if os.path.isdir(place.git_dir + "/rebase-merge"):
        return True
    return os.path.isdir(place.git_dir + "/rebase-apply") and not os.path.exists(
        place.git_dir + "/rebase-apply/applying"
    )


def _post_commit(store: Store, _: Sequence[str], __: Sequence[str]) -> None:
    if not rebasing(store.place):
        _annotate_head(store)


def _post_applypatch(store: Store, _: Sequence[str], __: Sequence[str]) -> None:
    if not rebasing(store.place):
        _annotate_head(store)


def _post_merge(store: Store, arguments: Sequence[str], _: Sequence[str]) -> None:
    """Annotates a merge made here. After a fast-forward nothing: those are other people's commits."""
    if arguments[:1] == ["1"]:
        return
    head = store.commit_header("HEAD")
    if head is not None and len(head.parents) > 1 and not ask.last_reflog(store.git).endswith(": Fast-forward"):
        _annotate_head(store)


def _annotate_head(store: Store) -> None:
    settings = configfile.load(store, in_hook=True)
    head = store.commit_header("HEAD")
    if head is None:
        return
    links = memo.read(store, head)
    try:
        found = list(annotate.capsules(store, [(head.oid, head.parents)], settings))
    except (GitmemError, OSError):  # what is not in git must not be lost with the capsule, which can be made again
        store.defer({head.oid: [annotate.link_line(link, head.at, head.mail) for link in links]})
        store.defer_task(do="commit", commit=head.oid, client=clients.client_of(os.environ) or "")
        raise
    for commit, line in found:
        _write_head(store, settings, head, commit, line, links)
    _deliver_if_waiting(store)


def _write_head(
    store: Store, settings: Settings, head: Header, commit: Commit, line: bytes, noted: list[annotate.Link]
) -> None:
    lines = [line, *_judged(store, settings, commit), *annotate.made(commit, clients.client_of(os.environ))]
    links = annotate.with_share(store, list(dict.fromkeys([*noted, *annotate.told_links(commit)])), commit)
    lines += [annotate.link_line(link, commit.at, commit.mail) for link in links]
    taken = [link for link in links if link.operation in ("squash", "cherry-pick")]  # work that goes on in this commit
    if taken:
        have = {head.oid: lines}
        lines += annotate.carry(store, taken, ref=records.SHARED_REF, have=have).get(head.oid, [])
        annotate.carry_private(store, taken, deadline=_lock_deadline(store))
    # HEAD's committer is who git would write with now: one process less
    annotate.write_or_defer(
        store, {head.oid: lines}, author=head.committer, subject="capsule", deadline=_lock_deadline(store)
    )


def _judged(store: Store, settings: Settings, commit: Commit) -> list[bytes]:
    """What the engine adds to a commit. Its failure costs no capsule; the mark stays, so the next commit's window takes
    this one in."""
    from gitmem.commands.reflecting import after_commit  # of one event alone

    try:
        return after_commit(store, settings, commit)
    except (GitmemError, OSError) as error:
        _report(store, "reflection", error)
        return []


def _deliver_if_waiting(store: Store) -> None:
    if store.has_waiting():
        _deliver(store, (), ())


def _deliver(store: Store, _: Sequence[str], __: Sequence[str]) -> None:
    settings = configfile.load(store, in_hook=True)
    try:
        done = annotate.deliver(store, settings, deadline=(store.git.deadline or 0) - 0.2)
    except Locked:
        return  # another run is at it, and looks again when it is done
    head = store.commit_header("HEAD") if settings.hook_mode == "detached" else None
    if head is not None and head.oid in done:
        [commit] = read_commits(store.differ, [(head.oid, head.parents)], partial=store.partial)
        if lines := _judged(store, settings, commit):
            annotate.write_or_defer(store, {head.oid: lines}, subject="reflection", deadline=_lock_deadline(store))


def _post_rewrite(store: Store, arguments: Sequence[str], rows: Sequence[str]) -> None:
    kind = "amend" if arguments[:1] == ["amend"] else "rebase"
    pairs = [row.split()[:2] for row in rows if len(row.split()) >= 2]
    times = {new: sum(other == new for _, other in pairs) for _, new in pairs}
    links = [annotate.Link(old, new, "squash" if times[new] > 1 else kind) for old, new in pairs]
    if kind == "amend" and rebasing(store.place):
        # the end of the rebase names what each original became; only what was added to a commit on the way is not
        # known then, and such a commit has no capsule
        links = [link for link in links if _added_on_the_way(store, link.old)]
    settings = configfile.load(store, in_hook=True)
    deadline = _lock_deadline(store)
    if links:
        annotate.rewrite(store, links, settings, deadline=deadline)
    if kind == "rebase":
        annotate.fill(store, _made_by_rebase(store), settings, deadline=deadline)
    _deliver_if_waiting(store)


def _added_on_the_way(store: Store, oid: str) -> bool:
    found = store.reading(oid).records
    return bool(found) and records.capsule_of(oid, found) is None


def _made_by_rebase(store: Store) -> list[tuple[str, tuple[str, ...]]]:
    """Commits of this branch that the rebase made and its list does not name: split ones, and those of `exec`."""
    onto = _first_line(store.place.git_dir + "/rebase-merge/onto") or _first_line(
        store.place.git_dir + "/rebase-apply/onto"
    )
    old = ask.ref_tip(store.git, "ORIG_HEAD")
    return ask.commits(
        store.git, f"--max-count={annotate.MAX_FILL}", "HEAD", "--not", *[oid for oid in (onto, old) if oid]
    )


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="ascii") as file:
            return file.readline().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _prepare_commit_msg(store: Store, _: Sequence[str], __: Sequence[str]) -> None:
    memo.write(store)


def _pre_push(store: Store, arguments: Sequence[str], rows: Sequence[str]) -> None:
    from gitmem.commands.pushing import before_push  # its own modules; a commit does not load them

    before_push(store, configfile.load(store, in_hook=True), arguments[:2], rows, deadline=_lock_deadline(store))


def _compile_config(store: Store, _: Sequence[str], __: Sequence[str]) -> None:
    configfile.compile_quietly(store)


EVENTS: dict[str, Callable[[Store, Sequence[str], Sequence[str]], None]] = {
    "post-commit": _post_commit,
    "post-merge": _post_merge,
    "post-applypatch": _post_applypatch,
    "post-rewrite": _post_rewrite,
    "prepare-commit-msg": _prepare_commit_msg,
    "pre-push": _pre_push,
    "deliver": _deliver,
    "compile-config": _compile_config,
}
