"""What a terminal shows of text that comes from elsewhere."""

from __future__ import annotations

import io
import sys
import unicodedata


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
