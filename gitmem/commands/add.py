"""`gitmem add KIND TEXT`: attaches a devlog, a decision or an event to a commit."""

from __future__ import annotations

import os
import sys
import time

from gitmem import clients, output, records
from gitmem.errors import Refused, UsageError
from gitmem.git import ask
from gitmem.opening import open_store
from gitmem.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

MAX_TEXT_BYTES = 8 << 10
LISTS = ("artifacts", "decisions", "learnings", "blockers")


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    store.require_enabled()
    text = _text(args.text)
    commit = ask.resolve_commit(store.git, args.commit)
    author = ask.committer(store.git)
    line = _line(args, commit, text, author)
    ref = records.PRIVATE_REF if args.private else records.SHARED_REF
    added = _is_new(store, commit, line, ref)
    left_out = 0
    if added and not args.dry_run:
        written = store.append({commit: [line]}, ref=ref, author=author, subject=f"{args.kind} on {commit[:12]}")
        left_out = written.left_out
    if left_out:
        raise Refused(
            f"the note of '{commit[:12]}' is full, the {args.kind} was left out", "attach it to a later commit"
        )
    record = records.parse(line)
    name = record.id if record else ""
    if args.json:
        output.say_json(
            {"id": f"rec-{name}", "commit": commit, "added": added, "dry_run": args.dry_run, "private": args.private}
        )
    else:
        verb = "would add" if args.dry_run else "added" if added else "already there:"
        output.say(f"{verb} {'private ' * args.private}{args.kind} rec-{name} on {commit[:12]}")
    return 0


def _text(given: str) -> str:
    text = (sys.stdin.buffer.read(MAX_TEXT_BYTES + 1).decode("utf-8", "replace") if given == "-" else given).strip()
    if not text:
        raise UsageError("there is no text", "give it as an argument, or '-' to read it from standard input")
    if len(text.encode("utf-8", "surrogateescape")) > MAX_TEXT_BYTES:
        raise Refused(
            f"the text is longer than {MAX_TEXT_BYTES} bytes",
            "a record is a note, not a document: keep a file for that",
        )
    return text


def _line(args: Namespace, commit: str, text: str, author: str) -> bytes:
    if args.kind != "devlog" and any(getattr(args, name) for name in (*LISTS, "verdict")):
        raise UsageError(
            f"a {args.kind} is one statement",
            "artifacts, decisions, learnings, blockers and a verdict belong to a devlog",
        )
    fields = {name: getattr(args, name) for name in (*LISTS, "verdict")} if args.kind == "devlog" else {}
    by = args.by or clients.client_of(os.environ)
    line = records.line_of(
        args.kind, commit, int(time.time()), text=text, by=by, paths=args.paths, w=records.who_is(author), **fields
    )
    if len(line) > records.MAX_LINE_BYTES:
        raise Refused(
            f"the record would have {len(line)} bytes, at most {records.MAX_LINE_BYTES} are kept", "say it shorter"
        )
    return line


def _is_new(store: Store, commit: str, line: bytes, ref: str) -> bool:
    """Whether no record there says the same; when it was said does not matter."""
    new = records.parse(line)
    old = records.read(dict(store.note_lines([commit], ref=ref))[commit]).records
    return not any(new and _said(new) == _said(record) for record in old)


def _said(record: records.Record) -> dict[str, object]:
    return {key: value for key, value in record.fields.items() if key not in ("at", "id")}
