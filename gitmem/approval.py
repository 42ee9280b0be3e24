"""A person says yes: a code shown on the controlling terminal, typed back there. No flag, no pipe, no agent can."""

from __future__ import annotations

import os

from gitmem import clients
from gitmem.errors import Refused
from gitmem.output import inert


def ask_person(question: str) -> None:
    """Returns when a person typed the code. Raises Refused when nobody did, or nobody can."""
    if clients.client_of(os.environ):
        raise Refused("this needs a person, and an agent is at work here", "run it in a terminal of your own")
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        raise Refused("this needs a person at a terminal", "run it in a terminal of your own") from None
    code = os.urandom(2).hex()
    with os.fdopen(fd, "r+b", buffering=0) as terminal:
        terminal.write(f"{inert(question)}\ntype {code} to go on: ".encode())
        typed = b""
        while not typed.endswith(b"\n") and len(typed) < 64:
            piece = terminal.read(64)
            if not piece:
                break
            typed += piece
    if typed.strip().decode("ascii", "replace") != code:
        raise Refused("not confirmed, nothing was changed", "the code has to be typed as it is shown")
