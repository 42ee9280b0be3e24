"""What was found by attacking the hook: its caches, large and many files, limits of the system."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from gitmem import records
from tests.repo import Repo

ROUTE = '@app.route("/posts")\ndef posts():\n    return 1\n'


def as_backfilled(repo: Repo) -> tuple[dict[str, Any], dict[str, Any]]:
    """HEAD's capsule as the hook wrote it, and as a backfill of the whole history does."""
    written = repo.capsule()
    repo.git("update-ref", "-d", records.SHARED_REF)
    repo.gitmem("backfill", "--all")
    return written, repo.capsule()


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def prose(seed: int, size: int) -> str:
    """Lines of 60 characters that no other seed has."""
    text = noise(seed, size // 2).hex()
    return "".join(text[at : at + 59] + "\n" for at in range(0, size - 59, 60))


def numbers(count: int, seed: int = 1) -> str:
    rng = random.Random(seed)
    return "".join(f"{rng.randrange(10**6):06}\n" for _ in range(count))


@pytest.mark.parametrize("way", ["odd bytes", "cache is a link", "state is a file", "GIT_CONFIG", "off"])
def test_S10_nothing_lets_private_records_through(ready: Repo, tmp_path: Path, way: str) -> None:
    ready.gitmem("add", "event", "between us", "--private")
    ready.add_remote(tmp_path / "remote")
    state = ready.path / ".git/gitmem"
    if way == "odd bytes":
        ready.git("config", "gitmem.note", b"caf\xe9")
    elif way == "cache is a link":
        (state / "nearby.cache").symlink_to("/nowhere")
    elif way == "state is a file":
        state.rename(tmp_path / "state")
        state.write_text("")
    elif way == "GIT_CONFIG":
        ready.env["GIT_CONFIG"] = os.devnull
    else:
        ready.git("config", "gitmem.enabled", "false")
    ready.settle()
    for _ in range(2):
        done = ready.run("git", "push", "-q", "origin", "refs/gitmem/private", ok=None)
        assert 0 != done.returncode and b"never pushed" in done.stderr


@pytest.mark.parametrize(
    ("cache", "instead"),
    [("nearby.cache", instead) for instead in ("link", "loop", "folder", "fifo", "huge", "other", "bytes")]
    + [(cache, instead) for cache in ("patterns.cache", "config.cache") for instead in ("link", "folder", "other")],
)
def test_a_cache_that_is_none_costs_nothing_but_time(ready: Repo, cache: str, instead: str) -> None:
    ready.commit("feat: settings", {".gitmem/config.toml": '[[domains]]\nname = "front"\npaths = ["web"]\n'})
    ready.settle()
    ready.commit("feat: one", {"web/a.py": "def a(): pass\n"})
    path = ready.path / ".git/gitmem" / cache
    path.unlink()
    if instead in ("link", "loop"):
        path.symlink_to("/nowhere" if instead == "link" else path.name)
    elif instead == "folder":
        (path / "in").mkdir(parents=True)
    elif instead == "fifo":
        os.mkfifo(path)
    elif instead == "huge":
        with path.open("wb") as file:
            file.truncate(20 << 20)
    else:
        path.write_bytes(b"{}" if instead == "other" else bytes(range(256)))
    for n in range(2):
        ready.settle()
        done = ready.run("git", "commit", "-q", "--allow-empty", "-m", f"feat: {n}")
        assert b"" == done.stderr
        assert [1] == ready.capsules_on(["HEAD"])
    ready.commit("feat: two", {"web/b.py": "def b(): pass\n"})
    assert [["front", 1]] == ready.capsule()["domains"]


def test_a_configuration_with_odd_bytes_is_no_hindrance(ready: Repo) -> None:
    ready.git("config", "gitmem.note", b"caf\xe9")
    for n in range(2):
        ready.settle()
        ready.commit(f"feat: {n}", {"a.txt": f"{n}\n"})
        assert [1] == ready.capsules_on(["HEAD"])


def test_a_failure_of_the_engine_costs_no_capsule(ready: Repo) -> None:
    ready.commit("docs: pages", {".gitmem/bootstrap/what-is.md": "# what\n"})
    (ready.path / ".git/gitmem/mark.json").unlink()
    (ready.path / ".git/gitmem/mark.json").mkdir()
    done = ready.run("git", "commit", "-q", "--allow-empty", "-m", "feat: one")
    assert b"gitmem: reflection: " in done.stderr
    assert [1] == ready.capsules_on(["HEAD"])


def test_large_assets_that_come_and_go_cost_no_lines(ready: Repo) -> None:
    ready.commit("chore: asset", {"logo1.bin": noise(1, 5_000_000), "a.py": "a = 1\n" * 40})
    ready.git("rm", "-q", "logo1.bin")
    ready.git("mv", "a.py", "b.py")
    ready.commit("feat: asset", {"logo2.bin": noise(2, 5_100_000), "p.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again
    assert (4, 3, "cut" in written, ["routes"]) == (
        written["files"], written["added"], False, [name for name, *_ in written["signals"]][:1],
    )  # fmt: skip


def test_a_large_file_that_moves_with_edits_is_a_move(ready: Repo) -> None:
    text = numbers(800_000)
    ready.commit("chore: data", {"data/one.txt": text})
    ready.git("mv", "data/one.txt", "data/two.txt")
    ready.commit("feat: moved", {"data/two.txt": text + "1\n", "p.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again and (2, 4) == (written["files"], written["added"])


def test_the_way_an_object_is_packed_changes_no_capsule(ready: Repo) -> None:
    text = numbers(800_000)
    ready.commit("chore: data", {"data.txt": text})
    ready.commit("chore: less", {"data.txt": text[: 100_000 * 7]})
    ready.git("-c", "core.bigFileThreshold=64m", "repack", "-adfq", "--depth=50", "--window=50")
    ready.commit("feat: posts", {"data.txt": text[: 100_000 * 7] + "1\n", "p.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again and 4 == written["added"]


def test_what_is_hard_to_compare_costs_no_lines(ready: Repo) -> None:
    lines = numbers(140_000).splitlines(keepends=True)
    ready.commit("chore: data", {"data.txt": "".join(lines)})
    random.Random(3).shuffle(lines)
    ready.commit("feat: shuffled", {"data.txt": "".join(lines), "p.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again and written["added"] > 100_000


def test_a_folder_of_very_many_files_costs_no_lines(ready: Repo) -> None:
    blob = ready.git("hash-object", "-w", "--stdin", stdin=b"hi\n")
    name = "f" * 60  # 9 MB of records, and a tree of more than 4 MiB
    rows = "".join(f"100644 {blob}\tflat/{name}{n:07}.py\n" for n in range(55_000))
    ready.git("update-index", "--index-info", stdin=rows.encode())
    ready.git("commit", "-qm", "feat: many")
    assert 55_000 == ready.capsule()["files"] and 55_000 == ready.capsule()["domains"][0][1]
    written, again = as_backfilled(ready)
    assert written == again
    ready.write({"p.py": ROUTE})
    ready.git("update-index", "--add", "p.py")
    ready.git("update-index", "--force-remove", f"flat/{name}0000007.py")
    ready.git("commit", "-qm", "feat: posts")
    written, again = as_backfilled(ready)
    assert written == again and (2, 3, 1) == (written["files"], written["added"], written["removed"])


def test_names_that_look_like_records_are_counted_once(ready: Repo) -> None:
    ready.commit("feat: names", {f":f{n}": f"{n}\n" for n in range(250)} | {":100644 100644 x": "x\n"})
    written, again = as_backfilled(ready)
    assert written == again and (251, 251) == (written["files"], written["added"])


def test_content_that_looks_like_records_is_no_record(ready: Repo) -> None:
    ready.commit("chore: attributes", {".gitattributes": "*.bin diff\n*.dat diff\n"})
    ready.commit("feat: data", {"x.bin": b"\0:\n" * 45_000, "p.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again and 45_003 == written["added"]


def test_edits_of_a_large_file_that_is_meant_as_text_are_counted(ready: Repo) -> None:
    text = numbers(800_000)
    ready.commit("feat: data", {".gitattributes": "*.dat diff\n", "x.dat": text, "p.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again and 4 == written["added"]
    ready.commit("feat: more", {"x.dat": text + "1\n", "q.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again and 4 == written["added"]


@pytest.mark.parametrize("size", [5_600_000, 1_700_000])
def test_large_texts_that_come_and_go_are_never_counted(ready: Repo, size: int) -> None:
    ready.commit("chore: data", {"one.txt": prose(1, size), "small.txt": prose(2, 900_000)})
    ready.git("rm", "-q", "one.txt", "small.txt")
    ready.commit("feat: other", {"two.txt": prose(3, size), "tiny.txt": prose(4, 900_000), "p.py": ROUTE})
    written, again = as_backfilled(ready)
    assert written == again and (15_003, 15_000) == (written["added"], written["removed"])


def test_more_names_than_a_command_takes(ready: Repo) -> None:
    names = [f"src/{'n' * 150}{n}" for n in range(390)]
    ready.commit("chore: names", {f"{name}.py": f"{name}\n" * 9 for name in names})
    for name in names:
        (ready.path / f"{name}.py").rename(ready.path / f"{name}.moved.py")
    ready.write({"big.bin": noise(1, 5_000_000)})
    ready.git("add", "-A")
    ready.run("sh", "-c", "ulimit -s 512; git commit -qm 'feat: moved'")
    written, again = as_backfilled(ready)
    assert written == again and (391, 0) == (written["files"], written["added"])


@pytest.mark.parametrize("files", [12, 14, 16, 18])
def test_few_file_descriptors_lose_nothing(ready: Repo, files: int) -> None:
    ready.env["CLAUDECODE"] = "1"
    ready.write({"a.py": "a = 1\n"})
    ready.git("add", "-A")
    done = ready.run("sh", "-c", f"ulimit -n {files}; git commit -qm 'feat: few'", ok=None)
    if done.returncode:
        pytest.skip("git itself needs more")
    ready.gitmem("doctor", "--fix", ok=None)
    assert {"capsule", "made"} == {record["kind"] for record in ready.records()}


def test_a_message_of_two_megabytes(ready: Repo) -> None:
    ready.write({"a.py": "a = 1\n"})
    ready.git("add", "-A")
    ready.git("commit", "-q", "-F", "-", stdin=b"feat: long\n\n" + b"word " * 400_000)
    written, again = as_backfilled(ready)
    assert written == again and "feat: long" in written["a"]


def test_a_folder_in_the_place_of_a_hook_comes_back(repo: Repo) -> None:
    repo.commit("chore: begin", {"a.txt": "a\n"})
    (repo.path / ".git/hooks/post-commit").mkdir()
    (repo.path / ".git/hooks/post-commit/in").write_text("x")
    repo.gitmem("init", "--no-pages", "--hooks", "files")
    repo.gitmem("uninstall")
    assert "x" == (repo.path / ".git/hooks/post-commit/in").read_text()
    assert ["in"] == os.listdir(repo.path / ".git/hooks/post-commit")


def test_GIT_CONFIG_is_of_no_account(ready: Repo) -> None:
    ready.env["GIT_CONFIG"] = "/nowhere"
    done = ready.run("git", "commit", "-q", "--allow-empty", "-m", "feat: one")
    del ready.env["GIT_CONFIG"]
    assert b"" == done.stderr and [1] == ready.capsules_on(["HEAD"])
