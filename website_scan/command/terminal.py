"""Terminal behaviour of commands: escapes for text of scanned sites, and exit statuses for signals."""

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

# Number of new objects that starts a garbage collection. A command creates a million objects while it imports, none of
# them garbage: with Python's default of 700, collections take a tenth of its processor time.
GC_THRESHOLD = 100_000
# Exit status that shells report for a process ended by the signal.
OUTPUT_CLOSED = 128 + signal.SIGPIPE


def escape_unencodable() -> None:
    """Write characters that the terminal's encoding lacks as backslash escapes, instead of raising an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(line: str) -> str:
    """Escape all characters that a terminal would interpret instead of displaying them.

    Findings quote the site, which may send control characters, line ends and bidirectional marks.
    """
    return "".join(
        character
        if character.isprintable() or unicodedata.category(character) == "Zs"  # Zs: spaces of other widths
        else character.encode("unicode_escape").decode("ascii")
        for character in line
    )


def write_err(sentences: str) -> None:
    """Write sentences to standard error, one to a line. Ignores errors, as there is no other place for messages."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write("".join(f"{printable(line)}\n" for line in sentences.splitlines()))
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def write_out(text: str) -> None:
    """Write to standard output at once. Raises WrongUsage if it cannot be written, BrokenPipeError if nobody reads."""
    if sys.stdout is None:  # standard output was closed before the program began
        if text:
            raise WrongUsage("Standard output is closed.")
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard(sys.stdout)
        raise WrongUsage(f"Standard output can't be written: {error.strerror}") from None


def _discard(stream: TextIO) -> None:
    """Discard the stream's buffer, which Python would write again at its exit, with the same error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP, too, so that the block ends the processes that it started."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A signal that is ignored, as nohup ignores SIGHUP, stays ignored.
    signals = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in signals:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in signals:
            signal.signal(number, signal.SIG_DFL)


def run_and_exit(command: Callable[[], int | None]) -> None:
    """Run the command and exit with its status, or with the status of a shell after a signal or a closed pipe."""
    status: int | str | None
    gc.set_threshold(GC_THRESHOLD)
    try:
        try:
            status = command()
        except SystemExit as end:
            status = end.code
        write_out("")
    except WrongUsage as wrong:
        write_err(str(wrong))
        status = EXIT_USAGE
    except KeyboardInterrupt as interruption:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C does not wait for threads
        status = 128 + (interruption.args[0] if interruption.args else signal.SIGINT)
    except BrokenPipeError:
        # The reader has closed the pipe early, as `head` does.
        _discard(sys.stdout)
        status = OUTPUT_CLOSED
    gc.freeze()  # skip the garbage collections at the end of the process
    sys.exit(status)
