"""`manage.py restore`: restore the database from a backup in one transaction."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from infrastructure import encryption
from infrastructure.postgresql.statements import fetch, server_major
from operations.stack import backup
from operations.stack.clients import NoClients, clients_for, connection_arguments
from operations.stack.embedded import EmbeddedError
from operations.stack.embedded_database_command import run_on_embedded_database
from website_scan import __version__

MESSAGE_BYTES = 2000
IS_EMPTY = "SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace)"
OTHER_CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
# The names of encrypted columns begin with `encrypted_` in backups of all versions.
ENCRYPTED = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'public' AND data_type = 'bytea' AND column_name LIKE 'encrypted\\_%%'
"""
# Recreates the schema `public` as in a new database.
REPLACE = b"""
DROP SCHEMA IF EXISTS public CASCADE;
CREATE SCHEMA public;
ALTER SCHEMA public OWNER TO pg_database_owner;
GRANT USAGE ON SCHEMA public TO PUBLIC;
COMMENT ON SCHEMA public IS 'standard public schema';
"""


class Command(BaseCommand):
    help = "Puts a backup into an empty database. Stop the service first; a restore that fails changes nothing."
    requires_system_checks = []  # `handle` runs the checks once the database is available.

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="delete everything that is in the database before")
        parser.add_argument(
            "--without-keys", action="store_true", help="restore although secrets in the backup cannot be decrypted"
        )

    def handle(self, *args: Any, file: Path, replace: bool, without_keys: bool, **options: Any) -> None:
        try:
            status = run_on_embedded_database(settings.DATA_DIR)
            if status is not None:
                sys.exit(status)
            self.check(tags=["environment"])
            manifest = backup.verified_manifest(file)
            _require_compatible(manifest, without_keys=without_keys)
            folder = _require_database(manifest, replace=replace)
            _restore(file, folder, replace=replace)
        except (backup.BackupError, NoClients, EmbeddedError) as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        self.stdout.write(f"{file} of {manifest.created_at} was restored.")
        if unreadable := _unreadable():
            self.stderr.write(
                f"{unreadable} secrets cannot be decrypted: add the keys of then to ENCRYPTION_KEYS or "
                "SECRET_KEY_FALLBACKS. Until then their webhooks and scans fail."
            )
        self.stdout.write("Run `manage.py prepare`, then start the service.")


def _require_compatible(manifest: backup.Manifest, *, without_keys: bool) -> None:
    """Raise BackupError if a newer version made the backup, or if the configured keys do not decrypt its secrets."""
    migrations = {f"{app}.{name}" for app, name in MigrationLoader(None, ignore_no_migrations=True).disk_migrations}
    if set(manifest.migrations) - migrations:
        raise backup.BackupError(
            f"The backup was made by a newer version, {manifest.version} (this is {__version__}): install that first."
        )
    if manifest.keys[0] not in encryption.fingerprints() and not without_keys:
        raise backup.BackupError(
            "The backup's secrets are encrypted with another key than SECRET_KEY, SECRET_KEY_FALLBACKS and "
            "ENCRYPTION_KEYS name here. Set the one of then, or lose them with --without-keys."
        )


def _require_database(manifest: backup.Manifest, *, replace: bool) -> Path:
    """Check that the database is not in use, and is empty or to be replaced. Raises BackupError or NoClients.

    Returns the folder of PostgreSQL's programs.
    """
    major = server_major()
    if major < manifest.postgresql:
        raise backup.BackupError(
            f"The backup is of PostgreSQL {manifest.postgresql}, and this server is version {major}."
        )
    ((is_empty,),) = fetch(IS_EMPTY, {})
    if not is_empty and not replace:
        raise backup.BackupError("The database is not empty. Use another one, or delete its contents with --replace.")
    ((connections,),) = fetch(OTHER_CONNECTIONS, {})
    if connections:
        raise backup.BackupError(f"The database is in use by {connections} connections: stop the service first.")
    return clients_for(major)


def _restore(file: Path, folder: Path, *, replace: bool) -> None:
    """Restore a backup in one transaction, which is committed after the whole backup has been read.

    If any of the processes is killed, the database does not change.
    """
    conninfo, variables = connection_arguments(connection.get_connection_params())
    connection.close()
    is_complete = False
    psql = [str(folder / "psql"), "--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1"]
    with tempfile.TemporaryFile() as log:
        with subprocess.Popen(
            [*psql, "--dbname", conninfo], env=variables, stdin=subprocess.PIPE, stdout=log, stderr=log
        ) as process:
            if process.stdin is None:
                raise backup.BackupError("psql has no input.")
            with contextlib.suppress(BrokenPipeError):  # psql has written to the log why it ended.
                process.stdin.write(b"BEGIN;\n" + (REPLACE if replace else b""))
                process.stdin.flush()
                is_complete = _write_sql(process.stdin, file, folder / "pg_restore", variables, log) == 0
                if is_complete:
                    process.stdin.write(b"\nCOMMIT;\n")
                    process.stdin.flush()
        if process.returncode != 0 or not is_complete:
            log.seek(0)
            raise backup.BackupError(log.read(MESSAGE_BYTES).decode("utf-8", "replace").strip() or "psql was killed.")


def _write_sql(sink: IO[bytes], file: Path, pg_restore: Path, variables: dict[str, str], log: IO[bytes]) -> int:
    """Run pg_restore to convert a backup to SQL and write it to `sink`. Return pg_restore's exit status."""
    command = [str(pg_restore), "--no-owner", "--no-privileges", "--exit-on-error", "--file=-"]
    with (
        backup.dump_in(file) as dump,
        subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stdout=sink, stderr=log) as process,
    ):
        if process.stdin is None:
            raise backup.BackupError("pg_restore has no input.")
        with contextlib.suppress(BrokenPipeError):
            shutil.copyfileobj(dump, process.stdin, backup.CHUNK_BYTES)
            process.stdin.close()
    return process.returncode


def _unreadable() -> int:
    """Count the secrets in the restored database that no configured key can decrypt."""
    count = 0
    for table, column in fetch(ENCRYPTED, {}):
        query = sql.SQL("SELECT {column} FROM {table} WHERE {column} IS NOT NULL").format(
            column=sql.Identifier(column), table=sql.Identifier(table)
        )
        with connection.cursor() as cursor:
            cursor.execute(query)
            for (stored,) in cursor:
                try:
                    encryption.decrypt(stored)
                except InvalidToken:
                    count += 1
    return count
