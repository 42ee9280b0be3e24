"""Finds again what a foreign hand threw away: `git notes` moves its ref without comparing, a forced fetch does too.

After each write the tip is remembered. When the next one finds a tip that does not descend from it, the notes of the
remembered tip are joined in again. Removing a note with `git notes remove` descends, so it stays removed.
"""

from __future__ import annotations

from gitmem import files, notes, quickjson
from gitmem.git.run import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.git.ask import Place
    from gitmem.git.objects import Objects
    from gitmem.git.run import Git

MAX_LOST = 200_000  # notes that one write takes up again; the rest stays in the reflog


def remembered(place: Place) -> dict[str, str]:
    """ref -> the tip that gitmem wrote last."""
    return files.read_object(_path(place))


def remember(place: Place, ref: str, tip: str | None) -> None:
    """Notes a tip, or forgets the ref. Losing this file loses nothing but the warning it can give."""
    tips = remembered(place)
    if tips.get(ref) == tip:
        return
    if tip is None:
        del tips[ref]
    else:
        tips[ref] = tip
    files.replace(_path(place), quickjson.dumps(tips).encode(), durable=False)


def _path(place: Place) -> str:
    return place.common_state_dir + "/tips.json"


def lost(git: Git, objects: Objects, place: Place, ref: str, tip: str | None) -> dict[str, list[bytes]]:
    """commit -> lines that stood below the remembered tip and are gone. Costs nothing while nobody else writes."""
    last = remembered(place).get(ref)
    if last is None or tip is None or last == tip or objects.get(last) is None:
        return {}
    if git.run("merge-base", "--is-ancestor", last, tip, ok=(0, 1)).status == 0:
        return {}
    out = git.run("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", tip, last).out
    words = decode(out).split("\0")
    found: dict[str, list[bytes]] = {}
    for meta, path in zip(words[0:-1:2], words[1::2], strict=False):
        commit, blob = path.replace("/", ""), meta.split(" ")[3]
        if not notes.is_hex(commit, place.hex_digits) or not blob.strip("0") or len(found) >= MAX_LOST:
            continue
        note = next(objects.get_all([blob], skip_large=True))
        if note is not None and note.kind == "blob":
            found.setdefault(commit, []).extend(notes.lines(note.data))
    return found
