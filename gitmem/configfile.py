"""`.gitmem/config.toml`, compiled to JSON in the state directory so that no hook ever parses TOML."""

from __future__ import annotations

import os
import sys

from gitmem import files
from gitmem.errors import GitmemError, Refused, Unreadable
from gitmem.git.program import run_program
from gitmem.settings import Settings, from_json, read_settings, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.store import Store

MAX_CONFIG_BYTES = 64 << 10
FORM = "config-3"  # another one whenever settings are kept differently


def load(store: Store, *, in_hook: bool = False) -> Settings:
    """The settings of this worktree. A hook has a child process compile them when the file has changed.

    A file that does not parse counts as absent in a hook; elsewhere Unreadable is raised.
    """
    path = _source(store)
    key = _key(path)
    if path is None or key is None:
        files.remove(_cache(store))
        _mark(store, Settings())
        return Settings()
    compiled = files.kept(_cache(store), FORM)
    if compiled.get("key") == key:
        return from_json(compiled["settings"])
    if not in_hook:
        return _compile(store, path, key)
    run_program([sys.executable, "-I", "-S", os.path.dirname(__file__) + "/entry.py", "git", "compile-config"], 1.0)
    compiled = files.kept(_cache(store), FORM)
    if compiled:
        return from_json(compiled["settings"])
    try:
        return _compile(store, path, key)  # it cannot be kept: what the settings leave out is left out all the same
    except GitmemError:
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
    files.keep(_cache(store), FORM, {"key": key, "settings": to_json(settings)})
    _mark(store, settings)
    return settings


def _cache(store: Store) -> str:
    return store.place.state_dir + "/config.cache"


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
        files.keep(_cache(store), FORM, {"key": key, "settings": to_json(Settings(warnings=(error.message,)))})
