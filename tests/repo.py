"""A real repository under test: git by its command, gitmem as a user starts it."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitmem import records
from gitmem.git.run import Git
from gitmem.store import Store

ROOT = Path(__file__).parent.parent
# The suite runs a second time under a recent git with TEST_OBJECT_FORMAT=sha256 TEST_REF_FORMAT=reftable.
OBJECT_FORMAT = os.environ.get("TEST_OBJECT_FORMAT", "sha1")
REF_FORMAT = os.environ.get("TEST_REF_FORMAT", "files")


@functools.cache
def git_version() -> tuple[int, int]:
    words = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout.split()
    major, minor = words[2].split(".")[:2]
    return int(major), int(minor)


class Repo:
    """One work tree. Commit dates come from a clock that goes on a minute each time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = 1_700_000_000
        self.env: dict[str, str] = {}

    @classmethod
    def create(cls, path: Path, *options: str) -> Repo:
        formats = [f"--object-format={OBJECT_FORMAT}"]
        if REF_FORMAT != "files":
            formats.append(f"--ref-format={REF_FORMAT}")
        subprocess.run(["git", "init", "-q", "-b", "main", *formats, *options, str(path)], check=True)
        return cls(path)

    def environment(self) -> dict[str, str]:
        self.clock += 60
        date = f"{self.clock} +0000"
        return os.environ | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} | self.env

    def run(
        self, *argv: str | bytes, ok: Sequence[int] | None = (0,), stdin: bytes = b"", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            argv, cwd=cwd or self.path, env=self.environment(), input=stdin, capture_output=True, timeout=120
        )
        if ok is not None and done.returncode not in ok:
            raise AssertionError(f"{argv!r} ended with {done.returncode}\n{done.stdout!r}\n{done.stderr.decode()}")
        return done

    def git(self, *args: str | bytes, ok: Sequence[int] | None = (0,), stdin: bytes = b"") -> str:
        """Standard output of a git command, without the last newline."""
        return self.run("git", *args, ok=ok, stdin=stdin).stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def gitmem(
        self, *args: str, ok: Sequence[int] | None = (0,), stdin: bytes = b"", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return self.run(sys.executable, "-P", "-m", "gitmem", *args, ok=ok, stdin=stdin, cwd=cwd)

    def say(self, *args: str, ok: Sequence[int] | None = (0,)) -> str:
        """What a gitmem command prints on standard output."""
        return self.gitmem(*args, ok=ok).stdout.decode()

    def document(self, *args: str, ok: Sequence[int] | None = (0,)) -> Any:
        """The JSON document of a gitmem command."""
        return json.loads(self.gitmem(*args, "--json", ok=ok).stdout)

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = os.path.join(os.fsencode(self.path), name.encode("utf-8", "surrogateescape"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str, files: Mapping[str, str | bytes] | None = None, *options: str) -> str:
        """Commits all changes, hooks and all; the oid."""
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message, *options)
        return self.head()

    def settle(self) -> None:
        """Makes the configuration as old as it is in any real clone; a fresh one is never trusted."""
        os.utime(self.path / ".git/config", (1_700_000_000, 1_700_000_000))

    def add_remote(self, path: Path, name: str = "origin") -> Repo:
        """A bare repository of the same format, known by that name."""
        bare = Repo.create(path, "--bare")
        self.git("remote", "add", name, str(path))
        return bare

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def store(self) -> Store:
        return Store.open(Git(str(self.path)))

    def records(self, rev: str = "HEAD", *, ref: str = records.SHARED_REF) -> list[dict[str, Any]]:
        """The records of a commit's note, capsule first."""
        oid = self.git("rev-parse", rev)
        [(_, lines)] = self.store().note_lines([oid], ref=ref)
        return [record.fields for record in records.read(lines).records]

    def capsule(self, rev: str = "HEAD") -> dict[str, Any]:
        oid = self.git("rev-parse", rev)
        [(_, lines)] = self.store().note_lines([oid])
        own = [r for r in records.read(lines).records if r.kind == "capsule" and r.commit == oid]
        assert len(own) == 1, f"{len(own)} capsules on {rev}: {lines}"
        return own[0].fields

    def capsules_on(self, revs: Sequence[str]) -> list[int]:
        """How many capsules of its own each commit has."""
        oids = [self.git("rev-parse", rev) for rev in revs]
        return [
            sum(r.kind == "capsule" and r.commit == oid for r in records.read(lines).records)
            for oid, lines in self.store().note_lines(oids)
        ]

    def capsules_on_all(self) -> list[int]:
        """The same for all commits of HEAD, by blob."""
        store = self.store()
        blobs = store.blobs()
        return [
            sum(r.kind == "capsule" and r.commit == oid for r in records.read(lines).records)
            for oid, lines in store.read_blobs((oid, blobs.get(oid, [])) for oid in self.history())
        ]

    def history(self, *revs: str) -> list[str]:
        return self.git("rev-list", *(revs or ("HEAD",))).split()

    def state_files(self) -> dict[str, bytes]:
        """Every byte of the repository and its work tree, for tests that nothing changes."""
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
