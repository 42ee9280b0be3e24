"""The one object that knows where things live: refs, state, what waits, what failed."""

from __future__ import annotations

import os
import time

from gitmem import files, nearby, notes, quickjson, records, writer
from gitmem.errors import GitError, GitmemError, NotEnabled
from gitmem.git import ask
from gitmem.git.differ import Differ
from gitmem.git.objects import LARGE, Objects
from gitmem.git.run import Git
from gitmem.layout import Written
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

CONFIG_PATTERN = r"^(gitmem\..*|extensions\..*|remote\..*\.promisor|core\.(hookspath|bare|worktree))$"
MAX_LOG_BYTES = 256 << 10  # of errors.jsonl; the one before is kept as errors.jsonl.1
MAX_PENDING_BYTES = 64 << 20
NOTES_AT_ONCE = 256
COMMAND_SECONDS = 30.0  # how long a command waits for the lock; hooks say their own


class Waiting(NamedTuple):
    """What a run before could not deliver: finished lines, and commits that still lack their records."""

    lines: dict[str, dict[str, list[bytes]]]  # ref -> commit -> lines
    clients: dict[str, str | None]  # commit that still lacks its capsule -> the client that made it
    unreadable: tuple[bytes, ...]
    size: int  # bytes that were read


class Header(NamedTuple):
    """The head of a commit object, as it is stored: no graft, no shallow boundary."""

    oid: str
    parents: tuple[str, ...]
    committer: str  # `Name <mail>`
    at: int  # epoch seconds

    @property
    def mail(self) -> str:
        return self.committer.rpartition("<")[2].removesuffix(">")


class Store:
    """Memory of one clone, seen from one worktree."""

    def __init__(self, git: Git, place: ask.Place, config: dict[str, list[str]] | None = None) -> None:
        self.git = git
        self.place = place
        self.config = ask.local_config(git, CONFIG_PATTERN) if config is None else config
        self.pending = place.common_state_dir + "/pending.jsonl"
        self.taken = place.common_state_dir + "/pending.taken.jsonl"
        self.objects = Objects(git)
        self.differ = Differ(git)
        self._author: str | None = None

    @classmethod
    def open(cls, git: Git) -> Store:
        """The store of the repository around git's folder. Raises NotARepository."""
        return cls(git, ask.locate(git))

    @classmethod
    def nearby(cls, git: Git) -> Store:
        """The same for a hook, which mostly runs where it ran before. Raises NotARepository."""
        found = nearby.known(git.env)
        if found is not None:
            return cls(git, *found)
        store = cls.open(git)
        nearby.remember(store.place, store.config)
        return store

    def use_deadline(self, deadline: float) -> None:
        """Every git from now on ends by then; monotonic seconds."""
        self.git.deadline = deadline
        self.objects = Objects(self.git)
        self.differ = Differ(self.git)

    def setting(self, key: str) -> str | None:
        """The last value of a key of this clone's own configuration; keys are lower case."""
        values = self.config.get(key.lower())
        return values[-1] if values else None

    @property
    def enabled(self) -> bool:
        return (self.setting("gitmem.enabled") or "").lower() in ("true", "yes", "on", "1")

    @property
    def partial(self) -> bool:
        """Whether blobs may be missing on purpose; nothing here may make git fetch them."""
        promisors = [values[-1] for key, values in self.config.items() if key.endswith(".promisor")]
        return self.setting("extensions.partialclone") is not None or "true" in promisors

    def require_enabled(self) -> None:
        if not self.enabled:
            raise NotEnabled("gitmem is not set up in this clone", "run 'gitmem init'")

    def append(
        self, additions: Mapping[str, Sequence[bytes]], *, ref: str = records.SHARED_REF, author: str | None = None,
        subject: str, deadline: float | None = None,
    ) -> Written:  # fmt: skip
        """Adds lines to notes through the one writer. `author`: `Name <mail>`, else what git says."""
        if not additions:
            return Written(0, 0)
        return writer.write(
            self.git,
            self.objects,
            self.place,
            ref,
            additions,
            author=author or ask.committer(self.git),
            subject=subject,
            deadline=deadline if deadline is not None else time.monotonic() + COMMAND_SECONDS,
        )

    def take_up_lost(self, deadline: float) -> None:
        """Joins in again what a foreign hand threw away since our last write."""
        writer.write(
            self.git, self.objects, self.place, records.SHARED_REF, {}, author=self.author(), subject="taken up again",
            deadline=deadline,
        )  # fmt: skip

    def defer(self, additions: Mapping[str, Sequence[bytes]], ref: str = records.SHARED_REF) -> None:
        """Lines that cannot be written now wait in `pending.jsonl` for the next run."""
        for commit, lines in additions.items():
            for line in lines:
                entry = {"do": "line", "ref": ref, "commit": commit, "line": line.decode("utf-8")}
                files.append(self.pending, records.canonical(entry))

    def defer_task(self, **task: Any) -> None:
        files.append(self.pending, records.canonical(task))

    def has_waiting(self) -> bool:
        return os.path.exists(self.pending) or os.path.exists(self.taken)

    def waiting(self) -> Waiting:
        """What waits, without taking it."""
        return _read_waiting(b"".join(files.read(path, max_bytes=MAX_PENDING_BYTES) or b""
                                      for path in (self.taken, self.pending)))  # fmt: skip

    def take_waiting(self) -> Waiting:
        """Takes what waits; it stays on disk until `delivered`. Call it only under `delivery_lock`."""
        if not os.path.exists(self.taken):
            files.take(self.pending, self.taken)
        return _read_waiting(files.read(self.taken, max_bytes=MAX_PENDING_BYTES) or b"")

    def delivered(self, waiting: Waiting) -> None:
        """All of it has been written; what could not be read goes to the trash, never away.

        The shell of a detached commit knows no lock: what it added meanwhile keeps the file for the next round.
        """
        for line in waiting.unreadable:
            files.append(self.place.common_state_dir + "/trash/pending.jsonl", line)
        if os.path.getsize(self.taken) == waiting.size:
            files.remove(self.taken)

    def delivery_lock(self, deadline: float) -> files.Lock:
        """Held by the one run that delivers what waits. Raises Locked."""
        return files.Lock(self.place.common_state_dir + "/deliver.lock", deadline=deadline)

    def commit_header(self, rev: str) -> Header | None:
        """The head of the commit that one of our own names means, None when there is none."""
        found = self.objects.get(rev)
        if found is None or found.kind != "commit":
            return None
        rows = found.data.partition(b"\n\n")[0].decode("utf-8", "replace").split("\n")
        parents = tuple(row[7:] for row in rows if row.startswith("parent "))
        committer = next((row[10:] for row in rows if row.startswith("committer ")), "")
        name, end, date = committer.rpartition(">")
        seconds = date.split()[0] if date.split() else "0"
        at = int(seconds) if seconds.removeprefix("-").isdigit() else 0
        return Header(found.oid, parents, name + end, at)

    def tree(self, rev: str) -> str:
        """The tree of a commit, or a tree itself. Raises GitError when it is not here."""
        if rev in ask.EMPTY_TREE.values():
            return rev
        found = self.objects.get(rev)
        if found is None or found.kind not in ("commit", "tree"):
            raise GitError(f"'{rev}' is no commit that is here")
        return found.oid if found.kind == "tree" else found.data[5 : 5 + self.place.hex_digits].decode("ascii")

    def note_lines(self, commits: Iterable[str], *, ref: str = records.SHARED_REF) -> Iterator[tuple[str, list[bytes]]]:
        """(commit, lines of its note) in the order given; no lines where there is no note. Any layout is read."""
        return self.lines_at(ref if self.has_ref(ref) else None, commits)

    def lines_at(self, tip: str | None, commits: Iterable[str]) -> Iterator[tuple[str, list[bytes]]]:
        """The same at a notes commit, or at none."""
        wanted = list(commits)
        if tip is None:
            yield from ((commit, []) for commit in wanted)
            return
        for group in (wanted[i : i + NOTES_AT_ONCE] for i in range(0, len(wanted), NOTES_AT_ONCE)):
            depths = [[f"{tip}:{path}" for path in notes.possible_paths(commit)] for commit in group]
            answers = list(self.objects.get_all([name for names in depths for name in names], skip_large=True))
            for n, commit in enumerate(group):
                found = [o for o in answers[n * len(depths[0]) : (n + 1) * len(depths[0])] if o and o.kind == "blob"]
                yield commit, notes.join(*(notes.lines(o.data) for o in found))

    def tip(self, ref: str) -> str | None:
        """The oid of one of our refs, through the one process for objects; None also where its object is missing."""
        found = self.objects.get(ref)
        return found.oid if found else None

    def present(self, oids: Iterable[str]) -> list[str]:
        """Those of the objects that this repository has, in order, each once."""
        wanted = list(dict.fromkeys(oids))
        return [oid for oid, found in zip(wanted, self.objects.get_all(wanted), strict=True) if found]

    def author(self) -> str:
        """`Name <mail>` that git would write with, asked once. Raises NoIdentity."""
        if self._author is None:
            self._author = ask.committer(self.git)
        return self._author

    def has_ref(self, ref: str) -> bool:
        """Whether a notes ref is there. Raises GitError when it points to something that is not: empty is not clean."""
        if self.objects.get(ref) is not None:
            return True
        if ask.exact_ref(self.git, ref) is not None:
            raise GitError(
                f"'{ref}' points to an object that is missing", "run 'git fsck'; its reflog may know a good tip"
            )
        return False

    def reading(self, commit: str) -> records.Reading:
        """The records of one commit, shared and private."""
        lines = [line for ref in (records.SHARED_REF, records.PRIVATE_REF)
                 for _, found in self.note_lines([commit], ref=ref) for line in found]  # fmt: skip
        return records.read(lines)

    def blobs(self, ref: str = records.SHARED_REF) -> dict[str, list[str]]:
        """Every commit that has a note -> the blobs of it; more than one where a commit stands in two places."""
        if not self.has_ref(ref):
            return {}
        found: dict[str, list[str]] = {}
        for row in self.git.run("ls-tree", "-r", "-z", "--full-tree", ref).out.split(b"\0")[:-1]:
            meta, _, path = row.partition(b"\t")
            commit = path.replace(b"/", b"").decode("utf-8", "surrogateescape")
            if notes.is_hex(commit, self.place.hex_digits):
                found.setdefault(commit, []).append(meta.rsplit(b" ", 1)[-1].decode("ascii"))
        return found

    def read_blobs(self, wanted: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, list[bytes]]]:
        """(commit, lines) for commits and the blobs of their notes."""
        for commit, oids in wanted:
            read = self.objects.get_all(oids, skip_large=True)
            yield commit, notes.join(*(notes.lines(found.data) for found in read if found is not None))

    def read_notes(self, blobs: Iterable[str]) -> Iterator[list[bytes] | None]:
        """The lines of notes by their blobs, None for one beyond all size. A blob that is missing is said, never
        taken for an empty note."""
        listed = list(blobs)
        for oid, found in zip(listed, self.objects.get_all(listed, skip_large=True), strict=True):
            if found is None:
                raise GitError(f"object '{oid}' of the notes cannot be read", "run 'git fsck'")
            yield None if found.kind == LARGE else notes.lines(found.data)

    def log_failure(self, where: str, error: BaseException) -> None:
        """One line in errors.jsonl; never fails itself."""
        path = self.place.common_state_dir + "/errors.jsonl"
        try:
            if os.path.exists(path) and os.path.getsize(path) > MAX_LOG_BYTES:
                os.replace(path, path + ".1")
            said = error.message if isinstance(error, GitmemError) else f"{type(error).__name__}: {error}"
            files.append(path, records.canonical({"at": int(time.time()), "where": where, "error": said[:2000]}))
        except (OSError, GitmemError):
            pass  # a folder that cannot be written to: the caller has said it already


def _read_waiting(data: bytes) -> Waiting:
    lines: dict[str, dict[str, list[bytes]]] = {}
    clients: dict[str, str | None] = {}
    unreadable = []
    for raw in notes.lines(data):
        try:
            entry = quickjson.loads(raw)
            commit = str(entry["commit"])
            if not (notes.is_hex(commit, 40) or notes.is_hex(commit, 64)):
                unreadable.append(raw)
            elif entry["do"] == "commit":
                clients[commit] = str(entry.get("client") or "") or None
            elif entry["do"] == "line" and entry["ref"] in (records.SHARED_REF, records.PRIVATE_REF):
                lines.setdefault(entry["ref"], {}).setdefault(commit, []).append(entry["line"].encode("utf-8"))
            else:
                unreadable.append(raw)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            unreadable.append(raw)
    return Waiting(lines, clients, tuple(unreadable), len(data))
