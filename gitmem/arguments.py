"""What the command line takes: one table of commands, read by the parser, the reference in docs/ and completion."""

from __future__ import annotations

import argparse

from gitmem import __version__, records
from gitmem.subject import TYPES
from gitmem.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


class Command(NamedTuple):
    name: str
    summary: str
    details: str
    examples: tuple[str, ...]
    options: Callable[[argparse.ArgumentParser], None]
    changes: bool  # takes --dry-run


class Parser(argparse.ArgumentParser):
    """Errors as every error of gitmem: one line, then a hint; status 2."""

    def error(self, message: str) -> NoReturn:
        close = self._close(message)
        hint = f"did you mean '{close}'?" if close else f"'{self.prog} --help' says what it takes"
        self.exit(2, f"gitmem: {message}\nhint: {hint}\n")

    @staticmethod
    def _close(message: str) -> str | None:
        import difflib

        given, _, choices = message.partition("invalid choice: ")[2].partition(" (choose from ")
        names = [name.strip("' )") for name in choices.split(",")]
        return next(iter(difflib.get_close_matches(given.strip("'"), names, 1)), None)


def _count(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 1000000")
    return int(text)


def _init(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--hooks",
        choices=("config", "files"),
        help="configuration hooks (git 2.54 and later) or hook files; default: what git knows",
    )
    p.add_argument("--jobs", type=_count, metavar="N", help="worker processes for the first capsules")
    p.add_argument("--no-pages", action="store_true", help="draft no bootstrap pages")
    p.add_argument(
        "--sync",
        choices=("ask", "auto", "never"),
        help="auto: 'git push' sends the notes along; ask: only 'gitmem sync' does; never: nothing is sent",
    )
    p.add_argument("--yes", action="store_true", help="ask nothing; what is not said stays as it is")


def _uninstall(p: argparse.ArgumentParser) -> None:
    p.add_argument("--data", action="store_true", help="also delete this clone's notes refs and state")
    p.add_argument("--yes", action="store_true", help="do what --data says")


def _hooks(p: argparse.ArgumentParser) -> None:
    p.add_argument("action", choices=("install", "uninstall", "status"))
    p.add_argument("--hooks", choices=("config", "files"), help="configuration hooks or hook files")


def _status(p: argparse.ArgumentParser) -> None:
    p.add_argument("--strict", action="store_true", help="exit status 1 when something needs a person")


def _doctor(p: argparse.ArgumentParser) -> None:
    p.add_argument("--fix", action="store_true", help="repair what needs no decision")
    p.add_argument("--strict", action="store_true", help="exit status 1 when a check fails")


def _show(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "rev", nargs="?", default="HEAD", metavar="REV|rec-ID", help="a commit, or a record by its id (default: HEAD)"
    )
    p.add_argument("--flat", action="store_true", help="one line for each domain: date, domain, type, summary")
    p.add_argument("--raw", action="store_true", help="the lines of the notes as they are")


def _log(p: argparse.ArgumentParser) -> None:
    p.add_argument("range", nargs="?", metavar="RANGE", help="A..B or a revision (default: HEAD)")
    p.add_argument("-n", "--max-count", type=_count, default=20, metavar="N", help="at most so many (default: 20)")
    p.add_argument("--kind", choices=sorted(records.KINDS), help="commits with a record of this kind")
    p.add_argument("--type", choices=(*sorted(TYPES), "merge", "change"), help="capsules of this type")
    p.add_argument("--domain", metavar="NAME", help="capsules that touch this domain")
    p.add_argument("--path", metavar="PATH", help="capsules that name this file or folder")
    p.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="when to colour (default: on a terminal)"
    )


def _add(p: argparse.ArgumentParser) -> None:
    p.add_argument("kind", choices=("devlog", "decision", "event"))
    p.add_argument("text", metavar="TEXT", help="the statement; '-' reads it from standard input")
    p.add_argument("--commit", default="HEAD", metavar="REV", help="the commit it is about (default: HEAD)")
    p.add_argument("--by", metavar="NAME", help="who says it (default: the agent client around us, else nobody)")
    p.add_argument("--path", action="append", dest="paths", metavar="PATH", help="a file it is about; may be repeated")
    p.add_argument("--private", action="store_true", help="keep it in this clone: it is never pushed")
    for name in ("artifact", "decision", "learning", "blocker"):
        p.add_argument(
            f"--{name}",
            action="append",
            dest=f"{name}s",
            metavar="TEXT",
            help=f"of a devlog: a {name}; may be repeated",
        )
    p.add_argument("--verdict", choices=("PASS", "FAIL"), help="of a devlog: how it ended")


def _backfill(p: argparse.ArgumentParser) -> None:
    p.add_argument("range", nargs="?", metavar="RANGE", help="A..B or a revision (default: HEAD and all before it)")
    p.add_argument("--all", action="store_true", help="all branches, remote branches and tags")
    p.add_argument("--since", metavar="DATE", help="commits newer than this, as git log takes it")
    p.add_argument("--jobs", type=_count, metavar="N", help="worker processes (default: one a processor)")


def _reflect_prepare(p: argparse.ArgumentParser) -> None:
    p.add_argument("--range", metavar="A..B", help="judge this range instead of the last commits")
    p.add_argument("--agent", metavar="NAME", help="who asks (default: the agent client around us)")
    p.add_argument("--session", metavar="ID", help="the session that asks")
    p.add_argument("--worktree", action="store_true", help="take in staged, unstaged and untracked changes")
    p.add_argument(
        "--force", action="store_true", help="write the work order whatever the verdict, with a new snapshot"
    )
    p.add_argument(
        "--all-pages", action="store_true", help="a work order for all four pages from the repository as it is"
    )
    p.add_argument(
        "--replay",
        type=_count,
        metavar="N",
        help="judge the last N windows and print the share of relevant ones by signal; write nothing",
    )


def _reflect(_: argparse.ArgumentParser) -> None:
    pass


def _reflect_commit(p: argparse.ArgumentParser) -> None:
    p.add_argument("--agent", metavar="NAME", help="who did the work (default: the agent client around us)")
    p.add_argument(
        "--from",
        dest="source",
        metavar="FILE|-",
        help='take the pages from {"files": {"<path>": "<text>"}} instead of the work tree',
    )
    p.add_argument("--skip", action="append", metavar="PAGE", help="a target that needs no change; may be repeated")
    p.add_argument("--no-change", action="store_true", help="looked, nothing to do: close the work order")
    p.add_argument("--reason", metavar="TEXT", help="why, for --skip and --no-change")
    p.add_argument("--allow-shrink", action="store_true", help="a page may lose more than half of its lines")
    p.add_argument("--commit", action="store_true", help="commit the pages at once, and nothing else")


def _check(p: argparse.ArgumentParser) -> None:
    where = p.add_mutually_exclusive_group()
    where.add_argument("--staged", action="store_true", help="judge as it will be after the commit under way")
    where.add_argument("--range", metavar="A..B", help="also: pages that this range makes untrue and does not touch")
    p.add_argument("--strict", action="store_true", help="stale pages fail even with freshness.mode = warn")
    p.add_argument("paths", nargs="*", metavar="PATH", help="given by pre-commit; not needed")


def _trim(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--keep", type=_count, metavar="N", help="keep the newest N entries (default: as many as the budget holds)"
    )


def _sync(p: argparse.ArgumentParser) -> None:
    p.add_argument("remote", nargs="?", metavar="REMOTE", help="default: the remote of this branch, else origin")
    p.add_argument("--fetch-only", action="store_true", help="take in what others wrote, send nothing")
    p.add_argument("--all", action="store_true", help="send also what is on commits that the remote does not have")
    p.add_argument("--fold", action="store_true", help="join the remote's shards into one ref and remove them")


def _forget(p: argparse.ArgumentParser) -> None:
    p.add_argument("ids", nargs="+", metavar="rec-ID", help="a record's id, or a beginning that no other one has")
    p.add_argument(
        "--purge",
        action="store_true",
        help="for secrets: out of the notes, their history, the trash and the remotes; asks on the terminal",
    )


def _review(p: argparse.ArgumentParser) -> None:
    p.add_argument("--keep", nargs="+", metavar="rec-ID", help="looked at and fine")
    p.add_argument("--drop", nargs="+", metavar="rec-ID", help="not wanted: hidden everywhere")
    p.add_argument("--keep-all", action="store_true", help="everything that is here counts as looked at")


def _repair(_: argparse.ArgumentParser) -> None:
    pass


COMMANDS = (
    Command("init", "set up gitmem in this clone", "Installs the hooks, switches gitmem on in this clone's git configuration and writes the capsules of the newest 500 commits. Running it again changes nothing.",
            ("gitmem init", "gitmem init --dry-run"), _init, True),
    Command("uninstall", "take gitmem out of this clone", "The exact inverse of init for hooks and settings. The notes stay unless --data is given.",
            ("gitmem uninstall", "gitmem uninstall --data --dry-run"), _uninstall, True),
    Command("hooks", "install, remove or list git's hooks", "What init and uninstall do for hooks alone.",
            ("gitmem hooks status", "gitmem hooks install --hooks files"), _hooks, True),
    Command("status", "how this clone's memory stands", "One screen; exit status 0 whatever it says, unless --strict.",
            ("gitmem status", "gitmem status --json"), _status, False),
    Command("doctor", "check everything, repair what needs no decision", "Every check is one line with a hint.",
            ("gitmem doctor", "gitmem doctor --fix"), _doctor, True),
    Command("reflect-prepare", "judge recent changes, write the work order when pages became untrue", "Deterministic: the same commits give the same verdict. The commit hook does this by itself; the command is for ranges, for starting over and for looking.",
            ("gitmem reflect-prepare", "gitmem reflect-prepare --range main..HEAD --dry-run", "gitmem reflect-prepare --replay 150"), _reflect_prepare, True),
    Command("reflect", "show the work order that is due", "Which pages, why, the evidence, and how to finish.", ("gitmem reflect",), _reflect, False),
    Command("reflect-commit", "validate the pages and keep all of them or none", "Takes the pages as edited in the work tree, or from a document. Every failure is listed as page:line: code: message; nothing is kept unless all hold.",
            ("gitmem reflect-commit --agent claude", "gitmem reflect-commit --skip what-is --reason 'same identity'", "gitmem reflect-commit --no-change --reason 'internal only'"), _reflect_commit, True),
    Command("check", "are the pages valid and fresh", "Exit status 1 when a page is invalid, stale, or left untrue by the range.",
            ("gitmem check", "gitmem check --staged", "gitmem check --range origin/main..HEAD"), _check, False),
    Command("trim", "move the oldest entries of current-state.md to its archive", "Entries move whole, with their continuation lines and sub-items; every line is in exactly one file.",
            ("gitmem trim", "gitmem trim --keep 20"), _trim, True),
    Command("show", "the records of a commit", "The capsule first, then what else is known, then the commits it was made from.",
            ("gitmem show", "gitmem show HEAD~2 --flat", "gitmem show rec-3f2a"), _show, False),
    Command("log", "commits by what their capsules say", "Newest first; filters combine with AND.",
            ("gitmem log -n 5", "gitmem log --type feat --domain src:api", "gitmem log main..HEAD --json"), _log, False),
    Command("add", "attach a devlog, decision or event to a commit", "Saying the same twice adds nothing.",
            ("gitmem add decision 'sessions live in Redis' --path src/session.py", "gitmem add devlog 'login done' --verdict PASS --learning '[gotcha] cookies need SameSite'"), _add, True),
    Command("backfill", "capsules for commits that lack one", "Newest first, in several processes; running it twice changes nothing, an interruption loses at most the batch under way.",
            ("gitmem backfill --all", "gitmem backfill v1.0..HEAD", "gitmem backfill --since 2024-01-01"), _backfill, True),
    Command("sync", "share records with a remote: fetch, join, push", "Without conflicts, whatever order clones meet in, and without force. Lines with a secret are held back and named. '--dry-run' compares with what was fetched last and opens no connection.",
            ("gitmem sync", "gitmem sync origin --fetch-only", "gitmem sync --fold"), _sync, True),
    Command("repair", "find the memory of rewritten commits again", "Leads from commits that were squashed on a server, rebased elsewhere or filtered to what they were before: by filter-repo's commit map, the same patch, the patch of a whole branch, or what the message names. Nothing is deleted; what has no place is listed.",
            ("gitmem repair", "gitmem repair --dry-run"), _repair, True),
    Command("review", "look at what others wrote", "Records of others since the last look, by author, strangers first; capsules that say something else than their commit, secrets, and records that somebody else wants forgotten.",
            ("gitmem review", "gitmem review --drop rec-3f2a", "gitmem review --keep-all"), _review, True),
    Command("forget", "hide a record, or purge a line for good", "Hiding writes a retract record that travels with sync. '--purge' rewrites the notes here and on the remotes, asks on the terminal, and says what it cannot reach.",
            ("gitmem forget rec-3f2a", "gitmem forget --purge rec-3f2a41bc09d7e655"), _forget, True),
)  # fmt: skip


def parser() -> Parser:
    """The parser of all commands."""
    top = Parser(prog="gitmem", description="A project's memory, kept alive inside git itself.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"gitmem {__version__}")
    _folder(top, default=None)
    names = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for command in COMMANDS:
        names_parser = names.add_parser(
            command.name, help=command.summary, description=command.details, allow_abbrev=False,
            epilog="examples:\n" + "".join(f"  {line}\n" for line in command.examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        command.options(names_parser)
        _folder(names_parser, default=argparse.SUPPRESS)
        names_parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        if command.changes:
            names_parser.add_argument("--dry-run", action="store_true", help="say what would be done, change nothing")
    return top


def _folder(parser: argparse.ArgumentParser, default: str | None) -> None:
    parser.add_argument("-C", "--repo", metavar="DIR", default=default, help="act on the repository of this folder")
