"""What a commit message says about itself: type, scope, reason, references. Conventional Commits 1.0.0."""

from __future__ import annotations

from gitmem import patterns
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

TYPES = frozenset("feat fix docs refactor perf test build ci chore style revert".split())
MAX_SUMMARY = 120
MAX_WHY = 400
MAX_REFS = 20
# Trailers that point somewhere; those that name people are not kept.
POINTERS = frozenset(
    "fixes closes resolves refs ref references see-also issue bug change-id part-of relates-to".split()
)
AGENTS = ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "aider", "devin", "amp", "jules", "windsurf")

# Paragraphs of a message that git itself writes say nothing of the reason.
WRITTEN_BY_GIT = ("This reverts commit ", "(cherry picked from commit ", "commit ", "Squashed commit of the following")

_HEADER = patterns.pattern(r"([A-Za-z]+)(?:\(([^()\n]{1,60})\))?(!)?:(?:\s|$)")
_TRAILER = patterns.pattern(r"([A-Za-z][A-Za-z-]{1,30})(?:: | #)(.+)")
_ISSUE = patterns.pattern(r"(?:^|(?<=[\s(\[,;]))(?:([\w.-]+/[\w.-]+)?#(\d{1,9})|([A-Z][A-Z0-9]{1,9}-\d{1,7}))\b")
_BETWEEN = patterns.pattern(r"\n[ \t]*\n")
_WORD = patterns.pattern("[a-z]+")
_REVERTED = patterns.pattern(r"\bThis reverts commit ([0-9a-f]{7,64})\b")


class Message(NamedTuple):
    type: str
    scope: str
    breaking: bool
    summary: str
    why: str
    issues: tuple[str, ...]
    agents: tuple[str, ...]  # co-authors that are programs, by name
    trailers: tuple[tuple[str, str], ...]
    reverts: tuple[str, ...]


def read_message(message: str, *, parents: int = 1) -> Message:
    """The parts of a commit message. `parents`: how many the commit has; more than one is a merge."""
    subject, _, body = message.partition("\n")
    subject = subject.strip()
    header = _HEADER.match(subject)
    kind, scope, breaking = "change", "", False
    if header and header[1].lower() in TYPES:
        kind, scope, breaking = header[1].lower(), (header[2] or "").strip(), bool(header[3])
    elif subject.startswith('Revert "'):
        kind = "revert"
    elif parents > 1:
        kind = "merge"
    paragraphs = [part.strip() for part in _BETWEEN.split(body.strip()) if part.strip()]
    paragraphs = [part for part in paragraphs if not part.startswith(WRITTEN_BY_GIT)]
    trailers = _trailers(paragraphs[-1]) if paragraphs else []
    why = paragraphs[0] if paragraphs and not (trailers and len(paragraphs) == 1) else ""
    return Message(
        kind,
        scope,
        breaking or "\nBREAKING CHANGE: " in message or "\nBREAKING-CHANGE: " in message,
        subject[:MAX_SUMMARY],
        " ".join(why.split())[:MAX_WHY],
        tuple(dict.fromkeys(_issue(m) for m in _ISSUE.finditer(message)))[:MAX_REFS],
        tuple(sorted({agent for key, value in trailers if key == "co-authored-by" for agent in _agents(value)})),
        tuple((key, value[:80]) for key, value in trailers if key in POINTERS)[:MAX_REFS],
        tuple(dict.fromkeys(_REVERTED.findall(message)))[:MAX_REFS],
    )


def _trailers(paragraph: str) -> list[tuple[str, str]]:
    """(lower-case key, value) when the paragraph is nothing but trailers (git-interpret-trailers(1))."""
    found = [_TRAILER.fullmatch(line.strip()) for line in paragraph.splitlines()]
    return [(m[1].lower(), m[2]) for m in found if m] if all(found) else []


def _issue(match: re.Match[str]) -> str:
    return match[3] or f"{match[1] or ''}#{match[2]}"


def _agents(value: str) -> list[str]:
    words = _WORD.findall(value.split("<")[0].lower())
    return [agent for agent in AGENTS if agent in words]
