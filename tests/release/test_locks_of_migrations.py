"""Tests that no migration locks two used tables.

That could cause a deadlock.
"""

from __future__ import annotations

import functools
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.apps import AppConfig, apps
from django.conf import settings
from django.db import connection, connections, migrations, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState
from pytest_django import DjangoDbBlocker

from operations.stack.management.commands.prepare import migrate
from tests.migrations import migrations_since
from tests.operations.stack.processes import wait_until
from tests.releases import PREVIOUS, ROOT, needs_previous

# Locks on these tables block readers or writers until the transaction ends.
LOCKED_TABLES = """
    SELECT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r'
    WHERE l.pid = pg_backend_pid() AND c.relnamespace = 'public'::regnamespace
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


@pytest.fixture
def empty_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[BaseDatabaseWrapper]:
    """Empty database on the tests' server."""
    name = f"migrated_{os.getpid()}"
    with (
        django_db_blocker.unblock(),
        psycopg.connect(**connection.get_connection_params(), autocommit=True) as direct,
    ):
        direct.execute(f"CREATE DATABASE {name}")
        connections.settings[name] = connection.settings_dict | {"NAME": name}
        try:
            yield connections[name]
        finally:
            connections[name].close()
            del connections[name], connections.settings[name]
            direct.execute(f"DROP DATABASE {name} WITH (FORCE)")


def tables_locked_together(database: BaseDatabaseWrapper, used_tables: set[str], run: Callable[[], object]) -> set[str]:
    """Call `run` and return the used tables that were locked together."""
    tables_locked_at_once: set[str] = set()

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        # The cursor of psycopg is not wrapped, so `watch` does not call itself.
        with database.connection.cursor() as cursor:
            locked = {name for (name,) in cursor.execute(LOCKED_TABLES).fetchall()} & used_tables
        if len(locked) > 1:
            tables_locked_at_once.update(locked)
        return result

    with database.execute_wrapper(watch):
        run()
    return tables_locked_at_once


@needs_previous
def test_migrations_do_not_lock_two_used_tables(empty_database: BaseDatabaseWrapper) -> None:
    previous_settings = subprocess.run(
        ["git", "show", f"{PREVIOUS}:config/settings.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    # An entry of INSTALLED_APPS is a module or an app configuration.
    entries = {AppConfig.create(entry).label: entry for entry in settings.INSTALLED_APPS}
    names = {config.label: (config.name, entries[config.label]) for config in apps.get_app_configs()}
    new_apps = {label for label, both in names.items() if not any(f'"{entry}' in previous_settings for entry in both)}
    executor = MigrationExecutor(empty_database)
    ours = set(migrations_since(executor.loader))
    planned = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    keys = [(migration.app_label, migration.name) for migration in planned]
    added = [key for key in keys if key in ours or key[0] in new_apps]
    executor.migrate([key for key in keys if key not in added])
    used_tables = set(empty_database.introspection.table_names())
    assert len(used_tables) > 20

    locked = {}
    for app, name in added:
        migrate = functools.partial(MigrationExecutor(empty_database).migrate, [(app, name)])
        locked[f"{app}.{name}"] = tables_locked_together(empty_database, used_tables, migrate)
    assert {name: sorted(tables) for name, tables in locked.items() if tables} == {}


def test_two_locked_tables_are_detected(empty_database: BaseDatabaseWrapper) -> None:
    project = ProjectState()
    for name in ("One", "Other"):
        apply(empty_database, project, migrations.CreateModel(name, [("id", models.BigAutoField(primary_key=True))]))
    used_tables = {"scans_one", "scans_other"}

    assert (
        tables_locked_together(
            empty_database,
            used_tables,
            lambda: apply(empty_database, project, field("One", "note"), field("Other", "note")),
        )
        == used_tables
    )
    assert (
        tables_locked_together(
            empty_database,
            used_tables,
            lambda: apply(empty_database, project, field("One", "two"), field("One", "three")),
        )
        == set()
    )


def field(model: str, name: str) -> migrations.AddField:
    return migrations.AddField(model, name, models.TextField(db_default=""))


def apply(database: BaseDatabaseWrapper, project: ProjectState, *operations: Any) -> None:
    migration = migrations.Migration("made", "scans")
    # Django's autodetector also assigns this attribute.
    migration.operations = list(operations)  # type: ignore[misc]
    with database.schema_editor(atomic=True) as editor:
        migration.apply(project, editor)


def test_migration_waiting_for_a_lock_is_repeated(
    empty_database: BaseDatabaseWrapper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    MigrationExecutor(empty_database).migrate([("accounts", "0001_initial")])
    monkeypatch.setattr("infrastructure.apps.LOCK_TIMEOUT_S", 0.2)
    monkeypatch.setattr("operations.stack.management.commands.prepare.PAUSE_S", 0)
    parameters = empty_database.get_connection_params()
    with psycopg.connect(**parameters) as writer, psycopg.connect(**parameters, autocommit=True) as direct:
        # A new foreign key waits for transactions that have written to the table.
        writer.execute("UPDATE accounts_organization SET name = name")  # The transaction remains open.

        def end_after_the_lock_timeout() -> None:
            wait_until(lambda: "is retried" in caplog.text, 60)
            writer.rollback()

        thread = threading.Thread(target=end_after_the_lock_timeout)
        thread.start()
        migrate(empty_database.alias)
        thread.join()
        assert direct.execute("SELECT count(*) FROM scans_scan").fetchone() == (0,)
    assert "lock timeout" in caplog.text
