"""What a remote holds, as one notes commit here; how two notes commits differ; who wants what forgotten.

Everything follows the tips by `git diff-tree`: what it costs depends on what changed, not on how much there is.
"""

from __future__ import annotations

from gitmem import files, joining, notes, quickjson, records, writer
from gitmem.errors import GitError
from gitmem.git import ask
from gitmem.git.network import NOTES, tracking
from gitmem.git.run import decode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitmem.store import Store

NOTES_AT_ONCE = 512  # whose blobs are asked for in one go
# What a user's grep.* would add to each line.
GREP_STYLE = ("--no-color", "--full-name", "-z", "--no-line-number", "--no-column", "--no-heading", "--no-break")
LINK = '"kind":"link"'
GREP_IDS = 500  # ids that one `git grep` looks for


class Mirror(NamedTuple):
    """tip: None while the remote holds nothing."""

    tip: str | None
    forgets: dict[str, set[str]]
    sharded: bool


def shard_tips(store: Store, remote: str) -> dict[str, str]:
    """Shard of the remote -> its tip, as fetched last."""
    prefix = tracking(remote, "refs/gitmem/s/")
    out = store.git.run("for-each-ref", "--format=%(refname) %(objectname)", prefix).out
    rows = (row.split(" ") for row in decode(out).splitlines())
    return {"refs/gitmem/s/" + name.removeprefix(prefix): oid for name, oid in rows}


def refresh(store: Store, remote: str) -> Mirror:
    """What was fetched last. Shards are joined into one commit, each from where it was joined last. Holds the lock."""
    whole = store.tip(tracking(remote, NOTES))
    shards = shard_tips(store, remote)
    tips = ({NOTES: whole} if whole else {}) | shards
    for ref, tip in tips.items():
        _check_notes(store, remote, ref, tip)
    if shards:
        whole = _joined(store, remote, tips)
    return Mirror(whole, read_forgets(store), bool(shards))


def _check_notes(store: Store, remote: str, ref: str, tip: str) -> None:
    """Refuses a ref of the other side that holds something else: a push would add to it."""
    digits = store.place.hex_digits
    tree = store.objects.get(f"{tip}^{{tree}}")
    names = [entry.name for entry in notes.parse_tree(tree.data, digits)] if tree and tree.kind == "tree" else []
    if names and not any(notes.is_hex(name, 2) or notes.is_hex(name, digits) for name in names):
        raise GitError(
            f"'{ref}' of '{remote}' holds no notes", "somebody keeps something else there; look before you sync"
        )


def as_known(store: Store, remote: str) -> Mirror:
    """The same as it was when it was looked at last. Writes nothing."""
    tip, shards = _known(store, remote)
    return Mirror(tip, read_forgets(store, note=False), shards)


def _known(store: Store, remote: str) -> tuple[str | None, bool]:
    """(what a remote held when it was looked at last, whether in shards)."""
    shards = bool(shard_tips(store, remote))
    return store.tip(tracking(remote, "refs/gitmem/all" if shards else NOTES)), shards


def _joined(store: Store, remote: str, tips: dict[str, str]) -> str | None:
    ref, taken = tracking(remote, "refs/gitmem/all"), _read_taken(store)
    before = taken.get(remote, {})
    tip = store.tip(ref)
    rewound = [n for n, oid in before.items() if n not in tips or not _extends(store, oid, tips[n])]
    if rewound or tip is None:  # purged, lost or rolled back: what is joined has to be made anew, without history
        tip, before = None, {}
    changed = {name: oid for name, oid in tips.items() if before.get(name) != oid}
    if not changed:
        return tip
    added: dict[str, set[bytes]] = {}
    for name, oid in changed.items():
        for commit, had, has in differing(store, before.get(name), oid):
            added.setdefault(commit, set()).update(set(has) - set(had))
    finals = {commit: notes.join(lines, added[commit]) for commit, lines in store.lines_at(tip, added)}
    new = writer.build(
        store.git, store.objects, store.place, parent=tip, tree_of=tip, finals=finals, author=store.author(),
        subject="all shards",
    )  # fmt: skip
    if new is not None:
        store.git.run("update-ref", ref, new)
    _write_taken(store, taken | {remote: tips})
    return new


def _extends(store: Store, old: str, new: str) -> bool:
    return old == new or ask.is_ancestor(store.git, old, new)


def took(store: Store, remote: str, taken_now: dict[str, str], whole: str | None) -> None:
    """What is joined of a remote with shards, known without another fetch. taken_now: ref -> the commit it took."""
    if whole is None:
        return
    taken = _read_taken(store)
    store.git.run("update-ref", tracking(remote, "refs/gitmem/all"), whole)
    _write_taken(store, taken | {remote: taken.get(remote, {}) | taken_now})


def _taken_path(store: Store) -> str:
    return store.place.common_state_dir + "/shards.json"


def _read_taken(store: Store) -> dict[str, dict[str, str]]:
    """remote -> ref -> the tip that is joined already. Losing it costs time only."""
    found = files.read_object(_taken_path(store))
    return {remote: tips for remote, tips in found.items() if isinstance(tips, dict)}


def _write_taken(store: Store, taken: dict[str, dict[str, str]]) -> None:
    files.replace(_taken_path(store), records.canonical(taken), durable=False)


Large = tuple[str, list[str], list[str]]  # a commit, and the blobs of its note in the old and in the new


def differing(
    store: Store, old: str | None, new: str | None, *, also: Iterable[str] = (), large: list[Large] | None = None
) -> Iterator[tuple[str, list[bytes], list[bytes]]]:
    """(commit, lines in the old, lines in the new) of each note that differs, by commit. also: these in any case.
    large: takes those that are beyond reading.

    The layouts of the two may differ: entries of one commit stand in one first-level folder and are put together.
    """
    seen = set()
    for group in _by_folder(_entries(store, old, new)):
        commits = list(group)
        for n in range(0, len(commits), NOTES_AT_ONCE):
            part = commits[n : n + NOTES_AT_ONCE]
            blobs = [blob for commit in part for side in group[commit] for blob in side]
            read = iter(store.read_notes(blobs))
            for commit in part:
                before, after = ([next(read) for _ in side] for side in group[commit])
                seen.add(commit)
                if None not in (*before, *after):
                    yield commit, notes.join(*filter(None, before)), notes.join(*filter(None, after))
                elif large is not None:
                    large.append((commit, *group[commit]))
    rest = sorted(set(also) - seen)
    there, here = dict(store.lines_at(old, rest)), dict(store.lines_at(new, rest))
    for commit in rest:
        yield commit, there[commit], here[commit]


def count(store: Store, tip: str) -> int:
    """How many notes a commit holds."""
    return sum(1 for _ in _entries(store, None, tip))


def unsent(store: Store, remote: str) -> int | None:
    """How many notes differ from what a remote held when it was looked at last; None when it never was."""
    (tip, _), local = _known(store, remote), store.tip(records.SHARED_REF)
    return None if tip is None else len({commit for commit, _, _ in _entries(store, tip, local)})


def more_than(store: Store, count: int) -> bool:
    """Whether the shared notes are more than so many; guessed from one folder of 256, beyond a few thousand surely."""
    found = store.git.run("ls-tree", "-r", "--name-only", f"{records.SHARED_REF}:00", ok=(0, 128)).out
    return found.count(b"\n") * 256 > count


Sides = tuple[list[str], list[str]]


def _by_folder(entries: Iterable[tuple[str, str | None, str | None]]) -> Iterator[dict[str, Sides]]:
    """Entries (commit, old blob, new blob) put together by commit, one first-level folder at a time."""
    group: dict[str, Sides] = {}
    folder = ""
    for commit, before, after in entries:
        if commit[:2] != folder and group:
            yield group
            group = {}
        folder = commit[:2]
        olds, news = group.setdefault(commit, ([], []))
        olds += [before] if before else []
        news += [after] if after else []
    if group:
        yield group


def _entries(store: Store, old: str | None, new: str | None) -> Iterator[tuple[str, str | None, str | None]]:
    if old == new:
        return
    if old is None or new is None:
        process = store.git.open("ls-tree", "-r", "-z", "--full-tree", old or new or "")
    else:
        process = store.git.open("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old, new)
    held = b""
    for chunk in process.chunks():
        *whole, held = (held + chunk).split(b"\0")
        if old is None or new is None:
            for row in whole:
                meta, _, path = row.partition(b"\t")
                blob = decode(meta.rsplit(b" ", 1)[-1])
                yield from _entry(store, path, blob if old else None, blob if new else None)
            continue
        if len(whole) % 2:  # a record is cut between its halves
            held = whole.pop() + b"\0" + held
        for meta, path in zip(whole[::2], whole[1::2], strict=True):
            modes_and_oids = decode(meta).split(" ")
            before, after, old_blob, new_blob = modes_and_oids[:4]
            yield from _entry(store, path, _blob(old_blob, before), _blob(new_blob, after))
    process.finish()


def _blob(oid: str, mode: str) -> str | None:
    return oid if oid.strip("0") and mode.lstrip(":").startswith("100") else None


def _entry(store: Store, path: bytes, old: str | None, new: str | None) -> Iterator[tuple[str, str | None, str | None]]:
    commit = notes.commit_at(decode(path), store.place.hex_digits)
    if commit is not None:
        yield commit, old, new


def strange_paths(store: Store, tip: str) -> list[str]:
    """What lies in a notes tree and is no note."""
    out = decode(store.git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", tip).out)
    return [path for path in out.split("\0")[:-1] if notes.commit_at(path, store.place.hex_digits) is None]


def read_forgets(store: Store, *, note: bool = True) -> dict[str, set[str]]:
    """Everything that somebody wants forgotten, by id. Kept beside the notes, and found again when that is lost."""
    try:
        found = quickjson.loads(files.read(_forgets_path(store)) or b"")
        return {str(oid): set(askers) for oid, askers in found.items()}
    except (ValueError, AttributeError, TypeError):
        again = all_forgets(store, store.tip(records.SHARED_REF))
        if note:
            write_forgets(store, again)
        return again


def all_forgets(store: Store, tip: str | None) -> dict[str, set[str]]:
    """What the notes of a commit want forgotten, by a search through all of them."""
    return joining.forgets(line for _, line in grep(store, tip, [joining.TEXT]))


def write_forgets(store: Store, found: joining.Forgets) -> None:
    data = {oid: sorted(askers) for oid, askers in found.items()}
    files.replace(_forgets_path(store), records.canonical(data), durable=False)


def _forgets_path(store: Store) -> str:
    return store.place.common_state_dir + "/forgotten.json"


def links(store: Store, olds: Sequence[str] | None = None) -> set[tuple[str, str, str]]:
    """(old, new, operation) of the links in the shared notes; olds: of these commits alone."""
    texts = [LINK] if olds is None else [f'"old":"{oid}"' for oid in olds]
    lines = grep(store, ask.exact_ref(store.git, records.SHARED_REF), texts)
    found = (record.fields for _, line in lines if (record := records.parse(line)) and record.kind == "link")
    return {(str(link.get("old")), str(link.get("new")), str(link.get("operation"))) for link in found}


def grep(store: Store, tip: str | None, texts: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(commit, line) of the notes' lines that hold one of the texts, by git itself; of no tip there are none."""
    for n in range(0, len(texts) if tip else 0, GREP_IDS):
        patterns = [word for text in texts[n : n + GREP_IDS] for word in ("-e", text)]
        every = ("--", ":/")  # not only the folder we stand in
        words = ("grep", "-a", "-F", *GREP_STYLE, *patterns, tip or "", *every)
        out = store.git.run(*words, ok=(0, 1), env={"GIT_LITERAL_PATHSPECS": "0"}).out
        for row in out.split(b"\n"):
            name, found, line = row.partition(b"\0")
            commit = notes.commit_at(decode(name.partition(b":")[2]), store.place.hex_digits)
            if found and commit is not None:
                yield commit, line
