"""The database engine `infrastructure.postgresql`."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from infrastructure.postgresql import driver
from infrastructure.postgresql.silence import server


class DatabaseWrapper(base.DatabaseWrapper):
    """Notices a connection that died with the server without asking the server, and a server that hangs.

    Django's own check sends a query before the first one of every request. A server that ends or restarts
    closes its connections, which the socket knows: between two requests it has nothing else to say.
    """

    Database = driver

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection, refused at once while the server is known to hang."""
        server.refuse_while_silent()
        try:
            connection = super().get_new_connection(conn_params)
        except psycopg.errors.ConnectionTimeout:
            server.let_wait()
            raise
        server.met(connection.fileno())
        return connection

    def is_usable(self) -> bool:
        """Whether nothing has come in, not even the end, on a connection that waits for nothing."""
        if self.connection is None or self.connection.closed:
            return False
        poller = select.poll()
        poller.register(self.connection.fileno(), select.POLLIN)
        return not poller.poll(0)
