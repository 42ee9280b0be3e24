"""How true the pages can still be: days since they were written, and commits since that concern them."""

from __future__ import annotations

from gitmem import annotate, records
from gitmem.checks import parse_time
from gitmem.git import ask
from gitmem.git.run import decode
from gitmem.manifest import FOLDER, ORDER
from gitmem.pages import Page, read_page
from gitmem.values import NamedTuple, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitmem.settings import Settings
    from gitmem.store import Store

LOOK_BACK = 500  # commits that freshness looks at; a page older than that has had its commits


class Freshness(NamedTuple):
    """One page. days: since generated_at, None when it has none. commits: relevant ones since, newest first."""

    page: str
    days: int | None
    commits: tuple[str, ...]
    stale: bool
    why: str


def freshness(
    store: Store, settings: Settings, *, now: float, tree: str = "HEAD", upcoming: frozenset[str] = frozenset()
) -> list[Freshness]:
    """Every page that exists in a tree (`HEAD`, or empty for the index).

    upcoming: pages that the commit under way changes, which makes them as new as it is.
    """
    line = _line(store)
    found = []
    for page in ORDER:
        there = store.objects.get(f"{tree}:{FOLDER}/{page}")
        if there is None:
            continue
        read = read_page(there.data.decode("utf-8", "replace"))
        at = parse_time(read.front.get("generated_at")) if isinstance(read, Page) else None
        source = str(read.front.get("source_commit", "")) if isinstance(read, Page) else ""
        since = [] if page in upcoming else _since(store, line, page, source)
        commits = tuple(_concerning(page, _relevant(store, settings, since)))
        found.append(_verdict(settings, page, at, commits, now))
    return found


def _verdict(settings: Settings, page: str, at: int | None, commits: tuple[str, ...], now: float) -> Freshness:
    days = None if at is None else max(0, int((now - at) // 86400))
    most, oldest = settings.count("freshness.commits"), settings.count("freshness.days")
    if len(commits) >= most:
        why = f"{counted(len(commits), 'commit')} since that concern it"
    elif commits and (days is None or days > oldest):
        old = counted(days, "day") if days is not None else "unknown days"
        why = f"{old} old, {counted(len(commits), 'commit')} since that concern it"
    else:
        return Freshness(page, days, commits, False, "")
    return Freshness(page, days, commits, True, why)


def _line(store: Store) -> list[str]:
    if ask.head_commit(store.git) is None:
        return []
    return [oid for oid, _ in ask.commits(store.git, "--first-parent", f"--max-count={LOOK_BACK}", "HEAD")]


def _since(store: Store, line: Sequence[str], page: str, source: str) -> list[str]:
    """The commits after the one that last changed the page here, or after `source_commit` where that is newer."""
    out = store.git.run("log", "--first-parent", "-1", "--format=%H", "HEAD", "--", f"{FOLDER}/{page}", ok=(0, 128)).out
    changed = decode(out).strip()
    ends = [n for n, oid in enumerate(line) if oid == changed or (len(source) >= 7 and oid.startswith(source))]
    return list(line[: min(ends)]) if ends else list(line)


class Relevance(NamedTuple):
    """Of a commit: the pages it concerns, and those that a reflection ending there has looked at."""

    oid: str
    pages: frozenset[str]
    answered: frozenset[str]


def _concerning(page: str, commits: Sequence[Relevance]) -> Iterator[str]:
    """The commits that concern a page, newest first, until one whose reflection found it true, or left it with a
    reason."""
    for commit in commits:
        if page in commit.answered:
            return
        if page in commit.pages:
            yield commit.oid


def _relevant(store: Store, settings: Settings, oids: Sequence[str]) -> list[Relevance]:
    """In the order given; by capsules, or judged now where a commit has none."""
    known: dict[str, frozenset[str]] = {}
    answered: dict[str, frozenset[str]] = {}
    lacking = []
    for oid, lines in store.note_lines(oids):
        found = records.read(lines).records
        answered[oid] = frozenset(page for record in found if is_answer(record) for page in _targets(record))
        capsule = records.capsule_of(oid, found)
        if capsule is None:
            lacking.append(oid)
        else:
            known[oid] = concerned(capsule.fields.get("signals", []))
    if lacking:
        wanted = ask.commits(store.git, "--no-walk=unsorted", stdin=lacking)
        for commit, line in annotate.capsules(store, wanted, settings):
            record = records.parse(line)
            known[commit.oid] = concerned(record.fields.get("signals", []) if record else [])
    return [Relevance(oid, known.get(oid, frozenset()), answered[oid]) for oid in oids]


def _targets(record: records.Record) -> list[str]:
    targets = record.fields.get("targets")
    return [page for page in ORDER if page in targets] if isinstance(targets, list) else []


def is_answer(record: records.Record) -> bool:
    """Whether a record says that a reflection ended here: its pages committed, or nothing to do."""
    return record.kind == "reflection" and record.fields.get("outcome") in ("committed", "no-change")


def concerned(signals: object) -> frozenset[str]:
    """The pages that a capsule's signals name."""
    rows = signals if isinstance(signals, list) else []
    return frozenset(page for row in rows if isinstance(row, list) for page in row[1:] if page in ORDER)
