"""The database engine `config.postgresql`."""

from __future__ import annotations

import select

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
