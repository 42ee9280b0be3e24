"""What can go wrong, by name. The message says what, the hint says what to do next."""

from __future__ import annotations


class GitmemError(Exception):
    """An expected failure: exit status 1, one line, then `hint:`."""

    exit_status = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GitmemError):
    """Wrong usage: exit status 2."""

    exit_status = 2


class GitError(GitmemError):
    """git ended with an unexpected status. Carries git's own words and the status."""

    def __init__(self, message: str, hint: str | None = None, *, status: int = -1) -> None:
        super().__init__(message, hint)
        self.status = status


class TooLarge(GitError):
    """An object that is larger than any of ours could be."""


class GitTimeout(GitError):
    """git did not answer before its deadline and was stopped."""


class GitMissing(GitError):
    """There is no git command on PATH."""


class NotARepository(GitError):
    """The folder is in no git repository, or git refuses to use the one it found."""


class BadRevision(GitmemError):
    """What the user gave names no object of this repository."""


class NotEnabled(GitmemError):
    """This clone has not been set up: `gitmem.enabled` is not true in its own configuration."""


class Locked(GitmemError):
    """Another process holds the lock, or the ref, beyond the time that was given."""


class NoIdentity(GitmemError):
    """git knows no name and e-mail to write a notes commit with."""


class Refused(GitmemError):
    """Input or a file of the repository that would be unsafe or senseless to act on."""


class Unreadable(GitmemError):
    """Data of ours that does not parse; the bytes stay where they are or go to the trash, never away."""
