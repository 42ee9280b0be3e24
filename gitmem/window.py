"""Which commits a reflection looks at: three along first parents, less after a reflection, more after missed ones."""

from __future__ import annotations

from gitmem import files, notes, quickjson, records
from gitmem.errors import BadRevision
from gitmem.git import ask
from gitmem.git.run import decode
from gitmem.manifest import FOLDER, MAX_SUBJECTS, Manifest, Window
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.git.objects import Object
    from gitmem.store import Store

USUAL = 3  # commits
FARTHEST = 50  # that are looked back for the mark of the last run
NAMED_SUBJECTS = 200  # of a range that a person names, the newest


class Step(NamedTuple):
    """One commit of the first-parent line."""

    oid: str
    subject: str
    pages: str | None  # tree of the pages there


class Line(NamedTuple):
    """The first-parent line from HEAD, newest first, one step more than a window may take in.

    end: what is before the last step: None: more commits; `root`: nothing; `shallow`: not fetched.
    """

    steps: tuple[Step, ...]
    end: str | None


def first_parents(store: Store, head: str, *, most: int) -> Line:
    """The line of at most `most` commits. Their names go to the one process for objects all at once: a question for
    each step and its answer were a third of a hook's own work where a reflection had been due for long."""
    boundary = ask.shallow_boundary(store.git) if store.place.shallow else frozenset()
    names = [f"{head}~{n}{folder}" for n in range(most) for folder in ("", f":{FOLDER}")]
    answers = list(store.objects.get_all(names))
    steps: list[Step] = []
    for found, tree in zip(answers[0::2], answers[1::2], strict=True):
        if found is None:
            return Line(tuple(steps), "shallow" if _parent(steps, answers) else "root")
        message = decode(found.data).partition("\n\n")[2]
        steps.append(Step(found.oid, message.lstrip().partition("\n")[0][:160], tree.oid if tree else None))
        if found.oid in boundary:
            return Line(tuple(steps), "shallow")
    return Line(tuple(steps), None if _parent(steps, answers) else "root")


def _parent(steps: Sequence[Step], answers: Sequence[Object | None]) -> bool:
    """Whether the last step names a parent, here or not."""
    last = answers[2 * len(steps) - 2] if steps else None
    return last is None or b"\nparent " in last.data.partition(b"\n\n")[0]


def usual_window(store: Store, head: str) -> Window:
    """The window of HEAD when nobody names one and nothing is pending."""
    mark = read_mark(store)
    line = first_parents(store, head, most=USUAL + 1)
    ahead = _position(line, mark)
    if mark and ahead is None and line.end is None:
        line = first_parents(store, head, most=FARTHEST + 1)
        ahead = _position(line, mark)
    wanted = USUAL if ahead is None else max(USUAL, ahead)
    reflected = _reflected(store, line)
    if reflected is not None:
        wanted = min(wanted, reflected)
    return cut(store, line, min(wanted, FARTHEST), asked=f"HEAD~{wanted}..HEAD")


def _position(line: Line, oid: str | None) -> int | None:
    return next((n for n, step in enumerate(line.steps) if step.oid == oid), None)


def _reflected(store: Store, line: Line) -> int | None:
    """How far back the last reflection is: the commit that changed the pages, or one closed with nothing to do."""
    closed = [_closed(store, step.oid) for step in line.steps[: USUAL + 1]]
    for n, step in enumerate(line.steps if line.end == "root" else line.steps[:-1]):
        before = line.steps[n + 1].pages if n + 1 < len(line.steps) else None
        if (n < len(closed) and closed[n]) or (step.pages is not None and step.pages != before):
            return n
    return None


def _closed(store: Store, oid: str) -> bool:
    """Whether a reflection was closed here with nothing to do. One look, where our own notes lie: hooks come by."""
    note = store.objects.get(f"{records.SHARED_REF}:{oid[:2]}/{oid[2:]}")
    if note is None or b'"outcome":"no-change"' not in note.data:
        return False
    return any(r.fields.get("outcome") == "no-change" for r in records.read(notes.lines(note.data)).records)


def cut(store: Store, line: Line, count: int, *, asked: str) -> Window:
    """The window of the newest `count` commits of a line: fewer where the history ends."""
    taken = line.steps[:count]
    subjects = tuple(step.subject for step in reversed(taken))
    if count < len(line.steps):
        return Window(line.steps[count].oid, line.steps[0].oid, asked, subjects, ())
    if line.end == "shallow":
        base, truncated = line.steps[-1].oid, ("shallow",)
        return Window(base, line.steps[0].oid, asked, subjects[1:], truncated)
    return Window(ask.EMPTY_TREE[store.place.object_format], line.steps[0].oid, asked, subjects, ())


def named_window(store: Store, range_: str) -> Window:
    """The window A..B that a person names. Raises BadRevision; never takes a name for an option."""
    base, dots, head = range_.partition("..")
    if not dots or head.startswith("."):
        raise BadRevision(f"'{range_}' is no range", "give it as A..B")
    start = ask.resolve_commit(store.git, base) if base else ask.EMPTY_TREE[store.place.object_format]
    end = ask.resolve_commit(store.git, head or "HEAD")
    return _between(store, start, end, asked=range_, most=NAMED_SUBJECTS)


def extended_window(store: Store, manifest: Manifest, head: str) -> Window:
    """The window of a pending manifest up to a newer HEAD: work is added, never dropped.

    Right after the manifest's own HEAD, as nearly always in a hook, its subjects need not be read again.
    """
    asked = f"{manifest.base[:12]}..HEAD"
    newest = first_parents(store, head, most=2)
    since = _position(newest, manifest.fields.get("head"))
    if since is not None:
        subjects = (*manifest.fields["commits"], *(step.subject for step in newest.steps[:since]))
        return Window(manifest.base, head, asked, subjects[-MAX_SUBJECTS:], ())
    return _between(store, manifest.base, head, asked=asked, most=MAX_SUBJECTS)


def _between(store: Store, base: str, head: str, *, asked: str, most: int) -> Window:
    """most: subjects, the newest ones."""
    line = first_parents(store, head, most=min(most + 1, FARTHEST))  # no process of its own: the usual way in a hook
    near = _position(line, base)
    if near is not None:
        return Window(base, head, asked, tuple(step.subject for step in reversed(line.steps[:near])), ())
    limits = [] if base in ask.EMPTY_TREE.values() else ["--not", base]
    out = store.git.run("log", "--first-parent", "-z", "--format=%s", f"--max-count={most}", head, *limits, "--").out
    subjects = tuple(reversed(decode(out).rstrip("\0").split("\0"))) if out else ()
    return Window(base, head, asked, subjects, ())


def read_mark(store: Store) -> str | None:
    """The last HEAD that this worktree has judged."""
    try:
        found = quickjson.loads(files.read(_mark_path(store)) or b"{}")
        return str(found["judged"])
    except (ValueError, KeyError, TypeError):
        return None


def write_mark(store: Store, head: str) -> None:
    files.replace(_mark_path(store), records.canonical({"judged": head}), durable=False)


def _mark_path(store: Store) -> str:
    return store.place.state_dir + "/mark.json"
