"""A record: one line of canonical JSON about one commit.

Equal facts give equal bytes. Records never change; what does not parse is carried, never dropped.
"""

from __future__ import annotations

from gitmem import patterns, quickjson
from gitmem.redact import find, redact, strip_private
from gitmem.values import NamedTuple

try:
    from _sha256 import sha256  # type: ignore[import-not-found]  # built in: `import hashlib` costs 3 ms
except ImportError:  # Python 3.12 and later
    from _sha2 import sha256  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable
    from typing import Any

VERSION = 1
TARGET_BYTES = 5 << 10
MAX_LINE_BYTES = 16 << 10
MAX_READ_BYTES = 64 << 10  # a longer line is somebody's mistake: unreadable, kept
MAX_DEPTH = 20
MAX_RECORDS = 64  # of one commit
SHARED_REF = "refs/notes/gitmem"
PRIVATE_REF = "refs/gitmem/private"
HEX = frozenset("0123456789abcdef")
HASH_LENGTHS = (8, 12, 16, 40, 64)
KINDS = frozenset(
    "branch capsule correction decision devlog digest event gotcha link made note reflection retract session".split()
)
HOOK_KINDS = frozenset("branch capsule link made retract".split())  # nobody's words
PRIVATE_KINDS = frozenset(("correction", "digest", "note", "session"))

# Control characters that JSON leaves raw, line separators, lone surrogates, and what reorders or hides text:
# escaped, so that `git log --notes=gitmem` prints them inert. JSON readers see no difference.
_RAW = patterns.pattern(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]")


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


def canonical(fields: dict[str, Any]) -> bytes:
    """The one line for these fields: UTF-8, keys sorted by code point, no blanks, nothing that a terminal obeys."""
    return _RAW.sub(_escape, quickjson.dumps(fields)).encode("utf-8")


def content_id(fields: dict[str, Any]) -> str:
    """First 16 hex digits of SHA-256 over the line without `id`."""
    return str(sha256(canonical({k: v for k, v in fields.items() if k != "id"})).hexdigest())[:16]


def line_of(kind: str, commit: str, at: int, **fields: Any) -> bytes:
    """A new record. `at`: epoch seconds, UTC. Empty fields are left out."""
    kept = {
        key: value for key, value in clean(fields).items() if value is not False and value not in (None, "", [], {})
    }
    whole = kept | {"v": VERSION, "kind": kind, "commit": commit, "at": at}
    return canonical(whole | {"id": content_id(whole)})


# Fields that hold ids and hashes of ours: nothing in them is anybody's text.
OPAQUE = frozenset(("base", "blobs", "commits", "head", "ids", "manifest", "new", "old", "patch", "reverts", "w"))


def clean(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields without secrets and private parts: nothing else is ever written."""
    text = "\n".join(part for key, value in fields.items() if key not in OPAQUE for part in _texts(value))
    if "private" not in text.lower() and not find(text):  # one scan for all: the usual case
        return fields
    return {key: value if key in OPAQUE else _cleaned(value) for key, value in fields.items()}


def secrets(line: bytes) -> list[str]:
    """The kinds of secrets in a line, whoever wrote it; nothing for one that may be shown to everybody.

    Trusted is only what is a hash by its looks. A line that is no record is looked at as it is and as JSON reads it.
    """
    record = parse(line)
    texts = _texts(record.fields) if record else [line.decode("utf-8", "replace")]
    if record is None:
        try:
            texts += _texts([quickjson.loads(line)])
        except (ValueError, RecursionError):
            pass
    text = "\n".join(part for part in texts if not (len(part) in HASH_LENGTHS and HEX.issuperset(part)))
    kinds = sorted({finding.kind for finding in find(text)})
    return [*kinds, "private"] if strip_private(text) != text else kinds


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [part for one in value.items() for part in _texts(list(one))]
    return [part for one in value for part in _texts(one)] if isinstance(value, list | tuple) else []


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return redact(strip_private(value))[0]
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, list | tuple) else value


def short_hash(text: str, digits: int) -> str:
    """The first hex digits of a text's SHA-256."""
    return str(sha256(text.encode("utf-8", "surrogateescape")).hexdigest())[:digits]


def hash_of(line: bytes) -> str:
    """What names a line that is no record: the first 16 hex digits of its SHA-256."""
    return str(sha256(line).hexdigest())[:16]


def who(mail: str) -> str:
    """`w`: tells the committers of a history apart without naming them."""
    return short_hash(mail, 12)


def who_is(author: str) -> str:
    """`w` of `Name <mail>`."""
    return who(author[author.rindex("<") + 1 : -1])


class Record(NamedTuple):
    line: bytes
    fields: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    @property
    def kind(self) -> str:
        return str(self.fields["kind"])

    @property
    def commit(self) -> str:
        return str(self.fields["commit"])


def parse(line: bytes) -> Record | None:
    """The record in a line, None when it is unreadable. Unknown kinds, fields and versions are read as they are."""
    if len(line) > MAX_READ_BYTES:
        return None
    try:
        fields = quickjson.loads(line)
        whole = isinstance(fields, dict) and _typed(fields) and _depth(fields) <= MAX_DEPTH
        honest = whole and fields["id"] == content_id(fields)  # an id is earned, not claimed
    except (ValueError, RecursionError, KeyError):
        return None
    return Record(line, fields) if honest else None


# What readers rely on, whoever wrote the record. Fields that are not named here are carried as they are.
_TEXTS = (
    "a",
    "base",
    "by",
    "client",
    "commit",
    "head",
    "id",
    "kind",
    "new",
    "old",
    "operation",
    "scope",
    "summary",
    "text",
    "type",
    "w",
    "why",
)
_LISTS = ("cut", "ids", "paths", "reverts", "sup", "symbols")


def _typed(fields: dict[str, Any]) -> bool:
    numbers = ("added", "files", "removed", "tests") if fields["kind"] == "capsule" else ()
    return (
        all(isinstance(fields[key], str) for key in ("id", "kind", "commit"))
        and all(isinstance(fields[key], int) and not isinstance(fields[key], bool) for key in ("at", "v"))
        and all(isinstance(fields.get(key, ""), str) for key in _TEXTS)
        and all(isinstance(fields.get(key, 0), int) for key in numbers)
        and all(isinstance(one, str) for key in _LISTS for one in _as_list(fields.get(key, [])))
        and all(isinstance(fields.get(key, []), list) for key in (*_LISTS, "domains", "signals"))
        and all(
            isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) for row in fields.get("domains", [])
        )
        and all(isinstance(row, list) and all(isinstance(one, str) for one in row) for row in fields.get("signals", []))
    )


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value, None]


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


class Reading(NamedTuple):
    """A note as its readers see it."""

    records: tuple[Record, ...]  # each id once, oldest first
    hidden: tuple[Record, ...]  # by a `retract` or a `sup` of the same note
    unreadable: tuple[bytes, ...]


def read(lines: Iterable[bytes]) -> Reading:
    """What the lines of a note say. Lines that differ only in CR are one record."""
    found: dict[str, Record] = {}
    unreadable = []
    for line in lines:
        record = parse(line)
        if record is None:
            unreadable.append(line)
        else:
            found.setdefault(record.id, record)
    capsules = {record.id for record in found.values() if record.kind == "capsule"}  # facts about a commit stay
    gone = {oid for record in found.values() for oid in _hides(record)} - capsules
    ordered = sorted(found.values(), key=lambda r: (r.fields["at"], r.kind != "capsule", r.id))
    shown = tuple(r for r in ordered if r.id not in gone)
    return Reading(shown, tuple(r for r in ordered if r.id in gone), tuple(unreadable))


def _hides(record: Record) -> list[str]:
    listed = record.fields.get("ids") if record.kind == "retract" else record.fields.get("sup")
    return [oid for oid in listed if isinstance(oid, str)] if isinstance(listed, list) else []


FACTS = ("at", "breaking", "reverts", "scope", "summary", "type")  # of a commit alone: no rule of ours can change them


def agree(one: Record, other: Record) -> bool:
    """Whether two capsules say the same of their commit, as far as every version of gitmem would."""
    return all(one.fields.get(fact) == other.fields.get(fact) for fact in FACTS)


def capsule_of(commit: str, records: Iterable[Record]) -> Record | None:
    """The capsule that counts: of this commit, whole before cut, then the highest `v`, then the smallest id."""
    own = [r for r in records if r.kind == "capsule" and r.commit == commit]
    return min(own, key=lambda r: (bool(r.fields.get("cut")), -int(r.fields["v"]), r.id), default=None)
