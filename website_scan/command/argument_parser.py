"""Parts of the parser of options: its errors, and actions that argparse lacks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from website_scan.command.errors import EXIT_USAGE
from website_scan.messages import agreeing


class Parser(argparse.ArgumentParser):
    """ArgumentParser whose error messages contain no values.

    They contain only option names, because values may be secrets.
    """

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments:"):
            words = [word.partition("=")[0] for word in message.partition(":")[2].split() if word.startswith("-")]
            message = f"unknown {agreeing(len(words), 'option', 'options')}: {' '.join(words)}{self._suggestion(words)}"
        sys.stderr.write(
            f"{self.prog}: {message.removeprefix('argument ')}\nUsage: {self.usage}; --help shows all options.\n"
        )
        sys.exit(EXIT_USAGE)

    def _suggestion(self, words: Sequence[str]) -> str:
        """Return a question that names the option most like the first unknown one; empty if none is like it."""
        import difflib  # Only wrong options need this module.

        near = difflib.get_close_matches(words[0], self._option_string_actions, 1) if words else []
        return f". Did you mean {near[0]}?" if near else ""


class AppendInOrder(argparse.Action):
    """Action that appends `--format` and `--output` to one list.

    An action of argparse. The order of the options pairs them.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        namespace.outputs = (*namespace.outputs, (self.dest, values))


def reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function for argparse that raises its error with the message of a ValueError."""

    def read_argument(raw: str) -> Any:
        try:
            return read(raw)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read_argument
