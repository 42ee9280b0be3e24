"""The experience capsule: what a commit did, from the commit alone."""

from __future__ import annotations

import itertools

from gitmem import records
from gitmem.changes import MAX_COUNTED_FILES, MAX_READ_FILES
from gitmem.domains import count
from gitmem.patch import FilePatch, read_patch
from gitmem.settings import Settings
from gitmem.subject import Message, read_message
from gitmem.symbols import symbols
from gitmem.verdict.roles import weighs
from gitmem.verdict.signals import Verdict, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitmem.changes import Change, Commit

MAX_PATHS = 50
DEFAULTS = Settings()


def capsule(commit: Commit, settings: Settings = DEFAULTS) -> bytes:
    """The line of a commit's capsule. The same commit and rules of the settings give the same bytes."""
    message = read_message(commit.message, parents=len(commit.parents))
    counts = count([change.path for change in commit.changes], settings.domains)
    fields = _message_fields(message) | _change_fields(commit) | {"tests": counts.tests or None}
    if len(commit.parents) < 2:
        fields["domains"] = counts.domains
        verdict = judge_commit(commit, settings)
        fields |= {"symbols": symbols(verdict.surfaces), "signals": signal_pages(verdict)}
    fields["a"] = sentence(message, commit)
    return _fit(commit, fields)


def judge_commit(commit: Commit, settings: Settings) -> Verdict:
    """What one commit alone means for the pages."""
    subject = commit.message.partition("\n")[0]
    return judge(files_of(commit.changes), [subject], settings.rules, roles=settings.roles(commit.changes))


def files_of(changes: Sequence[Change]) -> list[FilePatch]:
    """The changes as a verdict reads them: with the lines of those that may weigh in it. Of too many to count these
    come first, and no more are looked at than are read: volume is certain, every further name only costs."""
    if len(changes) > MAX_COUNTED_FILES:
        chosen = list(itertools.islice((c for c in changes if weighs(c.path)), MAX_READ_FILES))
        others = (c for c in changes if not weighs(c.path))
        changes = [*chosen, *itertools.islice(others, MAX_READ_FILES - len(chosen))]
    return [read_patch(c if weighs(c.path) else c._replace(patch=b"")) for c in changes]


def signal_pages(verdict: Verdict) -> list[list[str]]:
    """[[signal, page, …]] of a relevant change; nothing for one that leaves the pages true."""
    return [
        [signal.name, *(page for page in verdict.targets if page in signal.pages)]
        for signal in verdict.signals
        if set(signal.pages) & set(verdict.targets)
    ]


def sentence(message: Message, commit: Commit) -> str:
    """`feat(api): list posts (4 files, +142 -28)`: what people read in `git log --notes=gitmem`."""
    head = message.summary or f"{message.type}: (no message)"
    count = len(commit.changes)
    size = f"{count} file{'' if count == 1 else 's'}"
    if commit.counted and count:
        size += f", +{_total(commit, 'added')} -{_total(commit, 'removed')}"
    return f"{head} ({size})"


def _total(commit: Commit, side: str) -> int:
    return sum(getattr(change, side) or 0 for change in commit.changes)


def _message_fields(message: Message) -> dict[str, Any]:
    refs = {
        "issues": list(message.issues),
        "agents": list(message.agents),
        "trailers": [list(pair) for pair in message.trailers],
    }
    return {
        "type": message.type,
        "scope": message.scope,
        "breaking": message.breaking,
        "summary": message.summary,
        "why": message.why,
        "reverts": list(message.reverts),
        "refs": {key: value for key, value in refs.items() if value},
    }


def _change_fields(commit: Commit) -> dict[str, Any]:
    changes = commit.changes
    fields: dict[str, Any] = {
        "files": len(changes),
        "paths": _most_changed(commit),
        "cut": [],
    }
    if commit.counted:
        fields |= {"added": _total(commit, "added"), "removed": _total(commit, "removed")}
    else:
        fields["cut"] = ["lines"]
    return fields


def _most_changed(commit: Commit) -> list[str]:
    """The paths with the most lines first, then by name."""
    if not commit.counted and not any(change.added or change.removed for change in commit.changes):
        return sorted(change.path for change in commit.changes)[:MAX_PATHS]
    lines = sorted((-(change.added or 0) - (change.removed or 0), change.path) for change in commit.changes)
    return [path for _, path in lines[:MAX_PATHS]]


def _fit(commit: Commit, fields: dict[str, Any]) -> bytes:
    """The line, made to fit the size that records aim at by cutting field after field."""
    line = _line(commit, fields)
    for field, length in (
        ("paths", 20),
        ("symbols", 12),
        ("why", 160),
        ("paths", 8),
        ("symbols", 0),
        ("refs", 0),
        ("paths", 0),
        ("domains", 3),
        ("signals", 2),
        ("reverts", 2),
        ("scope", 0),
    ):
        if len(line) <= records.TARGET_BYTES:
            break
        if len(fields.get(field) or ()) > length:
            fields[field] = {} if field == "refs" else fields[field][:length]
            fields["cut"] = sorted({*fields["cut"], field})
            line = _line(commit, fields)
    return line


def _line(commit: Commit, fields: dict[str, Any]) -> bytes:
    return records.line_of("capsule", commit.oid, commit.at, **fields)


def flat(fields: dict[str, Any], date: str) -> list[dict[str, str]]:
    """`{domain, type, summary, commit, date}` for each domain, largest first. `date`: YYYY-MM-DD."""
    return [
        {
            "domain": str(name),
            "type": str(fields.get("type", "change")),
            "summary": str(fields.get("summary", "")),
            "commit": str(fields["commit"]),
            "date": date,
        }
        for name, _ in fields.get("domains", [])
    ]
