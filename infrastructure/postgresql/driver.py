"""psycopg connections that wait for a slow server, but not for a server that hangs."""

from __future__ import annotations

import time
from typing import Any, TypeVar

import psycopg
from psycopg import *  # noqa: F403  # PEP 249 and Django require psycopg's names in a driver module.
from psycopg.abc import PQGen

from infrastructure.postgresql.hang_detection import PATIENCE_S, server

T = TypeVar("T")


class ProbingConnection(psycopg.Connection[Any]):
    """psycopg connection that probes the server if a response takes long. psycopg calls `wait` for every response."""

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        """Run psycopg's generator.

        If the server hangs, close the connection and raise psycopg.OperationalError.
        """
        server.refuse_while_silent()
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, gen: PQGen[T]) -> PQGen[T]:
        """Wrap psycopg's generator, and probe the server when no data has arrived for PATIENCE_S.

        psycopg sends a false `ready` into the generator each time that its wait for the socket times out.
        """
        probe_at = time.monotonic() + PATIENCE_S
        try:
            state = next(gen)
            while True:
                if ready := (yield state):
                    probe_at = time.monotonic() + PATIENCE_S
                elif time.monotonic() >= probe_at:
                    if server.is_silent():
                        self.close()
                        raise psycopg.OperationalError("the server does not answer")
                    probe_at = time.monotonic() + PATIENCE_S
                state = gen.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result


connect = ProbingConnection.connect
