"""Markdown with YAML frontmatter: read tolerantly, changed in one line and nowhere else."""

from __future__ import annotations

import re

import yaml

from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENTRIES = "<!-- gitmem:entries -->"
MAX_FRONT_BYTES = 8 << 10

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Safe, without time stamps (a text stays the text it is) and without a key that stands twice."""


_Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for key, found in _Base.yaml_implicit_resolvers.items()
}


def _mapping(loader: Any, node: Any) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node)
        if not isinstance(key, str | int | float | bool) or key in seen:
            raise yaml.MarkedYAMLError(None, None, f"key {key!r} stands twice or is no name", key_node.start_mark)
        seen.add(key)
    loader.flatten_mapping(node)
    return dict(loader.construct_mapping(node))


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


class Page(NamedTuple):
    """A page that was read. text: with \\n line ends and without a byte order mark."""

    text: str
    front: dict[str, Any]
    body: str
    body_line: int  # number of the body's first line


class BadPage(NamedTuple):
    line: int
    message: str


def normal(text: str) -> str:
    """The text as it is compared: \\n line ends, no byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def read_page(text: str) -> Page | BadPage:
    """The page, or what is wrong with its frontmatter and where."""
    text = normal(text)
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return BadPage(1, "the page does not begin with '---'")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        return BadPage(1, "the frontmatter is not closed by '---'")
    raw = "\n".join(lines[1:end])
    if len(raw) > MAX_FRONT_BYTES:
        return BadPage(1, f"the frontmatter is longer than {MAX_FRONT_BYTES} bytes")
    try:
        if any(isinstance(token, yaml.AliasToken | yaml.AnchorToken) for token in yaml.scan(raw, Loader=_Base)):
            return BadPage(1, "anchors and aliases are not read")
        front = yaml.load(raw, Loader=_Loader)  # noqa: S506  # derived from the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return BadPage(2 + (mark.line if mark else 0), f"no YAML: {error.problem}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return BadPage(2, f"no YAML: {str(error).splitlines()[0]}")
    if not isinstance(front, dict):
        return BadPage(2, "the frontmatter is no mapping")
    return Page(text, front, "\n".join(lines[end + 1 :]), end + 2)


def set_key(text: str, key: str, value: str) -> str:
    """The page with one key of the frontmatter set; every other byte stays, line ends too."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(newline)
    end = next(n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---")
    for n in range(1, end):
        if lines[n].startswith(f"{key}:"):
            lines[n] = f"{key}: {value}"
            return newline.join(lines)
    return newline.join([*lines[:end], f"{key}: {value}", *lines[end:]])


class Entry(NamedTuple):
    """A list item of the entries section, whole: the item, its continuation lines and sub-items. lines: as they are."""

    slug: str
    date: str
    lines: tuple[str, ...]


class Section(NamedTuple):
    """A body in three parts; every line is in exactly one."""

    before: tuple[str, ...]  # up to and with the marker
    entries: tuple[Entry, ...]  # text between the marker and the first item stands in an entry without a slug
    after: tuple[str, ...]  # from the next heading on


_ITEM = re.compile(r"[-*+] \[([^\]\n]+?) · (\d{4}-\d\d-\d\d)\]")


def read_section(body: str) -> Section:
    """The entries of a `current-state.md`, found by the marker comment, not by wording."""
    lines = body.split("\n")
    start = next((n for n, line in enumerate(lines) if line.strip() == ENTRIES), None)
    if start is None:
        return Section(tuple(lines), (), ())
    end = next((n for n in range(start + 1, len(lines)) if lines[n].startswith("#")), len(lines))
    entries: list[Entry] = []
    for line in lines[start + 1 : end]:
        item = _ITEM.match(line)
        if item:
            entries.append(Entry(item[1], item[2], (line,)))
        elif entries:
            entries[-1] = entries[-1]._replace(lines=(*entries[-1].lines, line))
        else:
            entries.append(Entry("", "", (line,)))
    return Section(tuple(lines[: start + 1]), tuple(entries), tuple(lines[end:]))


def render_section(section: Section) -> str:
    """The inverse of `read_section`."""
    inside = [line for entry in section.entries for line in entry.lines]
    return "\n".join((*section.before, *inside, *section.after))


def trim(section: Section, *, keep: int) -> tuple[Section, tuple[Entry, ...]]:
    """(what stays, the oldest entries that go), newest `keep` by date stay; every line is in exactly one of them."""
    dated = [n for n, entry in enumerate(section.entries) if entry.slug]
    newest = sorted(dated, key=lambda n: (section.entries[n].date, -n), reverse=True)[:keep]
    going = set(dated) - set(newest)
    kept = tuple(entry for n, entry in enumerate(section.entries) if n not in going)
    return section._replace(entries=kept), tuple(section.entries[n] for n in sorted(going))


def tokens(text: str) -> int:
    """ceil(ASCII/4 + other/2 + CJK): what a text costs an agent, about."""
    ascii_ = sum(ch < "\x80" for ch in text)
    wide = sum("\u2e80" <= ch <= "\u9fff" or "\uac00" <= ch <= "\ud7af" or "\uf900" <= ch <= "\ufaff" for ch in text)
    return -(-(ascii_ + 2 * (len(text) - ascii_ - wide) + 4 * wide) // 4)
