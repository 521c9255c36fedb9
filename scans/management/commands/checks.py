"""Command `manage.py checks`, which prints the catalogue of checks."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from website_scan.command.listing import FORMATS, listed


class Command(BaseCommand):
    help = "Prints the catalogue of checks."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", default=FORMATS[0], choices=FORMATS)

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(listed(options["format"]))
