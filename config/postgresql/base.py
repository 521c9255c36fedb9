"""The database engine `config.postgresql`."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Notices a connection that died with the server without asking the server.

    Django's own check sends a query before the first one of every request. A server that ends or restarts
    closes its connections, which the socket knows: between two requests it has nothing else to say.
    """

    def is_usable(self) -> bool:
        """Whether nothing has come in, not even the end, on a connection that waits for nothing."""
        if self.connection is None or self.connection.closed:
            return False
        poller = select.poll()
        poller.register(self.connection.fileno(), select.POLLIN)
        return not poller.poll(0)

    def prepared_cursor(self) -> psycopg.Cursor[Any]:
        """A cursor whose queries are prepared on the server, kept as long as the connection."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        cursor: psycopg.Cursor[Any] | None = getattr(self, "_prepared_cursor", None)
        if cursor is None or cursor.connection is not self.connection:
            # Not the connection's own kind: Django's puts the values into the text of the query.
            cursor = self._prepared_cursor = psycopg.Cursor(self.connection)
        return cursor
