"""`gitmem trim`: moves the oldest entries of current-state.md, whole, to its archive."""

from __future__ import annotations

from gitmem import accepting, configfile, files, output
from gitmem.errors import GitmemError, Unreadable
from gitmem.manifest import ARCHIVE, FOLDER
from gitmem.opening import open_store
from gitmem.pages import BadPage, read_page, read_section, render_section, tokens, trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

PAGE = "current-state.md"


def run(args: Namespace) -> int:
    store = open_store(args.repo)
    accepting.refuse_links(store)
    data = files.read(accepting.page_path(store, PAGE))
    if data is None:
        raise GitmemError(f"there is no '{FOLDER}/{PAGE}'", "run 'gitmem init', which drafts it")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(f"'{FOLDER}/{PAGE}' is not UTF-8") from None
    page = read_page(text)
    if isinstance(page, BadPage):
        raise Unreadable(f"'{FOLDER}/{PAGE}', line {page.line}: {page.message}")
    budget = configfile.load(store).count("budget.page")
    newline = "\r\n" if "\r\n" in text else "\n"
    front = page.text[: len(page.text) - len(page.body)]
    section = read_section(page.body)
    dated = sum(bool(entry.slug) for entry in section.entries)
    keep = args.keep if args.keep is not None else _fitting(front, page.body, dated, budget)
    rest, gone = trim(section, keep=min(keep, dated))
    if gone and not args.dry_run:
        held = files.read(accepting.page_path(store, ARCHIVE)) or b""
        lines = [line for entry in gone for line in entry.lines]
        moved = ("" if not held or held.endswith(b"\n") else newline) + newline.join(lines) + newline
        # the archive first: cut off in between, an entry stands in both, never in none
        files.replace(accepting.page_path(store, ARCHIVE), held + moved.encode("utf-8"))
        whole = (front + render_section(rest)).replace("\n", newline)
        files.replace(accepting.page_path(store, PAGE), whole.encode("utf-8"))
    if args.json:
        output.say_json(
            {
                "moved": [f"{entry.slug} · {entry.date}" for entry in gone],
                "kept": dated - len(gone),
                "dry_run": args.dry_run,
            }
        )
        return 0
    verb = "would move" if args.dry_run else "moved"
    output.say(f"{verb} {len(gone)} of {dated} entries to {ARCHIVE}")
    return 0


def _fitting(front: str, body: str, dated: int, budget: int) -> int:
    """How many entries stay so that the page keeps its budget; one at least."""
    section = read_section(body)
    for keep in range(dated, 1, -1):
        if tokens(front + render_section(trim(section, keep=keep)[0])) <= budget:
            return keep
    return min(dated, 1)
