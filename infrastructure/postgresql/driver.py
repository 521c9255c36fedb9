"""psycopg with connections that wait for a slow server, but not for one that hangs."""

from __future__ import annotations

import time
from typing import Any, TypeVar

import psycopg
from psycopg import *  # noqa: F403  # the names that PEP 249 and Django require of a driver
from psycopg.abc import PQGen

from infrastructure.postgresql.silence import PATIENCE_S, server

T = TypeVar("T")


class PatientConnection(psycopg.Connection[Any]):
    """Connection that probes the server when an answer takes long. psycopg calls `wait` whenever it waits for it."""

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        """Run the generator. When the server is silent, closes the connection and raises psycopg.OperationalError."""
        server.refuse_while_silent()
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, gen: PQGen[T]) -> PQGen[T]:
        """Wrap the generator, and probe the server when nothing has come for PATIENCE_S.

        psycopg sends a false `ready` into the generator each time that its wait for the socket times out.
        """
        look_at = time.monotonic() + PATIENCE_S
        try:
            state = next(gen)
            while True:
                if ready := (yield state):
                    look_at = time.monotonic() + PATIENCE_S
                elif time.monotonic() >= look_at:
                    if server.is_silent():
                        self.close()
                        raise psycopg.OperationalError("the server does not answer")
                    look_at = time.monotonic() + PATIENCE_S
                state = gen.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result


connect = PatientConnection.connect
