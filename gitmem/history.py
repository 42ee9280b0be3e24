"""Capsules for a whole history: read in chunks by several workers, written in batches, newest first."""

from __future__ import annotations

import os
import signal

from gitmem import annotate, configfile, records
from gitmem.errors import GitmemError, UsageError
from gitmem.git import ask
from gitmem.git.run import Git
from gitmem.store import Store
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gitmem.settings import Settings

    Lines = list[tuple[str, bytes]]
    Watch = Callable[[Iterator[Lines], int], Iterator[Lines]]

# Commits that one git compares: contiguous halves of uneven histories leave a worker idle, a new git begins without
# a cache (256 commits: 12 % more time than 1024), and one git for all grows with the packs it has seen.
CHUNK = 512
CHUNK_ALONE = 1024
BATCH = 4096  # notes written at once; what an interruption can lose
MAX_JOBS = 8


class Report(NamedTuple):
    commits: int  # in the range
    had: int  # that had a capsule
    written: int
    boundary: int  # at a shallow boundary: what they changed cannot be known here
    uncounted: int  # whose lines were not read: too large, a missing blob, a partial clone


def backfill(
    store: Store, range_: str | None = None, *, everything: bool = False, since: str | None = None,
    newest: int | None = None, jobs: int | None = None, dry_run: bool = False, watch: Watch | None = None,
) -> Report:  # fmt: skip
    """Writes the capsules that are missing, newest first. Running it twice changes nothing.

    newest: at most so many commits. watch: given the chunks and the number of commits, hands them on (a progress
    bar). Raises BadRevision for a range that git does not know.
    """
    settings = configfile.load_or_defaults(store)
    if not dry_run:
        ask.committer(store.git)  # a missing identity is said before the work, not after it
    wanted = ask.commits(store.git, *_selection(store, range_, everything, since, newest))
    lacking = _lacking(store, wanted)
    boundary = ask.shallow_boundary(store.git) if store.place.shallow else frozenset()
    work = [commit for commit in lacking if commit[0] not in boundary]
    written = uncounted = 0
    workers = min(jobs or os.cpu_count() or 1, MAX_JOBS, 1 + len(work) // CHUNK)
    chunks = _lines(store, work, settings, workers)
    for batch in _batches(watch(chunks, len(work)) if watch else chunks):
        uncounted += sum(b'"cut":["lines' in line for _, line in batch)
        if dry_run:
            written += len(batch)
        else:
            additions = {oid: [line] for oid, line in batch}
            written += store.append(additions, subject=f"backfill {len(batch)} capsules").added
    return Report(len(wanted), len(wanted) - len(lacking), written, len(lacking) - len(work), uncounted)


def _selection(store: Store, range_: str | None, everything: bool, since: str | None, newest: int | None) -> list[str]:
    chosen = [f"--since={since}"] if since else []
    if newest is not None:
        chosen.append(f"--max-count={newest}")
    if everything:
        if range_:
            raise UsageError("give a range or '--all', not both")
        return [*chosen, "--branches", "--remotes", "--tags", *(["HEAD"] if ask.head_commit(store.git) else [])]
    if range_ is None:
        return [*chosen, "HEAD"] if ask.head_commit(store.git) else [*chosen, "--no-walk", "--branches"]
    base, dots, head = range_.partition("..")
    if not dots:
        return [*chosen, ask.resolve_commit(store.git, range_)]
    ends = [ask.resolve_commit(store.git, head.removeprefix(".") or "HEAD")]
    return [*chosen, *ends, "--not", ask.resolve_commit(store.git, base or "HEAD")]


def _lacking(store: Store, wanted: Sequence[annotate.Parents]) -> list[annotate.Parents]:
    """The commits without a capsule of their own: all notes are read once, by blob, not looked up one by one."""
    blobs = store.blobs()
    have = set()
    listed = [oid for oid, _ in wanted if oid in blobs]
    for oid, lines in store.read_blobs((oid, blobs[oid]) for oid in listed):
        if records.capsule_of(oid, records.read(lines).records) is not None:
            have.add(oid)
    return [commit for commit in wanted if commit[0] not in have]


def _lines(store: Store, work: list[annotate.Parents], settings: Settings, workers: int) -> Iterator[Lines]:
    size = CHUNK if workers > 1 else CHUNK_ALONE
    chunks = (work[i : i + size] for i in range(0, len(work), size))
    if workers < 2:
        yield from (_chunk(store, chunk, settings) for chunk in chunks)
        return
    import concurrent.futures  # together 26 ms, which one worker does without
    import multiprocessing

    # spawned, not forked: a worker must not inherit our pipes to git
    context = multiprocessing.get_context("spawn")
    os.environ["PYTHONSAFEPATH"] = "1"  # nor import what lies in the folder where it starts
    start = (store.git.folder or os.getcwd(), settings)
    with concurrent.futures.ProcessPoolExecutor(workers, context, _begin_worker, start) as pool:
        running: list[concurrent.futures.Future[Lines]] = []
        try:
            for chunk in chunks:
                running.append(pool.submit(_work, chunk))
                while len(running) > 2 * workers:
                    yield running.pop(0).result()
            while running:
                yield running.pop(0).result()
        finally:
            pool.shutdown(cancel_futures=True)


_worker: tuple[Store, Settings] | None = None


def _begin_worker(folder: str, settings: Settings) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of us; the parent ends the workers
    git = Git()
    git.folder = folder  # the environment that binds to the repository is ours already
    _worker = (Store.open(git), settings)


def _work(chunk: list[annotate.Parents]) -> Lines:
    if _worker is None:
        raise GitmemError("a backfill worker was not begun")
    return _chunk(_worker[0], chunk, _worker[1])


def _chunk(store: Store, chunk: list[annotate.Parents], settings: Settings) -> Lines:
    return [(commit.oid, line) for commit, line in annotate.capsules(store, chunk, settings)]


def _batches(chunks: Iterable[Lines]) -> Iterator[Lines]:
    """Chunks joined to what is written at once; on an interruption what is finished is written all the same."""
    held: Lines = []
    try:
        for chunk in chunks:
            held += chunk
            if len(held) >= BATCH:
                yield held
                held = []
    except KeyboardInterrupt:
        if held:
            yield held
        raise
    if held:
        yield held
