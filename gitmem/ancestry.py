"""What program started us: git tells its hooks less than its command line says."""

from __future__ import annotations

import os

STEPS = 4  # python, a shell or two, git


def is_dry_run() -> bool:
    """Whether the hook runs for `git push --dry-run`. Known where there is a /proc; elsewhere the answer is no."""
    pid = os.getppid()
    for _ in range(STEPS):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
        if os.path.basename(words[0]) == b"git" and b"push" in words:
            return b"--dry-run" in words or b"-n" in words
    return False
