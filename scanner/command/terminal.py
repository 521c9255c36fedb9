"""How commands behave at a terminal: what it shows of text that comes from elsewhere, and how they end."""

from __future__ import annotations

import io
import os
import signal
import sys
import unicodedata
from collections.abc import Callable

# What a shell reports for a process that the signal ended.
INTERRUPTED = 128 + signal.SIGINT
OUTPUT_CLOSED = 128 + signal.SIGPIPE


def show_what_can_be_shown() -> None:
    """A terminal that is not UTF-8 gets escapes for what it does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(line: str) -> str:
    """The line with everything escaped that a terminal obeys instead of showing it.

    Findings quote the site: control characters, line ends and marks that turn the direction of text are its own.
    """
    return "".join(
        each
        if each.isprintable() or unicodedata.category(each) == "Zs"  # a space of another width
        else each.encode("unicode_escape").decode("ascii")
        for each in line
    )


def ended_by(command: Callable[[], int | None]) -> None:
    """End the process with the command's exit status, or as a shell expects it after Ctrl-C or a reader that left."""
    try:
        status = command()
        sys.stdout.flush()
        sys.exit(status)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C does not wait for threads that still end
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has left, as `head` does; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(OUTPUT_CLOSED)
