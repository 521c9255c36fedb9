"""Progress line of the command, on terminals only."""

from __future__ import annotations

import shutil
import sys

from website_scan.command.terminal import printable

CLEAR_LINE = "\r\x1b[K"


class ProgressLine:
    """Progress line on standard error, which `update` overwrites and `clear` erases."""

    def __init__(self, *, is_quiet: bool = False) -> None:
        self._is_visible = not is_quiet and sys.stderr is not None and sys.stderr.isatty()

    def update(self, percent: int, text: str) -> None:
        """Write the progress. `percent` is 0 to 100; text that is too long for the terminal is cut."""
        if self._is_visible:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(CLEAR_LINE + printable(f"{percent:3d} %  {text}")[:width])
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_visible:
            sys.stderr.write(CLEAR_LINE)
            sys.stderr.flush()
