"""Command `manage.py scan URL …`, the same as the installed command `website-scan`."""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from website_scan.command.main import run


class Command(BaseCommand):
    help = "Scans public web pages without server or database; --help shows the options."

    def run_from_argv(self, argv: list[str]) -> None:
        """Pass all options to `website-scan`, without parsing by Django."""
        sys.exit(run(argv[2:], "manage.py scan"))

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("args", nargs=REMAINDER)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run `website-scan` with the arguments of `call_command`."""
        sys.exit(run(args, "manage.py scan"))
