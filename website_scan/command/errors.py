"""Exit statuses, and exceptions that end the command."""

from __future__ import annotations

EXIT_GATE = 1
EXIT_USAGE = 2
EXIT_FAILED = 3


class WrongUsage(Exception):
    """Wrong usage. The message is for the user, and contains no credentials."""


class ServerRefused(Exception):
    """Refusal or failure of the server of `--server` or `--start`. The message, with the reason, is for the user."""
