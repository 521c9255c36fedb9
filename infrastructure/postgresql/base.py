"""Database engine `infrastructure.postgresql` for Django's setting DATABASES."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from infrastructure.postgresql import driver
from infrastructure.postgresql.hang_detection import server


class DatabaseWrapper(base.DatabaseWrapper):
    """Database wrapper that detects closed connections without a query, and detects servers that hang.

    Django's own check sends an extra query in every request. A server that stops or restarts closes its connections,
    which makes the client's socket readable. Between two requests the server sends nothing else.
    """

    Database = driver

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect to the server.

        While it hangs, raise psycopg.OperationalError without an attempt.
        """
        server.refuse_while_silent()
        try:
            connection = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout:
            server.record_timeout()
            raise
        server.record_connection(connection.fileno())
        return connection

    def is_usable(self) -> bool:
        """Return True if the idle connection is open, because its socket has neither data nor end-of-file to read."""
        if self.connection is None or self.connection.closed:
            return False
        poller = select.poll()
        poller.register(self.connection.fileno(), select.POLLIN)
        return not poller.poll(0)
