"""Tests for `manage.py backup` and `manage.py restore`."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from operations.stack import backup
from operations.stack.clients import NoClients, clients_for, version_of
from operations.stack.postgres import find_binaries
from tests.accounts.test_command_create_api_key import database_url
from tests.command_line import run, start
from tests.database_dump import dump_of_database
from tests.factories import member_of
from tests.operations.stack.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

KEY, OTHER_KEY = "k" * 40, "o" * 40


def execute_query(query: str, name: str = "") -> list[tuple[object, ...]]:
    """Execute a query outside a transaction.

    It runs in the specified database or in the tests' database.
    """
    parameters = connection.get_connection_params() | ({"dbname": name} if name else {})
    with psycopg.connect(**parameters, autocommit=True) as direct:
        cursor = direct.execute(query)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def empty_database() -> Iterator[str]:
    """Create an empty database and yield its name."""
    name = f"restored_{os.getpid()}"
    execute_query(f"CREATE DATABASE {name}")
    yield name
    execute_query(f"DROP DATABASE {name} WITH (FORCE)")


def command(name: str, *arguments: object, database: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    defaults = {"DATABASE_URL": database_url(database or connection.settings_dict["NAME"]), "SECRET_KEY": KEY}
    return run(name, *map(str, arguments), **defaults | {"REDIS_URL": settings.REDIS_URL} | variables)


@pytest.fixture
def backup_file(tmp_path: Path) -> Path:
    """Path of a backup of the tests' database.

    The database contains an organization.
    """
    member_of("Home")
    path = tmp_path / "scans.backup"
    process = command("backup", path)
    assert process.returncode == 0, process.stderr
    return path


def comparable_dump(name: str = "") -> list[str]:
    """Return a dump's rows and the names of its other objects.

    PostgreSQL rewrites conditions when it restores them, so definitions are left out.
    """
    dump = dump_of_database(connection.settings_dict | ({"NAME": name} if name else {}))
    return [line for line in dump.splitlines() if line.startswith(("INSERT INTO", "-- Name:"))]


def test_restored_database_equals_original(backup_file: Path, empty_database: str) -> None:
    connection.close()
    process = command("restore", backup_file, database=empty_database)
    assert (process.returncode, process.stderr) == (0, "")
    assert comparable_dump(empty_database) == comparable_dump()
    assert execute_query("SELECT name FROM accounts_organization", empty_database) == [("Home",)]


def test_backup_file_is_private(backup_file: Path) -> None:
    assert stat.S_IMODE(backup_file.stat().st_mode) == 0o600
    assert list(backup_file.parent.iterdir()) == [backup_file]
    manifest = backup.verified_manifest(backup_file)
    postgresql = connection.pg_version // 10000  # type: ignore[attr-defined]  # Only PostgreSQL's wrapper has it.
    assert (manifest.postgresql, len(manifest.keys[0])) == (postgresql, 16)
    assert "accounts.0001_initial" in manifest.migrations
    assert KEY not in json.dumps(manifest.keys)


def test_pg_restore_reads_the_extracted_dump(backup_file: Path, tmp_path: Path) -> None:
    with tarfile.open(backup_file) as archive:
        archive.extract(backup.DUMP, tmp_path, filter="data")
    process = subprocess.run(
        [find_binaries() / "pg_restore", "--list", tmp_path / backup.DUMP], capture_output=True, text=True, check=True
    )
    assert "TABLE DATA public accounts_organization" in process.stdout


def test_backup_does_not_overwrite_a_file(backup_file: Path) -> None:
    before = backup_file.read_bytes()
    process = command("backup", backup_file)
    assert process.returncode == 1
    assert "exists already" in process.stderr
    assert backup_file.read_bytes() == before
    assert list(backup_file.parent.iterdir()) == [backup_file]


def test_killed_backup_leaves_no_file(tmp_path: Path) -> None:
    path, draft = tmp_path / "scans.backup", tmp_path / "scans.backup.part"
    name = connection.settings_dict["NAME"]
    with psycopg.connect(**connection.get_connection_params()) as holding:
        holding.execute("LOCK TABLE accounts_organization")  # pg_dump waits for this lock.
        process = start(
            "backup", str(path), DATABASE_URL=database_url(name), SECRET_KEY=KEY, REDIS_URL=settings.REDIS_URL
        )
        with process:
            wait_until(lambda: draft.exists() and bool(waiting(name)), 60)
            second = command("backup", path)
            assert second.returncode == 1
            assert "Another backup is being written" in second.stderr
            process.send_signal(signal.SIGKILL)
    assert not path.exists()
    wait_until(lambda: not waiting(name), 60)
    assert command("backup", path).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["scans.backup"]
    backup.verified_manifest(path)


def waiting(name: str) -> list[tuple[object, ...]]:
    return execute_query(f"SELECT pid FROM pg_stat_activity WHERE datname = '{name}' AND application_name = 'pg_dump'")


def test_failed_pg_dump_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "scans.backup"
    name = connection.settings_dict["NAME"]
    with psycopg.connect(**connection.get_connection_params()) as holding:
        holding.execute("LOCK TABLE accounts_organization")
        with start(
            "backup", str(path), DATABASE_URL=database_url(name), SECRET_KEY=KEY, REDIS_URL=settings.REDIS_URL
        ) as process:
            wait_until(lambda: bool(waiting(name)), 60)
            execute_query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg_dump'")
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "The database was not backed up" in errors
    assert list(tmp_path.iterdir()) == []


def test_nonempty_database_requires_replace(backup_file: Path, empty_database: str) -> None:
    execute_query("CREATE TABLE theirs (id int)", empty_database)
    refused = command("restore", backup_file, database=empty_database)
    assert refused.returncode == 1
    assert "The database is not empty." in refused.stderr
    assert execute_query("SELECT count(*) FROM pg_class WHERE relname = 'theirs'", empty_database) == [(1,)]
    for _ in range(2):  # The second restore replaces the data of the first one.
        process = command("restore", backup_file, "--replace", database=empty_database)
        assert process.returncode == 0, process.stderr
    connection.close()
    assert comparable_dump(empty_database) == comparable_dump()


def test_restore_refuses_open_connections(backup_file: Path, empty_database: str) -> None:
    with psycopg.connect(**connection.get_connection_params() | {"dbname": empty_database}):
        process = command("restore", backup_file, database=empty_database)
    assert process.returncode == 1
    assert "stop the service first" in process.stderr


def test_killed_restore_changes_nothing(backup_file: Path, empty_database: str) -> None:
    execute_query("CREATE TABLE theirs (id int)", empty_database)
    # CREATE TABLE takes ten minutes, so that the restore can be killed meanwhile.
    url = database_url(empty_database)
    with psycopg.connect(**connection.get_connection_params() | {"dbname": empty_database}, autocommit=True) as other:
        blocker = (
            "CREATE FUNCTION held() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); END $$"
        )
        other.execute(blocker)
        other.execute(
            "CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION held()"
        )
    with start(
        "restore", str(backup_file), "--replace", DATABASE_URL=url, SECRET_KEY=KEY, REDIS_URL=settings.REDIS_URL
    ) as process:
        busy = f"SELECT pid FROM pg_stat_activity WHERE datname = '{empty_database}' AND application_name = 'psql'"
        wait_until(lambda: bool(execute_query(busy)), 60)
        process.send_signal(signal.SIGKILL)
    execute_query(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{empty_database}'")
    assert execute_query("SELECT count(*) FROM pg_class WHERE relname = 'theirs'", empty_database) == [(1,)]
    assert execute_query("SELECT count(*) FROM pg_class WHERE relname = 'accounts_organization'", empty_database) == [
        (0,)
    ]


def test_restore_with_other_key_is_refused(backup_file: Path, empty_database: str) -> None:
    refused = command("restore", backup_file, database=empty_database, SECRET_KEY=OTHER_KEY)
    assert refused.returncode == 1
    assert "encrypted with another key" in refused.stderr
    assert (
        command("restore", backup_file, database=empty_database, SECRET_KEY=OTHER_KEY, ENCRYPTION_KEYS=KEY).returncode
        == 0
    )


def test_restore_counts_undecryptable_secrets(tmp_path: Path, empty_database: str) -> None:
    owner = member_of("Home")
    path = tmp_path / "scans.backup"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_name = 'webhooks_webhook' AND column_name LIKE 'encrypted%'"
        )
        assert cursor.fetchall() != []
    owner.api.post("/api/webhooks", {"url": "https://example.com/hook", "events": ["scan.completed"]})
    assert execute_query("SELECT count(*) FROM webhooks_webhook") == [(1,)]
    assert command("backup", path).returncode == 0
    process = command("restore", path, "--without-keys", database=empty_database)
    assert process.returncode == 0
    assert "1 secrets cannot be decrypted" in process.stderr  # The secret is encrypted with the tests' key.


@pytest.mark.parametrize("damage", ["cut", "changed", "other"])
def test_restore_refuses_damaged_backup(backup_file: Path, empty_database: str, damage: str) -> None:
    data = bytearray(backup_file.read_bytes())
    if damage == "cut":
        backup_file.write_bytes(data[: len(data) // 2])
    elif damage == "changed":
        data[5000] ^= 1
        backup_file.write_bytes(data)
    else:
        backup_file.write_bytes(b"PGDMP" + bytes(2000))
    process = command("restore", backup_file, "--replace", database=empty_database)
    assert process.returncode == 1
    assert "damaged" in process.stderr
    assert "Nothing was changed." in process.stderr


def test_restore_refuses_backup_of_newer_version(backup_file: Path, empty_database: str) -> None:
    newer = backup_file.with_name("newer.backup")
    with backup.dump_in(backup_file) as dump, backup.draft_of(newer) as file:
        manifest = backup.verified_manifest(backup_file)
        backup.write(file, dump, backup.Manifest("9.0", "", manifest.postgresql, ["scans.9999_x"], manifest.keys))
    process = command("restore", newer, database=empty_database)
    assert process.returncode == 1
    assert "made by a newer version, 9.0" in process.stderr


def fake_programs(folder: Path, version: str) -> Path:
    """Create fake PostgreSQL clients and return their folder.

    They print only this version.
    """
    folder.mkdir()
    for name in ("pg_dump", "pg_restore", "psql"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


def test_clients_of_the_required_version_are_found(tmp_path: Path) -> None:
    older = fake_programs(tmp_path / "older", "15.18 (Debian 15.18-0+deb12u1)")
    newer = fake_programs(tmp_path / "newer", "18.3")
    (tmp_path / "none").mkdir()
    folders = [tmp_path / "none", older, newer]
    assert version_of(older) == 15
    assert clients_for(18, folders) == newer
    assert clients_for(15, folders) == older
    with pytest.raises(NoClients, match="needs pg_dump, pg_restore and psql 17; found: 15, 18"):
        clients_for(17, folders)
