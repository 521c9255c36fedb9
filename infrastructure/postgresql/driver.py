"""psycopg, whose connections wait for a slow server, and not for one that has fallen silent."""

from __future__ import annotations

import time
from typing import Any, TypeVar

import psycopg
from psycopg import *  # noqa: F403  # what PEP 249 asks of a driver, and Django of this one
from psycopg.abc import PQGen

from infrastructure.postgresql.silence import PATIENCE_S, server

T = TypeVar("T")


class PatientConnection(psycopg.Connection[Any]):
    """Every wait for the server goes through `wait`; in it, the server is asked after a while whether it answers."""

    def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        """Raises psycopg.OperationalError, closed, when the server is silent."""
        server.refuse_while_silent()
        return super().wait(self._watched(gen), *args, **kwargs)

    def _watched(self, gen: PQGen[T]) -> PQGen[T]:
        """The same generator; what it is sent is false each time that nothing has come for a while."""
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
