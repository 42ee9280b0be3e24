"""The agent clients, and how a process knows that it runs inside one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Environment variable -> client, the most telling first: a client started from another's shell tool inherits the
# outer one's variables. hooks/git-hook holds the same list for commits in detached mode; a test compares them.
MARKERS = (
    ("COPILOT_CLI", "copilot"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("CURSOR_VERSION", "cursor"),
    ("CLAUDECODE", "claude"),
    ("OPENCODE", "opencode"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_MANAGED_BY_NPM", "codex"),
)
NAMES = frozenset(name for _, name in MARKERS)


def client_of(environ: Mapping[str, str]) -> str | None:
    """The client whose marker stands in an environment, None for a person at a shell."""
    return next((name for variable, name in MARKERS if environ.get(variable)), None)
