"""The database engine `config.postgresql`."""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.utils.functional import cached_property
from psycopg.adapt import Transformer
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult


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

    def fetch_prepared(self, sql: str, params: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        """The rows of a statement that is prepared once a connection. Raises psycopg's errors.

        Straight to libpq: what a cursor adds, measured between two other round trips, costs as much as the
        round trip itself. It waits for the server without a time-out, as a cursor does.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        if self._prepared.connection is not self.connection:
            self._prepared = _Statements(self.connection)
        return self._prepared.fetch(sql, params)

    @cached_property
    def _prepared(self) -> _Statements:
        return _Statements(self.connection)


class _Statements:
    """The statements that one connection has prepared."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._names: dict[str, bytes] = {}
        self._transformer = Transformer(connection)

    def fetch(self, sql: str, params: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        """The rows of a statement; raises psycopg's errors."""
        pgconn = self.connection.pgconn
        name = self._names.get(sql)
        if name is None:
            name = f"wss_{len(self._names)}".encode()
            self._accept(pgconn.prepare(name, sql.encode()), ExecStatus.COMMAND_OK)
            self._names[sql] = name
        # Without types: libpq declares these bytes, although it takes None for NULL.
        result = pgconn.exec_prepared(name, params)  # type: ignore[arg-type]
        self._accept(result, ExecStatus.TUPLES_OK)
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def _accept(self, result: PGresult, status: ExecStatus) -> None:
        if result.status == status:
            return
        if self.connection.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError(result.get_error_message())
        raise psycopg.errors.error_from_result(result)
