#!/usr/bin/env python3
"""Does gitmem find a branch's memory again after a server squashed it, and does it ever point to a wrong commit?

  squash_eval.py REPO... [--cases 60] [--negatives 200] [--seed 7] [--families other,same] [--work FOLDER]

REPO is a git directory, a work tree, or a folder with one of them in it. Nothing is written to it.

For each repository the newest stretch of its first-parent history is played again as one main line. Windows of 1 to 6
real commits are taken out of it and become branches: same trees, authors, times and messages, only their parent is
the main line that is being built. Main goes on without them, then a server squashes the branch into it with
`git merge-tree --write-tree` and `git commit-tree`, and the real history goes on. What upstream did meanwhile:

  other   the real commits that follow the window, as far as they touch none of the branch's files
  same    the real commits that follow it, up to one that touches a file of the branch; where there is none, or it does
          not apply without the branch, one line at the top of one of the branch's files
  near    one line two lines away from what the branch changed: it merges, but the patch is another one
  again   as in other; the branch had been pushed before, and was rebased since: same patches, other ids
  reland  as in other; an hour later main reverts the squash, and the same commits come as a new branch and are squashed
          once more. Both squashes are looked up, and each has its own branch

Every branch gets what pre-push writes: capsules and a `branch` record. So do decoys, two a case: a copy of its commits
(other ids, ten minutes later) without the last one or with the next real commit on top ("fewer", "more"), and its
content as one commit with a few of the added lines changed in a third of its files ("edited"). Main has capsules too.
No ref leads to any branch. Each squash is then looked up as `gitmem show` does it (likeness.find), in the clone that
still has the branches' objects ("here") and in a fresh one with main and the notes only ("fresh"):

  found      sure, and exactly the branch's commits       prob+   only probable, and exactly the branch's commits
  part       sure, some of the branch's commits           prob-   only probable, and other commits
  copy       sure, but a decoy with the same patch        missed  nothing
  wrong      sure, any other commit

intact counts the squashes whose patch id is the branch's own; skipped those that conflict. Negatives are ordinary
commits of main: what is said of them for sure is wrong unless it is the same patch, or named by the message itself.
Last, `gitmem repair` as a dry run: the links it would write, judged the same way. Everything but clean hits is listed.

Needs git 2.38 or later, and gitmem importable.
"""
from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

from gitmem import annotate, finding, history, likeness, repairing
from gitmem.commands import pushing
from gitmem.git import ask, patchids
from gitmem.git.run import Git
from gitmem.settings import Settings
from gitmem.store import Store

FAMILIES = ("other", "same", "near", "again", "reland")
CLONES = ("here", "fresh")
VERDICTS = ("found", "prob+", "part", "copy", "prob-", "missed", "wrong")
MAX_WINDOW = 6
MAX_UPSTREAM = 8  # real commits that main may be ahead of a branch
MAX_GAP = 10  # ordinary commits between two cases
STRETCH = 18  # first-parent commits that are played again, for each case wanted
EDITED_LINES = 3  # of each file that an "edited" decoy changes
PUSHED_LATER = 600  # seconds by which decoys are younger than the branch
LANDED_AGAIN = 3600  # seconds until a squash is reverted
SECONDS = 600.0  # deadline of each write of notes
SERVER = "Server", "server@example.com"
FORMAT = "%x01" + "%x00".join(("%H", "%T", "%P", "%an", "%ae", "%at", "%cn", "%ce", "%ct", "%B")) + "%x00"
HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
OID = re.compile(r"\b[0-9a-f]{40}\b")


class Conflict(Exception):
    """A merge that a server would refuse."""


@dataclass
class Commit:
    """A real commit as it is played again."""

    oid: str
    tree: str
    parents: list[str]
    author: tuple[str, str, int]
    committer: tuple[str, str, int]
    message: str
    files: set[str]

    @property
    def subject(self) -> str:
        return self.message.strip().partition("\n")[0]


@dataclass
class Case:
    """A branch and the commit that it was squashed into. decoys: kind -> commits, newest first."""

    family: str
    base: str
    commits: list[str]  # newest first, as rev-list gives them
    squash: str
    upstream: str  # what main did meanwhile
    title: str
    files: int
    decoys: dict[str, list[str]] = field(default_factory=dict)
    intact: bool = False


@dataclass
class Answer:
    """What gitmem said of one commit in one clone."""

    commit: str
    verdict: str
    said: str
    milliseconds: float


class Repo:
    """The scratch clone, by plain git."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}

    def git(
        self, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,), env: dict[str, str] | None = None
    ) -> bytes:
        argv = ["git", "-C", self.folder, *args]
        done = subprocess.run(argv, input=stdin, capture_output=True, env=self.env | (env or {}))
        if done.returncode not in ok:
            sys.exit(f"squash_eval: {' '.join(argv)}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def word(self, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> str:
        return self.git(*args, stdin=stdin, env=env).decode().strip()

    def stretch(self, count: int) -> list[Commit]:
        """The newest first-parent commits, oldest first, each with the files that it touches."""
        out = self.git("-c", "core.quotePath=false", "log", "--first-parent", "-m", "--name-only", "--no-renames",
                       f"--max-count={count}", f"--format={FORMAT}", "HEAD").decode("utf-8", "replace")
        commits = []
        for row in out.split("\x01")[1:]:
            oid, tree, parents, an, ae, at, cn, ce, ct, message, files = row.split("\x00", 10)
            commits.append(Commit(oid, tree, parents.split(), (an, ae, int(at)), (cn, ce, int(ct)), message,
                                  set(files.strip().split("\n")) - {""}))
        return commits[::-1]

    def tree(self, commit: str) -> str:
        return self.word("rev-parse", commit + "^{tree}")

    def commit(self, tree: str, parent: str | None, message: str, author: tuple[str, str, int],
               committer: tuple[str, str, int]) -> str:
        env = {}
        for role, (name, mail, at) in (("AUTHOR", author), ("COMMITTER", committer)):
            env |= {f"GIT_{role}_NAME": name or "nobody", f"GIT_{role}_EMAIL": mail, f"GIT_{role}_DATE": f"@{at} +0000"}
        parents = ["-p", parent] if parent else []
        return self.word("commit-tree", tree, *parents, stdin=message.encode(), env=env)

    def committed_at(self, commit: str) -> int:
        return int(self.word("show", "-s", "--format=%ct", commit))

    def merged(self, ours: str, theirs: str) -> str:
        """The tree of a merge as a server makes it. Raises Conflict."""
        out = self.git("merge-tree", "--write-tree", "--no-messages", ours, theirs, ok=(0, 1)).decode()
        tree, _, conflicts = out.partition("\n")
        if conflicts.strip():
            raise Conflict
        return tree

    def picked(self, onto: str, before: str, after: str) -> str:
        """The tree `onto` with the change from tree `before` to tree `after`. Raises Conflict."""
        if onto == before:
            return after
        someone = (*SERVER, 0)
        base = self.commit(before, None, "", someone, someone)
        sides = [self.commit(tree, base, "", someone, someone) for tree in (onto, after)]
        return self.merged(*sides)

    def blob(self, tree: str, path: str) -> bytes | None:
        """The text of a regular file in a tree; None where there is none."""
        entry = self.git("ls-tree", "-z", tree, "--", path).decode("utf-8", "replace")
        if not entry.startswith("100"):
            return None
        data = self.git("cat-file", "blob", entry.split()[2])
        return None if b"\0" in data or len(data) > 1 << 20 else data

    def with_files(self, tree: str, contents: dict[str, bytes]) -> str:
        """The tree with other contents in some of its files."""
        index = {"GIT_INDEX_FILE": os.path.join(self.folder, "squash-eval-index")}
        self.git("read-tree", tree, env=index)
        for path, data in contents.items():
            mode = self.word("ls-tree", tree, "--", path).split()[0]
            oid = self.word("hash-object", "-w", "--stdin", stdin=data)
            self.git("update-index", "--cacheinfo", f"{mode},{oid},{path}", env=index)
        return self.word("write-tree", env=index)

    def hunks(self, old: str, new: str, path: str) -> list[tuple[int, int, int, int]]:
        """(old start, old lines, new start, new lines) of what changed in a file, without context."""
        out = self.git("diff-tree", "-p", "-r", "-U0", "--no-renames", old, new, "--", path)
        return [tuple(int(n if n else 1) for n in found) for found in HUNK.findall(out)]


class Player:
    """Plays a history again with branches taken out of it and squashed."""

    def __init__(self, repo: Repo, wanted: int, seed: int, families: list[str]) -> None:
        self.repo = repo
        self.rng = random.Random(seed)
        self.wanted = wanted
        self.real = repo.stretch(wanted * STRETCH)
        self.tip = self.real[0].oid
        self.now: dict[str, str] = {}  # real commit -> what stands for it
        self.cases: list[Case] = []
        self.branches: list[tuple[str, str]] = []  # (base, head) of all that was pushed
        self.families = families
        self.skipped = dict.fromkeys(families, 0)
        self.artificial: set[str] = set()  # commits of main that no person made

    def play(self) -> None:
        n, gap, turn = 1, self.rng.randint(0, MAX_GAP), 0
        while n < len(self.real) and len(self.cases) < self.wanted:
            used = self._case(n, self.families[turn % len(self.families)]) if gap <= 0 else 0
            if used:
                n, gap, turn = n + used, self.rng.randint(0, MAX_GAP), turn + 1
                continue
            self.tip = self.now[self.real[n].oid] = self._again(self.real[n], self.tip, self.real[n].tree)
            n, gap = n + 1, gap - 1
        self.repo.git("update-ref", "refs/heads/main", self.tip)
        self.repo.git("symbolic-ref", "HEAD", "refs/heads/main")
        refs = self.repo.git("for-each-ref", "--format=delete %(refname)").decode().splitlines()
        others = [row for row in refs if row != "delete refs/heads/main"]
        self.repo.git("update-ref", "--stdin", stdin="".join(row + "\n" for row in others).encode())

    def _again(self, real: Commit, parent: str, tree: str, *, later: int = 0) -> str:
        """A real commit on another parent; ids in its message follow, as filter-repo does it."""
        message = OID.sub(lambda found: self.now.get(found[0], found[0]), real.message)
        name, mail, at = real.committer
        return self.repo.commit(tree, parent, message, real.author, (name, mail, at + later))

    def _case(self, n: int, family: str) -> int:
        """Makes a case of the window that begins at n; how many real commits that used up, 0 when it does not fit."""
        window = self.real[n : n + self.rng.randint(1, MAX_WINDOW)]
        before, last = self.real[n - 1], window[-1]
        if any(len(one.parents) != 1 for one in window) or before.tree == last.tree:
            return 0
        touched = set().union(*(one.files for one in window))
        following = self.real[n + len(window) : n + len(window) + MAX_UPSTREAM]
        planned = self._upstream(family, before, last, touched, following)
        if planned is None:
            return 0
        tip, used, upstream = planned
        base, head, commits = self.tip, self.tip, []
        for one in window:
            head = self._again(one, head, one.tree)
            commits.insert(0, head)
        try:
            tree = self.repo.merged(tip, head)
        except Conflict:
            self.skipped[family] += 1
            return 0
        if tree == self.repo.tree(tip):
            return 0
        at = PUSHED_LATER * 3 + max(one.committer[2] for one in (*window, *following[:used], before))
        case = self._squashed(family, base, commits, tip, tree, at, window, upstream)
        self._decoys(case, window, following)
        if family == "again":
            self._pushed_before(case, window)
        if family == "reland":
            self._land_again(case, self.repo.tree(tip), window)
        self.now |= {one.oid: self.tip for one in window}
        expected = following[used - 1].tree if used else last.tree
        if tree != expected:  # what upstream did by our hand is undone, so that the real history fits again
            self.tip = self.repo.commit(expected, self.tip, "Undo", (*SERVER, at), (*SERVER, at))
            self.artificial.add(self.tip)
        return len(window) + used

    def _squashed(self, family: str, base: str, commits: list[str], tip: str, tree: str, at: int,
                  window: list[Commit], upstream: str) -> Case:
        """The branch base..commits[0] becomes one commit of main."""
        title = f"{window[0].subject} (#{1000 + len(self.cases)})"
        self.tip = self.repo.commit(tree, tip, _squash_message(title, window), window[0].author, (*SERVER, at))
        files = len(set().union(*(one.files for one in window)))
        case = Case(family, base, commits, self.tip, upstream, title, files)
        self.cases.append(case)
        self.branches.append((base, commits[0]))
        return case

    def _pushed_before(self, case: Case, window: list[Commit]) -> None:
        """The same commits as they were before they were rebased."""
        head, made = case.base, []
        for one in window:
            head = self._again(one, head, one.tree, later=-PUSHED_LATER)
            made.insert(0, head)
        case.decoys["before"] = made
        self.branches.append((case.base, head))

    def _land_again(self, case: Case, reverted: str, window: list[Commit]) -> None:
        """Main reverts the squash; its commits come back as another branch, and are squashed again."""
        at = self.repo.committed_at(case.squash) + LANDED_AGAIN
        message = f'Revert "{case.title}"\n\nThis reverts commit {case.squash}.\n'
        base = head = self.repo.commit(reverted, case.squash, message, (*SERVER, at), (*SERVER, at))
        tree, before, commits = reverted, self.repo.tree(case.base), []
        for one in window:
            tree, before = self.repo.picked(tree, before, one.tree), one.tree
            head = self._again(one, head, tree, later=at - one.committer[2] + 60)
            commits.insert(0, head)
        self._squashed(case.family, base, commits, base, tree, at + PUSHED_LATER, window, "landed again")
        self.artificial.add(base)

    def _upstream(self, family: str, before: Commit, last: Commit, touched: set[str],
                  following: list[Commit]) -> tuple[str, int, str] | None:
        """(tip of main before the squash, real commits used, what was done); None when there is nothing that fits."""
        if family in ("other", "again", "reland"):
            count = next((n for n, one in enumerate(following) if one.files & touched), len(following))
            count = min(count, self.rng.randint(1, 4))
            return self._picks(before, last, following[:count]) if count else None
        if family == "same":
            count = next((n + 1 for n, one in enumerate(following) if one.files & touched), 0)
            found = self._picks(before, last, following[:count]) if count else None
            return found or self._edit(before, last, touched, near=False)
        return self._edit(before, last, touched, near=True)

    def _picks(self, before: Commit, last: Commit, chosen: list[Commit]) -> tuple[str, int, str] | None:
        tip, tree, parent = self.tip, before.tree, last.tree
        for one in chosen:
            try:
                tree, parent = self.repo.picked(tree, parent, one.tree), one.tree
            except Conflict:
                return None
            tip = self.now[one.oid] = self._again(one, tip, tree)
        return tip, len(chosen), f"{len(chosen)} real commits"

    def _edit(self, before: Commit, last: Commit, touched: set[str], *, near: bool) -> tuple[str, int, str] | None:
        """One line more in a file of the branch, at its top or close to what the branch changed."""
        for path in sorted(touched, key=lambda _: self.rng.random()):
            data = self.repo.blob(before.tree, path)
            if not data or self.repo.blob(last.tree, path) is None:
                continue
            lines = data.splitlines(keepends=True)
            place = self._place(self.repo.hunks(before.tree, last.tree, path), len(lines)) if near else 0
            if place is None:
                continue
            lines.insert(place, b"upstream was here %d\n" % len(self.cases))
            tree = self.repo.with_files(before.tree, {path: b"".join(lines)})
            someone = (*SERVER, before.committer[2] + 60)
            tip = self.repo.commit(tree, self.tip, f"Touch {path}", someone, someone)
            self.artificial.add(tip)
            return tip, 0, f"a line in {path}"
        return None

    @staticmethod
    def _place(hunks: list[tuple[int, int, int, int]], length: int) -> int | None:
        """Two lines before a hunk, or behind one: inside its context, and not adjacent to any other."""
        spans = [(start if not count else start - 1, (start if not count else start - 1) + count)
                 for start, count, _, _ in hunks]  # as offsets: [first, end)
        for first, end in spans:
            for place in (first - 2, end + 2):
                if 0 < place < length and all(place < low - 1 or place > high + 1 for low, high in spans):
                    return place
        return None

    def _decoys(self, case: Case, window: list[Commit], following: list[Commit]) -> None:
        longer = len(self.cases) % 2 == 1 or len(window) == 1
        copied = [*window, *following[:1]] if longer else window[:-1]
        head, made = case.base, []
        for one in copied:
            head = self._again(one, head, one.tree, later=PUSHED_LATER)
            made.insert(0, head)
        case.decoys["more" if longer else "fewer"] = made
        self.branches.append((case.base, head))
        tree = self._edited(case.base, window)
        if tree is not None:
            name, mail, at = window[-1].committer
            head = self.repo.commit(tree, case.base, window[0].subject + ", take two\n", window[-1].author,
                                    (name, mail, at + 2 * PUSHED_LATER))
            case.decoys["edited"] = [head]
            self.branches.append((case.base, head))

    def _edited(self, base: str, window: list[Commit]) -> str | None:
        """What the branch leads to, with a few of its added lines changed in a third of its files."""
        last = window[-1]
        paths = sorted(set().union(*(one.files for one in window)), key=lambda _: self.rng.random())
        contents: dict[str, bytes] = {}
        for path in paths:
            data = self.repo.blob(last.tree, path)
            added = [n for _, _, start, count in self.repo.hunks(base, last.tree, path) if data
                     for n in range(start - 1, start - 1 + count)]
            if not data or not added:
                continue
            lines = data.splitlines(keepends=True)
            for n in self.rng.sample(added, min(EDITED_LINES, len(added))):
                if n < len(lines):
                    lines[n] = lines[n].rstrip(b"\r\n") + b" edited\n"
            contents[path] = b"".join(lines)
            if len(contents) * 3 >= len(paths):
                break
        return self.repo.with_files(last.tree, contents) if contents else None


def _squash_message(title: str, window: list[Commit]) -> str:
    """As GitHub writes it: a list of the commits' messages."""
    if len(window) == 1:
        return f"{title}\n\n{window[0].message.strip().partition(chr(10))[2].strip()}\n"
    return title + "\n\n" + "\n\n".join("* " + one.message.strip() for one in window) + "\n"


class Judge:
    """Knows what is true: which commits were whose, and which patches are the same."""

    def __init__(self, store: Store, player: Player) -> None:
        self.store = store  # of the clone that has everything
        self.cases = {case.squash: case for case in player.cases}
        self.place_of = {oid: f"case {n} itself" for n, case in enumerate(player.cases) for oid in case.commits}
        for n, case in enumerate(player.cases):
            for kind, oids in case.decoys.items():
                self.place_of |= {oid: f"case {n} {kind}" for oid in oids if oid not in self.place_of}
        self.number = {case.squash: n for n, case in enumerate(player.cases)}
        self.patches: dict[str, str] = {}
        self.wholes: dict[frozenset[str], str | None] = {}
        for base, head in player.branches:
            oids = frozenset(oid for oid, _ in ask.commits(store.git, f"{base}..{head}"))
            self.wholes[oids] = patchids.of_range(store.git, base, head)[0]
        for case in player.cases:
            case.intact = self.wholes[frozenset(case.commits)] == self.patch(case.squash)

    def patch(self, oid: str) -> str | None:
        if oid not in self.patches:
            self.patches |= patchids.of_commits(self.store.git, [oid])
        return self.patches.get(oid)

    def same_patch(self, olds: tuple[str, ...], new: str) -> bool:
        """Whether the commits, or the branch that they are, say what the new one says, and not on top of it."""
        if any(ask.is_ancestor(self.store.git, new, old) for old in olds):
            return False  # what came later cannot be what it was
        wanted = self.patch(new)
        whole = self.wholes.get(frozenset(olds))
        return wanted is not None and (whole == wanted or all(self.patch(old) == wanted for old in olds))

    def of_squash(self, oid: str, found: list[finding.Found]) -> str:
        own = set(self.cases[oid].commits)
        sure = [one for one in found if one.sure]
        olds = {old for one in sure or found for old in one.olds}
        if not olds:
            return "missed"
        if not sure:
            return "prob+" if olds == own else "prob-"
        if olds <= own:
            return "found" if olds == own else "part"
        return "copy" if all(self.same_patch(one.olds, oid) for one in sure) else "wrong"

    def of_negative(self, oid: str, found: list[finding.Found]) -> str:
        if not found:
            return "silent"
        if not all(one.sure for one in found):
            return "probable"
        if all(one.reason.startswith("named by") for one in found):
            return "named"
        return "same patch" if all(self.same_patch(one.olds, oid) for one in found) else "wrong"

    def of_link(self, one: repairing.Placed) -> str:
        """A link that repair would write."""
        case = self.cases.get(one.new)
        if case is not None and one.old in case.commits:
            return "right"
        if one.reason.startswith("named by"):
            return "named"
        branches = [oids for oids, whole in self.wholes.items() if one.old in oids and whole == self.patch(one.new)]
        same = any(self.same_patch(tuple(oids), one.new) for oids in (*branches, (one.old,)))
        return "same patch" if same else "wrong"

    def describe(self, found: list[finding.Found]) -> str:
        rows = []
        for one in found:
            places: dict[str, int] = {}
            for old in one.olds:
                where = self.place_of.get(old, f"main {old[:12]}")
                places[where] = places.get(where, 0) + 1
            rows.append(f"{'sure' if one.sure else 'probable'}, {one.reason} ({one.operation}): "
                        + ", ".join(f"{count} of {where}" for where, count in places.items()))
        return "; ".join(rows) or "nothing"


def git_dir(path: str) -> str:
    """The repository at a path, or right below it."""
    tries = [path, *(os.path.join(path, name) for name in sorted(os.listdir(path)))]
    for one in tries:
        if os.path.isdir(os.path.join(one, "objects")) and os.path.isfile(os.path.join(one, "HEAD")):
            return os.path.abspath(one)
    sys.exit(f"squash_eval: no git repository in {path}")


def name_of(path: str) -> str:
    parts = [part for part in os.path.abspath(path).split(os.sep) if part not in ("repo", ".git")]
    return parts[-1].removesuffix(".git").rpartition("+")[2]


def record(store: Store, player: Player) -> None:
    """What hooks would have written: capsules of everything, and what each branch was when it was pushed."""
    history.backfill(store, jobs=1)
    additions: dict[str, list[bytes]] = {}
    for base, head in player.branches:
        annotate.fill(store, ask.commits(store.git, f"{base}..{head}"), Settings(), deadline=time.monotonic() + SECONDS)
        additions.setdefault(head, []).append(pushing.branch_line(store, base, head))
    store.append(additions, subject="branches as they were pushed", deadline=time.monotonic() + SECONDS)


def scratch(source: str, folder: str) -> Repo:
    """A clone without copies of what is there, which git never tidies up."""
    subprocess.run(["git", "clone", "--quiet", "--bare", "--shared", source, folder], check=True)
    repo = Repo(folder)
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.com"), ("gc.auto", "0")):
        repo.git("config", key, value)
    return repo


def fresh(source: Repo, folder: str) -> Repo:
    """What somebody else has: main and the notes, and no object besides."""
    url = "file://" + source.folder
    done = subprocess.run(["git", "clone", "--quiet", "--bare", "--no-local", "--single-branch", "--branch", "main",
                           "--no-tags", url, folder])
    if done.returncode:
        sys.exit(f"squash_eval: no clone of {source.folder}: are objects missing in the repository it was made of?")
    repo = Repo(folder)
    repo.git("fetch", "--quiet", url, "refs/notes/gitmem:refs/notes/gitmem")
    return repo


def look_up(store: Store, oids: list[str], judge: Judge, verdict: str) -> list[Answer]:
    answers = []
    for oid in oids:
        begun = time.perf_counter()
        found = likeness.find(store, oid)
        took = (time.perf_counter() - begun) * 1000
        answers.append(Answer(oid, getattr(judge, verdict)(oid, found), judge.describe(found), took))
    return answers


def evaluate(source: str, args: argparse.Namespace, work: str) -> dict[str, object]:
    name = name_of(source)
    begun = time.monotonic()
    here = scratch(git_dir(source), os.path.join(work, name + ".here"))
    player = Player(here, args.cases, args.seed, args.families.split(","))
    player.play()
    store = Store.open(Git(here.folder))
    record(store, player)
    there = fresh(here, os.path.join(work, name + ".fresh"))
    judge = Judge(store, player)
    squashes = [case.squash for case in player.cases]
    ordinary = here.word("rev-list", "--no-merges", "--min-parents=1", "main").split("\n")
    ordinary = [oid for oid in ordinary if oid not in judge.cases and oid not in player.artificial]
    negatives = random.Random(args.seed).sample(ordinary, min(args.negatives, len(ordinary)))
    print(f"{name}: {len(squashes)} cases, {len(player.branches)} branches recorded, {len(ordinary)} ordinary commits; "
          f"made in {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    stores = {"here": store, "fresh": Store.open(Git(there.folder))}
    missing = [case for case in player.cases if ask.is_commit(stores["fresh"].git, case.commits[0])]
    if missing:
        sys.exit(f"squash_eval: the fresh clone of {name} has commits of {len(missing)} branches")
    result = {"name": name, "player": player, "judge": judge, "squash": {}, "negative": {}, "links": {}}
    for clone, opened in stores.items():
        result["squash"][clone] = look_up(opened, squashes, judge, "of_squash")
        result["negative"][clone] = look_up(opened, negatives, judge, "of_negative")
        placed = repairing.repair(opened, deadline=time.monotonic() + SECONDS, dry_run=True).placed
        result["links"][clone] = [(judge.of_link(one), one) for one in placed]
        print(f"{name}, {clone}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    if args.work:
        with open(os.path.join(work, name + ".json"), "w", encoding="utf-8") as file:
            json.dump([vars(case) for case in player.cases], file, indent=1)
    return result


def row(*cells: object) -> str:
    return f"{cells[0]!s:<18}{cells[1]!s:<8}{cells[2]!s:<7}" + "".join(f"{cell!s:>8}" for cell in cells[3:])


def print_squashes(results: list[dict]) -> None:
    print(row("squashes", "clone", "family", "cases", "intact", *VERDICTS, "skipped", "ms", "ms max"))
    for clone in CLONES:
        everything: list[tuple[Case, Answer]] = []
        for result in results:
            judge, player = result["judge"], result["player"]
            pairs = [(judge.cases[answer.commit], answer) for answer in result["squash"][clone]]
            everything += pairs
            for family in player.families:
                print_row(result["name"], clone, family, [one for one in pairs if one[0].family == family],
                          player.skipped[family])
        for family in results[0]["player"].families:
            skipped = sum(result["player"].skipped[family] for result in results)
            print_row("all", clone, family, [one for one in everything if one[0].family == family], skipped)


def print_row(name: str, clone: str, family: str, pairs: list[tuple[Case, Answer]], skipped: int) -> None:
    times = [answer.milliseconds for _, answer in pairs] or [0]
    counts = [sum(answer.verdict == verdict for _, answer in pairs) for verdict in VERDICTS]
    print(row(name, clone, family, len(pairs), sum(case.intact for case, _ in pairs), *counts, skipped,
              round(statistics.median(times)), round(max(times))))


def print_others(results: list[dict]) -> None:
    kinds = ("silent", "named", "same patch", "probable", "wrong")
    print("\n" + row("negatives", "clone", "", "commits", *(kind[:7] for kind in kinds), "ms", "ms max"))
    for result in results:
        for clone in CLONES:
            answers = result["negative"][clone]
            times = [answer.milliseconds for answer in answers] or [0]
            counts = [sum(answer.verdict == kind for answer in answers) for kind in kinds]
            print(row(result["name"], clone, "", len(answers), *counts, round(statistics.median(times)),
                      round(max(times))))
    kinds = ("right", "named", "same patch", "wrong")
    print("\n" + row("repair's links", "clone", "", "links", *(kind[:7] for kind in kinds), "whole"))
    for result in results:
        for clone in CLONES:
            links = result["links"][clone]
            counts = [sum(verdict == kind for verdict, _ in links) for kind in kinds]
            linked: dict[str, set[str]] = {}
            for _, one in links:
                linked.setdefault(one.new, set()).add(one.old)
            whole = sum(set(case.commits) <= linked.get(case.squash, set()) for case in result["player"].cases)
            print(row(result["name"], clone, "", len(links), *counts, whole))


def details(result: dict, clone: str) -> list[str]:
    """All but clean hits, a line each."""
    judge, rows = result["judge"], []
    for answer in result["squash"][clone]:
        case = judge.cases[answer.commit]
        if answer.verdict not in ("found", "prob+"):
            what = f"{len(case.commits)} commits, {case.files} files, {case.upstream}{', intact' * case.intact}"
            rows.append(f"{answer.verdict}: case {judge.number[answer.commit]}, {case.family}, {what}: {answer.said}")
    for answer in result["negative"][clone]:
        if answer.verdict != "silent":
            rows.append(f"{answer.verdict}: main {answer.commit[:12]}: {answer.said}")
    for verdict, one in result["links"][clone]:
        if verdict == "wrong":
            new = f"case {judge.number[one.new]}" if one.new in judge.number else f"main {one.new[:12]}"
            rows.append(f"wrong link: {judge.place_of.get(one.old, f'main {one.old[:12]}')} -> {new} ({one.reason})")
    return rows


def print_details(results: list[dict]) -> None:
    print("\nall but clean hits")
    for result in results:
        rows = {clone: details(result, clone) for clone in CLONES}
        for line in dict.fromkeys(line for clone in CLONES for line in rows[clone]):
            where = [clone for clone in CLONES if line in rows[clone]]
            print(f"{result['name']} {'both' if len(where) == len(CLONES) else where[0]}  {line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repos", nargs="+", metavar="REPO")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--negatives", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--work", help="keep the clones in this folder, and a list of the cases beside them")
    args = parser.parse_args()
    if unknown := set(args.families.split(",")) - set(FAMILIES):
        parser.error(f"no such family: {', '.join(sorted(unknown))}")
    work = args.work or tempfile.mkdtemp(prefix="squash-eval-")
    os.makedirs(work, exist_ok=True)
    try:
        results = [evaluate(source, args, os.path.abspath(work)) for source in args.repos]
    finally:
        if not args.work:
            shutil.rmtree(work)
    print_squashes(results)
    print_others(results)
    print_details(results)


if __name__ == "__main__":
    main()
