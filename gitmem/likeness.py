"""Where a commit's work probably was: half of a branch's files, nine tenths of its lines. Shown, never written."""

from __future__ import annotations

from gitmem import records
from gitmem.finding import MAX_LOST, Found, can_be, find_sure, known, may_be_of, tips, work_of
from gitmem.git import ask, patchids
from gitmem.git.run import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitmem.finding import Branch, Known, Work
    from gitmem.store import Store

HALF = 0.5  # of a branch's files that came through unchanged
NINE_TENTHS = 0.9  # of the added lines, each weighted by how few candidates have it
MIN_LINES = 5
MAX_FILES = 64  # that a branch record keeps
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
    """The branch most of whose files came through unchanged; where several did, the one whose commits the message
    names most of."""
    if work.patch is None or work.parent is None or not past.branches:
        return
    _, files = patchids.of_range(store.git, work.parent, work.oid)
    mine = frozenset(records.short_hash(path, 8) + patch[:8] for path, patch in files)
    scored = []
    for branch in past.branches:
        share = _share(mine, branch.files)
        if share >= HALF and may_be_of(store, branch, work) and can_be(store, branch.head, work, at=branch.at):
            scored.append((share, _named_commits(store, branch, work), branch.at, branch))
    if scored:
        share, _, _, branch = max(scored, key=lambda one: one[:3])
        yield Found(branch.oids, "squash", f"{round(100 * share)} % of a branch's files", sure=False)


def _share(mine: frozenset[str], theirs: frozenset[str]) -> float:
    """How much two sets of files have in common. A record keeps the smallest 64 hashes of many; among the smallest 64
    of both together the share is as good an estimate as it was before (a bottom-k sketch)."""
    if not theirs:
        return 0.0
    if len(theirs) < MAX_FILES:
        return len(mine & theirs) / max(len(mine), len(theirs))
    smallest = set(sorted(mine | theirs)[:MAX_FILES])
    return len(mine & theirs & smallest) / MAX_FILES


def _named_commits(store: Store, branch: Branch, work: Work) -> int:
    """How many of a branch's commits the message names by their first line: what servers put into a squash."""
    capsules = (records.capsule_of(oid, records.read(lines).records) for oid, lines in store.note_lines(branch.oids))
    summaries = {str(capsule.fields.get("summary", "")) for capsule in capsules if capsule}
    return sum(len(summary) > MIN_LETTERS and summary in work.message for summary in summaries)


def nine_tenths(store: Store, work: Work, past: Known) -> Iterator[Found]:
    """Added lines, weighted by how few candidates have them; needs the old blobs, so only in a clone that has them."""
    if work.patch is None or work.parent is None or store.partial:
        return
    mine = _added(store, work.parent, work.oid)
    if len(mine) < MIN_LINES:
        return
    ranges: dict[str, tuple[tuple[str, ...], set[str]]] = {}
    heads = [branch.head for branch in past.branches if may_be_of(store, branch, work)]
    for head in dict.fromkeys([*store.present(heads), *tips(store, work, past)]):
        base = ask.merge_base(store.git, head, work.oid)
        if base is None or base in (head, work.oid):
            continue
        olds = tuple(oid for oid, _ in ask.commits(store.git, f"--max-count={MAX_LOST}", f"{base}..{head}"))
        ranges[head] = (olds, _added(store, base, head))
    weights = {line: 1 / max(1, sum(line in other for _, other in ranges.values())) for line in mine}
    whole = sum(weights.values())
    scores = [(sum(weights[line] for line in mine & lines) / whole, head) for head, (_, lines) in ranges.items()]
    scores.sort(reverse=True)
    if not scores or scores[0][0] < NINE_TENTHS or (len(scores) > 1 and scores[0][0] < TWICE * scores[1][0]):
        return
    olds, lines = ranges[scores[0][1]]
    if len(mine & lines) >= max(MIN_LINES, HALF * len(lines)):  # the branch is in the commit too, not only it in there
        yield Found(olds, "squash", f"{round(100 * scores[0][0])} % of its added lines", sure=False)


def _added(store: Store, base: str, head: str) -> set[str]:
    patch = store.git.run(*patchids.PINNED, *patchids.PATCH, "-U0", base, head, ok=(0, 128)).out
    rows = decode(patch).split("\n")
    return {
        row[1:].strip() for row in rows if row.startswith("+") and not row.startswith("+++") and len(row.strip()) > 4
    }
