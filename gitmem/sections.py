"""The part of a hook file that is ours: put in at the top, taken out byte for byte."""

from __future__ import annotations

from gitmem.values import NamedTuple

BEGIN = b"# >>> gitmem >>>"
END = b"# <<< gitmem <<<\n"
CLONE = "# clone: "
CREATED = b" (this file is gitmem's)"
CHAINED = b" (the former hook follows)"
UNENDED = b"# (the line before had no end)\n"
SHEBANG = b"#!/bin/sh\n"
SHELLS = (b"sh", b"bash", b"dash", b"ksh", b"zsh", b"ash")
HANDED_ON_ROWS = 20  # lines of a script in which it may hand itself on to another interpreter
STDIN_EVENTS = ("post-rewrite", "pre-push")


class Program(NamedTuple):
    """What a hook starts, as absolute paths of this machine."""

    shim: str
    python: str
    entry: str


def quote(text: str) -> str:
    """One word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def command(program: Program, event: str) -> str:
    """The line for `hook.<name>.command`; git adds the hook's arguments behind it."""
    words = " ".join(quote(word) for word in program)
    return f"test ! -f {quote(program.shim)} || sh {words} {event}"


def section(
    program: Program, event: str, *, created: bool, chained: bool = False, clones: tuple[str, ...] = ()
) -> bytes:
    """The lines for a hook file. clones: the file serves other repositories too, these want gitmem, and each commit
    asks its own clone first."""
    test = f"[ -f {quote(program.shim)} ]"
    if clones:
        test += ' && [ "$(git config --local --type=bool gitmem.enabled 2>/dev/null)" = true ]'
    call = f'sh {" ".join(quote(word) for word in program)} {event} "$@"'
    if event in STDIN_EVENTS and created and not chained:
        body = [f"if {test}; then", f"    {call} || exit $?", "fi"]
    elif event in STDIN_EVENTS:
        # What stood here before reads the same input after us. Where it cannot be kept for it, a check of the user's
        # must not be passed over in silence: the hook ends as failed.
        body = [
            f"if {test}; then",
            "    gitmem_full='gitmem: no room for a copy of the input'",
            '    gitmem_stdin=$(mktemp) && cat >"$gitmem_stdin" || { echo "$gitmem_full" >&2; exit 1; }',
            f'    if {call} <"$gitmem_stdin"; then gitmem_status=0; else gitmem_status=$?; fi',
            '    exec <"$gitmem_stdin"',
            '    rm -f "$gitmem_stdin"',
            '    [ "$gitmem_status" -eq 0 ] || exit "$gitmem_status"',
            "fi",
        ]
    else:
        if created and not chained and not clones:
            # the shell is sh and the file ours: it reads the shim itself, in a shell of its own for what may follow
            words = " ".join(quote(word) for word in program[1:])
            call = f'(set -- {words} {event} "$@" && . {quote(program.shim)})'
        body = [f"if {test}; then", f"    {call} || :", "fi"]
    head = BEGIN + (CREATED if created else b"") + (CHAINED if chained else b"") + b"\n"
    body = [CLONE + clone.encode("unicode_escape").decode() for clone in clones] + body
    return head + "".join(line + "\n" for line in body).encode("utf-8", "surrogateescape") + END


def clones(script: bytes) -> tuple[str, ...]:
    """The clones that a shared hook file serves, by their common git directory."""
    rows = script.decode("utf-8", "surrogateescape").splitlines()
    named = [row.removeprefix(CLONE) for row in rows if row.startswith(CLONE)]
    return tuple(name.encode("ascii", "replace").decode("unicode_escape") for name in named)


def is_shell(script: bytes) -> bool:
    """Whether lines of ours can stand in a script: its first line names a shell, or nothing, and it does not hand
    itself on to another interpreter, which would read our lines too (`exec python3 "$0" "$@"`)."""
    first, *rows = script.split(b"\n", HANDED_ON_ROWS)
    if any(_hands_on(row) for row in rows[: HANDED_ON_ROWS - 1]):
        return False
    if not first.startswith(b"#!"):
        return b"\0" not in script
    words = first[2:].split()
    names = [word.rsplit(b"/", 1)[-1] for word in words]
    return any(name in SHELLS for name in names[:2] if name != b"env") or names[1:2] == [b"sh"]


def _hands_on(row: bytes) -> bool:
    """`exec PROGRAM ... "$0"`, in whatever quotes the other language needs around `exec`."""
    before, word, after = row.partition(b"exec")
    begins = not before.strip() or before.rstrip()[-1:] in (b"'", b'"', b";", b"&", b"|", b"{", b"(")
    named = any(part.strip(b"'\";") in (b"$0", b"${0}") for part in after.split())
    return bool(word) and after[:1] in b" \t'\"" and begins and named and not row.lstrip().startswith(b"#")


def insert(script: bytes, ours: bytes) -> bytes:
    """The script with our section after its first line, in the place of an older one."""
    script = remove(script)
    if script.startswith(b"#!"):
        first, newline, rest = script.partition(b"\n")
        return first + newline + ours + rest if newline else first + b"\n" + UNENDED + ours
    return ours + script


def remove(script: bytes) -> bytes:
    """The script without our section; unchanged when there is none or its end is missing."""
    start = script.find(BEGIN)
    end = script.find(END, start)
    if start < 0 or end < 0:
        return script
    kept = script[:start] + script[end + len(END) :]
    return kept.removesuffix(b"\n" + UNENDED)


def has(script: bytes) -> bool:
    return BEGIN in script and END in script


def is_created(script: bytes) -> bool:
    """Whether the file holds nothing but what gitmem made, no former hook behind it either."""
    return BEGIN + CREATED in script and remove(script) == SHEBANG
