"""Option `--print-completion`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Action that prints a completion script for a shell, and exits."""

    def __call__(
        self, parser: argparse.ArgumentParser, _namespace: argparse.Namespace, values: Any, _option: str | None = None
    ) -> None:
        import shtab  # Import shtab only here, because few commands print a completion script.

        for action in parser._actions:  # noqa: SLF001 -- argparse has no public list of its options
            if action.help == argparse.SUPPRESS:
                # shtab would leave out what the help leaves out.
                action.help = ""
            if action.type is Path:
                action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]  # for shtab
        sys.stdout.write(shtab.complete(parser, shell=values))
        parser.exit()
