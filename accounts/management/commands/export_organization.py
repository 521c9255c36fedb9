"""Command `manage.py export_organization SLUG FILE`, which writes all of an organization's data to a zip file."""

from __future__ import annotations

import os
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.export.kinds import kinds
from accounts.export.services import render_readme
from accounts.export.writing import write_part
from accounts.models import Organization

EXIT_USAGE = 2


class Command(BaseCommand):
    help = "Writes all data of an organization into a zip file of JSON, however much that is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("organization", metavar="SLUG", help="As the addresses of its pages have it.")
        parser.add_argument("file", metavar="FILE", type=Path, help="The zip file, which must not exist yet.")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = Organization.objects.filter(slug=options["organization"]).first()
        if organization is None:
            raise CommandError(f"There is no organization {options['organization']!r}.", returncode=EXIT_USAGE)
        file: Path = options["file"]
        if file.exists():
            raise CommandError(f"{file} exists already.", returncode=EXIT_USAGE)
        readme = render_readme(organization, timezone.now())
        # The command writes to a temporary file that only its owner can read, and links it to FILE at the end. If the
        # command is killed, only the temporary file remains.
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as temporary:
            try:
                write_part(temporary.file, organization.pk, kinds(), {}, lambda: False, readme)
                os.link(temporary.name, file)
            finally:
                os.unlink(temporary.name)
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes")
