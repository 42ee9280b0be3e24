"""`gitmem reflect-prepare`: judges a window and writes the work order when it is due, or when somebody asks for it."""

from __future__ import annotations

import os
import tempfile
import time

from gitmem import configfile, output, reflect_state, reflection, replay, window
from gitmem.accepting import refuse_links
from gitmem.clients import client_of
from gitmem.errors import BadRevision, GitError, GitmemError, NotARepository
from gitmem.git import ask
from gitmem.git.run import Git
from gitmem.manifest import FOLDER, ORDER, Manifest, Window
from gitmem.opening import open_store
from gitmem.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from gitmem.reflection import Judged, Prepared


def run(args: Namespace) -> int:
    try:
        return _run(args)
    except NotARepository as error:
        return _failed(args, "not_a_repository", error)
    except BadRevision as error:
        return _failed(args, "bad_range", error)
    except GitError as error:
        return _failed(args, "git_error", error)


def _failed(args: Namespace, status: str, error: GitmemError) -> int:
    """One document for programs, the usual two lines for people; exit status 1 either way."""
    if args.json:
        output.say_json({"status": status, "message": error.message, "hint": error.hint})
        return 1
    raise error


def _run(args: Namespace) -> int:
    store = open_store(args.repo)
    head = ask.head_commit(store.git)
    if head is None:
        if ask.symbolic_ref(store.git, "HEAD") is None:
            raise GitError("HEAD points to no commit", "run 'git fsck'")
        return _answer(args, {"status": "skipped", "verdict": "skip", "reasons": ["no commits"], "targets": []})
    if args.replay:
        return _replay(args, store, head)
    if not _has_pages(store):
        raise_missing = GitmemError("there are no bootstrap pages here", "run 'gitmem init', which drafts them")
        return _failed(args, "missing_bootstrap", raise_missing)
    refuse_links(store)
    settings = configfile.load(store)
    with reflect_state.reflect_lock(store, 5.0):
        found = reflection.judge_window(store, _window(args, store, head), settings)
        if args.worktree:
            found = _with_work_tree(store, found, settings)
        if args.dry_run:
            return _answer(args, _document(_dry(args, found), found))
        made = reflection.prepare(
            store, found, now=time.time(), agent=args.agent or client_of(os.environ) or "", session=args.session or "",
            force=args.force or args.all_pages, asked=True, targets=ORDER if args.all_pages else None,
        )  # fmt: skip
        if not args.range:
            window.write_mark(store, head)
    return _answer(args, _document(made.status, found, made))


def _has_pages(store: Store) -> bool:
    top = store.place.top
    here = top is not None and any(os.path.exists(f"{top}/{FOLDER}/{page}") for page in ORDER)
    return here or store.objects.get(f"HEAD:{FOLDER}") is not None


def _window(args: Namespace, store: Store, head: str) -> Window:
    if args.range:
        return window.named_window(store, args.range)
    if args.dry_run:
        pending = reflect_state.read_manifest(store)
        if isinstance(pending, Manifest):
            return window.extended_window(store, pending, head)
        return window.usual_window(store, head)
    return reflection.next_window(store, head)


def _dry(args: Namespace, found: Judged) -> str:
    return "prepared" if found.verdict.relevant or args.force or args.all_pages else "skipped"


def _with_work_tree(store: Store, found: Judged, settings: Any) -> Judged:
    """The same window with staged, unstaged and untracked changes; nothing is written into the repository."""
    with tempfile.TemporaryDirectory(prefix="gitmem-") as scratch:
        beside = Git(store.git.folder)
        objects = ask.git_path(store.git, "objects")
        beside.env = store.git.env | {"GIT_OBJECT_DIRECTORY": scratch, "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects}
        tree = ask.worktree_tree(beside, os.path.join(scratch, "index"))
        both = reflection.judge_window(Store(beside, store.place), found.window._replace(head=tree), settings)
    return both._replace(window=both.window._replace(head=found.window.head))


def _document(status: str, found: Judged, made: Prepared | None = None) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "status": status,
        "verdict": "relevant" if verdict.relevant else "skip",
        "reasons": list(verdict.reasons),
        "targets": list(made.manifest.targets if made and made.manifest else verdict.targets),
        "signals": [
            {"name": s.name, "pages": list(s.pages), "evidence": [e._asdict() for e in s.evidence]}
            for s in verdict.signals
        ],
        "base": found.window.base,
        "head": found.window.head,
        "truncated": ", ".join(found.window.truncated) or None,
        "left_out": verdict.left_out,
    }  # fmt: skip


def _answer(args: Namespace, document: dict[str, Any]) -> int:
    if args.json:
        output.say_json(document)
        return 0
    said = {"prepared": "a reflection is due", "extended": "the reflection that is due was extended"}
    output.say(said.get(document["status"], "no reflection is due"))
    for reason in document["reasons"]:
        output.say(f"  {reason}")
    if document.get("truncated"):
        output.say(f"  not everything was read: {document['truncated']}")
    if document["targets"]:
        output.say(f"pages: {', '.join(document['targets'])}")
        output.say("hint: 'gitmem reflect' shows the work order" if not args.dry_run else "hint: nothing was written")
    return 0


def _replay(args: Namespace, store: Store, head: str) -> int:
    found = replay.replay(store, configfile.load(store), head, count=args.replay)
    if args.json:
        output.say_json({"status": "replayed", **found._asdict()})
        return 0
    output.say(f"{found.relevant} of {found.windows} windows of {window.USUAL} commits are relevant")
    for name, count in found.signals:
        output.say(f"  {name}: {count} ({100 * count // max(1, found.windows)} %)")
    for page, count in found.pages:
        output.say(f"  {page}: {count}")
    return 0
