"""A program of ours beside git."""

from __future__ import annotations

import os
import time

from gitmem.git.run import SIGKILL, encode


def run_program(argv: list[str], seconds: float) -> None:
    """Runs a program of ours in the present folder, silent, and waits for it at most so long."""
    actions = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawn(argv[0], [encode(arg) for arg in argv], dict(os.environ), file_actions=actions)
    end = time.monotonic() + seconds
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.kill(pid, SIGKILL)
            os.waitpid(pid, 0)
            return
        time.sleep(0.002)
