"""Exit statuses and errors of the command.

The exceptions end the command with an error message.
"""

from __future__ import annotations

EXIT_GATE = 1
EXIT_USAGE = 2
EXIT_FAILED = 3


class WrongUsage(Exception):
    """Raised for invalid arguments or an invalid environment.

    The message for the user contains no credentials.
    """


class ServerRefused(Exception):
    """Raised when the server of `--server` or `--start` fails.

    The message tells the user the reason.
    """
