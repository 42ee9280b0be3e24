"""The only module that starts a process.

`subprocess` costs 6 ms of a commit hook's 30 (bench/hooks.md); `os.posix_spawn` and `select.poll` do the same for
nothing. No shell ever sees an argument: vectors only.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
import time

from gitmem.errors import GitError, GitMissing, GitTimeout
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIGPIPE = 13  # Linux and macOS; `import signal` pulls in enum, 4 ms
SIGKILL = 9
SIGINT = 2
CHUNK_BYTES = 1 << 16
WIDE_PIPE_BYTES = 1 << 20  # what any user may have (fs.pipe-max-size)
ERROR_BYTES = 1 << 16  # of git's stderr that are kept

# What a hook's caller set for its own purposes and would bend our calls: pathspec modes, other diffs, other notes.
DROPPED = (
    "GIT_CONFIG", "GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF", "GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_INDEX_FILE",
    "GIT_NOGLOB_PATHSPECS", "GIT_NOTES_DISPLAY_REF", "GIT_NOTES_REF", "GIT_NOTES_REWRITE_MODE",
    "GIT_NOTES_REWRITE_REF", "GIT_PAGER", "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_SHALLOW_FILE",
)  # fmt: skip
# What binds a process to one repository; never carried into another one (`git rev-parse --local-env-vars`).
LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR",
    "GIT_IMPLICIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_WORK_TREE",
)  # fmt: skip
# No question of ours opens a connection, asks for a password, takes a lock it can do without, or sees a
# replaced or grafted history.
SET = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def encode(text: str | bytes) -> bytes:
    """Bytes of a path or argument, whatever the locale says: UTF-8, other bytes as surrogate escapes."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def decode(raw: bytes) -> str:
    """The inverse of `encode`."""
    return raw.decode("utf-8", "surrogateescape")


def environment(environ: Mapping[str, str], *, other_repository: bool = False) -> dict[str, str]:
    """The environment that git gets from us.

    `other_repository`: the caller named a folder, so nothing that binds to the present repository is passed on.
    """
    dropped = DROPPED + LOCAL if other_repository else DROPPED
    kept = {key: value for key, value in environ.items() if key not in dropped}
    if other_repository:
        kept = {k: v for k, v in kept.items() if not k.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))}
    return kept | SET


class Result(NamedTuple):
    status: int
    out: bytes
    err: bytes


class Process:
    """One running git: fed and read through pipes, never deadlocking, stopped at its deadline."""

    def __init__(self, argv: list[bytes], env: dict[str, str], deadline: float | None) -> None:
        self.argv = argv
        self.deadline = deadline
        self._unread = bytearray()
        self._errors = bytearray()
        self._poll = select.poll()
        self._unsent = memoryview(b"")
        self._closing = False
        self._started = time.monotonic()
        opened: list[int] = []
        try:
            for _ in range(3):
                opened += os.pipe()
            child_in, self._in, self._out, child_out, self._err, child_err = opened
            os.set_blocking(self._in, False)
            os.set_blocking(self._err, False)
            actions = [(os.POSIX_SPAWN_DUP2, fd, n) for n, fd in enumerate((child_in, child_out, child_err))]
            self.pid = os.posix_spawnp("git", argv, env, file_actions=actions, setsigdef=[SIGPIPE])
        except FileNotFoundError:
            self._close(*opened)
            raise GitMissing("there is no git command on PATH", "install git 2.30 or later") from None
        except OSError as error:  # no file descriptors, no processes, more arguments than the system takes
            self._close(*opened)
            raise GitError(f"git {self._name()} cannot be started: {error.strerror}") from None
        self._close(child_in, child_out, child_err)
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self.status: int | None = None

    @staticmethod
    def _close(*fds: int) -> None:
        for fd in fds:
            os.close(fd)

    def feed(self, data: bytes, *, last: bool = False) -> None:
        """Queues `data` for git's standard input; `last` closes it when all is sent."""
        self._unsent = memoryview(bytes(self._unsent) + data)
        self._closing = self._closing or last
        self._send()

    def send_all(self, data: bytes) -> None:
        """Queues `data` and waits until git has taken it in: for input without end. Raises GitError when git ends."""
        self.feed(data)
        while self._unsent and self._in >= 0:
            poll = select.poll()
            poll.register(self._in, select.POLLOUT)
            poll.poll(self._left_ms())
            self._send()

    def _send(self) -> None:
        if self._in < 0:
            return
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._in, self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = memoryview(b"")
            self._closing = True
        if self._closing:
            os.close(self._in)
            self._in = -1

    def _read_errors(self) -> None:
        try:
            while chunk := os.read(self._err, CHUNK_BYTES):
                self._errors += chunk[: max(0, ERROR_BYTES - len(self._errors))]
            if self.status is None:
                self._poll.unregister(self._err)
        except BlockingIOError:
            return

    def _left_ms(self) -> int | None:
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.kill()
            raise GitTimeout(f"git {self._name()} did not answer in time and was stopped")
        return int(left * 1000) + 1

    def _name(self) -> str:
        words = [decode(word) for word in self.argv[1:]]
        while len(words) > 1 and words[0] in ("-C", "-c"):
            words = words[2:]
        return words[0] if words else ""

    def _more(self) -> bytes:
        """The next piece of git's output, empty at its end; sends what is queued meanwhile."""
        while True:
            source = self._in if self._unsent else -1
            if source >= 0:
                self._poll.register(source, select.POLLOUT)
            ready = [fd for fd, _ in self._poll.poll(self._left_ms())]
            if source >= 0:
                self._poll.unregister(source)  # it may be closed below
            if source in ready:
                self._send()
            if self._err in ready:
                self._read_errors()
            if self._out in ready:
                return os.read(self._out, CHUNK_BYTES)

    def take(self, size: int) -> bytes:
        """Exactly `size` bytes of output. Raises GitError when git ends before."""
        while len(self._unread) < size:
            chunk = self._more()
            if not chunk:
                raise self.failure()
            self._unread += chunk
        found = bytes(self._unread[:size])
        del self._unread[:size]
        return found

    def skip(self, size: int) -> None:
        """Lets `size` bytes of output pass."""
        while size > 0:
            part = min(size, CHUNK_BYTES)
            self.take(part)
            size -= part

    def line(self) -> bytes:
        """One line of output without its newline. Raises GitError when git ends before."""
        while (end := self._unread.find(b"\n")) < 0:
            chunk = self._more()
            if not chunk:
                raise self.failure()
            self._unread += chunk
        return self.take(end + 1)[:-1]

    def widen(self) -> None:
        """Gives git's output a pipe of 1 MiB, where the system has that (Linux; F_SETPIPE_SZ): for long answers."""
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            try:
                fcntl.fcntl(self._out, fcntl.F_SETPIPE_SZ, WIDE_PIPE_BYTES)
            except OSError:
                return  # the user's pipes are at their limit (pipe(7))

    def chunks(self) -> Iterator[bytes]:
        """Pieces of the output as they come, until its end."""
        if self._unread:
            yield self.take(len(self._unread))
        while chunk := self._more():
            yield chunk

    def finish(self, ok: tuple[int, ...] = (0,)) -> Result:
        """Closes the input, reads to the end. Raises GitError for a status that is not in `ok`."""
        self.feed(b"", last=True)
        out = b"".join(self.chunks())
        status = self._wait()
        result = Result(status, out, bytes(self._errors))
        if status not in ok:
            raise self.failure()
        return result

    def _wait(self) -> int:
        if self.status is None:
            done, raw = os.waitpid(self.pid, 0 if self.deadline is None else os.WNOHANG)
            while not done:
                self._left_ms()
                time.sleep(0.001)
                done, raw = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(raw)
            self._read_errors()
            self._close(self._out, self._err, *([self._in] if self._in >= 0 else []))
            self._in = -1
            self._trace()
        return self.status

    def ended_with(self) -> int:
        """The status git ended with; waits for the end."""
        return self._wait()

    def kill(self) -> None:
        """Stops git at once; for answers that are no longer wanted. Harmless when it has ended."""
        if self.status is None:
            try:
                os.kill(self.pid, SIGKILL)
            except ProcessLookupError:
                pass
            self.deadline = None
            self._wait()

    def failure(self) -> GitError:
        """The error that describes how git ended: its own first line of complaint."""
        status = self._wait()
        if status == -SIGINT:  # Ctrl-C reaches the whole group, and git may die of it before we notice
            raise KeyboardInterrupt
        lines = [line for line in self._errors.decode("utf-8", "replace").splitlines() if line.strip()]
        said = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
        said = said.removeprefix("fatal: ").removeprefix("error: ") or f"ended with status {status}"
        hint = next((line.removeprefix("hint: ") for line in lines if line.startswith("hint: ")), None)
        return GitError(f"git {self._name()}: {said}", hint, status=status)

    def _trace(self) -> None:
        if os.environ.get("GITMEM_TRACE"):
            words = " ".join(decode(word) for word in self.argv)
            took = (time.monotonic() - self._started) * 1000
            sys.stderr.write(f"gitmem: {took:.1f} ms, status {self.status}: {words}\n")


class Git:
    """git in one folder: `run` for an answer, `open` for a conversation."""

    def __init__(self, folder: str | None = None, *, environ: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.env = environment(os.environ if environ is None else environ, other_repository=folder is not None)
        self.deadline: float | None = None  # monotonic seconds; every call ends by then

    def open(self, *args: str | bytes, env: Mapping[str, str] | None = None) -> Process:
        """Starts `git ARGS` and leaves it running."""
        argv = [b"git"]
        if self.folder is not None:
            argv += [b"-C", encode(self.folder)]
        return Process(argv + [encode(arg) for arg in args], self.env | dict(env or {}), self.deadline)

    def run(
        self,
        *args: str | bytes,
        stdin: bytes = b"",
        ok: tuple[int, ...] = (0,),
        env: Mapping[str, str] | None = None,
    ) -> Result:
        """Runs `git ARGS` to its end. Raises GitError for a status that is not in `ok`."""
        process = self.open(*args, env=env)
        process.feed(stdin, last=True)
        return process.finish(ok)
