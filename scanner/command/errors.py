"""What ends the command before there is anything to judge."""

from __future__ import annotations

EXIT_GATE = 1
EXIT_USAGE = 2
EXIT_FAILED = 3


class WrongUsage(Exception):
    """Raised with a sentence for the one who typed it; it repeats no credential."""


class ServerRefused(Exception):
    """The server of `--server` did not do what it was asked to; the sentence says why."""
