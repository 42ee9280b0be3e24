"""Thousands of random operations of git over several clones: every record is found from a commit that carries its
change or stands in lost and found, and none hangs on a commit that it does not belong to."""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import memory, records, repairing
from tests.repo import Repo
from tests.test_sync import clone, hub

__all__ = ["hub"]
CLONES = 3
SEED = os.environ.get("GITMEM_SEED")  # read before the environment is sealed
REPORT = os.environ.get("GITMEM_REPORT")
OFTEN = ["change"] * 8


class Crowd:
    """Clones of one hub in which people work at random. Each change writes its own token and is decided upon once."""

    def __init__(self, hub: Repo, first: Repo, seed: int) -> None:
        self.hub = hub
        self.chance = random.Random(seed)
        self.clones = [first, *(clone(hub, f"clone-{n}", mail=f"p{n}@example.com") for n in range(CLONES - 1))]
        self.tokens = 0
        self.ran: dict[str, int] = {}

    def step(self) -> None:
        repo = self.chance.choice(self.clones)
        name = self.chance.choice([*OPERATIONS, *OFTEN])
        OPERATIONS[name](self, repo)
        self.tidy(repo)
        self.ran[name] = self.ran.get(name, 0) + 1

    def tidy(self, repo: Repo) -> None:
        """What did not come off is given up, as people do."""
        for words in (("rebase", "--abort"), ("cherry-pick", "--abort"), ("revert", "--abort"), ("am", "--abort"),
                      ("merge", "--abort")):  # fmt: skip
            repo.git(*words, ok=None)
        repo.git("reset", "-q", "--hard")
        repo.git("clean", "-qfd")
        if repo.git("symbolic-ref", "-q", "HEAD", ok=None) == "":
            repo.git("checkout", "-q", "-B", "found", "HEAD")

    def text(self, token: int) -> str:
        return "".join(f"token-{token} row {row} of {token * 7919 % 1000}\n" for row in range(8))

    def write(self, repo: Repo) -> int:
        self.tokens += 1
        token = self.tokens
        files = {f"{half}/{token}.txt": self.text(token) for half in ("a", "b")}
        if self.chance.random() < 0.3:  # something to disagree about
            shared = repo.path / "shared.txt"
            files["shared.txt"] = (shared.read_text() if shared.exists() else "") + self.text(token)
        repo.write(files)
        repo.git("add", "-A")
        return token

    def decide(self, repo: Repo, token: int) -> None:
        repo.gitmem("add", "decision", f"decided token-{token}")

    def some(self, repo: Repo, count: int = 12) -> str | None:
        """A commit of late that is no merge."""
        found = repo.git("rev-list", "--no-merges", f"--max-count={count}", "HEAD").split()
        return self.chance.choice(found[:-1]) if len(found) > 1 else None


def change(crowd: Crowd, repo: Repo) -> None:
    token = crowd.write(repo)
    repo.git("commit", "-q", "-m", f"feat: change {token}")
    crowd.decide(repo, token)


def change_without_us(crowd: Crowd, repo: Repo) -> None:
    """Somebody without our hooks; the decision comes later, or it would have no place."""
    token = crowd.write(repo)
    repo.env["GITMEM"] = "off"
    repo.git("commit", "-q", "-m", f"feat: change {token}")
    del repo.env["GITMEM"]
    crowd.decide(repo, token)


def amend(crowd: Crowd, repo: Repo) -> None:
    token = crowd.write(repo)
    repo.git("commit", "-q", "--amend", "--no-edit")
    crowd.decide(repo, token)


def fixup(crowd: Crowd, repo: Repo) -> None:
    target = crowd.some(repo)
    if target is None:
        return
    token = crowd.write(repo)
    repo.git("commit", "-q", f"--fixup={target}")
    crowd.decide(repo, token)
    editing(repo, "true")
    repo.git("rebase", "-q", "-i", "--autosquash", f"{target}~1", ok=None)


def editing(repo: Repo, editor: str) -> None:
    repo.env |= {"GIT_SEQUENCE_EDITOR": editor, "GIT_EDITOR": "true"}


def squash(crowd: Crowd, repo: Repo) -> None:
    editing(repo, "sed -i -e '2,$s/^pick/squash/'")
    repo.git("rebase", "-q", "-i", "HEAD~3", ok=None)


def reorder(crowd: Crowd, repo: Repo) -> None:
    editing(repo, "sed -i -e '1{h;d};2{G}'")
    repo.git("rebase", "-q", "-i", "HEAD~3", ok=None)


def drop(crowd: Crowd, repo: Repo) -> None:
    editing(repo, "sed -i -e '1s/^pick/drop/'")
    repo.git("rebase", "-q", "-i", "HEAD~2", ok=None)


def split(crowd: Crowd, repo: Repo) -> None:
    editing(repo, "sed -i -e '1s/^pick/edit/'")
    if "rebase" not in repo.git("rebase", "-q", "-i", "HEAD~1", ok=None) and (repo.path / ".git/rebase-merge").exists():
        repo.git("reset", "-q", "HEAD~", ok=None)
        repo.git("add", "a", ok=None)
        repo.git("commit", "-q", "-m", "feat: first half", ok=None)
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "feat: second half", ok=None)
        repo.git("rebase", "--continue", ok=None)


def rebase(crowd: Crowd, repo: Repo) -> None:
    repo.git("fetch", "-q")
    repo.git("rebase", "-q", crowd.chance.choice(["--merge", "--apply"]), "origin/main", ok=None)


def cherry_pick(crowd: Crowd, repo: Repo) -> None:
    repo.git("fetch", "-q")
    found = repo.git(
        "rev-list", "--all", "--no-merges", "--exclude=refs/notes/*", "--max-count=30", "--branches"
    ).split()
    if found:
        repo.git("cherry-pick", *crowd.chance.choice([(), ("-x",)]), crowd.chance.choice(found), ok=None)


def revert(crowd: Crowd, repo: Repo) -> None:
    target = crowd.some(repo)
    if target is not None:
        repo.git("revert", "--no-edit", target, ok=None)


def branch(crowd: Crowd, repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", f"topic-{crowd.chance.random()}", ok=None)


def switch(crowd: Crowd, repo: Repo) -> None:
    names = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    repo.git("checkout", "-q", crowd.chance.choice(names), ok=None)


def delete_branch(crowd: Crowd, repo: Repo) -> None:
    names = [n for n in repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split() if n != "main"]
    if names:
        repo.git("checkout", "-q", "main", ok=None)
        repo.git("branch", "-q", "-D", crowd.chance.choice(names), ok=None)


def merge(crowd: Crowd, repo: Repo) -> None:
    names = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes/origin").split()
    repo.git("merge", "-q", "--no-edit", crowd.chance.choice(names), ok=None)


def merge_squash(crowd: Crowd, repo: Repo) -> None:
    names = repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    repo.git("merge", "-q", "--squash", crowd.chance.choice(names), ok=None)
    repo.git("commit", "-q", "-m", "feat: squashed here", ok=None)


def reset_commit(crowd: Crowd, repo: Repo) -> None:
    steps = crowd.chance.choice([1, 2, 3])
    if len(repo.git("rev-list", "--max-count=5", "--first-parent", "HEAD").split()) > steps:
        repo.git("reset", "-q", "--soft", f"HEAD~{steps}")
        repo.git("commit", "-q", "-m", "feat: put together", ok=None)


def reset_hard(crowd: Crowd, repo: Repo) -> None:
    repo.git("reset", "-q", "--hard", "HEAD~1", ok=None)


def stash(crowd: Crowd, repo: Repo) -> None:
    token = crowd.write(repo)
    repo.git("stash", "-q")
    repo.git("stash", "pop", "-q", "--index", ok=None)
    repo.git("commit", "-q", "-a", "-m", f"feat: change {token} out of the stash", ok=None)
    crowd.decide(repo, token)


def send_mail(crowd: Crowd, repo: Repo) -> None:
    target = crowd.some(repo)
    if target is not None:
        patch = repo.git("format-patch", "--stdout", "-1", target)
        crowd.chance.choice(crowd.clones).git("am", "-q", stdin=patch.encode(), ok=None)


def push(crowd: Crowd, repo: Repo) -> None:
    name = repo.git("symbolic-ref", "--short", "HEAD")
    repo.git("push", "-q", "origin", f"HEAD:{name}", *crowd.chance.choice([(), ("--force",)]), ok=None)


def pull(crowd: Crowd, repo: Repo) -> None:
    repo.git(
        "pull",
        "-q",
        "--prune",
        crowd.chance.choice(["--rebase", "--no-rebase"]),
        "--no-edit",
        "origin",
        "main",
        ok=None,
    )


def server_squash(crowd: Crowd, repo: Repo) -> None:
    """A topic that was pushed is squashed into main on the server and deleted there."""
    names = crowd.hub.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    topics = [name for name in names if name != "main"]
    if not topics:
        return
    topic = crowd.chance.choice(topics)
    tree = crowd.hub.git("merge-tree", "--write-tree", "main", topic, ok=None).split("\n")[0]
    if len(tree) == len(repo.head()) and tree != crowd.hub.git("rev-parse", "main^{tree}"):
        oid = crowd.hub.git("commit-tree", tree, "-p", "main", "-m", f"feat: {topic} squashed (#1)")
        crowd.hub.git("update-ref", "refs/heads/main", oid)
    crowd.hub.git("update-ref", "-d", f"refs/heads/{topic}")


def collect(crowd: Crowd, repo: Repo) -> None:
    repo.git("gc", "-q", *crowd.chance.choice([(), ("--prune=now",)]))


def filtered(crowd: Crowd, repo: Repo) -> None:
    """The newest commits in other words, as filter-branch and its kin leave them, with a map."""
    if crowd.chance.random() < 0.8:
        return  # it is rare, and tires everybody
    rows, new = [], repo.git("rev-parse", "-q", "--verify", "HEAD~3", ok=None)
    for old in repo.git("rev-list", "--reverse", "--first-parent", "--max-count=3", "HEAD").split() if new else ():
        tree, message = repo.git("rev-parse", f"{old}^{{tree}}"), repo.git("log", "-1", "--format=%B", old)
        new = repo.git("commit-tree", tree, "-p", new, "-m", message + "\n\nfiltered")
        rows.append(f"{old} {new}\n")
    if rows:
        repo.git("reset", "-q", "--hard", new)
        (repo.path / ".git/filter-repo").mkdir(exist_ok=True)
        (repo.path / ".git/filter-repo/commit-map").write_text("old new\n" + "".join(rows))
        repo.gitmem("repair")


def sync(crowd: Crowd, repo: Repo) -> None:
    repo.gitmem("sync")


OPERATIONS: dict[str, Callable[[Crowd, Repo], None]] = {
    one.__name__: one
    for one in (
        change, change_without_us, amend, fixup, squash, reorder, drop, split, rebase, cherry_pick, revert, branch, switch,
        delete_branch, merge, merge_squash, reset_commit, reset_hard, stash, send_mail, push, pull, server_squash, collect,
        filtered, sync,
    )
}  # fmt: skip


def decided(found: list[records.Record]) -> set[int]:
    return {int(str(r.fields["text"]).rpartition("-")[2]) for r in found if r.kind == "decision"}


def carries(repo: Repo, *revs: str) -> dict[str, set[int]]:
    """commit -> the tokens that its difference to its first parent names."""
    chosen = revs or ("--branches", "--remotes", "HEAD")
    out = repo.git("log", *chosen, "--diff-merges=first-parent", "-p", "-U0", "--format=commit %H")
    found: dict[str, set[int]] = {}
    oid = ""
    for row in out.splitlines():
        if row.startswith("commit "):
            oid = row[7:]
            found[oid] = set()
        elif token := re.match(r"[+-]token-(\d+) row", row):
            found[oid].add(int(token[1]))
    return found


def allowed(repo: Repo, oid: str, named: set[int], known: memory.Memory) -> set[int]:
    """The tokens of its change, and those of commits that git itself turned into it: rebased onto a branch that has a
    part of them already, a commit keeps its memory whole."""
    became = [one for one in known.former if one.operation in ("rebase", "amend")]
    here = [one.commit for one in became if repo.git("cat-file", "-t", one.commit, ok=None) == "commit"]
    gone = [one for one in became if one.commit not in here]  # what it was can only be told by its records
    named = named.union(*(decided(list(one.reading.records)) for one in gone))
    return named.union(*carries(repo, "--no-walk", *here).values()) if here else named


def check(crowd: Crowd, repo: Repo) -> tuple[set[int], set[int], set[int]]:
    """(records placed, in lost and found, in all). Raises AssertionError for one that is nowhere, or in a wrong place."""
    store = repo.store()
    tokens = carries(repo)
    placed: set[int] = set()
    for oid, named in tokens.items():
        known = memory.gather(store, oid)
        sure = [*known.others, *(r for one in known.former for r in one.reading.records)]
        sure += [
            r for one in known.found if one.sure for _, reading in memory.readings(store, one) for r in reading.records
        ]
        wrong = decided(sure) - named
        wrong = wrong and decided(sure) - allowed(repo, oid, named, known)
        assert not wrong, (
            f"{oid} has records of {wrong}, its change is {named}: own {decided(known.others)},"
            f" former {[(one.operation, one.commit, decided(list(one.reading.records))) for one in known.former]},"
            f" found {[one for one in known.found if one.sure]}: {crowd.ran}"
        )
        placed |= decided(sure)
    left = repairing.repair(store, deadline=float("inf"), dry_run=True).lost
    lost = {n for one in left for n in decided(list(store.reading(one.commit).records))}
    every = {
        n for _, lines in store.read_blobs(store.blobs().items()) for n in decided(list(records.read(lines).records))
    }
    nowhere = every - placed - lost
    assert not nowhere, f"records of {nowhere} are nowhere: {crowd.ran}"
    return placed, lost - placed, every


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(4, 60), *(pytest.param(seed, 1000, marks=pytest.mark.soak) for seed in (11, 12, 13))],
)
def test_no_record_is_lost_or_misplaced_whatever_people_do(ready: Repo, hub: Repo, seed: int, steps: int) -> None:
    ready.git("config", "pull.rebase", "false")
    crowd = Crowd(hub, ready, int(SEED or seed))
    for _ in range(steps):
        crowd.step()
    for _ in range(2):
        for repo in crowd.clones:
            repo.gitmem("sync")
    for repo in crowd.clones:
        repo.git("fetch", "-q", "--prune")
        repo.gitmem("repair")
        repo.gitmem("sync")
    crowd.clones[0].gitmem("sync")
    shares = [check(crowd, repo) for repo in crowd.clones]
    placed = set().union(*(one[0] for one in shares))
    every = set().union(*(one[2] for one in shares))
    assert crowd.tokens == len(every)
    alive = set().union(*(tokens for repo in crowd.clones for tokens in carries(repo).values())) & every
    report = (
        f"seed {SEED or seed}, {steps} operations, {len(crowd.clones)} clones: of {len(alive)} changes that are still in"
        f" somebody's history {len(placed & alive)} have their record, of {len(every - alive)} that are gone"
        f" {len(every - alive - placed)} are in lost and found\n"
    )
    sys.stdout.write(report)
    if REPORT:
        with Path(REPORT).open("a") as file:
            file.write(report)
