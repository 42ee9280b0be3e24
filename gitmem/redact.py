"""Secrets in text: find them, take them out, drop what a person marked as private.

Pure: text in, text out; nothing here prints, reads a clock or opens a file. A rule is compiled only when one of its literals
occurs in the text, because 200 patterns cost 82 ms in a hook. `typing` costs 4 ms there and stays out at run time.
"""

from __future__ import annotations

from gitmem.redact_rules import KINDS, RULES, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitmem.redact_rules import Rule

    Hit = tuple[int, int, str]  # start, end, kind

# Found parts are overwritten with this before the second scan. No pattern below may match it: the proof that redact() is idempotent.
_BARRIER = "\0"
_SCANS = 4


class Finding:
    """Where a secret stands, never what it says: text[start:end], `line` from 1."""

    __slots__ = ("end", "kind", "line", "start")

    def __init__(self, kind: str, start: int, end: int, line: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.line = line

    def __repr__(self) -> str:
        return f"Finding({self.kind!r}, {self.start}, {self.end}, line={self.line})"


def find(text: str) -> list[Finding]:
    """The secrets of a text in order of position, disjoint; time linear in its length.

    What is found is masked and the text scanned again, as a secret may only show when its neighbour is gone; in the last scan it
    costs its whole line. Lines do not depend on each other, so redact(text) holds no finding. `[redacted: kind]` is inert.
    """
    masked = _mask(text, _placeholders(text))
    spans: list[Hit] = []
    for attempt in range(_SCANS):
        more = _merge(_scan(_mask(masked, spans)))
        if not more:
            break
        spans = _merge(sorted([*spans, *(_whole_lines(text, more) if attempt == _SCANS - 1 else more)]))
    findings, line, at = [], 1, 0
    for start, end, kind in spans:
        line += text.count("\n", at, start)
        at = start
        findings.append(Finding(kind, start, end, line))
    return findings


def redact(text: str) -> tuple[str, dict[str, int]]:
    """The text with `[redacted: kind]` for each secret, and how many there were of each kind."""
    counts: dict[str, int] = {}
    pieces, at = [], 0
    for finding in find(text):
        pieces += [text[at : finding.start], f"[redacted: {finding.kind}]"]
        at = finding.end
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
    return "".join([*pieces, text[at:]]) if pieces else text, counts


def strip_private(text: str) -> str:
    """The text without its `<private>…</private>` blocks; an unclosed block reaches to the end.

    Tags nest, may span lines, have blanks or attributes, in any case. A tag that comes into being because a block between its
    halves went away counts as unclosed. The result has no opening tag.
    """
    if "private" not in _fold(text):
        return text
    kept = _outside_private(text)
    opening = compiled(_PRIVATE_TAG).search(kept) if kept != text else None
    while opening and opening[1]:
        opening = compiled(_PRIVATE_TAG).search(kept, opening.end())
    return kept[: opening.start()] if opening else kept


_PRIVATE_TAG = r"(?i)<\s*+(/?)\s*+private(?:\s+[\w-]+\s*=[^<>]*+|\s*+)>"


def _outside_private(text: str) -> str:
    pieces, at, depth = [], 0, 0
    for tag in compiled(_PRIVATE_TAG).finditer(text):
        if not tag[1]:
            if depth == 0:
                pieces.append(text[at : tag.start()])
            depth += 1
        elif depth:
            depth -= 1
            at = tag.end()
    return "".join([*pieces, "" if depth else text[at:]])


def _fold(text: str) -> str:
    """Lower case of the same length: U+0130 is the only character whose lower case is longer."""
    return text.replace("\u0130", "I").lower()


def _scan(text: str) -> list[Hit]:
    """Hits of every rule, by start, then in the order of the table; they may overlap."""
    folded = _fold(text)
    ranked = []
    for rank, rule in enumerate(RULES):
        where = folded if "i" in rule[2] else text
        for literal in rule[1].split(","):
            if literal in where:
                spans = _anywhere(text, rule) if "s" in rule[2] else _after(text, where, literal, rule)
                ranked += [(start, rank, end) for start, end in spans]
                if "s" in rule[2]:
                    break
    return [(start, end, RULES[rank][0]) for start, rank, end in sorted(ranked)]


def _after(text: str, where: str, literal: str, rule: Rule) -> Iterator[tuple[int, int]]:
    """Spans of a pattern that stands right after the literal; what matched is not looked into again."""
    _, _, flags, source, check = rule
    at = where.find(literal)
    while at >= 0:
        end = at + len(literal)
        found = compiled(source).match(text, end) if "b" not in flags or _at_boundary(text, at) else None
        if found:
            span = check(text, at, found)
            if span:
                yield span
            end = max(end, found.end())
        at = where.find(literal, end)


def _anywhere(text: str, rule: Rule) -> Iterator[tuple[int, int]]:
    """Spans of a pattern that holds its literal somewhere inside."""
    for found in compiled(rule[3]).finditer(text):
        span = rule[4](text, found.start(), found)
        if span:
            yield span


def _at_boundary(text: str, at: int) -> bool:
    """No letter, digit, `_`, `-`, `/` or `+` before, save for an escaped line end as in a JSON string."""
    before = text[at - 1 : at]
    if not (before.isalnum() or before in ("_", "-", "+")):
        return True
    return before in ("n", "r", "t") and text[at - 2 : at - 1] == "\\"


def _placeholders(text: str) -> list[Hit]:
    if "[redacted: " not in text:
        return []
    matches = compiled(r"\[redacted: ([a-z-]{1,40})\]").finditer(text)
    return [(*m.span(), m[1]) for m in matches if m[1] in KINDS]


def _mask(text: str, spans: list[Hit]) -> str:
    pieces, at = [], 0
    for start, end, _ in spans:
        pieces += [text[at:start], _BARRIER * (end - start)]
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


def _merge(spans: list[Hit]) -> list[Hit]:
    """Sorted spans made disjoint; the first kind of an overlap stays."""
    merged: list[Hit] = []
    for start, end, kind in spans:
        if merged and start < merged[-1][1]:
            first, last, name = merged.pop()
            start, end, kind = first, max(last, end), name
        merged.append((start, end, kind))
    return merged


def _whole_lines(text: str, spans: list[Hit]) -> list[Hit]:
    lines = []
    for start, end, kind in spans:
        last = text.find("\n", end)
        lines.append((text.rfind("\n", 0, start) + 1, len(text) if last < 0 else last, kind))
    return lines
