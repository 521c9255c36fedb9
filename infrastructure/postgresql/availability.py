"""Distinction of database errors: an outage or missing migrations, where requests get a 503, or a bug."""

from __future__ import annotations

import logging

from django.db import DatabaseError, InterfaceError, OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor
from psycopg.errors import UndefinedColumn, UndefinedTable

from infrastructure.postgresql.silence import log_failure

MISSING = (UndefinedTable.sqlstate, UndefinedColumn.sqlstate)

logger = logging.getLogger(__name__)


def is_unavailable(error: BaseException) -> bool:
    """Return True, and log the reason, if PostgreSQL does not answer or lacks migrations. False for other errors."""
    if isinstance(error, OperationalError | InterfaceError):
        log_failure(error)
        return True
    if isinstance(error, ProgrammingError) and getattr(error.__cause__, "sqlstate", None) in MISSING:
        return _is_behind()
    return False


def has_pending_migrations() -> bool:
    """Return True if a migration of this code is not applied. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _is_behind() -> bool:
    try:
        if not has_pending_migrations():
            return False
    except DatabaseError:
        return False
    logger.error("the database is older than this version: run `manage.py prepare`")
    return True
