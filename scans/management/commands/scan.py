"""`manage.py scan URL …`: the installed command `website-scan` under another name."""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from scanner.command.main import run


class Command(BaseCommand):
    help = "Scans public web pages without server or database; --help shows the options."

    def run_from_argv(self, argv: list[str]) -> None:
        """All options are the command's own."""
        sys.exit(run(argv[2:], "manage.py scan"))

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("args", nargs=REMAINDER)

    def handle(self, *args: Any, **options: Any) -> None:
        """For `call_command`: the arguments as they would be typed."""
        sys.exit(run(args, "manage.py scan"))
