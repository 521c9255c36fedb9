"""Locks of migrations: none locks two tables in use, as a query that locks them in the other order would deadlock."""

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

# Tables on which the transaction holds a lock, until its end, that keeps others from reading or writing.
HELD = """
    SELECT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r'
    WHERE l.pid = pg_backend_pid() AND c.relnamespace = 'public'::regnamespace
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


@pytest.fixture
def empty(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[BaseDatabaseWrapper]:
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


def held_by(database: BaseDatabaseWrapper, in_use: set[str], run: Callable[[], object]) -> set[str]:
    """Call `run`, and return the tables in use that were locked at the same time; empty if never more than one was."""
    together: set[str] = set()

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        done = execute(sql, params, many, context)
        with database.connection.cursor() as cursor:  # psycopg's own cursor, which `watch` does not see
            held = {name for (name,) in cursor.execute(HELD).fetchall()} & in_use
        if len(held) > 1:
            together.update(held)
        return done

    with database.execute_wrapper(watch):
        run()
    return together


@needs_previous
def test_no_new_migration_locks_two_tables_that_are_in_use(empty: BaseDatabaseWrapper) -> None:
    before = subprocess.run(
        ["git", "show", f"{PREVIOUS}:config/settings.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    # An entry is the app's module or its configuration: the admin's is of ours.
    entries = {AppConfig.create(each).label: each for each in settings.INSTALLED_APPS}
    names = {config.label: (config.name, entries[config.label]) for config in apps.get_app_configs()}
    unknown = {label for label, both in names.items() if not any(f'"{each}' in before for each in both)}
    executor = MigrationExecutor(empty)
    ours = set(added_since(executor.loader))
    planned = [each for each, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    keys = [(each.app_label, each.name) for each in planned]
    added = [key for key in keys if key in ours or key[0] in unknown]
    executor.migrate([key for key in keys if key not in added])
    in_use = set(empty.introspection.table_names())
    assert len(in_use) > 20

    found = {}
    for app, name in added:
        migrate = functools.partial(MigrationExecutor(empty).migrate, [(app, name)])
        found[f"{app}.{name}"] = held_by(empty, in_use, migrate)
    assert {name: sorted(tables) for name, tables in found.items() if tables} == {}


def test_two_tables_that_are_locked_are_found(empty: BaseDatabaseWrapper) -> None:
    project = ProjectState()
    for name in ("One", "Other"):
        apply(empty, project, migrations.CreateModel(name, [("id", models.BigAutoField(primary_key=True))]))
    in_use = {"scans_one", "scans_other"}

    assert held_by(empty, in_use, lambda: apply(empty, project, field("One", "note"), field("Other", "note"))) == in_use
    assert held_by(empty, in_use, lambda: apply(empty, project, field("One", "two"), field("One", "three"))) == set()


def field(model: str, name: str) -> migrations.AddField:
    return migrations.AddField(model, name, models.TextField(db_default=""))


def apply(database: BaseDatabaseWrapper, project: ProjectState, *operations: Any) -> None:
    migration = migrations.Migration("made", "scans")
    migration.operations = list(operations)  # type: ignore[misc]  # of the instance, as in Django's autodetector
    with database.schema_editor(atomic=True) as editor:
        migration.apply(project, editor)


def test_a_migration_that_waits_for_a_table_too_long_is_tried_again(
    empty: BaseDatabaseWrapper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    MigrationExecutor(empty).migrate([("accounts", "0001_initial")])
    monkeypatch.setattr("infrastructure.apps.LOCK_TIMEOUT_S", 0.2)
    monkeypatch.setattr("operations.stack.management.commands.prepare.PAUSE_S", 0)
    parameters = empty.get_connection_params()
    with psycopg.connect(**parameters) as writer, psycopg.connect(**parameters, autocommit=True) as direct:
        # Adding a foreign key waits for transactions that write to the referenced table.
        writer.execute("UPDATE accounts_organization SET name = name")  # the transaction stays open

        def end_when_it_gave_way() -> None:
            wait_until(lambda: "tried again" in caplog.text, 60)
            writer.rollback()

        ends = threading.Thread(target=end_when_it_gave_way)
        ends.start()
        migrate(empty.alias)
        ends.join()
        assert direct.execute("SELECT count(*) FROM scans_scan").fetchone() == (0,)
    assert "lock timeout" in caplog.text
