"""reflect-commit: all checks before the first write, a journal, then all pages or none."""

from __future__ import annotations

import json
import os
import stat
import time

from gitmem import files, records, reflect_state, reflection
from gitmem.checks import Problem, check_archive, check_page
from gitmem.errors import GitError, Refused, Unreadable
from gitmem.git import ask
from gitmem.git.objects import Objects
from gitmem.git.run import decode, encode
from gitmem.manifest import ARCHIVE, FOLDER, ORDER, Manifest
from gitmem.pages import normal, set_key
from gitmem.reflect_state import Accepted
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gitmem.store import Store

MAX_INPUT_BYTES = 4 << 20


class Given(NamedTuple):
    """The pages as somebody wants them kept. texts: page -> bytes; only those that changed."""

    texts: dict[str, bytes]
    problems: tuple[Problem, ...]


def page_path(store: Store, page: str) -> str:
    return f"{store.place.top}/{FOLDER}/{page}"


def refuse_links(store: Store) -> None:
    """Raises Refused when a page, a folder above it or our state is a symbolic link: nothing goes through it."""
    top = store.place.top
    if top is None:
        raise Refused("there is no work tree here", "reflect in a clone that has one")
    places = [f"{top}/.gitmem", f"{top}/{FOLDER}", *(page_path(store, p) for p in (*ORDER, ARCHIVE))]
    for path in (*places, store.place.state_dir, reflect_state.manifest_path(store)):
        if os.path.islink(path):
            raise Refused(f"path_refused: '{path}' is a symbolic link", "replace it by what it points to")


def from_work_tree(store: Store) -> Given:
    """The pages that differ from HEAD as they lie in the work tree, or in the index outside a sparse checkout."""
    texts, problems = {}, []
    for page in (*ORDER, ARCHIVE):
        try:
            data = files.read(page_path(store, page), max_bytes=MAX_INPUT_BYTES)
        except Refused as error:
            problems.append(Problem("too_large", page, 1, error.message))
            continue
        if data is None:
            staged = store.objects.get(f":{FOLDER}/{page}")
            data = staged.data if staged is not None and skipped(store, page) else None
        if data is not None and not _same(store, page, data):
            texts[page] = data
    return Given(texts, tuple(problems))


def skipped(store: Store, page: str) -> bool:
    """Whether a sparse checkout keeps a page out of the work tree."""
    return decode(store.git.run("ls-files", "-v", "--", f"{FOLDER}/{page}").out).startswith("S ")


def _same(store: Store, page: str, data: bytes) -> bool:
    """Whether the bytes are what HEAD holds, line ends aside."""
    there = store.objects.get(f"HEAD:{FOLDER}/{page}")
    return there is not None and there.data.replace(b"\r\n", b"\n") == data.replace(b"\r\n", b"\n")


def from_document(store: Store, data: bytes) -> Given:
    """The pages of `{"files": {"<path>": "<text>"}}`. Raises Refused for anything else."""
    try:
        listed = json.loads(data)["files"]
        pairs = {str(path): text.encode("utf-8", "surrogatepass") for path, text in listed.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused('the input is no {"files": {"<path>": "<text>"}}', "'gitmem reflect' shows the form") from None
    texts, problems = {}, []
    for path, text in pairs.items():
        page = path.removeprefix(FOLDER + "/")
        if page not in (*ORDER, ARCHIVE):
            problems.append(Problem("path_refused", path[:200], 1, "this is no page"))
        elif not _same(store, page, text):
            texts[page] = text
    return Given(texts, tuple(problems))


def check(
    store: Store, due: Manifest, given: Given, *, skip: Sequence[str], now: float, allow_shrink: bool
) -> list[Problem]:
    """Every failure of every page that changed, of the snapshot and of the targets."""
    archive = given.texts.get(ARCHIVE)
    kept = archive if archive is not None else _text_at(store, ARCHIVE).encode("utf-8", "surrogateescape")
    problems = list(given.problems)
    for page, data in given.texts.items():
        if page == ARCHIVE:
            problems += check_archive(data)
            continue
        if page not in due.targets:
            other = f"the targets are {', '.join(due.targets)}; commit this page by hand, or make it a target"
            problems.append(Problem("path_refused", page, 1, f"{other}: 'gitmem reflect-prepare --all-pages'"))
            continue
        old = _text_at(store, page) if _blob(store, page) else None
        problems += check_page(
            page, data, old, now=now, archive=kept.decode("utf-8", "replace"), allow_shrink=allow_shrink
        )
    problems += _snapshot(store, due)
    missing = [page for page in due.targets if page not in given.texts and page not in skip]
    problems += [
        Problem("targets_missing", page, 1, "unchanged; '--skip PAGE --reason TEXT' if that is meant")
        for page in missing
    ]
    return problems + _staged(store, given)


def _text_at(store: Store, page: str) -> str:
    found = store.objects.get(f"HEAD:{FOLDER}/{page}")
    return normal(decode(found.data)) if found else ""


def _blob(store: Store, page: str) -> str | None:
    return reflect_state.blob_at(store, "HEAD", f"{FOLDER}/{page}")


def _snapshot(store: Store, due: Manifest) -> list[Problem]:
    """Targets that somebody committed since the snapshot was taken, unless it was a reflection of ours."""
    known = reflect_state.accepted_blobs(store)
    moved = [page for page in due.targets if _blob(store, page) not in (due.snapshot.get(page), *known)]
    return [Problem("snapshot_mismatch", page, 1, _moved(due.snapshot.get(page), page)) for page in moved]


def _moved(old: str | None, page: str) -> str:
    seen = f"see 'git diff {old[:12]} HEAD:{FOLDER}/{page}'" if old else "it was not there then"
    return f"the page at HEAD is not the one of the snapshot ({seen}); run 'gitmem reflect-prepare' again"


def _staged(store: Store, given: Given) -> list[Problem]:
    found = []
    for page, data in given.texts.items():
        staged = store.objects.get(f":{FOLDER}/{page}")
        if staged is None or staged.oid == _blob(store, page):
            continue
        if staged.data.replace(b"\r\n", b"\n") != data.replace(b"\r\n", b"\n"):
            message = "something else is staged; commit it, or take it out with 'git restore --staged'"
            found.append(Problem("snapshot_mismatch", page, 1, message))
    return found


def accept(store: Store, due: Manifest, texts: Mapping[str, bytes], *, line_reason: str) -> Accepted:
    """Puts the pages in place, stages them and drops the manifest. From the journal on it will be finished by
    whoever comes next."""
    pages = {
        f"{FOLDER}/{page}": decode(data if page == ARCHIVE else _sourced(data, due.head))
        for page, data in texts.items()
    }
    entry: dict[str, object] = {
        "id": due.id,
        "base": due.base,
        "head": due.head,
        "targets": list(due.targets),
        "reason": line_reason,
        "pages": pages,
    }
    files.replace(journal_path(store), json.dumps(entry).encode("ascii"))
    return _finish(store, entry)


def _sourced(data: bytes, head: str) -> bytes:
    return encode(set_key(decode(data), "source_commit", head))


def journal_path(store: Store) -> str:
    return store.place.state_dir + "/reflect-commit.journal"


def recover(store: Store) -> Accepted | None:
    """Finishes a reflect-commit that was cut off behind its journal. Call it under `reflect_lock`."""
    data = files.read(journal_path(store))
    if data is None:
        return None
    try:
        entry = json.loads(data)
        whole = all(path.removeprefix(FOLDER + "/") in (*ORDER, ARCHIVE) for path in entry["pages"])
        texts = all(isinstance(text, str) for text in entry["pages"].values())
        named = all(isinstance(entry[key], str) for key in ("id", "base", "head", "reason"))
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = texts = named = False
    if not (whole and texts and named):
        trash = store.place.common_state_dir + "/trash/reflect-commit.journal"
        files.replace(trash, data)
        files.remove(journal_path(store))
        raise Unreadable("the journal of a reflect-commit cannot be read", f"it was moved to '{trash}'; reflect again")
    refuse_links(store)
    return _finish(store, entry)


def _finish(store: Store, entry: dict[str, object]) -> Accepted:
    pages = entry["pages"]
    if not isinstance(pages, dict):
        raise Unreadable("the journal of a reflect-commit cannot be read")
    for path, text in pages.items():
        whole = f"{store.place.top}/{path}"
        mode = stat.S_IMODE(os.lstat(whole).st_mode) if os.path.exists(whole) else 0o644
        if skipped(store, path.removeprefix(FOLDER + "/")):
            _stage_blob(store, path, encode(text))
        else:
            files.replace(whole, encode(text), mode=mode)
    _stage(store, list(pages))
    index = Objects(store.git)  # a new reader: one that has read the index before `git add` goes on seeing that one
    blobs = {path: found.oid for path in pages if (found := index.get(f":{path}"))}
    targets = entry["targets"] if isinstance(entry["targets"], list) else []
    done = Accepted(
        str(entry["id"]), str(entry["base"]), str(entry["head"]), tuple(targets), blobs, str(entry["reason"])
    )
    commit = store.commit_header("HEAD")
    if commit is not None:
        author = ask.committer(store.git)
        line = reflection.reflection_line(commit.oid, int(time.time()), records.who_is(author), "accepted", done)
        store.append({commit.oid: [line]}, author=author, subject="reflection accepted")
    reflect_state.write_accepted(store, done)
    due = reflect_state.read_manifest(store)
    if not isinstance(due, Manifest) or due.id == done.id:
        files.remove(reflect_state.manifest_path(store))
    files.remove(journal_path(store))
    return done


def _stage(store: Store, paths: Sequence[str]) -> None:
    present = [path for path in paths if os.path.lexists(f"{store.place.top}/{path}")]
    if not present:
        return
    try:
        store.git.run("-C", store.place.top or ".", "add", "--", *present)
    except GitError as error:
        raise Refused(
            f"git does not stage the pages: {error.message}",
            "is '.gitmem/' ignored? 'git check-ignore -v .gitmem' tells by what",
        ) from None


def _stage_blob(store: Store, path: str, data: bytes) -> None:
    """Stages a page that a sparse checkout keeps out of the work tree, and leaves it out."""
    oid = decode(store.git.run("hash-object", "-w", "--stdin", f"--path={path}", stdin=data).out).strip()
    store.git.run("update-index", "--cacheinfo", f"100644,{oid},{path}")
    store.git.run("update-index", "--skip-worktree", "--", path)


def ignored(store: Store) -> bool:
    """Whether git ignores the folder of the pages: what is accepted there could never be committed."""
    asked = ("check-ignore", "-q", "--no-index", f"{FOLDER}/what-is.md")
    return (
        store.git.run("-C", store.place.top or ".", *asked, ok=(0, 1), env={"GIT_LITERAL_PATHSPECS": "0"}).status == 0
    )


def head_commit(store: Store) -> str:
    found = ask.head_commit(store.git)
    if found is None:
        raise Refused("there is no commit yet", "a reflection looks back on commits")
    return found
