"""Small questions to git, each a named function."""

from __future__ import annotations

import os

from gitmem.errors import BadRevision, GitError, NoIdentity, NotARepository
from gitmem.git.run import decode, encode
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gitmem.git.run import Git

HEX_DIGITS = {"sha1": 40, "sha256": 64}
EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


def empty_tree(like: str) -> str:
    """The tree without entries, in the object format of another oid."""
    return EMPTY_TREE["sha1" if len(like) == HEX_DIGITS["sha1"] else "sha256"]


# Arguments of rev-list: all that people and git refer to, HEAD among them; the notes' own history is nobody's work.
EVERYTHING = ("--exclude=refs/notes/*", "--exclude=refs/gitmem/*", "--all")


class Place(NamedTuple):
    """Where a repository keeps things. All paths absolute."""

    git_dir: str
    common_dir: str
    state_dir: str  # of this worktree
    top: str | None  # of the work tree; None in a bare repository or below the git directory
    bare: bool
    shallow: bool
    object_format: str

    @property
    def common_state_dir(self) -> str:
        """State shared by the worktrees of one clone."""
        return self.common_dir + "/gitmem"

    @property
    def hex_digits(self) -> int:
        return HEX_DIGITS[self.object_format]


def locate(git: Git) -> Place:
    """The repository around git's folder. Raises NotARepository with git's own reason."""
    asked = ("--git-dir", "--git-common-dir", "--git-path", "gitmem", "--is-bare-repository",
             "--is-shallow-repository", "--show-object-format", "--is-inside-work-tree", "--show-cdup")  # fmt: skip
    try:
        out = git.run("rev-parse", *asked).out
    except GitError as error:
        if error.status != 128:
            raise
        raise NotARepository(error.message.removeprefix("git rev-parse: "), error.hint, status=128) from None
    answers = decode(out).removesuffix("\n").split("\n")
    if len(answers) not in (7, 8) or answers[5] not in HEX_DIGITS:
        raise NotARepository(f"cannot make out where this repository is from {decode(out)!r}")
    here = os.path.realpath(git.folder or ".")  # git answers from where it really stands
    git_dir, common_dir, state_dir = (os.path.normpath(os.path.join(here, path)) for path in answers[:3])
    top = os.path.normpath(os.path.join(here, answers[7])) if answers[6] == "true" else None
    return Place(git_dir, common_dir, state_dir, top, answers[3] == "true", answers[4] == "true", answers[5])


def version(git: Git) -> tuple[int, int]:
    """Major and minor number of the git command."""
    words = decode(git.run("version").out).split()
    numbers = words[2].split(".") if len(words) > 2 else []
    if len(numbers) < 2 or not (numbers[0].isdigit() and numbers[1].isdigit()):
        raise GitError(f"cannot make out the version of git from {' '.join(words)!r}")
    return int(numbers[0]), int(numbers[1])


def local_config(git: Git, pattern: str) -> dict[str, list[str]]:
    """Values of this clone's own configuration whose key matches; nothing global or included widens anything."""
    return _config(git, "--local", pattern)


def effective_config(git: Git, pattern: str) -> dict[str, list[str]]:
    """Values as git itself would see them."""
    return _config(git, "--includes", pattern)


def _config(git: Git, scope: str, pattern: str) -> dict[str, list[str]]:
    out = git.run("config", scope, "-z", "--get-regexp", pattern, ok=(0, 1)).out
    found: dict[str, list[str]] = {}
    for entry in decode(out).split("\0")[:-1]:
        key, _, value = entry.partition("\n")
        found.setdefault(key, []).append(value)
    return found


def attributes(
    git: Git, paths: Iterable[str], *names: str, env: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """(path, name, value) as `git check-attr` says them; value: set, unset, unspecified, or a word."""
    asked = b"".join(encode(path) + b"\0" for path in paths)
    words = decode(git.run("check-attr", "-z", "--stdin", *names, stdin=asked, ok=(0, 1), env=env).out).split("\0")
    return zip(words[0::3], words[1::3], words[2::3], strict=False)


def set_config(git: Git, key: str, value: str) -> None:
    git.run("config", "--local", "--replace-all", key, value)


def unset_config(git: Git, key: str) -> None:
    """Removes a key of this clone; nothing happens when it is not there."""
    git.run("config", "--local", "--unset-all", key, ok=(0, 5))


def remove_config_section(git: Git, name: str) -> None:
    git.run("config", "--local", "--remove-section", name, ok=(0, 128))


def git_path(git: Git, name: str) -> str:
    """Where git keeps a file of this worktree, absolute."""
    path = decode(git.run("rev-parse", "--git-path", name).out)[:-1]
    return os.path.normpath(os.path.join(os.path.realpath(git.folder or "."), path))


def committer(git: Git) -> str:
    """`Name <mail>` that git would commit with. Raises NoIdentity when git has none."""
    try:
        text = decode(git.run("var", "GIT_COMMITTER_IDENT").out)
    except GitError as error:
        raise NoIdentity(
            f"git knows no name to write notes with: {error.message.removeprefix('git var: ')}",
            "run 'git config user.name NAME' and 'git config user.email MAIL'",
        ) from None
    return text[: text.rindex(">") + 1]


def resolve_commit(git: Git, rev: str) -> str:
    """The oid of the commit that a user named. Raises BadRevision; never takes it for an option."""
    result = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}", ok=(0, 1, 128))
    if result.status:
        raise BadRevision(f"'{rev}' names no commit of this repository", "give a branch, a tag or a commit id")
    return decode(result.out).strip()


def is_commit(git: Git, oid: str) -> bool:
    return git.run("cat-file", "-e", oid + "^{commit}", ok=(0, 1, 128)).status == 0


def ref_tip(git: Git, ref: str) -> str | None:
    """The oid that one of our refs points to, None when there is none."""
    result = git.run("rev-parse", "--verify", "--quiet", ref, ok=(0, 1))
    return decode(result.out).strip() or None


def exact_ref(git: Git, ref: str) -> str | None:
    """The oid of exactly that ref; a tag of the same name is not taken for it."""
    out = git.run("for-each-ref", "--format=%(refname) %(objectname)", ref).out
    rows = (row.split(" ") for row in decode(out).splitlines())
    return next((oid for name, oid in rows if name == ref), None)


def refs(git: Git, form: str, *patterns: str) -> list[str]:
    """A row in that form of `git for-each-ref` for each ref that a pattern names."""
    return decode(git.run("for-each-ref", f"--format={form}", *patterns).out).split("\n")[:-1]


def has_refs(git: Git, prefix: str) -> bool:
    """Whether any ref stands below a prefix that ends with a slash."""
    return bool(git.run("for-each-ref", "--count=1", "--format=x", prefix).out)


def head_commit(git: Git) -> str | None:
    """HEAD's commit, None while it is unborn."""
    return ref_tip(git, "HEAD^{commit}")


def merge_base(git: Git, one: str, other: str) -> str | None:
    """The best common ancestor, None when the histories have none in common here."""
    return decode(git.run("merge-base", one, other, ok=(0, 1)).out).strip() or None


def is_ancestor(git: Git, old: str, new: str) -> bool:
    """Whether `new` is or descends from `old`; False when one of them is not here."""
    return git.run("merge-base", "--is-ancestor", old, new, ok=(0, 1, 128)).status == 0


def branch(git: Git) -> str | None:
    """The branch that is checked out, None with a detached HEAD."""
    name = symbolic_ref(git, "HEAD")
    return name.removeprefix("refs/heads/") if name else None


def branches_with(git: Git, oid: str) -> list[str]:
    """Local branches that hold a commit."""
    out = git.run("for-each-ref", "--format=%(refname:short)", f"--contains={oid}", "refs/heads", ok=(0, 129)).out
    return decode(out).split("\n")[:-1]


def symbolic_ref(git: Git, name: str) -> str | None:
    return decode(git.run("symbolic-ref", "--quiet", name, ok=(0, 1, 128)).out).strip() or None


def commits(git: Git, *args: str, stdin: Iterable[str] = ()) -> list[tuple[str, tuple[str, ...]]]:
    """`rev-list --parents ARGS`: commits with their parents, newest first unless ARGS say else."""
    given = b"".join(encode(word) + b"\n" for word in stdin)
    more = ("--stdin",) if given else ()
    out = decode(git.run("rev-list", "--parents", *args, *more, stdin=given).out)
    rows = (line.split(" ") for line in out.split("\n") if line)
    return [(oid, tuple(parents)) for oid, *parents in rows]


def shallow_boundary(git: Git) -> frozenset[str]:
    """Commits whose parents were not fetched: what they changed cannot be known here."""
    try:
        with open(git_path(git, "shallow"), encoding="ascii") as file:
            return frozenset(file.read().split())
    except FileNotFoundError:
        return frozenset()


def worktree_tree(git: Git, index: str) -> str:
    """The tree of the work tree as it is, untracked files included, built through a private index file."""
    env = {"GIT_INDEX_FILE": index}
    if head_commit(git) is not None:
        git.run("read-tree", "HEAD", env=env)
    git.run("add", "-A", ".", env=env)
    return decode(git.run("write-tree", env=env).out).strip()


def last_reflog(git: Git) -> str:
    """What HEAD's newest reflog entry says was done, empty without a reflog."""
    return decode(git.run("log", "-g", "-1", "--format=%gs", "HEAD", "--", ok=(0, 128)).out).strip()
