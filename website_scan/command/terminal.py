"""Escape terminal output and exit as shells do after a signal.

Escapes control characters.
"""

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

# The default of 700 costs a tenth of the command's time, because imports create a million objects.
GC_THRESHOLD = 100_000
# Exit status that shells report for a process that SIGPIPE has ended.
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE


def escape_unencodable() -> None:
    """Make output escape characters that the terminal's encoding lacks.

    Standard output and standard error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(line: str) -> str:
    """Escape control characters.

    Text of a scanned site must not control the terminal. Findings quote the site, which may send control characters,
    line ends and bidirectional marks.
    """
    return "".join(
        character
        # Zs is Unicode's category of space characters.
        if character.isprintable() or unicodedata.category(character) == "Zs"
        else character.encode("unicode_escape").decode("ascii")
        for character in line
    )


def write_err(sentences: str) -> None:
    """Write lines to standard error.

    Ignores errors, because no other stream is available for messages.
    """
    if sys.stderr is None:
        return
    try:
        sys.stderr.write("".join(f"{printable(line)}\n" for line in sentences.splitlines()))
        sys.stderr.flush()
    except OSError:
        _discard_buffer(sys.stderr)


def write_out(text: str) -> None:
    """Write to standard output and flush.

    Raises WrongUsage, or BrokenPipeError if the reader closed the pipe.
    """
    # Python sets None if standard output was closed before the program started.
    if sys.stdout is None:
        if text:
            raise WrongUsage("Standard output is closed.")
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard_buffer(sys.stdout)
        raise WrongUsage(f"Standard output can't be written: {error.strerror}") from None


def _discard_buffer(stream: TextIO) -> None:
    """Discard a stream's buffer.

    Otherwise, Python would write it again at exit and fail again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP.

    The block can then end its child processes.
    """

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Leave ignored signals ignored, such as SIGHUP under nohup.
    signals = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in signals:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in signals:
            signal.signal(number, signal.SIG_DFL)


def run_and_exit(command: Callable[[], int | None]) -> None:
    """Run the command and exit with its status.

    After a signal or a broken pipe, the status is 128 plus the signal number.
    """
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
        # A second Ctrl-C ends the process immediately, without waiting for threads.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        status = 128 + (interruption.args[0] if interruption.args else signal.SIGINT)
    except BrokenPipeError:
        # A reader such as `head` has closed the pipe early.
        _discard_buffer(sys.stdout)
        status = EXIT_BROKEN_PIPE
    # Garbage collections at exit would take time.
    gc.freeze()
    sys.exit(status)
