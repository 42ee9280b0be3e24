"""Where a commit's work probably was: half of a branch's files, nine tenths of its lines. Shown, never written."""

from __future__ import annotations

from gitmem import records
from gitmem.finding import MAX_LOST, SLACK_SECONDS, Found, before, find_sure, here, known, tips, work_of
from gitmem.git import ask, patchids
from gitmem.git.run import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitmem.finding import Known, Work
    from gitmem.store import Store

HALF = 0.5  # of a branch's files that came through unchanged
NINE_TENTHS = 0.9  # of the added lines, each weighted by how few candidates have it
MIN_LINES = 5
MIN_LETTERS = 3  # a brace or an `end` is nobody's
TWICE = 2.0  # by how much the best has to be better than the second


def find(store: Store, oid: str, past: Known | None = None) -> list[Found]:
    """What a commit was before, surest reason first; the first that says anything is the answer."""
    past = past or known(store)
    for work in work_of(store, [oid]):
        found = find_sure(store, work, past)
        for way in (half_the_files, nine_tenths):
            found = found or list(way(store, work, past))
        return found
    return []


def half_the_files(store: Store, work: Work, past: Known) -> Iterator[Found]:
    if work.patch is None or work.parent is None or not past.branches:
        return
    _, files = patchids.of_range(store.git, work.parent, work.oid)
    mine = {records.short_hash(path, 8) + patch[:8] for path, patch in files}
    scored = []
    for branch in past.branches:
        if not branch.files or branch.at > work.at + SLACK_SECONDS or work.oid in branch.oids:
            continue
        share = len(mine & branch.files) / max(len(mine), len(branch.files))
        if share >= HALF and not before(store, branch.head, work):
            scored.append((share, branch.at, branch))
    if scored:
        share, _, branch = max(scored, key=lambda one: one[:2])
        yield Found(branch.oids, "squash", f"{round(100 * share)} % of a branch's files", sure=False)


def nine_tenths(store: Store, work: Work, past: Known) -> Iterator[Found]:
    """Added lines, weighted by how few candidates have them; needs the old blobs, so only in a clone that has them."""
    if work.patch is None or work.parent is None or store.partial:
        return
    mine = _added(store, work.parent, work.oid)
    if len(mine) < MIN_LINES:
        return
    ranges: dict[str, tuple[tuple[str, ...], set[str]]] = {}
    heads = [b.head for b in past.branches if b.at <= work.at + SLACK_SECONDS and work.oid not in b.oids]
    for head in dict.fromkeys([*here(store, heads), *tips(store, work, past)]):
        base = ask.merge_base(store.git, head, work.oid)
        if base is None or base == head:
            continue
        olds = tuple(oid for oid, _ in ask.commits(store.git, f"--max-count={MAX_LOST}", f"{base}..{head}"))
        ranges[head] = (olds, _added(store, base, head))
    scores = sorted(((_score(mine, lines, ranges), head) for head, (_, lines) in ranges.items()), reverse=True)
    if not scores or scores[0][0] < NINE_TENTHS or (len(scores) > 1 and scores[0][0] < TWICE * scores[1][0]):
        return
    olds, lines = ranges[scores[0][1]]
    if len(mine & lines) >= MIN_LINES:
        yield Found(olds, "squash", f"{round(100 * scores[0][0])} % of its added lines", sure=False)


def _score(mine: set[str], lines: set[str], ranges: dict[str, tuple[tuple[str, ...], set[str]]]) -> float:
    weights = {line: 1 / max(1, sum(line in other for _, other in ranges.values())) for line in mine}
    return sum(weight for line, weight in weights.items() if line in lines) / sum(weights.values())


def _added(store: Store, base: str, head: str) -> set[str]:
    patch = store.git.run(*patchids.PINNED, *patchids.PATCH, "-U0", base, head, ok=(0, 128)).out
    rows = decode(patch).split("\n")
    return {
        row[1:].strip() for row in rows if row.startswith("+") and not row.startswith("+++") and len(row.strip()) > 4
    }
