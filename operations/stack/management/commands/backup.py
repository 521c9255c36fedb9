"""`manage.py backup`: write the whole database to one file, even while the service is running."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from infrastructure import encryption
from infrastructure.postgresql.statements import server_major
from operations.stack import backup
from operations.stack.clients import NoClients, clients_for, connection_arguments
from operations.stack.embedded import EmbeddedError
from operations.stack.embedded_database_command import run_on_embedded_database
from website_scan import __version__

MESSAGE_BYTES = 2000


class Command(BaseCommand):
    help = "Writes all of the database into one file, which `restore` reads. The service may run."
    requires_system_checks = []  # `handle` runs the checks once the database is available.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, nargs="?", help="by default scans-DATE.backup in this folder; must not exist"
        )

    def handle(self, *args: Any, file: Path | None, **options: Any) -> None:
        try:
            status = run_on_embedded_database(settings.DATA_DIR)
            if status is not None:
                sys.exit(status)
            self.check(tags=["environment"])
            path = (file or Path(f"scans-{timezone.now():%Y%m%dT%H%M%SZ}.backup")).absolute()
            manifest = _back_up(path)
        except (backup.BackupError, NoClients, EmbeddedError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{path}: {manifest.bytes:,} bytes. Back up the keys of its secrets separately.")


def _back_up(path: Path) -> backup.Manifest:
    major = server_major()
    pg_dump = clients_for(major) / "pg_dump"
    manifest = backup.Manifest(
        version=__version__,
        created_at=f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        postgresql=major,
        migrations=sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations()),
        keys=encryption.fingerprints(),
    )
    conninfo, variables = connection_arguments(connection.get_connection_params())
    connection.close()
    command = [str(pg_dump), "--format=custom", "--no-owner", "--no-privileges", "--dbname", conninfo]
    with backup.draft_of(path) as file, tempfile.TemporaryFile() as stderr:
        with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=stderr) as process:
            if process.stdout is None:
                raise backup.BackupError("pg_dump has no output.")
            manifest = backup.write(file, process.stdout, manifest)
        if process.returncode != 0:
            stderr.seek(0)
            reason = stderr.read(MESSAGE_BYTES).decode("utf-8", "replace").strip()
            raise backup.BackupError(f"The database was not backed up: {reason or 'pg_dump was killed.'}")
    return manifest
