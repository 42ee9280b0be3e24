"""What people wrote about a change: subjects, change-log entries, documentation. It may add evidence, never subtract."""

from __future__ import annotations

from gitmem import patterns
from gitmem.patch import FilePatch
from gitmem.verdict.roles import role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NEW = (
    "feat",
    "new ",
    "add ",
    "adds ",
    "added ",
    "implement",
    "introduc",
    "support ",
    "allow ",
    "enable ",
    "create ",
    "created ",
    "expose ",
    "make it possible",
    "remove ",
    "drop ",
)
_NEW_INSIDE = (" option", " support for ", "implement ", " new ", "is now ")
_CHANGED = (
    " now ",
    "no longer",
    " allow",
    " support",
    " option",
    " parameter",
    " argument",
    "deprecat",
    "only ",
    " command",
    " method",
    " default",
    " new ",
)
_OLD = (
    "fix",
    "chore",
    "docs",
    "test",
    "refactor",
    "merge",
    "update",
    "bump",
    "ci",
    "style",
    "build",
    "improve",
    "clean",
    "use ",
    "replace",
    "switch",
    "move",
    "tidy",
    "simplif",
    "extract",
    "convert",
    "split",
    "rewrite",
    "reorgani",
    "correct",
)
_NOT_NEW = (
    "test",
    "doc",
    "typo",
    "changelog",
    "comment",
    "type hint",
    "annotation",
    "screenshot",
    "missing",
    "translation",
    "readme",
    "lint",
    " ci",
    "workflow",
    "note",
    "coverage",
    "example",
    "workaround",
    "conduct",
    "logging",
    "benchmark",
    "null check",
    "error handling",
)


def announcements(subjects: Sequence[str]) -> list[str]:
    """The subjects that promise something new, in their order."""
    return [subject for subject in subjects if _promises(subject.lower())]


def _promises(low: str) -> bool:
    if any(word in low for word in _NOT_NEW):
        return False
    return low.startswith(_NEW) or (not low.startswith(_OLD) and any(word in low for word in _NEW_INSIDE))


def changelog_entry(texts: Sequence[FilePatch]) -> tuple[str, str] | None:
    """Path and text of the first added change-log entry that announces something new."""
    for patch in texts:
        if role(patch.path) != "changelog":
            continue
        before = {_start(line) for line in patch.minus}
        for line in patch.plus:
            text = line.strip()
            if text[:2] in ("- ", "* ", "+ ") and _start(line) not in before and _new_entry(text[2:].strip().lower()):
                return patch.path, text[2:].strip()
    return None


def _start(line: str) -> str:
    """The first letters of an entry: a reworded one keeps them."""
    return "".join(letter for letter in line if letter.isalnum())[:20]


def _new_entry(low: str) -> bool:
    return not low.startswith(_OLD) and (low.startswith(_NEW) or any(word in low for word in _CHANGED))


_IDENTIFIER = patterns.pattern(r"[A-Za-z_]\w{2,}")


def mentioned(texts: Sequence[FilePatch], sign: str) -> frozenset[str]:
    """Identifiers in the added ('+') or removed ('-') lines of documentation."""
    words: set[str] = set()
    for patch in texts:
        for line in patch.plus if sign == "+" else patch.minus:
            if "_" in line or "`" in line or "(" in line or "-" in line:
                words.update(_IDENTIFIER.findall(line))
    return frozenset(words)


def named(subjects: Sequence[str]) -> frozenset[str]:
    """Identifiers that subjects spell like code: `name`, name(), snake_case, camelCase. Subjects of fixes name what exists."""
    words: set[str] = set()
    for subject in subjects:
        if not subject.lower().startswith(_OLD):
            words.update(word for word in _IDENTIFIER.findall(subject) if _like_code(word, subject))
    return frozenset(words)


def _like_code(word: str, subject: str) -> bool:
    return (
        "_" in word.strip("_")
        or f"{word}(" in subject
        or f".{word}" in subject
        or f"`{word}" in subject
        or not word[1:].islower()
    )
