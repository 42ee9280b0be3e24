"""Whose words a record holds: mine, the team's, or a stranger's. Marks, not proof: nobody signs notes."""

from __future__ import annotations

from gitmem import files, records
from gitmem.capsule import capsule
from gitmem.errors import GitmemError
from gitmem.git import ask
from gitmem.git.commits import read_commits
from gitmem.git.run import decode
from gitmem.subject import read_message
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitmem.changes import Commit
    from gitmem.records import Record
    from gitmem.store import Store

MAX_COMMITS = 50_000  # of all branches, newest first, whose people are known
UNSIGNED = ("capsule",)  # made from the commit alone: its content is its proof


def me(store: Store) -> str | None:
    """My own `w`, None while git knows no identity."""
    try:
        return records.who_is(store.author())
    except GitmemError:
        return None


def people(store: Store) -> dict[str, str]:
    """`w` -> name of everybody who wrote or committed in this clone's history."""
    out = store.git.run("log", "--branches", "--remotes", "--tags", "HEAD", f"--max-count={MAX_COMMITS}", "-z",
                        "--format=%ae%x00%an%x00%ce%x00%cn", ok=(0, 128)).out  # fmt: skip
    words = decode(out).split("\0")
    return {records.who(mail): name for mail, name in zip(words[::2], words[1::2], strict=False) if mail}


def level(record: Record, mine: str | None, team: Mapping[str, str]) -> str:
    """mine, team or foreign. A capsule is judged by its commit: `honest`."""
    w = record.fields.get("w")
    if w and w == mine:
        return "mine"
    return "team" if w in team or record.kind in UNSIGNED else "foreign"


def looked_path(store: Store) -> str:
    """Where this clone notes what a person has looked at."""
    return store.place.common_state_dir + "/reviewed.json"


class Looked(NamedTuple):
    """What a person here has looked at: everything up to a tip of the notes, and records kept or dropped one by one."""

    tip: str | None
    ids: tuple[str, ...]


def read_looked(store: Store) -> Looked:
    found = files.read_object(looked_path(store))
    tip, ids = found.get("tip"), found.get("ids")
    listed = tuple(str(oid) for oid in ids) if isinstance(ids, list) else ()
    return Looked(tip if isinstance(tip, str) else None, listed)


def honest(store: Store, record: Record) -> bool | None:
    """Whether a capsule says what its commit says; None when the commit is not here.

    What git versions and rules may see differently (counts, domains, symbols) proves nothing and is not compared.
    """
    commit = next(iter(_commits(store, [record.commit])), None)
    return None if commit is None else matches(record, commit)


def matches(record: Record, commit: Commit) -> bool:
    """The facts of the message, and no path that the commit does not touch."""
    made = records.parse(capsule(commit))
    names = {name for change in commit.changes for name in (change.path, change.old_path) if name}
    return made is not None and records.agree(made, record) and set(record.fields.get("paths", [])) <= names


def true_capsule(store: Store, oid: str, found: Iterable[Record]) -> tuple[Record | None, list[Record]]:
    """(the capsule that counts, those that do not match the commit)."""
    own = [r for r in found if r.kind == "capsule" and r.commit == oid]
    false = [record for record in own if honest(store, record) is False]
    return records.capsule_of(oid, [record for record in own if record not in false]), false


def _commits(store: Store, oids: Iterable[str]) -> list[Commit]:
    here = store.present(oids)
    wanted = ask.commits(store.git, "--no-walk=unsorted", stdin=here) if here else []
    return list(read_commits(store.differ, wanted, partial=True))


def fits_message(record: Record, message: str, parents: int) -> bool:
    """The cheap half of `matches`, for lists: the capsule's words against the message."""
    read = read_message(message.strip("\n"), parents=parents)
    summary = records.clean({"summary": read.summary})["summary"]
    return (record.fields.get("type"), record.fields.get("summary", "")) == (read.type, summary)
