"""Memory that survives what people and servers do to history."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.repo import OBJECT_FORMAT, Repo
from tests.test_sync import clone, hub

__all__ = ["hub"]
BASE = "".join(f"line {n} of the file\n" for n in range(20))


def text(n: int, *, start: int = 0) -> str:
    """A file's content that no other number gives."""
    return "".join(f"value_{n}_{row} = compute({n}, {row})\n" for row in range(start, start + 12))


def decide(repo: Repo, said: str, rev: str = "HEAD") -> None:
    repo.gitmem("add", "decision", said, "--commit", rev)


def reached(repo: Repo, rev: str = "HEAD") -> dict[str, list[str]]:
    """decision -> how `show` came to it: on the commit itself, by a link, or found by content."""
    shown = repo.document("show", rev)
    ways: list[tuple[str, list[dict[str, Any]]]] = [("own", shown["records"])]
    ways += [(one["operation"], one["records"]) for one in shown["former"]]
    ways += [(one["reason"] if one["sure"] else f"probably {one['reason']}", one["records"]) for one in shown["found"]]
    found: dict[str, list[str]] = {}
    for way, listed in ways:
        for record in listed:
            if record["kind"] == "decision":
                found.setdefault(record["text"], []).append(way)
    return found


@pytest.fixture
def work(ready: Repo) -> Repo:
    """Three commits on a branch, each with a decision of an agent."""
    ready.commit("feat: base", {"base.txt": BASE})
    ready.git("checkout", "-q", "-b", "topic")
    for n in range(3):
        ready.commit(f"feat: step {n}", {f"{n}.py": text(n)})
        decide(ready, f"decided {n}")
    return ready


def amend(repo: Repo) -> str:
    repo.commit("feat: step 2, better", {"2.py": text(2) + "more = 1\n"}, "--amend")
    return "HEAD"


def rebase(*options: str) -> Callable[[Repo], str]:
    def run(repo: Repo) -> str:
        repo.git("checkout", "-q", "main")
        repo.commit("feat: meanwhile", {"other.txt": "x\n"})
        repo.git("rebase", "-q", *options, "main", "topic")
        return "HEAD"

    return run


def scripted(todo: str) -> Callable[[Repo], str]:
    def run(repo: Repo) -> str:
        repo.env |= {"GIT_SEQUENCE_EDITOR": f"sed -i -e '{todo}'", "GIT_EDITOR": "true"}
        repo.git("rebase", "-q", "-i", "HEAD~3")
        return "HEAD"

    return run


def fixup(repo: Repo) -> str:
    repo.commit("fixup! feat: step 2", {"2.py": text(2) + "more = 1\n"})
    repo.env |= {"GIT_SEQUENCE_EDITOR": "true"}
    repo.git("rebase", "-q", "-i", "--autosquash", "HEAD~3")
    return "HEAD"


def split(repo: Repo) -> str:
    repo.env |= {"GIT_SEQUENCE_EDITOR": "sed -i -e '2s/^pick/edit/'"}
    repo.git("rebase", "-q", "-i", "HEAD~2")
    repo.git("reset", "-q", "HEAD~")
    repo.git("add", "2.py")
    repo.git("commit", "-q", "-m", "feat: step 2, first half")
    repo.git("rebase", "--continue")
    return "HEAD"


def cherry_pick(repo: Repo) -> str:
    repo.git("checkout", "-q", "main")
    repo.git("cherry-pick", "topic")
    return "HEAD"


def merge_squash(repo: Repo) -> str:
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "topic")
    repo.git("commit", "-q", "-m", "feat: all of it")
    return "HEAD"


def reset_commit(repo: Repo) -> str:
    repo.git("reset", "-q", "--soft", "HEAD~3")
    repo.git("commit", "-q", "-m", "feat: all of it")
    return "HEAD"


def apply_mail(repo: Repo) -> str:
    patch = repo.git("format-patch", "--stdout", "-1", "topic")
    repo.git("checkout", "-q", "main")
    repo.git("am", "-q", stdin=patch.encode())
    return "HEAD"


def revert(repo: Repo) -> str:
    repo.git("revert", "--no-edit", "HEAD")
    return "HEAD"


def filter_repo(repo: Repo) -> str:
    if shutil.which("git-filter-repo", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("git-filter-repo is not installed")
    if OBJECT_FORMAT == "sha256":
        pytest.skip("git-filter-repo knows no SHA-256")
    tool = Path(sys.executable).parent / "git-filter-repo"
    repo.run(sys.executable, str(tool), "--force", "--refs", "topic", "main", "--message-callback",
             "return message + b'filtered\\n'")  # fmt: skip
    repo.git("checkout", "-q", "-f", "topic")
    repo.gitmem("repair")
    return "HEAD"


OPERATIONS: dict[str, tuple[Callable[[Repo], str], str, set[str]]] = {
    "amend": (amend, "decided 2", {"own", "amend"}),
    "rebase, merge back end": (rebase("--merge"), "decided 2", {"own", "rebase"}),
    "rebase, apply back end": (rebase("--apply"), "decided 2", {"own", "rebase"}),
    "fixup": (fixup, "decided 2", {"own", "squash"}),
    "squash": (scripted("2,3s/^pick/squash/"), "decided 1", {"own", "squash"}),
    "split": (split, "decided 2", {"own", "rebase"}),
    "cherry-pick": (cherry_pick, "decided 2", {"own", "cherry-pick"}),
    "merge --squash": (merge_squash, "decided 1", {"own", "squash"}),
    "reset and commit": (reset_commit, "decided 1", {"the patch of a line of commits"}),
    "am": (apply_mail, "decided 2", {"same patch"}),
    "revert": (revert, "decided 2", {"revert"}),
    "filter-repo": (filter_repo, "decided 2", {"filter"}),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_SYN_06_what_an_agent_said_is_found_after(work: Repo, name: str) -> None:
    operation, said, ways = OPERATIONS[name]
    rev = operation(work)
    assert ways == set(reached(work, rev).get(said, []))
    if name != "filter-repo":
        assert [1] == work.capsules_on([rev])


# ---- squashes on a server, where no hook of ours runs


def server_squash(hub: Repo, *, touched: str, message: str = "feat: all of it (#7)") -> None:
    """Somebody's clone without gitmem squashes the branch into main, which has moved on meanwhile."""
    path = hub.path.parent / "server"
    hub.git("clone", "-q", str(hub.path), str(path))
    server = Repo(path)
    old = server.git("show", f"origin/main:{touched}", ok=(0, 128))
    server.commit("fix: meanwhile", {touched: f"# meanwhile\n{old}\n"})
    server.git("merge", "-q", "--squash", "origin/topic")
    server.git("commit", "-q", "-m", message)
    server.git("push", "-q", "origin", "HEAD:main")
    server.git("push", "-q", "origin", ":topic")


def branch_of(ready: Repo, count: int) -> None:
    ready.commit("feat: base", {"base.txt": BASE, "shared.py": text(99)})
    ready.git("push", "-q", "origin", "main")
    ready.git("checkout", "-q", "-b", "topic")
    for n in range(count):
        ready.commit(f"feat: step {n}", {f"{n % 3}.py": text(n), f"own-{n}.py": text(50 + n)})
        decide(ready, f"decided {n}")
    ready.git("push", "-q", "origin", "topic")
    ready.gitmem("sync")


@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("gone", [False, True], ids=["here", "gone"])
def test_SYN_07_a_squash_on_the_server_is_found_in_any_clone(ready: Repo, hub: Repo, count: int, gone: bool) -> None:
    branch_of(ready, count)
    server_squash(hub, touched="base.txt")
    asker = clone(hub, "asker") if gone else ready  # that one never had the branch
    asker.git("checkout", "-q", "main")
    asker.git("pull", "-q", "--ff-only")
    found = reached(asker, "origin/main")
    assert [f"decided {n}" for n in range(count)] == sorted(found)
    reason = "the patch of a whole branch" if count > 1 else "same patch"
    assert {reason} == {way for ways in found.values() for way in ways}
    assert {} == reached(asker, "origin/main~1")


@pytest.mark.parametrize("gone", [False, True], ids=["here", "gone"])
def test_SYN_07_where_the_same_files_were_touched_it_is_probable(ready: Repo, hub: Repo, gone: bool) -> None:
    ready.commit("feat: base", {"0.py": "# top\n" + "pad = 0\n" * 4, "base.txt": BASE})
    branch_of(ready, 3)
    squash_by_hand(hub)
    asker = clone(hub, "asker") if gone else ready
    asker.git("checkout", "-q", "main")
    asker.git("pull", "-q", "--ff-only")
    found = reached(asker, "origin/main")
    assert ["decided 0", "decided 1", "decided 2"] == sorted(found)
    assert all(way.startswith("probably ") for ways in found.values() for way in ways)
    assert [] == asker.document("repair")["placed"]  # probable is shown and never written


def squash_by_hand(hub: Repo) -> None:
    """The branch's content with one file resolved in another way."""
    server = Repo(hub.path.parent / "server")
    hub.git("clone", "-q", str(hub.path), str(server.path))
    server.git("merge", "-q", "--squash", "origin/topic")
    server.write({"0.py": "# solved by hand\n" + (server.path / "0.py").read_text()})
    server.git("add", "-A")
    server.git("commit", "-q", "-m", "feat: all of it (#7)")
    server.git("push", "-q", "origin", "HEAD:main")
    server.git("push", "-q", "origin", ":topic")


def test_GIT_04_repair_links_a_server_squash_and_lists_what_has_no_place(ready: Repo, hub: Repo) -> None:
    branch_of(ready, 3)
    olds = set(ready.history("main..topic"))
    ready.git("checkout", "-q", "-b", "given-up", "main")
    given_up = ready.commit("feat: never merged", {"never.py": text(77)})
    decide(ready, "not worth it")
    server_squash(hub, touched="base.txt")
    ready.git("checkout", "-q", "main")
    ready.git("pull", "-q", "--ff-only", "--prune")
    ready.git("branch", "-q", "-D", "topic", "given-up")
    before = ready.git("rev-list", "--count", "refs/notes/gitmem")
    would = ready.document("repair", "--dry-run")
    assert before == ready.git("rev-list", "--count", "refs/notes/gitmem")
    done = ready.document("repair")
    assert would["placed"] == done["placed"]
    assert {(old, ready.head(), "squash") for old in olds} == {
        (one["old"], one["new"], one["operation"]) for one in done["placed"]
    }
    assert [(given_up, 1)] == [(one["commit"], one["records"]) for one in done["lost"]]
    assert {"squash"} == {way for ways in reached(ready).values() for way in ways}
    assert "not worth it" in ready.say("show", given_up)
    again = ready.document("repair")
    assert ([], done["lost"]) == (again["placed"], again["lost"])
    assert "lost and found: " + given_up[:12] in ready.say("repair")


def test_repair_takes_a_commit_back_that_was_rebased_where_no_hook_ran(work: Repo) -> None:
    old = work.head()
    work.env["GITMEM"] = "off"
    rebase("--merge")(work)
    del work.env["GITMEM"]
    placed = work.document("repair")["placed"]
    assert 3 == len(placed)
    assert {"old": old, "new": work.head(), "operation": "rebase", "reason": "same patch"} in placed
    assert ["rebase"] == reached(work)["decided 2"]


def test_two_branches_with_one_patch_are_nobodys(ready: Repo, hub: Repo) -> None:
    """Near duplicates: the same change pushed by two branches whose commits differ. Nothing says which one it was."""
    ready.commit("feat: base", {"base.txt": BASE})
    ready.git("push", "-q", "origin", "main")
    for name, parts in (("one", [6, 12]), ("two", [3, 12])):
        ready.git("checkout", "-q", "-b", name, "main")
        for end in parts:
            ready.commit(f"feat: {name} {end}", {"new.py": "".join(text(1).splitlines(keepends=True)[:end])})
            decide(ready, f"decided on {name}")
        ready.git("push", "-q", "origin", name)
    ready.git("checkout", "-q", "main")
    ready.env["GITMEM"] = "off"
    ready.commit("feat: squashed", {"new.py": text(1)})
    del ready.env["GITMEM"]
    ready.git("branch", "-q", "-D", "one", "two")
    ready.git("push", "-q", "origin", ":one", ":two")
    assert {} == {k: v for k, v in reached(ready).items() if not v[0].startswith("probably")}
    assert [] == ready.document("repair")["placed"]


def test_a_change_made_twice_keeps_its_own_memory(work: Repo) -> None:
    decide(work, "first time")
    work.git("revert", "--no-edit", "HEAD")
    work.commit("feat: step 2", {"2.py": text(2)})
    assert {} == {k: v for k, v in reached(work).items() if "own" not in v}


def test_a_map_of_filter_repo_that_is_nonsense_is_none(work: Repo) -> None:
    folder = work.path / ".git/filter-repo"
    folder.mkdir()
    (folder / "commit-map").write_bytes(
        b"old new\n\xff\xff x\n" + b"0" * 80 + b"\n" + work.head().encode() + b" ../../x\n"
    )
    assert [] == json.loads(work.gitmem("repair", "--json").stdout)["placed"]


def landed_again(ready: Repo, hub: Repo) -> tuple[str, str, str]:
    """A branch squashed, reverted, and landed once more from a new branch: (squash, second squash, its branch)."""
    branch_of(ready, 2)
    server_squash(hub, touched="base.txt")
    ready.git("fetch", "-q", "--prune")
    ready.git("checkout", "-q", "main")
    ready.git("pull", "-q", "--ff-only")
    first = ready.head()
    ready.git("revert", "--no-edit", "HEAD")
    ready.git("push", "-q", "origin", "main")
    ready.git("checkout", "-q", "-b", "again")
    ready.env["GITMEM"] = "off"  # the second attempt is somebody else's
    ready.git("cherry-pick", "topic~1", "topic")
    del ready.env["GITMEM"]
    for n, rev in enumerate(("HEAD~1", "HEAD")):
        decide(ready, f"second attempt {n}", rev)
    head = ready.head()
    ready.git("push", "-q", "origin", "again:topic")
    ready.gitmem("sync")
    server = Repo(hub.path.parent / "server")
    server.git("pull", "-q", "--ff-only", "origin", "main")
    server.git("fetch", "-q", "origin")
    server.git("merge", "-q", "--squash", "origin/topic")
    server.git("commit", "-q", "-m", "feat: all of it, again (#8)")
    server.git("push", "-q", "origin", "HEAD:main")
    ready.git("checkout", "-q", "main")
    ready.git("pull", "-q", "--ff-only")
    ready.git("branch", "-q", "-D", "topic", "again")
    return first, ready.head(), head


def test_a_squash_is_not_taken_for_what_landed_again_after_it(ready: Repo, hub: Repo) -> None:
    first, second, _ = landed_again(ready, hub)
    assert {"decided 0", "decided 1"} >= set(reached(ready, first))
    assert not {"second attempt 0", "second attempt 1"} & set(reached(ready, first))
    linked = {(one["old"], one["new"]) for one in ready.document("repair")["placed"]}
    assert not [pair for pair in linked if pair[1] == first and "second attempt" in ready.say("show", pair[0])]
    assert {"second attempt 0", "second attempt 1"} & set(reached(ready, second)) or reached(ready, second) == {}


def test_a_branch_that_was_pushed_again_is_found_as_it_was_last(ready: Repo, hub: Repo) -> None:
    branch_of(ready, 2)
    ready.git("checkout", "-q", "main")
    ready.commit("fix: meanwhile", {"base.txt": BASE + "more\n"})
    ready.git("push", "-q", "origin", "main")
    ready.git("rebase", "-q", "main", "topic")
    decide(ready, "after the rebase")
    ready.git("push", "-q", "--force", "origin", "topic")
    ready.gitmem("sync")
    server_squash(hub, touched="other.txt")
    asker = clone(hub, "asker")
    assert "after the rebase" in reached(asker, "origin/main")


def test_an_empty_commit_on_a_branch_changes_nothing(ready: Repo, hub: Repo) -> None:
    branch_of(ready, 2)
    ready.commit("chore: try again")
    ready.git("push", "-q", "origin", "topic")
    ready.gitmem("sync")
    server_squash(hub, touched="base.txt")
    ready.git("checkout", "-q", "main")
    ready.git("pull", "-q", "--ff-only", "--prune")
    ready.git("branch", "-q", "-D", "topic")
    assert ["decided 0", "decided 1"] == sorted(k for k, v in reached(ready).items() if not v[0].startswith("probably"))
