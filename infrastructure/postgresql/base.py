"""The database engine `infrastructure.postgresql`."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from infrastructure.postgresql import driver
from infrastructure.postgresql.silence import server


class DatabaseWrapper(base.DatabaseWrapper):
    """Detects a dead connection without a query, and a server that hangs.

    Django's own check sends a query before the first one of every request. A server that stops or restarts closes its
    connections, which makes the socket readable; between two requests the server sends nothing else.
    """

    Database = driver

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect. Raises psycopg.OperationalError at once while the server is known to hang."""
        server.refuse_while_silent()
        try:
            connection = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout:
            server.let_wait()
            raise
        server.met(connection.fileno())
        return connection

    def is_usable(self) -> bool:
        """Return True if the idle connection has nothing to read, neither data nor end-of-file."""
        if self.connection is None or self.connection.closed:
            return False
        poller = select.poll()
        poller.register(self.connection.fileno(), select.POLLIN)
        return not poller.poll(0)
