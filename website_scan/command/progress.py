"""Progress line on standard error, if it is a terminal."""

from __future__ import annotations

import shutil
import sys

from website_scan.command.terminal import printable

CLEAR_LINE = "\r\x1b[K"


class ProgressLine:
    """Progress line that each `update` overwrites.

    Writes nothing if standard error is not a terminal.
    """

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_visible = not is_quiet and sys.stderr is not None and sys.stderr.isatty()

    def update(self, percent: int, text: str) -> None:
        """Overwrite the progress line.

        `percent` is 0 to 100; the text is cut to the width of the terminal.
        """
        if self._is_visible:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(CLEAR_LINE + printable(f"{percent:3d} %  {text}")[:width])
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_visible:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()
