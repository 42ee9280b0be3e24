"""What people and programs read: inert text, JSON, and rich only where there is a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import time

from gitmem.values import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# What a terminal would obey or hide: control characters, and what reorders text or cannot be seen.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)


def inert(text: str) -> str:
    """Text that a terminal only shows: what would act is written as `\\x1b`, `\\u202e`. Tab and newline stay."""
    return _UNSAFE.sub(lambda m: m.group().encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def one_line(text: str) -> str:
    """Text in which nothing can pretend to be a line of ours."""
    return inert(text.replace("\r", " ").replace("\n", " ").replace("\t", " "))


def say(text: str = "") -> None:
    """One line of a result, on standard output."""
    sys.stdout.write(inert(text) + "\n")


def tell(text: str) -> None:
    """One line of talk, on standard error."""
    sys.stderr.write(inert(text) + "\n")


def say_json(document: Any) -> None:
    """The one JSON document of a command; bytes of paths that are not UTF-8 come as escaped surrogates."""
    sys.stdout.write(json.dumps(document, indent=2, sort_keys=True) + "\n")


def age(seconds: float) -> str:
    """`3 days ago`, for people."""
    for unit, length in (("year", 31557600), ("month", 2629800), ("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


def day(at: int) -> str:
    """The UTC day of an epoch second, YYYY-MM-DD; years that no calendar knows stay inside it."""
    return time.strftime("%Y-%m-%d", time.gmtime(min(max(at, 0), 253402300799)))


def wants_colour(choice: str) -> bool:
    """Whether to colour: `--color`, then NO_COLOR, then whether there is a terminal."""
    if choice != "auto":
        return choice == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def paint(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{one_line(text)}\x1b[0m" if colour else one_line(text)


def print_painted(line: str) -> None:
    """A line whose parts went through `paint`."""
    sys.stdout.write(line + "\n")


def progress(items: Iterable[Any], *, total: int, title: str) -> Iterator[Any]:
    """The items, with a bar, rate and remaining time on a terminal and nothing elsewhere. `total`: commits.

    Each item counts for its length.
    """
    if not sys.stderr.isatty() or total < 2:
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    begun = time.monotonic()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total, rate="")
        done = 0
        for item in items:
            yield item
            done += len(item)
            bar.update(task, completed=done, rate=f"{done / max(time.monotonic() - begun, 0.001):.0f}/s")
