"""Patch ids as `git patch-id --stable` gives them, under pinned diff settings: equal in every clone."""

from __future__ import annotations

from gitmem.git.run import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitmem.git.run import Git

PINNED = ("-c", "diff.algorithm=myers", "-c", "diff.context=3", "-c", "diff.noprefix=false",
          "-c", "diff.mnemonicPrefix=false", "-c", "core.bigFileThreshold=1m", "-c", "core.quotePath=true")  # fmt: skip
PATCH = (
    "diff-tree",
    "-p",
    "-r",
    "--root",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--full-index",
    "--no-renames",
)


def of_commits(git: Git, oids: Iterable[str]) -> dict[str, str]:
    """commit -> patch id. Merges and empty commits have none."""
    asked = b"".join(encode(oid) + b"\n" for oid in oids)
    return {commit: patch for patch, commit in _patch_ids(git, git.run(*PINNED, *PATCH, "--stdin", stdin=asked).out)}


def of_range(git: Git, base: str, head: str) -> tuple[str | None, list[tuple[str, str]]]:
    """The patch id of the whole difference, and (path as diff writes it, patch id) of each file in it."""
    patch = git.run(*PINNED, *PATCH, base, head).out
    pieces = (b"\n" + patch).split(b"\ndiff --git ")[1:]
    width = len(base)  # patch-id wants a mark before each patch that looks like an oid of this repository
    stream = [b"commit %0*d\n%b" % (width, 0, patch)]
    stream += [b"commit %0*d\ndiff --git %b\n" % (width, n + 1, piece) for n, piece in enumerate(pieces)]
    found = {int(mark): patch_id for patch_id, mark in _patch_ids(git, b"".join(stream))}
    names = [_name(decode(piece.partition(b"\n")[0])) for piece in pieces]
    return found.get(0), [(name, found[n + 1]) for n, name in enumerate(names) if n + 1 in found]


def _name(header: str) -> str:
    """`a/PATH` of a header `a/PATH b/PATH`; without renames both halves are as long."""
    return header[: len(header) // 2]


def _patch_ids(git: Git, patches: bytes) -> list[tuple[str, str]]:
    rows = decode(git.run("patch-id", "--stable", stdin=patches).out).splitlines()
    return [(words[0], words[1]) for row in rows if len(words := row.split()) == 2]
