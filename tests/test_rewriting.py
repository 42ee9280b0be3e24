"""Amend, rebase, squash, split, cherry-pick, merge: every new commit has its capsule, what was known goes with it."""

from __future__ import annotations

import pytest

from tests.repo import Repo


def edit(repo: Repo, *lines: str) -> None:
    """The next interactive rebase gets this list; commit messages stay as git proposes them."""
    script = repo.path.parent / "todo.sh"
    script.write_text("#!/bin/sh\ncat >\"$1\" <<'END'\n" + "\n".join(lines) + "\nEND\n")
    script.chmod(0o755)
    repo.env |= {"GIT_SEQUENCE_EDITOR": str(script), "GIT_EDITOR": "true"}


def made_by_agent(repo: Repo, message: str, files: dict[str, str]) -> str:
    repo.env["CLAUDECODE"] = "1"
    oid = repo.commit(message, files)
    del repo.env["CLAUDECODE"]
    return oid


def links(repo: Repo, rev: str = "HEAD") -> list[tuple[str, str]]:
    return [(r["old"], r["operation"]) for r in repo.records(rev) if r["kind"] == "link"]


def test_GIT_03_amend_links_carries_and_describes_anew(ready: Repo) -> None:
    old = made_by_agent(ready, "feat: one", {"a.txt": "1\n"})
    ready.gitmem("add", "decision", "keep it simple")
    ready.write({"b.txt": "2\n"})
    ready.git("add", "-A")
    ready.git("commit", "-q", "--amend", "-m", "feat: one and a half")
    assert [(old, "amend")] == links(ready)
    assert "feat: one and a half (2 files, +2 -0)" == ready.capsule()["a"]
    assert ["capsule", "decision", "link", "made"] == sorted(r["kind"] for r in ready.records())
    shown = ready.document("show")
    assert [old] == [one["commit"] for one in shown["former"]]
    assert "feat: one (1 file, +1 -0)" == next(r["a"] for r in shown["former"][0]["records"] if r["kind"] == "capsule")


def test_GIT_03_forty_amends_leave_one_capsule_and_one_maker(ready: Repo) -> None:
    made_by_agent(ready, "feat: one", {"a.txt": "1\n"})
    first = ready.head()
    ready.env["CLAUDECODE"] = "1"
    for n in range(40):
        ready.git("commit", "-q", "--amend", "--allow-empty", "-m", f"feat: {n}")
    kinds = sorted(r["kind"] for r in ready.records())
    assert ["capsule", "link", "made"] == kinds
    assert first == ready.document("show")["former"][-1]["commit"]


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_GIT_03_rebase_with_either_back_end(ready: Repo, backend: str) -> None:
    base = ready.head()
    ready.git("checkout", "-q", "-b", "side")
    olds = [made_by_agent(ready, f"feat: {n}", {f"s{n}.txt": "x\n"}) for n in range(3)]
    ready.gitmem("add", "event", "seen by the agent")
    ready.git("checkout", "-q", "main")
    upstream = ready.commit("fix: upstream", {"u.txt": "u\n"})
    ready.git("checkout", "-q", "side")
    ready.git("rebase", "-q", backend, "main")
    news = ready.history("main..HEAD")
    assert [1, 1, 1] == ready.capsules_on(news)
    assert [[(old, "rebase")] for old in reversed(olds)] == [links(ready, new) for new in news]
    assert [1, 1, 1] == [sum(r["kind"] == "made" for r in ready.records(new)) for new in news]
    assert 1 == sum(r["kind"] == "event" for r in ready.records("HEAD"))
    assert [1, 1] == ready.capsules_on([base, upstream])
    assert "" == ready.git("status", "--porcelain")


def test_GIT_03_an_interactive_squash_links_all_that_went_into_it(ready: Repo) -> None:
    base = ready.head()
    one, two, three = (made_by_agent(ready, f"feat: {n}", {f"{n}.txt": "x\n"}) for n in range(3))
    edit(ready, f"pick {one}", f"squash {two}", f"pick {three}")
    ready.git("rebase", "-q", "-i", base)
    squashed, last = ready.history(f"{base}..HEAD")[::-1]
    assert {(one, "squash"), (two, "squash")} == set(links(ready, squashed))
    assert [(three, "rebase")] == links(ready, last)
    assert [1, 1] == ready.capsules_on([squashed, last])
    assert 2 == len(ready.capsule(squashed)["paths"])


def test_GIT_03_split_commits_and_those_of_exec_get_capsules(ready: Repo) -> None:
    base = ready.head()
    one = ready.commit("feat: two things", {"a.txt": "a\n", "b.txt": "b\n"})
    edit(ready, f"edit {one}", "exec git commit -q --allow-empty -m 'chore: by exec'")
    ready.git("rebase", "-q", "-i", base)
    ready.git("reset", "-q", "HEAD~")
    for name in ("a", "b"):
        ready.git("add", f"{name}.txt")
        ready.git("commit", "-q", "-m", f"feat: {name}")
    ready.git("rebase", "--continue")
    news = ready.history(f"{base}..HEAD")
    assert ["chore: by exec", "feat: b", "feat: a"] == ready.git("log", "--format=%s", f"{base}..HEAD").splitlines()
    assert [1, 1, 1] == ready.capsules_on(news)


def test_a_cherry_pick_and_a_revert_say_where_they_come_from(ready: Repo) -> None:
    ready.git("checkout", "-q", "-b", "side")
    picked = ready.commit("feat: good", {"g.txt": "g\n"})
    ready.git("checkout", "-q", "main")
    ready.commit("feat: other", {"o.txt": "o\n"})
    ready.git("cherry-pick", picked)
    assert [(picked, "cherry-pick")] == links(ready)
    mine = ready.head()
    ready.git("revert", "--no-edit", mine)
    assert [(mine, "revert")] == links(ready)
    assert ("revert", [mine]) == (ready.capsule()["type"], ready.capsule()["reverts"])
    ready.commit("feat: after", {"p.txt": "p\n"})
    assert [] == links(ready)


def test_a_cherry_pick_through_a_conflict_is_linked_and_an_aborted_one_is_forgotten(ready: Repo) -> None:
    ready.git("checkout", "-q", "-b", "side")
    picked = ready.commit("feat: theirs", {"x.txt": "theirs\n"})
    ready.git("checkout", "-q", "main")
    ready.commit("feat: ours", {"x.txt": "ours\n"})
    ready.git("cherry-pick", picked, ok=(1,))
    ready.write({"x.txt": "both\n"})
    ready.git("add", "-A")
    ready.git("commit", "-q", "-m", "feat: both")
    assert [(picked, "cherry-pick")] == links(ready)
    ready.git("cherry-pick", picked, ok=(1,))
    ready.git("cherry-pick", "--abort")
    ready.commit("feat: unrelated", {"y.txt": "y\n"})
    assert [] == links(ready)


def test_a_squash_merge_made_here_is_linked(ready: Repo) -> None:
    ready.git("checkout", "-q", "-b", "side")
    olds = [ready.commit(f"feat: {n}", {f"s{n}.txt": "x\n"}) for n in range(2)]
    ready.git("checkout", "-q", "main")
    ready.git("merge", "-q", "--squash", "side")
    ready.git("commit", "-q", "-m", "feat: all of side")
    assert {(old, "squash") for old in olds} == set(links(ready))
    assert 1 == len([r for r in ready.records() if r["kind"] == "capsule"])


def test_a_merge_made_here_gets_a_capsule_and_a_fast_forward_nothing(ready: Repo) -> None:
    ready.git("checkout", "-q", "-b", "side")
    ready.commit("feat: side", {"s.txt": "x\n"})
    ready.git("checkout", "-q", "main")
    ready.commit("feat: main", {"m.txt": "x\n"})
    ready.git("merge", "-q", "--no-edit", "side")
    assert "merge" == ready.capsule()["type"]
    assert ["s.txt"] == ready.capsule()["paths"]
    assert "domains" not in ready.capsule()
    theirs = ready.git("commit-tree", "-m", "merge by somebody", "-p", "HEAD", "-p", "side", "HEAD^{tree}")
    before = ready.git("rev-parse", "refs/notes/gitmem")
    ready.git("merge", "-q", "--ff-only", theirs)
    assert before == ready.git("rev-parse", "refs/notes/gitmem")


def test_patches_applied_by_am_get_capsules(ready: Repo) -> None:
    ready.git("checkout", "-q", "-b", "side")
    for n in range(2):
        ready.commit(f"feat: {n}", {f"s{n}.txt": "x\n"})
    patches = ready.git("format-patch", "--stdout", "main").encode() + b"\n"
    ready.git("checkout", "-q", "main")
    ready.git("am", "-q", stdin=patches)
    assert [1, 1] == ready.capsules_on(["HEAD", "HEAD~1"])


def test_the_users_own_notes_are_none_of_our_business(ready: Repo) -> None:
    ready.git("config", "notes.rewriteRef", "refs/notes/*")
    old = ready.commit("feat: one", {"a.txt": "1\n"})
    ready.git("notes", "add", "-m", "mine", old)
    ready.git("commit", "-q", "--amend", "-m", "feat: renamed")
    assert "mine" == ready.git("notes", "show", "HEAD")
    assert "feat: renamed (1 file, +1 -0)" == ready.capsule()["a"]
    shown = ready.document("show")
    assert [] == [r for r in shown["records"] if r["kind"] == "capsule"]
