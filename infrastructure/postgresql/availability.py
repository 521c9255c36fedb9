"""Check that PostgreSQL answers and accepts writes and that all migrations are applied.

If not, return a 503.
"""

from __future__ import annotations

import logging

from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor
from psycopg.errors import DiskFull, UndefinedColumn, UndefinedTable

from infrastructure.postgresql.hang_detection import log_failure

MISSING = (UndefinedTable.sqlstate, UndefinedColumn.sqlstate)

logger = logging.getLogger(__name__)


def is_unavailable(error: BaseException) -> bool:
    """Return True, and log the reason, if an error means that PostgreSQL does not answer or lacks migrations."""
    if isinstance(error, OperationalError | InterfaceError):
        log_failure(error)
        return True
    if isinstance(error, ProgrammingError) and getattr(error.__cause__, "sqlstate", None) in MISSING:
        return _lacks_migrations()
    return False


def has_pending_migrations() -> bool:
    """Return True if a migration of this code is not applied.

    Raises DatabaseError.
    """
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def write_to_postgresql() -> None:
    """Make PostgreSQL write to its disk. Raises DatabaseError.

    A read proves less, because it works even if the disk is full.

    An exported snapshot is a small file in the data directory, which PostgreSQL deletes after the transaction. So no
    table grows.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_export_snapshot()")


def is_disk_full(error: DatabaseError) -> bool:
    """Return True if PostgreSQL could not write because its disk is full."""
    return getattr(error.__cause__, "sqlstate", None) == DiskFull.sqlstate


def _lacks_migrations() -> bool:
    """Return True, and log it, if migrations are pending.

    False if the database cannot be queried.
    """
    try:
        if not has_pending_migrations():
            return False
    except DatabaseError:
        return False
    logger.error("the database is older than this version: run `manage.py prepare`")
    return True
