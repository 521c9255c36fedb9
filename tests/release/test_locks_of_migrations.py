"""Locks of migrations: no migration locks two used tables, because a query in the opposite order would deadlock."""

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
from tests.migrations import added_since
from tests.operations.stack.processes import wait_until
from tests.releases import PREVIOUS, ROOT, needs_previous

# Tables on which the transaction holds a lock that blocks readers or writers until its end.
LOCKED_TABLES = """
    SELECT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r'
    WHERE l.pid = pg_backend_pid() AND c.relnamespace = 'public'::regnamespace
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


@pytest.fixture
def empty_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[BaseDatabaseWrapper]:
    """Empty database on the server of the tests."""
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


def tables_locked_together(database: BaseDatabaseWrapper, in_use: set[str], run: Callable[[], object]) -> set[str]:
    """Call `run`, and return the used tables that were locked at the same time, or an empty set."""
    locked_together: set[str] = set()

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        # The cursor of psycopg is not wrapped, so `watch` does not call itself.
        with database.connection.cursor() as cursor:
            locked = {name for (name,) in cursor.execute(LOCKED_TABLES).fetchall()} & in_use
        if len(locked) > 1:
            locked_together.update(locked)
        return result

    with database.execute_wrapper(watch):
        run()
    return locked_together


@needs_previous
def test_new_migrations_do_not_lock_two_used_tables(empty_database: BaseDatabaseWrapper) -> None:
    previous_settings = subprocess.run(
        ["git", "show", f"{PREVIOUS}:config/settings.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    # An entry of INSTALLED_APPS is a module or an app configuration, such as the one of the admin.
    entries = {AppConfig.create(entry).label: entry for entry in settings.INSTALLED_APPS}
    names = {config.label: (config.name, entries[config.label]) for config in apps.get_app_configs()}
    new_apps = {label for label, both in names.items() if not any(f'"{entry}' in previous_settings for entry in both)}
    executor = MigrationExecutor(empty_database)
    ours = set(added_since(executor.loader))
    planned = [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    keys = [(migration.app_label, migration.name) for migration in planned]
    added = [key for key in keys if key in ours or key[0] in new_apps]
    executor.migrate([key for key in keys if key not in added])
    in_use = set(empty_database.introspection.table_names())
    assert len(in_use) > 20

    locked = {}
    for app, name in added:
        migrate = functools.partial(MigrationExecutor(empty_database).migrate, [(app, name)])
        locked[f"{app}.{name}"] = tables_locked_together(empty_database, in_use, migrate)
    assert {name: sorted(tables) for name, tables in locked.items() if tables} == {}


def test_two_locked_tables_are_detected(empty_database: BaseDatabaseWrapper) -> None:
    project = ProjectState()
    for name in ("One", "Other"):
        apply(empty_database, project, migrations.CreateModel(name, [("id", models.BigAutoField(primary_key=True))]))
    in_use = {"scans_one", "scans_other"}

    assert (
        tables_locked_together(
            empty_database, in_use, lambda: apply(empty_database, project, field("One", "note"), field("Other", "note"))
        )
        == in_use
    )
    assert (
        tables_locked_together(
            empty_database, in_use, lambda: apply(empty_database, project, field("One", "two"), field("One", "three"))
        )
        == set()
    )


def field(model: str, name: str) -> migrations.AddField:
    return migrations.AddField(model, name, models.TextField(db_default=""))


def apply(database: BaseDatabaseWrapper, project: ProjectState, *operations: Any) -> None:
    migration = migrations.Migration("made", "scans")
    # Only this migration has them, as in Django's autodetector.
    migration.operations = list(operations)  # type: ignore[misc]
    with database.schema_editor(atomic=True) as editor:
        migration.apply(project, editor)


def test_migration_is_repeated_if_it_waits_too_long_for_a_lock(
    empty_database: BaseDatabaseWrapper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    MigrationExecutor(empty_database).migrate([("accounts", "0001_initial")])
    monkeypatch.setattr("infrastructure.apps.LOCK_TIMEOUT_S", 0.2)
    monkeypatch.setattr("operations.stack.management.commands.prepare.PAUSE_S", 0)
    parameters = empty_database.get_connection_params()
    with psycopg.connect(**parameters) as writer, psycopg.connect(**parameters, autocommit=True) as direct:
        # Adding a foreign key waits for transactions that have written to the referenced table.
        writer.execute("UPDATE accounts_organization SET name = name")  # The transaction stays open.

        def end_after_the_lock_timeout() -> None:
            wait_until(lambda: "tried again" in caplog.text, 60)
            writer.rollback()

        thread = threading.Thread(target=end_after_the_lock_timeout)
        thread.start()
        migrate(empty_database.alias)
        thread.join()
        assert direct.execute("SELECT count(*) FROM scans_scan").fetchone() == (0,)
    assert "lock timeout" in caplog.text
