"""The reflection that is due: `reflect-prompt.json`, as values. What is read from disk is untrusted input."""

from __future__ import annotations

from gitmem import quickjson, records
from gitmem.values import NamedTuple, counted
from gitmem.verdict.rules import FOLDER as FOLDER
from gitmem.verdict.rules import PAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitmem.verdict.signals import Verdict

VERSION = 1
MAX_BYTES = 1 << 20
MAX_FILES = 200
MAX_SUBJECTS = 20
MAX_EVIDENCE = 20
ORDER = ("what-is.md", "how-it-works.md", "what-it-does.md", "current-state.md")  # of the snapshot's hash
ARCHIVE = "current-state-archive.md"
# Who and when; everything else is what the id is taken of.
VOLATILE = ("attempts", "errors", "generated_at", "id", "session_id", "state", "trigger_agent")
RULES = (
    "frontmatter: page, generated_at (UTC, newer than before), generated_by; other keys stay",
    "the body differs, is not blank, keeps more than half of its lines",
    "current-state.md keeps every entry, here or in its archive",
    "no secrets, at most 64 KiB, UTF-8, no control characters",
    "every target changed, or skipped with a reason",
)


class Manifest(NamedTuple):
    """A manifest that was read and holds together. fields: the document."""

    fields: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def base(self) -> str:
        return str(self.fields["base"])

    @property
    def head(self) -> str:
        return str(self.fields["head"])

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(self.fields["targets"])

    @property
    def snapshot(self) -> dict[str, str | None]:
        return dict(self.fields["snapshot"])

    @property
    def attempts(self) -> int:
        return int(self.fields["attempts"])

    @property
    def parked(self) -> bool:
        return bool(self.fields["state"] == "parked")


class Window(NamedTuple):
    """What is judged. base, head: object ids; base may be the empty tree. subjects: oldest first."""

    base: str
    head: str
    asked: str  # as a person or the default names it
    subjects: tuple[str, ...]
    truncated: tuple[str, ...]


class Size(NamedTuple):
    files: tuple[str, ...]
    added: int
    removed: int


def build(
    window: Window, verdict: Verdict, size: Size, snapshot: Mapping[str, str | None], *, at: str, agent: str = "",
    session: str = "", targets: Sequence[str] | None = None,
) -> Manifest:  # fmt: skip
    """The manifest for a verdict. at: ISO 8601, UTC. targets: instead of the verdict's."""
    chosen = [page for page in (targets if targets is not None else verdict.targets) if page in PAGES]
    signals = [
        {"name": s.name, "pages": list(s.pages), "evidence": [e._asdict() for e in s.evidence[:MAX_EVIDENCE]]}
        for s in verdict.signals
    ]
    fields: dict[str, Any] = {
        "version": VERSION,
        "git_range": window.asked,
        "base": window.base,
        "head": window.head,
        "commits": list(window.subjects[-MAX_SUBJECTS:]),
        "heuristic_verdict": "relevant" if verdict.relevant else "skip",
        "heuristic_reasons": list(verdict.reasons),
        "signals": signals,
        "score": int(verdict.score * 10),
        "targets": chosen,
        "snapshot": {page: snapshot.get(page) for page in ORDER},
        "snapshot_hash": snapshot_hash(snapshot),
        "diff_summary": f"{counted(len(size.files), 'file')}, +{size.added}/-{size.removed}",
        "changed_files": list(size.files[:MAX_FILES]),
        "truncated": ", ".join(window.truncated) or None,
        "instructions": {"template": "work-order", "values": {"pages": [f"{FOLDER}/{page}" for page in chosen]}},
        "validation_rules": list(RULES),
    }
    fields |= {"id": content_id(fields), "session_id": session, "trigger_agent": agent, "generated_at": at}
    return Manifest(fields | {"attempts": 0, "state": "due", "errors": []})


def content_id(fields: Mapping[str, Any]) -> str:
    """First 12 hex digits of SHA-256 over the canonical content without what is volatile."""
    return records.content_id({k: v for k, v in fields.items() if k not in VOLATILE})[:12]


def snapshot_hash(snapshot: Mapping[str, str | None]) -> str:
    """SHA-256 over names and blob ids in fixed order."""
    return records.short_hash("".join(f"{page} {snapshot.get(page) or '-'}\n" for page in ORDER), 64)


def render(manifest: Manifest) -> bytes:
    """The document: UTF-8, sorted keys, indented for people; bytes of paths as surrogate escapes."""
    return quickjson.pretty(manifest.fields).encode("ascii") + b"\n"


def rejected(manifest: Manifest, errors: Sequence[str]) -> Manifest:
    """After a refusal: one attempt more, parked from the second on."""
    attempts = manifest.attempts + 1
    state = "parked" if attempts >= 2 else manifest.fields["state"]
    return Manifest(manifest.fields | {"attempts": attempts, "state": state, "errors": list(errors)[:20]})


def parse(data: bytes) -> Manifest | str:
    """The manifest, or the code of what is wrong with it: manifest_corrupt, manifest_changed."""
    try:
        fields = quickjson.loads(data)
        whole = isinstance(fields, dict) and fields["version"] == VERSION and _typed(fields)
    except (ValueError, KeyError, TypeError, RecursionError):
        return "manifest_corrupt"
    if not whole:
        return "manifest_corrupt"
    honest = (
        fields["id"] == content_id(fields)
        and fields["snapshot_hash"] == snapshot_hash(fields["snapshot"])
        and set(fields["targets"]) <= set(PAGES)
        and fields["validation_rules"] == list(RULES)
    )
    return Manifest(fields) if honest else "manifest_changed"


def _typed(fields: dict[str, Any]) -> bool:
    texts = all(isinstance(fields[key], str) for key in ("id", "base", "head", "git_range", "snapshot_hash", "state"))
    lists = all(isinstance(fields[key], list) for key in ("targets", "commits", "changed_files", "signals", "errors"))
    snapshot = fields["snapshot"]
    return (
        texts
        and lists
        and isinstance(fields["attempts"], int)
        and isinstance(snapshot, dict)
        and all(isinstance(page, str) for page in fields["targets"])
        and all(blob is None or (isinstance(blob, str) and blob.isalnum()) for blob in snapshot.values())
        and fields["base"].isalnum()
        and fields["head"].isalnum()
    )
