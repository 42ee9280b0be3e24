"""Files that come with gitmem: inside the package in a wheel, beside it in a checkout."""

from __future__ import annotations

import os
import sys

from gitmem.errors import GitmemError
from gitmem.sections import Program

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def path_of(folder: str, name: str) -> str:
    """The absolute path of a file below `hooks/` or `templates/`."""
    for base in (PACKAGE, os.path.dirname(PACKAGE)):
        path = os.path.join(base, folder, name)
        if os.path.isfile(path):
            return path
    raise GitmemError(f"'{folder}/{name}' is missing from this installation", "install git-mem again")


def program() -> Program:
    """What hooks start: the shim, the interpreter that runs now (never a launcher of it), and its entry."""
    return Program(path_of("hooks", "git-hook"), os.path.abspath(sys.executable), os.path.join(PACKAGE, "entry.py"))
