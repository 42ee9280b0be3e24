"""First drafts of the four pages, from what the repository shows; what a person should confirm is marked."""

from __future__ import annotations

import os
import re

from gitmem import accepting, files, reflection
from gitmem.git import ask
from gitmem.manifest import FOLDER, ORDER
from gitmem.redact import redact, strip_private
from gitmem.render import render
from gitmem.survey import survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store import Store


def write_drafts(store: Store, *, now: float, dry_run: bool) -> list[str]:
    """Drafts the pages that are not there yet; the paths written. A page that exists is never touched."""
    accepting.refuse_links(store)
    missing = [page for page in ORDER if not _exists(store, page)]
    if not missing or dry_run:
        return [f"{FOLDER}/{page}" for page in missing]
    seen = survey(store)
    head = ask.head_commit(store.git)
    for page in missing:
        text = render(
            page, seen=seen, now=reflection.utc(now), source=head, confirm="<!-- confirm -->",
            entries=[(_slug(subject), at, subject) for at, subject in reversed(seen.recent)],
        )  # fmt: skip
        clean, _ = redact(strip_private(text))
        files.replace(accepting.page_path(store, page), clean.encode("utf-8", "replace"))
    return [f"{FOLDER}/{page}" for page in missing]


def _exists(store: Store, page: str) -> bool:
    return os.path.lexists(accepting.page_path(store, page)) or store.objects.get(f"HEAD:{FOLDER}/{page}") is not None


def _slug(subject: str) -> str:
    """A short name from a subject: its first words after the conventional prefix."""
    words = re.findall(r"\w+", re.sub(r"^\w+(\([^)]*\))?!?:", "", subject).lower())
    return "-".join(words[:4]) or "change"
