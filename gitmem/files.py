"""Files of ours, and only ours: whole or not at all, through no symbolic link, bounded."""

from __future__ import annotations

import fcntl
import os
import stat
import time

from gitmem import quickjson, records
from gitmem.errors import GitmemError, Locked, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_FILE_BYTES = 16 << 20
FLOCK_SECONDS = 0.5  # that an append waits; it holds the lock itself for one write
_NEW = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


def make_folder(path: str) -> None:
    """Makes a folder of ours and its parents. Raises Refused when a symbolic link stands there."""
    if os.path.islink(path):
        raise Refused(f"'{path}' is a symbolic link", "remove it: gitmem follows no links in its own places")
    if not os.path.isdir(path):
        parent = os.path.dirname(path) or "."
        make_folder(parent)
        os.makedirs(path, exist_ok=True)
        granted = stat.S_IMODE(os.stat(parent).st_mode)
        if granted & stat.S_IWGRP:
            os.chmod(path, granted)


def _share(fd: int, path: str) -> None:
    """Gives a new file to those who may write to its folder, whatever the umask: git's core.sharedRepository."""
    granted = os.stat(os.path.dirname(path) or ".").st_mode
    if granted & stat.S_IWGRP and os.fstat(fd).st_uid == os.geteuid():
        os.fchmod(fd, granted & 0o666)


def read(path: str, *, max_bytes: int = MAX_FILE_BYTES) -> bytes | None:
    """The content, None when there is no such file. Raises Refused for a link or what is too large."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if os.path.islink(path):
            raise Refused(f"'{path}' is a symbolic link", "gitmem follows no links in its own places") from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Refused(f"'{path}' is no file")
    with os.fdopen(fd, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise Refused(f"'{path}' is larger than {max_bytes} bytes")
    return data


def read_object(path: str) -> dict[str, Any]:
    """A small JSON object of ours that can be made again: empty where there is none, or none that reads."""
    try:
        found = quickjson.loads(read(path) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def keep(path: str, form: str, value: dict[str, Any]) -> None:
    """Keeps what can be made again, as `kept` gives it. Where it cannot be kept nothing is said: that costs time alone.

    form: names what is in it and how, one word; a cache of another form is none.
    """
    try:
        body = quickjson.dumps(value).encode()
        replace(path, f"{form} {records.hash_of(body)}\n".encode() + body, durable=False)
    except (OSError, GitmemError, ValueError):  # also names that are no UTF-8
        return


def kept(path: str, form: str) -> dict[str, Any]:
    """What `keep` kept, byte for byte; empty where there is nothing, or anything else."""
    try:
        head, _, body = (read(path) or b"").partition(b"\n")
        if head != f"{form} {records.hash_of(body)}".encode():
            return {}
        found = quickjson.loads(body)
    except (OSError, GitmemError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def replace(path: str, data: bytes, *, mode: int | None = None, durable: bool = True, ours: bool = True) -> None:
    """Puts `data` in the place of a file: the old or the new content, never a part.

    durable: also after a power cut. mode: exactly, whatever the umask. ours: False for a folder that belongs to git or
    the user, whose links are theirs to set.
    """
    if ours:
        make_folder(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}.tmp"
    fd = os.open(temporary, _NEW | os.O_TRUNC, 0o644)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            elif ours:
                _share(file.fileno(), path)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def append(path: str, line: bytes) -> None:
    """Adds one line with one write, after every line that was there.

    A torn line that a kill left behind is closed first, so it spoils nothing but itself. The lock makes sure that
    the file is not being taken away by `take`.
    """
    make_folder(os.path.dirname(path))
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
        try:
            _flock(fd, time.monotonic() + FLOCK_SECONDS, path)
            if not _still(fd, path):
                continue
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Refused(f"'{path}' is no file", "remove it: gitmem did not make it")
            size = os.fstat(fd).st_size
            if not size:
                _share(fd, path)
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            os.write(fd, (b"\n" if torn else b"") + line.rstrip(b"\n") + b"\n")
            return
        finally:
            os.close(fd)


def take(path: str, to: str) -> bool:
    """Moves an appended file away, with no writer in between. False when there is none."""
    while True:
        try:
            fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            _flock(fd, time.monotonic() + FLOCK_SECONDS, path)
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Refused(f"'{path}' is no file", "remove it: gitmem did not make it")
            if _still(fd, path):
                os.replace(path, to)
                return True
        finally:
            os.close(fd)


def _still(fd: int, path: str) -> bool:
    try:
        here = os.lstat(path)
    except FileNotFoundError:
        return False
    return (here.st_dev, here.st_ino) == (lambda s: (s.st_dev, s.st_ino))(os.fstat(fd))


def _flock(fd: int, deadline: float, what: str) -> None:
    """Takes the kernel's lock of an open file. Raises Locked when somebody else holds it until then."""
    pause = 0.001
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Locked(f"another gitmem holds {what}", "try again") from None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)


class Lock:
    """Held within a `with`; the kernel lets go of it when we die. `deadline`: monotonic seconds.

    Entering raises Locked when somebody else holds it until then.
    """

    def __init__(self, path: str, *, deadline: float) -> None:
        self._path, self._deadline, self._fd = path, deadline, -1

    def __enter__(self) -> None:
        make_folder(os.path.dirname(self._path))
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            _share(self._fd, self._path)
            _flock(self._fd, self._deadline, "the lock of this clone")
        except BaseException:
            os.close(self._fd)
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
