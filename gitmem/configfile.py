"""`.gitmem/config.toml`, compiled to JSON in the state directory so that no hook ever parses TOML."""

from __future__ import annotations

import os
import sys

from gitmem import files, quickjson
from gitmem.errors import GitmemError, Refused, Unreadable
from gitmem.git.program import run_program
from gitmem.settings import Settings, from_json, read_settings, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store import Store

MAX_CONFIG_BYTES = 64 << 10
VERSION = 2


def load(store: Store, *, in_hook: bool = False) -> Settings:
    """The settings of this worktree. A hook has a child process compile them when the file has changed.

    A file that does not parse counts as absent in a hook; elsewhere Unreadable is raised.
    """
    path = _source(store)
    key = _key(path)
    if path is None or key is None:
        files.remove(store.place.state_dir + "/config.json")
        _mark(store, Settings())
        return Settings()
    try:
        compiled = quickjson.loads(files.read(store.place.state_dir + "/config.json") or b"{}")
        if compiled.get("key") == key and compiled.get("version") == VERSION:
            return from_json(compiled["settings"])
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # a cache that does not read is made again
    if not in_hook:
        return _compile(store, path, key)
    run_program([sys.executable, "-I", "-S", os.path.dirname(__file__) + "/entry.py", "git", "compile-config"], 1.0)
    try:
        return from_json(quickjson.loads(files.read(store.place.state_dir + "/config.json") or b"{}")["settings"])
    except (ValueError, KeyError, TypeError):
        return Settings()


def load_or_defaults(store: Store) -> Settings:
    """The settings; the defaults while the file does not read, with the reason as a warning."""
    try:
        return load(store)
    except GitmemError as error:
        return Settings(warnings=(error.message,))


def _source(store: Store) -> str | None:
    return None if store.place.top is None else store.place.top + "/.gitmem/config.toml"


def _key(path: str | None) -> list[int] | None:
    try:
        stat = os.lstat(path or "")
    except (FileNotFoundError, NotADirectoryError):
        return None
    return [stat.st_size, stat.st_mtime_ns, stat.st_ino]


def _compile(store: Store, path: str, key: list[int]) -> Settings:
    import tomllib  # 16 ms, and only when the file has changed

    if os.path.islink(os.path.dirname(path)):
        raise Refused(f"'{os.path.dirname(path)}' is a symbolic link", "gitmem follows no links in its own places")
    data = files.read(path, max_bytes=MAX_CONFIG_BYTES) or b""
    try:
        settings = read_settings(tomllib.loads(data.decode("utf-8")))
    except (ValueError, RecursionError) as error:
        raise Unreadable(
            f"cannot read '.gitmem/config.toml': {error}", "mend it; until then the defaults hold"
        ) from None
    compiled = {"version": VERSION, "key": key, "settings": to_json(settings)}
    files.replace(store.place.state_dir + "/config.json", quickjson.dumps(compiled).encode())
    _mark(store, settings)
    return settings


def _mark(store: Store, settings: Settings) -> None:
    """The file by which the shell of a hook knows the detached mode without starting Python."""
    path = store.place.common_state_dir + "/detached"
    if settings.hook_mode == "detached" and store.enabled:
        if not os.path.exists(path):
            files.replace(path, b"")
    else:
        files.remove(path)


def compile_quietly(store: Store) -> None:
    """What the child of a hook does; a broken file leaves the compiled defaults, with the reason as a warning."""
    path = _source(store)
    key = _key(path)
    if path is None or key is None:
        return
    try:
        _compile(store, path, key)
    except GitmemError as error:
        compiled = {"version": VERSION, "key": key, "settings": to_json(Settings(warnings=(error.message,)))}
        files.replace(store.place.state_dir + "/config.json", quickjson.dumps(compiled).encode())
