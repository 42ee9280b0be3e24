"""Whether a page may be kept: every check with its code, all of them evaluated, each failure with its line."""

from __future__ import annotations

import calendar
import re

from gitmem.manifest import ARCHIVE
from gitmem.pages import BadPage, Page, normal, read_page, read_section
from gitmem.redact import find
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PAGE_BYTES = 64 << 10
FUTURE_SECONDS = 300
KEYS = ("generated_at", "generated_by", "page")
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,6})?(?:Z|\+00:00)")
# Controls, bidirectional overrides, tags, and characters of no width where they hide something: not between letters of
# scripts that need them, nor inside emoji.
_TRICKS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]|(?<![^\x00-\x7f])[\u200b-\u200f]|[\u200b-\u200f](?![^\x00-\x7f])"
)


class Problem(NamedTuple):
    """Why a page is refused. code: see `docs/reflection.md`; line: 1 when it is about the page as a whole."""

    code: str
    page: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.code}: {self.message}"


def check_page(
    name: str, data: bytes, old: str | None, *, now: float, archive: str = "", allow_shrink: bool = False
) -> list[Problem]:
    """All that is wrong with a page. data: as it would be kept; old: the page before, None when there was none.

    now: epoch seconds; archive: the text of `current-state-archive.md` as it would be kept.
    """
    page = _opened(name, data)
    if not isinstance(page, Page):
        return page
    text = data.decode("utf-8")
    before = read_page(old) if old is not None else None
    known = before if isinstance(before, Page) else None
    return [
        *_front(name, page, known),
        *_time(name, page, known, now),
        *_body(name, page, known, allow_shrink),
        *_entries(name, page, known, archive),
        *_secrets(name, text),
        *_characters(name, normal(text)),
    ]


def check_edited(name: str, data: bytes, *, now: float) -> list[Problem]:
    """What must hold of a page at any time, also when a person edited it by hand."""
    page = _opened(name, data)
    if not isinstance(page, Page):
        return page
    text = data.decode("utf-8")
    found = [*_front(name, page, None), *_time(name, page, None, now), *_secrets(name, text)]
    if not page.body.strip():
        found.append(Problem("content_empty", name, page.body_line, "the body is blank"))
    return [*found, *_characters(name, normal(text))]


def _opened(name: str, data: bytes) -> Page | list[Problem]:
    """The page, or why it cannot be checked any further."""
    unreadable = list(_bytes(name, data))
    if unreadable:
        return unreadable
    text = data.decode("utf-8")
    page = read_page(text)
    if isinstance(page, BadPage):
        return [Problem("frontmatter_invalid", name, page.line, page.message), *_secrets(name, text)]
    return page


def check_archive(data: bytes) -> list[Problem]:
    """The archive of entries has no frontmatter to check, but it is kept and pushed as well."""
    unreadable = list(_bytes(ARCHIVE, data))
    text = data.decode("utf-8", "replace")
    return unreadable or [*_secrets(ARCHIVE, text), *_characters(ARCHIVE, normal(text))]


def _bytes(name: str, data: bytes) -> Iterator[Problem]:
    if len(data) > MAX_PAGE_BYTES:
        yield Problem("too_large", name, 1, f"{len(data)} bytes, at most {MAX_PAGE_BYTES} are kept")
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Problem("not_text", name, 1 + data[: error.start].count(b"\n"), "this is not UTF-8")
        return
    if "\0" in text:
        yield Problem("not_text", name, 1 + text[: text.index("\0")].count("\n"), "there is a NUL byte")


def _front(name: str, page: Page, old: Page | None) -> Iterator[Problem]:
    for key in KEYS:
        if not isinstance(page.front.get(key), str) or not page.front[key].strip():
            yield Problem("frontmatter_invalid", name, 1, f"'{key}' is missing or no text")
    if page.front.get("page") not in (name, name.removesuffix(".md"), None):
        yield Problem("frontmatter_invalid", name, 1, f"'page' is {page.front['page']!r}, this is '{name}'")
    source = page.front.get("source_commit")
    if source is not None and not re.fullmatch(r"[0-9a-f]{7,64}", str(source)):
        yield Problem("frontmatter_invalid", name, 1, "'source_commit' is no commit id")
    for key in old.front if old else ():
        if key not in page.front and key != "source_commit":
            yield Problem("frontmatter_invalid", name, 1, f"'{key}' was there before and is gone")


def parse_time(value: object) -> int | None:
    """Epoch seconds of an ISO 8601 time in UTC, None for anything else."""
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups())
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    return (
        calendar.timegm((year, month, day, hour, minute, second)) if hour < 24 and minute < 60 and second < 61 else None
    )


def _time(name: str, page: Page, old: Page | None, now: float) -> Iterator[Problem]:
    value = page.front.get("generated_at")
    at = parse_time(value)
    line = 1 + next((n for n, row in enumerate(page.text.split("\n")) if row.startswith("generated_at:")), 0)
    if at is None:
        if isinstance(value, str) and value.strip():
            message = f"'generated_at' is {value!r}, not a time like 2026-01-31T12:00:00Z"
            yield Problem("generated_at_invalid", name, line, message)
        elif value is not None:
            yield Problem("generated_at_invalid", name, line, "'generated_at' is no time like 2026-01-31T12:00:00Z")
        return
    if at > now + FUTURE_SECONDS:
        yield Problem("generated_at_invalid", name, line, "'generated_at' is in the future")
    before = parse_time(old.front.get("generated_at")) if old else None
    if before is not None and at <= before:
        yield Problem("generated_at_invalid", name, line, "'generated_at' is not later than before")


def _body(name: str, page: Page, old: Page | None, allow_shrink: bool) -> Iterator[Problem]:
    lines = [line for line in page.body.split("\n") if line.strip()]
    if not lines:
        yield Problem("content_empty", name, page.body_line, "the body is blank")
        return
    if old is None:
        return
    before = [line for line in old.body.split("\n") if line.strip()]
    if [line.split() for line in lines] == [line.split() for line in before]:
        yield Problem("content_unchanged", name, page.body_line, "the body says what it said before")
    elif len(lines) * 2 < len(before) and not allow_shrink:
        message = f"{len(before)} lines became {len(lines)}; '--allow-shrink' if that is meant"
        yield Problem("content_shrunk", name, page.body_line, message)


def _entries(name: str, page: Page, old: Page | None, archive: str) -> Iterator[Problem]:
    if name != "current-state.md" or old is None:
        return
    have = {line.strip() for line in (*page.body.split("\n"), *normal(archive).split("\n"))}
    for entry in read_section(old.body).entries:
        gone = [line for line in entry.lines if line.strip() and line.strip() not in have]
        if entry.slug and gone:
            message = f"the entry '{entry.slug} · {entry.date}' is not here and not in {ARCHIVE}"
            yield Problem("entries_removed", name, page.body_line, message)


def _secrets(name: str, text: str) -> Iterator[Problem]:
    for finding in find(text):
        yield Problem("secret_found", name, finding.line, f"this looks like a secret ({finding.kind})")


def _characters(name: str, text: str) -> Iterator[Problem]:
    found = _TRICKS.search(text)
    if found is not None:
        what = f"there is a control or hidden character (U+{ord(found.group()):04X})"
        yield Problem("control_characters", name, 1 + text[: found.start()].count("\n"), what)
