"""`manage.py backup` and `restore`: everything is restored, or nothing has changed."""

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


def execute(query: str, name: str = "") -> list[tuple[object, ...]]:
    """Execute a query outside a transaction, in the named database or in the tests' own."""
    parameters = connection.get_connection_params() | ({"dbname": name} if name else {})
    with psycopg.connect(**parameters, autocommit=True) as direct:
        cursor = direct.execute(query)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def empty() -> Iterator[str]:
    """Name of an empty database."""
    name = f"restored_{os.getpid()}"
    execute(f"CREATE DATABASE {name}")
    yield name
    execute(f"DROP DATABASE {name} WITH (FORCE)")


def command(name: str, *arguments: object, database: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    known = {"DATABASE_URL": database_url(database or connection.settings_dict["NAME"]), "SECRET_KEY": KEY}
    return run(name, *map(str, arguments), **known | {"REDIS_URL": settings.REDIS_URL} | variables)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Backup of the tests' database, with an organization and a webhook's secret in it."""
    member_of("Home")
    path = tmp_path / "scans.backup"
    ran = command("backup", path)
    assert ran.returncode == 0, ran.stderr
    return path


def content(name: str = "") -> list[str]:
    """Return the dump's rows, and other objects only by name, because PostgreSQL rewrites restored conditions."""
    dump = dump_of_database(connection.settings_dict | ({"NAME": name} if name else {}))
    return [line for line in dump.splitlines() if line.startswith(("INSERT INTO", "-- Name:"))]


def test_a_backup_brings_everything_back(made: Path, empty: str) -> None:
    connection.close()
    ran = command("restore", made, database=empty)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert content(empty) == content()
    assert execute("SELECT name FROM accounts_organization", empty) == [("Home",)]


def test_a_backup_is_its_owners_alone_and_says_what_it_is_of(made: Path) -> None:
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert list(made.parent.iterdir()) == [made]
    manifest = backup.checked(made)
    postgresql = connection.pg_version // 10000  # type: ignore[attr-defined]  # of the wrapper for PostgreSQL
    assert (manifest.postgresql, len(manifest.keys[0])) == (postgresql, 16)
    assert "accounts.0001_initial" in manifest.migrations
    assert KEY not in json.dumps(manifest.keys)


def test_postgresql_reads_a_backup_without_us(made: Path, tmp_path: Path) -> None:
    with tarfile.open(made) as archive:
        archive.extract(backup.DUMP, tmp_path, filter="data")
    listed = subprocess.run(
        [find_binaries() / "pg_restore", "--list", tmp_path / backup.DUMP], capture_output=True, text=True, check=True
    )
    assert "TABLE DATA public accounts_organization" in listed.stdout


def test_a_second_backup_does_not_replace_the_first(made: Path) -> None:
    before = made.read_bytes()
    ran = command("backup", made)
    assert ran.returncode == 1
    assert "exists already" in ran.stderr
    assert made.read_bytes() == before
    assert list(made.parent.iterdir()) == [made]


def test_a_killed_backup_leaves_nothing_that_looks_like_one_and_the_next_succeeds(tmp_path: Path) -> None:
    path, draft = tmp_path / "scans.backup", tmp_path / "scans.backup.part"
    name = connection.settings_dict["NAME"]
    with psycopg.connect(**connection.get_connection_params()) as holding:
        holding.execute("LOCK TABLE accounts_organization")  # pg_dump waits for it
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
    assert [each.name for each in tmp_path.iterdir()] == ["scans.backup"]
    backup.checked(path)


def waiting(name: str) -> list[tuple[object, ...]]:
    return execute(f"SELECT pid FROM pg_stat_activity WHERE datname = '{name}' AND application_name = 'pg_dump'")


def test_a_backup_that_postgresql_breaks_off_is_none(tmp_path: Path) -> None:
    path = tmp_path / "scans.backup"
    name = connection.settings_dict["NAME"]
    with psycopg.connect(**connection.get_connection_params()) as holding:
        holding.execute("LOCK TABLE accounts_organization")
        with start(
            "backup", str(path), DATABASE_URL=database_url(name), SECRET_KEY=KEY, REDIS_URL=settings.REDIS_URL
        ) as process:
            wait_until(lambda: bool(waiting(name)), 60)
            execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg_dump'")
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "The database was not backed up" in errors
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_not_empty_is_left_alone_unless_told(made: Path, empty: str) -> None:
    execute("CREATE TABLE theirs (id int)", empty)
    refused = command("restore", made, database=empty)
    assert refused.returncode == 1
    assert "The database is not empty." in refused.stderr
    assert execute("SELECT count(*) FROM pg_class WHERE relname = 'theirs'", empty) == [(1,)]
    for _ in range(2):  # the second time over the restored data
        ran = command("restore", made, "--replace", database=empty)
        assert ran.returncode == 0, ran.stderr
    connection.close()
    assert content(empty) == content()


def test_a_restore_waits_for_nobody(made: Path, empty: str) -> None:
    with psycopg.connect(**connection.get_connection_params() | {"dbname": empty}):
        ran = command("restore", made, database=empty)
    assert ran.returncode == 1
    assert "stop the service first" in ran.stderr


def test_a_restore_that_is_killed_has_changed_nothing(made: Path, empty: str) -> None:
    execute("CREATE TABLE theirs (id int)", empty)
    # Every new table takes ten minutes, so the restore stays in the middle of its transaction.
    url = database_url(empty)
    with psycopg.connect(**connection.get_connection_params() | {"dbname": empty}, autocommit=True) as other:
        blocker = (
            "CREATE FUNCTION held() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); END $$"
        )
        other.execute(blocker)
        other.execute(
            "CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION held()"
        )
    with start(
        "restore", str(made), "--replace", DATABASE_URL=url, SECRET_KEY=KEY, REDIS_URL=settings.REDIS_URL
    ) as ran:
        busy = f"SELECT pid FROM pg_stat_activity WHERE datname = '{empty}' AND application_name = 'psql'"
        wait_until(lambda: bool(execute(busy)), 60)
        ran.send_signal(signal.SIGKILL)
    execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{empty}'")
    assert execute("SELECT count(*) FROM pg_class WHERE relname = 'theirs'", empty) == [(1,)]
    assert execute("SELECT count(*) FROM pg_class WHERE relname = 'accounts_organization'", empty) == [(0,)]


def test_keys_that_do_not_fit_are_told_before_anything_is_changed(made: Path, empty: str) -> None:
    refused = command("restore", made, database=empty, SECRET_KEY=OTHER_KEY)
    assert refused.returncode == 1
    assert "encrypted with another key" in refused.stderr
    assert command("restore", made, database=empty, SECRET_KEY=OTHER_KEY, ENCRYPTION_KEYS=KEY).returncode == 0


def test_secrets_that_no_key_fits_are_counted(tmp_path: Path, empty: str) -> None:
    owner = member_of("Home")
    path = tmp_path / "scans.backup"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_name = 'webhooks_webhook' AND column_name LIKE 'encrypted%'"
        )
        assert cursor.fetchall() != []
    owner.api.post("/api/webhooks", {"url": "https://example.com/hook", "events": ["scan.completed"]})
    made = execute("SELECT count(*) FROM webhooks_webhook")
    assert made == [(1,)]
    assert command("backup", path).returncode == 0
    ran = command("restore", path, "--without-keys", database=empty)
    assert ran.returncode == 0
    assert "1 secrets cannot be decrypted" in ran.stderr  # it is encrypted with the tests' key


@pytest.mark.parametrize("damage", ["cut", "changed", "other"])
def test_a_damaged_backup_is_told_before_anything_is_changed(made: Path, empty: str, damage: str) -> None:
    data = bytearray(made.read_bytes())
    if damage == "cut":
        made.write_bytes(data[: len(data) // 2])
    elif damage == "changed":
        data[5000] ^= 1
        made.write_bytes(data)
    else:
        made.write_bytes(b"PGDMP" + bytes(2000))
    ran = command("restore", made, "--replace", database=empty)
    assert ran.returncode == 1
    assert "damaged" in ran.stderr
    assert "Nothing was changed." in ran.stderr


def test_a_backup_of_a_newer_version_is_refused(made: Path, empty: str) -> None:
    newer = made.with_name("newer.backup")
    with backup.dump_in(made) as dump, backup.draft_of(newer) as file:
        manifest = backup.checked(made)
        backup.write(file, dump, backup.Manifest("9.0", "", manifest.postgresql, ["scans.9999_x"], manifest.keys))
    ran = command("restore", newer, database=empty)
    assert ran.returncode == 1
    assert "made by a newer version, 9.0" in ran.stderr


def fake(folder: Path, version: str) -> Path:
    folder.mkdir()
    for name in ("pg_dump", "pg_restore", "psql"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


def test_the_programs_are_those_of_the_servers_version(tmp_path: Path) -> None:
    older, newer = fake(tmp_path / "older", "15.18 (Debian 15.18-0+deb12u1)"), fake(tmp_path / "newer", "18.3")
    (tmp_path / "none").mkdir()
    folders = [tmp_path / "none", older, newer]
    assert version_of(older) == 15
    assert clients_for(18, folders) == newer
    assert clients_for(15, folders) == older
    with pytest.raises(NoClients, match="needs pg_dump, pg_restore and psql 17; found: 15, 18"):
        clients_for(17, folders)
