"""Terminal behaviour of commands: escapes for foreign text, and exit statuses for signals."""

from __future__ import annotations

import io
import os
import signal
import sys
import unicodedata
from collections.abc import Callable

# Exit statuses that shells report for a process ended by the signal.
INTERRUPTED = 128 + signal.SIGINT
OUTPUT_CLOSED = 128 + signal.SIGPIPE


def show_what_can_be_shown() -> None:
    """Write characters that the terminal's encoding lacks as backslash escapes, instead of raising an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(line: str) -> str:
    """Escape all characters that a terminal would interpret instead of showing them.

    Findings quote the site, which may send control characters, line ends and bidirectional marks.
    """
    return "".join(
        each
        if each.isprintable() or unicodedata.category(each) == "Zs"  # Zs: spaces of other widths
        else each.encode("unicode_escape").decode("ascii")
        for each in line
    )


def ended_by(command: Callable[[], int | None]) -> None:
    """Run the command and exit with its status, or with a shell's status after Ctrl-C or a closed pipe."""
    try:
        status = command()
        sys.stdout.flush()
        sys.exit(status)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C does not wait for threads
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does. Discard what is still buffered.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(OUTPUT_CLOSED)
