"""How far the command is: one line on a terminal, and nothing elsewhere."""

from __future__ import annotations

import shutil
import sys

from scanner.command.terminal import printable

CLEAR_LINE = "\r\x1b[K"


class ProgressLine:
    """Writes over itself on standard error; ended by `clear`, which leaves nothing behind."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_shown = not is_quiet and sys.stderr.isatty()

    def tell(self, percent: int, what: str) -> None:
        """`percent` is 0 to 100; what does not fit into the line is left out."""
        if self._is_shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(CLEAR_LINE + printable(f"{percent:3d} %  {what}")[:width])
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()
