"""What there is to say about a clone's memory: what `status` shows and `doctor` judges. Reads only."""

from __future__ import annotations

import json
import os
import time

from gitmem import configfile, files, hooksetup, purging, records, reflect_state
from gitmem.checks import check_edited
from gitmem.errors import GitmemError
from gitmem.git import ask
from gitmem.manifest import FOLDER, ORDER
from gitmem.pages import tokens
from gitmem.values import NamedTuple, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store import Store

MODES = ("off", "read", "ask", "auto")
RECENT = 100  # commits that the share of capsules is taken of


class Coverage(NamedTuple):
    """Of the newest commits of HEAD: how many, and how many have their capsule."""

    commits: int
    capsules: int
    mine_missing: int  # of those without, how many were committed by the one who is here now
    unreadable: int  # lines in their notes that do not parse


def coverage(store: Store) -> Coverage:
    if ask.head_commit(store.git) is None:
        return Coverage(0, 0, 0, 0)
    boundary = ask.shallow_boundary(store.git) if store.place.shallow else frozenset()
    oids = [oid for oid, _ in ask.commits(store.git, f"--max-count={RECENT}", "HEAD") if oid not in boundary]
    missing, unreadable = [], 0
    for oid, lines in store.note_lines(oids):
        reading = records.read(lines)
        unreadable += len(reading.unreadable)
        if records.capsule_of(oid, reading.records) is None:
            missing.append(oid)
    return Coverage(len(oids), len(oids) - len(missing), _mine(store, missing), unreadable)


def _mine(store: Store, oids: list[str]) -> int:
    """How many of the commits are by the present committer: other people's come without capsules until they are
    shared or backfilled, which is no fault."""
    try:
        me = ask.committer(store.git)
    except GitmemError:
        return 0
    mail = me[me.rindex("<") :]
    headers = [store.commit_header(oid) for oid in oids]
    return sum(header is not None and header.committer.endswith(mail) for header in headers)


def waiting_count(store: Store) -> int:
    waiting = store.waiting()
    return sum(len(lines) for notes in waiting.lines.values() for lines in notes.values()) + len(waiting.clients)


def last_failures(store: Store, count: int = 3) -> list[dict[str, object]]:
    """The newest entries of errors.jsonl, newest first."""
    data = files.read(store.place.common_state_dir + "/errors.jsonl", max_bytes=1 << 20) or b""
    rows = []
    for line in reversed(data.split(b"\n")):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            rows.append(row)
        if len(rows) == count:
            break
    return rows


def problems(
    store: Store, hooks: list[hooksetup.State], seen: Coverage, settings_warnings: tuple[str, ...]
) -> list[tuple[str, str]]:
    """(what is wrong, what to do) in the order of weight."""
    found = [
        (f"{state.event} does not run: {state.why}", "run 'gitmem hooks install'") for state in hooks if not state.runs
    ]
    mode = store.setting("gitmem.mode") or "ask"
    if mode not in MODES:
        found.append((f"gitmem.mode is '{mode}', none of {', '.join(MODES)}", "run 'git config gitmem.mode ask'"))
    if seen.mine_missing and mode not in ("off", "read"):
        found.append(
            (
                f"without a capsule: {seen.mine_missing} of your last commits",
                "run 'gitmem backfill'",
            )
        )
    if count := waiting_count(store):
        found.append((f"{counted(count, 'record')} to be written yet", "run 'gitmem doctor --fix'"))
    if count := len(store.waiting().unreadable):
        found.append(
            (
                f"{counted(count, 'waiting record')} that cannot be read",
                "'gitmem doctor --fix' moves them to the trash folder",
            )
        )
    if seen.unreadable:
        found.append(
            (
                f"{counted(seen.unreadable, 'line')} of recent notes no record of ours",
                "'gitmem show --raw COMMIT' shows them; they are kept",
            )
        )
    found += [(f"config.toml: {warning}", "mend '.gitmem/config.toml'") for warning in settings_warnings]
    found += due_problems(store)
    found += page_problems(store)
    found += [
        (f"rec-{oid} is not purged from {', '.join(names)} yet", f"run 'gitmem forget --purge rec-{oid}' again")
        for oid, names in purging.unfinished(store).items()
    ]
    found += _stale_locks(store)
    try:
        ask.committer(store.git)
    except GitmemError as error:
        found.append((error.message, error.hint or ""))
    return found


def due_problems(store: Store) -> list[tuple[str, str]]:
    """The reflection that is due or parked here, and those that wait on other branches."""
    due = reflect_state.read_manifest(store)
    found = []
    if isinstance(due, str):
        found.append((f"{due}: the work order cannot be trusted", "run 'gitmem reflect-prepare --force'"))
    elif due is not None and due.parked:
        errors = "; ".join(str(error) for error in due.fields["errors"][:3])
        hint = (
            "'gitmem reflect-prepare --force' starts over, 'gitmem reflect-commit --no-change --reason TEXT' closes it"
        )
        found.append((f"a reflection is parked after {due.attempts} refusals: {errors}", hint))
    elif due is not None:
        found.append((f"a reflection is due for {', '.join(due.targets)}", "run 'gitmem reflect'"))
    found += [
        (f"a reflection is due on {name}", f"it waits until '{name}' is checked out")
        for name in reflect_state.waiting_branches(store)
    ]
    return found


def page_problems(store: Store) -> list[tuple[str, str]]:
    """Pages of HEAD that are invalid, or longer than their budget."""
    settings = configfile.load_or_defaults(store)
    found, sizes = [], {}
    for page in ORDER:
        there = store.objects.get(f"HEAD:{FOLDER}/{page}")
        if there is not None:
            sizes[page] = tokens(there.data.decode("utf-8", "replace"))
            found += [(str(one), "mend it and commit it") for one in check_edited(page, there.data, now=time.time())]
    most, together = settings.count("budget.page"), settings.count("budget.total")
    for page, size in sizes.items():
        if size > most:
            hint = "run 'gitmem trim'" if page == ORDER[-1] else "shorten it"
            found.append((f"{page} has about {size} tokens, more than {most}", hint))
    if sum(sizes.values()) > together:
        found.append((f"the pages have about {sum(sizes.values())} tokens, more than {together}", "shorten them"))
    return found


def _stale_locks(store: Store) -> list[tuple[str, str]]:
    names = [f"{ref}.lock" for ref in (records.SHARED_REF, records.PRIVATE_REF)]
    return [
        (f"'{name}' is left over from a process that was killed", "run 'gitmem doctor --fix'")
        for name in names if os.path.exists(f"{store.place.common_dir}/{name}")
    ]  # fmt: skip
