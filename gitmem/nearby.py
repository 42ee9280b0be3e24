"""Where a hook runs and how this clone is configured, without asking git anew while its configuration is the same.

Two processes less for each commit. Only in the plain case, which is nearly every: the current folder is the top of
the work tree, `.git` is a folder in it, nothing in the environment leads elsewhere. What is remembered are values of
`.git/config`, never a path.
"""

from __future__ import annotations

import os
import stat
import time

from gitmem import files
from gitmem.git.ask import HEX_DIGITS, Place
from gitmem.git.run import LOCAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Config = dict[str, list[str]]

FORM = "nearby-1"  # another one whenever more of the configuration is read, or differently
SETTLED_SECONDS = 2.0  # a file that was just written may be written again within the same tick of its clock
WORD_ONLY = ("GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS")  # of `git -c`: neither a place nor this clone's own values
ELSEWHERE = ("core.worktree", "core.bare", "extensions.worktreeconfig")  # git looks further than one file


def known(environ: Mapping[str, str]) -> tuple[Place, Config] | None:
    """What git would answer here; None where it must be asked."""
    if any(name in environ for name in LOCAL if name not in WORD_ONLY):
        return None
    top = os.getcwd()
    git_dir = top + "/.git"
    found = files.kept(_path(git_dir), FORM) if os.path.isdir(git_dir) and not os.path.islink(git_dir) else {}
    if not found or found.get("key") != _key(git_dir) or os.path.lexists(git_dir + "/shallow"):
        return None
    config: Config = found["config"]
    object_format = config.get("extensions.objectformat", ["sha1"])[-1]
    if object_format not in HEX_DIGITS or os.path.lexists(git_dir + "/commondir"):
        return None
    return Place(git_dir, git_dir, git_dir + "/gitmem", top, False, False, object_format), config


def remember(place: Place, config: Config) -> None:
    """Keeps what git has answered, where `known` may give it. Losing it costs time, nothing else."""
    key = _key(place.git_dir)
    plain = place.top is not None and place.git_dir == place.common_dir == place.top + "/.git" and not place.shallow
    if not plain or key is None or any(_said(config, name) for name in ELSEWHERE):
        return
    if time.time() - key[1] / 1e9 > SETTLED_SECONDS and os.path.isdir(place.state_dir):
        files.keep(_path(place.git_dir), FORM, {"key": key, "config": config})


def _said(config: Config, name: str) -> bool:
    return config.get(name, ["false"])[-1].lower() not in ("false", "no", "off", "0")


def _path(git_dir: str) -> str:
    return git_dir + "/gitmem/nearby.cache"


def _key(git_dir: str) -> list[int] | None:
    try:
        found = os.lstat(git_dir + "/config")
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns]
