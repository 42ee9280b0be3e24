"""`gitmem check`: are the pages valid, and can they still be true? For pre-commit, CI and people."""

from __future__ import annotations

import time

from gitmem import configfile, output, records, reflection, window
from gitmem.checks import Problem, check_archive, check_edited
from gitmem.errors import GitmemError
from gitmem.freshness import Freshness, freshness, is_answer
from gitmem.git import ask
from gitmem.git.run import decode
from gitmem.manifest import ARCHIVE, FOLDER, ORDER
from gitmem.opening import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from gitmem.settings import Settings
    from gitmem.store import Store


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    settings = configfile.load(store)
    tree = "" if args.staged else "HEAD"
    changed = _staged_pages(store) if args.staged else [*ORDER, ARCHIVE]
    problems = _invalid(store, tree, changed)
    states = freshness(
        store, settings, now=time.time(), tree=tree,
        upcoming=frozenset(changed) if args.staged else frozenset(),
    )  # fmt: skip
    silent = _range(store, settings, args.range) if args.range else []
    stale = [one for one in states if one.stale]
    warn = settings.freshness_mode == "warn" and not args.strict
    failed = bool(problems) or ((bool(stale) or bool(silent)) and not warn)
    if args.json:
        output.say_json({
            "status": "failed" if failed else "ok", "problems": [p._asdict() for p in problems], "silent": silent,
            "pages": [{**one._asdict(), "commits": list(one.commits)} for one in states],
        })  # fmt: skip
        return 1 if failed else 0
    return _report(problems, states, silent, failed)


def _report(problems: list[Problem], states: list[Freshness], silent: list[str], failed: bool) -> int:
    for problem in problems:
        output.say(f"{FOLDER}/{problem}")
    for one in states:
        if one.stale:
            output.say(f"{FOLDER}/{one.page}: stale: {one.why}")
            for oid in one.commits[:5]:
                output.say(f"  {oid[:12]}")
    for page in silent:
        output.say(f"{FOLDER}/{page}: this range changes what it should say, and leaves it as it was")
    if not failed:
        output.say("the pages are fresh" if not silent and not any(one.stale for one in states) else "warnings only")
        return 0
    stale = silent or any(one.stale for one in states)
    hint = "run 'gitmem reflect-prepare', then 'gitmem reflect'" if stale else "mend what is named above"
    raise GitmemError("the pages need work", hint)


def _staged_pages(store: Store) -> list[str]:
    out = store.git.run("diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=d", "--", FOLDER).out
    names = [path.rpartition("/")[2] for path in decode(out).split("\0") if path]
    return [name for name in names if name in (*ORDER, ARCHIVE)]


def _invalid(store: Store, tree: str, pages: list[str]) -> list[Problem]:
    """What is wrong with the pages themselves, as they are in HEAD or in the index."""
    texts = {page: store.objects.get(f"{tree}:{FOLDER}/{page}") for page in (*ORDER, ARCHIVE)}
    gone = [page for page in ORDER if texts[page] is None]
    why = "it is gone, the others are there; 'gitmem init' drafts it"
    found = [Problem("missing_bootstrap", page, 1, why) for page in gone if len(gone) < len(ORDER)]
    for page in pages:
        there = texts[page]
        if there is not None:
            found += check_archive(there.data) if page == ARCHIVE else check_edited(page, there.data, now=time.time())
    return found


def _range(store: Store, settings: Settings, range_: str) -> list[str]:
    """Pages that a range makes untrue and does not touch. The range counts from where the branches parted, or from the
    last reflection in it: what came before has had its answer, be it that nothing was to do."""
    base, _, head = range_.partition("..")
    end = ask.resolve_commit(store.git, head.removeprefix(".") or "HEAD")
    start = ask.merge_base(store.git, ask.resolve_commit(store.git, base or "HEAD"), end)
    if start is None:
        raise GitmemError(f"'{range_}': the two ends have no common commit here", "fetch more of the history")
    start = _answered(store, start, end) or start
    judged = reflection.judge_window(store, window.named_window(store, f"{start}..{end}"), settings)
    touched = {path.rpartition("/")[2] for path in judged.size.files if path.startswith(FOLDER + "/")}
    return [page for page in judged.verdict.targets if page not in touched]


def _answered(store: Store, start: str, end: str) -> str | None:
    """The newest commit of a range on which a reflection was committed, or closed with nothing to do."""
    line = [oid for oid, _ in ask.commits(store.git, "--first-parent", f"{start}..{end}")]
    for oid, lines in store.note_lines(line):
        if any(map(is_answer, records.read(lines).records)):
            return oid
    return None
