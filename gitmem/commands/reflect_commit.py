"""`gitmem reflect-commit`: validates the pages, then keeps all of them or none."""

from __future__ import annotations

import os
import sys
import time

from gitmem import accepting, files, output, records, reflect_state, reflection, window
from gitmem.checks import Problem
from gitmem.clients import client_of
from gitmem.errors import GitmemError, Refused, UsageError
from gitmem.git import ask
from gitmem.manifest import ARCHIVE, FOLDER, ORDER, Manifest
from gitmem.opening import open_store
from gitmem.reflect_state import Accepted
from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from gitmem.store import Store


def run(args: Namespace) -> int:
    skip = [page if page.endswith(".md") else page + ".md" for page in args.skip or ()]
    if unknown := [page for page in skip if page not in ORDER]:
        raise UsageError(f"'{unknown[0]}' is no page", f"the pages are {', '.join(ORDER)}")
    if (skip or args.no_change) and not (args.reason or "").strip():
        raise UsageError("'--skip' and '--no-change' need '--reason TEXT'")
    store = open_store(args.repo, enabled=True)
    accepting.refuse_links(store)
    head = accepting.head_commit(store)
    given_text = _input(args)
    with reflect_state.reflect_lock(store, 10.0):
        reflect_state.settle(store, head)
        due = reflect_state.read_manifest(store)
        if not isinstance(due, Manifest):
            code = due or "manifest_missing"
            hint = (
                "'gitmem reflect-prepare --force' writes one"
                if due is None
                else "'gitmem reflect-prepare --force' writes it anew"
            )
            return _refused(args, None, [Problem(code, "reflect-prompt.json", 1, _why(code))], hint)
        if args.no_change:
            return _close(args, store, due)
        if accepting.ignored(store):
            raise Refused(f"git ignores '{FOLDER}'", "'git check-ignore -v .gitmem/bootstrap/what-is.md' tells by what")
        if accepting.ignored(store):
            raise Refused(f"git ignores '{FOLDER}'", "'git check-ignore -v .gitmem/bootstrap/what-is.md' tells by what")
        document = given_text is not None
        given = accepting.from_document(store, given_text or b"") if document else accepting.from_work_tree(store)
        problems = accepting.check(store, due, given, skip=skip, now=time.time(), allow_shrink=args.allow_shrink)
        if problems:
            return _refused(args, store, problems, "mend them and run 'gitmem reflect-commit' again", due)
        if args.dry_run:
            return _say(args, "would accept", sorted(given.texts), due.id)
        done = accepting.accept(store, due, given.texts, line_reason=args.reason or "")
    if args.commit:  # its own hook wants the lock
        _commit(store, done)
    return _say(args, "committed" if args.commit else "accepted", sorted(given.texts), due.id)


def _input(args: Namespace) -> bytes | None:
    if args.source is None:
        return None
    if args.source == "-":
        if sys.stdin.isatty():
            raise UsageError("'--from -' reads standard input, and that is a terminal")
        data = sys.stdin.buffer.read(accepting.MAX_INPUT_BYTES + 1)
    else:
        data = files.read(args.source, max_bytes=accepting.MAX_INPUT_BYTES) or b""
    if len(data) > accepting.MAX_INPUT_BYTES:
        raise Refused(f"too_large: the input has more than {accepting.MAX_INPUT_BYTES} bytes")
    return data


def _why(code: str) -> str:
    return {
        "manifest_missing": "no reflection is due",
        "manifest_corrupt": "the manifest does not read",
        "manifest_changed": "the manifest is not what gitmem wrote",
    }[code]


def _refused(
    args: Namespace, store: Store | None, problems: list[Problem], hint: str, due: Manifest | None = None
) -> int:
    if store is not None and due is not None and not args.dry_run:
        due = reflection.rejected_again(store, due, [str(problem) for problem in problems])
    if args.json:
        tried, parked = (due.attempts, due.parked) if due else (0, False)
        rows = [problem._asdict() for problem in problems]
        output.say_json({"status": "refused", "problems": rows, "attempts": tried, "parked": parked})
        return 1
    for problem in problems:
        output.say(str(problem))
    if due is not None and due.parked:
        hint = (
            "parked after two refusals: mend them and say it again; 'gitmem reflect-prepare --force' starts over, "
            "'--no-change' closes it"
        )
    raise GitmemError(f"{counted(len(problems), 'problem')}; nothing was changed", hint)


def _close(args: Namespace, store: Store, due: Manifest) -> int:
    """Looked, nothing to do: an honest outcome, kept with its reason."""
    if args.dry_run:
        return _say(args, "would close", [], due.id)
    head = store.commit_header("HEAD")
    closed = Accepted(due.id, due.base, due.head, due.targets, {}, args.reason)
    if head is not None:
        author = ask.committer(store.git)
        w = records.who_is(author)
        line = reflection.reflection_line(head.oid, int(time.time()), w, "no-change", closed)
        store.append({head.oid: [line]}, author=author, subject="reflection closed")
        window.write_mark(store, head.oid)
    files.remove(reflect_state.manifest_path(store))
    return _say(args, "closed", [], due.id)


def _commit(store: Store, done: Accepted) -> None:
    paths = [path for path in done.blobs if path.startswith(FOLDER)]
    who = client_of(os.environ)
    subject = "docs: reflect on recent changes" + (f" ({who})" if who else "")
    store.git.run(
        "-C", store.place.top or ".", "commit", "--quiet", "--only", "-m", subject, "--trailer",
        f"Gitmem-Reflection: {done.id}", "--", *paths,
    )  # fmt: skip


def _say(args: Namespace, status: str, pages: list[str], id_: str) -> int:
    if args.json:
        output.say_json({"status": status, "id": id_, "pages": pages, "dry_run": args.dry_run})
        return 0
    shown = ", ".join(page for page in pages if page != ARCHIVE) or "no page"
    output.say(f"{status}: reflection {id_}, {shown}")
    if status == "accepted":
        output.say(
            "the pages are staged; commit them with your work, or alone: git commit -m 'docs: reflect' -- .gitmem"
        )
    return 0
