"""The only calls that open a connection: a fetch and a push of notes, by git itself, without a question to anybody."""

from __future__ import annotations

import os

from gitmem.git.run import Git, decode, encode
from gitmem.records import short_hash
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# What others who fetch from or push to this clone do not see: all but the shards of those who use it as a server.
HIDDEN = ("refs/gitmem", "!refs/gitmem/s")
NOTES = "refs/notes/gitmem"  # on the other side, as here
SHARDS = "refs/gitmem/s/"
# A star that may stand for nothing: a remote without the ref is no error then (git-fetch(1), <refspec>).
SOURCES = ("refs/notes/gitmem*", SHARDS + "*")
QUIET = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "fetch.writeCommitGraph=false",
         "-c", "push.followTags=false", "-c", "push.gpgSign=false", "-c", "push.pushOption=")  # fmt: skip
# A question on a terminal would hold up a push that somebody else started.
SILENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "force",
    "GCM_INTERACTIVE": "never",
}


class Outcome(NamedTuple):
    """What became of one ref of a push. flag: git's own, ` ` `+` `*` `-` `=` done, `!` refused."""

    ref: str
    flag: str
    said: str

    @property
    def done(self) -> bool:
        return self.flag != "!"


class Update(NamedTuple):
    """A ref of the other side that shall point to a commit. lease: what it holds now, for one that is not extended."""

    ref: str
    oid: str  # empty: it goes
    lease: str | None = None


def connected(git: Git) -> Git:
    """The same git, allowed to speak to others as the user has allowed it."""
    other = Git(git.folder)
    other.env = {k: v for k, v in git.env.items() if k not in ("GIT_ALLOW_PROTOCOL", "GIT_NO_LAZY_FETCH")} | SILENT
    if "GIT_ALLOW_PROTOCOL" in os.environ:
        other.env["GIT_ALLOW_PROTOCOL"] = os.environ["GIT_ALLOW_PROTOCOL"]
    other.deadline = git.deadline
    return other


def tracking(remote: str, ref: str) -> str:
    """Where a ref of the other side is kept here, out of the way of every refspec of the user's. A slash in a
    remote's name is none here: one remote must not lie within another."""
    name = remote.replace("%", "%25").replace("/", "%2F")
    return f"refs/gitmem/remotes/{name}/{ref.removeprefix('refs/').removeprefix('gitmem/')}"


def fetch(git: Git, remote: str, url: str) -> None:
    """Brings the notes and shards of a remote to `refs/gitmem/remotes/<remote>/`. Raises GitError with git's reason."""
    specs = [f"+{source}:{tracking(remote, source)}" for source in SOURCES]
    git.run(
        *QUIET, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-filter",
        "--prune", "--refmap=", url, *specs,
    )  # fmt: skip


def push(git: Git, url: str, updates: Sequence[Update]) -> list[Outcome]:
    """Asks for the updates, without force but for a lease. Raises GitError when it never came to an answer."""
    leases = [f"--force-with-lease={u.ref}:{u.lease}" for u in updates if u.lease is not None]
    specs = [f"{u.oid}:{u.ref}" for u in updates]
    result = git.run(
        *QUIET, "-c", f"remote.{url}.mirror=false", "push", "--porcelain", "--no-verify", "--no-recurse-submodules",
        *leases, url, *specs, ok=(0, 1),
    )  # fmt: skip
    found = []
    for row in decode(result.out).splitlines():
        words = row.split("\t")
        if len(words) == 3 and len(words[0]) == 1:
            found.append(Outcome(words[1].rpartition(":")[2], words[0], words[2]))
    if not found:
        said = decode(result.err).strip().splitlines()
        found = [Outcome(u.ref, "!", said[-1] if said else "no answer") for u in updates]
    return found


def places(git: Git, remote: str) -> list[tuple[str, str]]:
    """(name to keep what is fetched under, what git is given) for each place that a remote is pushed to.

    One place, and fetched from there: the remote by its name, with all its settings. Raises nothing: an unknown
    remote has no places.
    """
    if _is_plain(git, remote):
        return [(remote, remote)]
    fetched, pushed = (
        decode(git.run("remote", "get-url", *options, "--", remote, ok=(0, 2, 128)).out).split("\n")[:-1]
        for options in ((), ("--push", "--all"))
    )
    if pushed == fetched:
        return [(remote, remote)] if pushed else []
    return [(remote if n == 0 else f"{remote}+{short_hash(url, 8)}", url) for n, url in enumerate(pushed)]


def _is_plain(git: Git, remote: str) -> bool:
    """Whether a remote has one address that nothing bends for pushes: one question where get-url would take two."""
    pattern = r"^(remote\..*\.(url|pushurl)|url\..*\.pushinsteadof)$"
    out = decode(git.run("config", "-z", "--get-regexp", pattern, ok=(0, 1)).out)
    keys = [entry.partition("\n")[0] for entry in out.split("\0")[:-1]]
    bent = any(key.startswith("url.") for key in keys)
    mine = [key for key in keys if key in (f"remote.{remote}.url", f"remote.{remote}.pushurl")]
    return mine == [f"remote.{remote}.url"] and not bent


def heads(git: Git, url: str) -> list[str]:
    """The tips of a remote's branches, for a clone that keeps none of them."""
    rows = decode(git.run(*QUIET, "ls-remote", "--quiet", "--heads", "--", url).out).splitlines()
    return [row.split("\t")[0] for row in rows]


def remotes(git: Git) -> list[str]:
    return decode(git.run("remote").out).split("\n")[:-1]


def safe_name(remote: str) -> bool:
    """Whether a remote's name can be part of a ref and is no option."""
    return bool(remote) and not remote.startswith("-") and b"\0" not in encode(remote) and ".." not in remote
