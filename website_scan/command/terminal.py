"""Terminal behaviour of commands: escapes for foreign text, and exit statuses for signals."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from typing import TextIO

from website_scan.command.errors import EXIT_USAGE, WrongUsage

# Objects between two collections of garbage. A command creates a million while it imports, none of them garbage: with
# Python's 700, searching them takes a tenth of its processor time.
COLLECTED_AT = 100_000
# Exit status that shells report for a process ended by the signal.
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


def say(sentences: str) -> None:
    """Write sentences to standard error, one to a line. If that fails, nobody can be told."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write("".join(f"{printable(line)}\n" for line in sentences.splitlines()))
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def write_out(document: str) -> None:
    """Write to standard output at once. Raises WrongUsage if it cannot be written, BrokenPipeError if nobody reads."""
    if sys.stdout is None:  # it was closed before the program began
        if document:
            raise WrongUsage("Standard output is closed.")
        return
    try:
        sys.stdout.write(document)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard(sys.stdout)
        raise WrongUsage(f"Standard output can't be written: {error.strerror}") from None


def _discard(stream: TextIO) -> None:
    """Send what is still buffered nowhere: Python writes it once more at its end, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP too, so that the block ends what it started."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # nohup ignores SIGHUP, and so does the block.
    ending = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is signal.SIG_DFL]
    for each in ending:
        signal.signal(each, interrupt)
    try:
        yield
    finally:
        for each in ending:
            signal.signal(each, signal.SIG_DFL)


def ended_by(command: Callable[[], int | None]) -> None:
    """Run the command and exit with its status, or with a shell's status after a signal or a closed pipe."""
    status: int | str | None
    gc.set_threshold(COLLECTED_AT)
    try:
        try:
            status = command()
        except SystemExit as end:
            status = end.code
        write_out("")
    except WrongUsage as wrong:
        say(str(wrong))
        status = EXIT_USAGE
    except KeyboardInterrupt as interruption:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C does not wait for threads
        status = 128 + (interruption.args[0] if interruption.args else signal.SIGINT)
    except BrokenPipeError:
        # The reader has closed the pipe, as `head` does.
        _discard(sys.stdout)
        status = OUTPUT_CLOSED
    gc.freeze()  # the process ends: what is left needs no last collections
    sys.exit(status)
