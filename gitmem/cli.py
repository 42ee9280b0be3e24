"""argv to a command, errors to an exit status: 0 done, 1 expected failure, 2 usage, 3 our bug, 130 interrupted."""

from __future__ import annotations

import os
import sys

from gitmem import __version__
from gitmem.errors import GitmemError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MINIMUM_PYTHON = (3, 11)


def main(argv: Sequence[str] | None = None) -> int:
    """The command `gitmem`, also installed as `git-mem` so that `git mem` works."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["hook"]:  # the way of every commit: no parser, nothing that is not needed
        from gitmem.commands.hook import main as hook

        return hook(words[1:])
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that knows fewer letters still gets an answer
    try:
        status = _run(words)
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"gitmem: {error.strerror or error}: {error.filename or 'standard output'}\n")
        # the reader has seen enough; python must not complain again when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("gitmem: interrupted\n")
        return 130
    return status


def _run(words: list[str]) -> int:
    from gitmem.arguments import parser

    args = parser().parse_args(words)
    from importlib import import_module

    from gitmem.output import tell

    try:
        status: int = import_module("gitmem.commands." + args.command.replace("-", "_")).run(args)
    except GitmemError as error:
        tell(f"gitmem: {error.message}")
        if error.hint:
            tell(f"hint: {error.hint}")
        return error.exit_status
    except (OSError, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001  # our bug: said, logged, told where
        return _bug(error)
    return status


def _bug(error: Exception) -> int:
    import tempfile
    import traceback

    fd, path = tempfile.mkstemp(prefix="gitmem-", suffix=".log")
    with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"gitmem {__version__}, python {sys.version}\n")
        traceback.print_exception(error, file=file)
    sys.stderr.write(f"gitmem: a bug of gitmem: {type(error).__name__}\nhint: please report it with '{path}'\n")
    return 3
