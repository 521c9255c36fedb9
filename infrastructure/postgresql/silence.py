"""Detection of a PostgreSQL server that hangs, by one thread for all threads of the process.

A frozen process or a lost host closes no connection, so a query's answer may come late or never. To tell a slow server
from a silent one, a probe sends SSLRequest, which every server answers before authentication.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg

from infrastructure.logging import Outage

PATIENCE_S = 1.0  # time to wait for a query's answer before the probe
ASK_S = 2.0  # time limit of the probe
CONNECT_S = 3.0  # time limit of a new connection, as in the settings
PAUSE_S = 1.0  # how long the result of a probe holds, for all threads
# SSLRequest: the server answers S or N (PostgreSQL's "Message Formats"). It needs no password and no connection slot.
QUESTION = struct.pack("!II", 8, 80877103)

SAYS_NOTHING = "it takes a connection, and says nothing"

logger = logging.getLogger(__name__)

outage = Outage("PostgreSQL")


def log_failure(error: BaseException) -> None:
    """Log Django's OperationalError or InterfaceError: one line per outage, or one per error that the server sent."""
    state = getattr(error.__cause__, "sqlstate", None)
    # Class 08 is connection errors, 57P a shutdown of the server (PostgreSQL's "Error Codes").
    if state is None or state.startswith(("08", "57P")):
        outage.begin(error)
    else:
        logger.error("PostgreSQL gave up: %s", " ".join(str(error).split()))


class Server:
    """State of the PostgreSQL server as this process last saw it: its address, and whether it is silent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asking = threading.Lock()
        self._address: tuple[int, Any] | None = None
        self._asked_at = float("-inf")
        self._is_silent = False

    def met(self, connection: int) -> None:
        """Record a successful connection (its file descriptor): remember the peer's address; the server answers."""
        with socket.socket(fileno=os.dup(connection)) as copy:
            self._address = copy.family, copy.getpeername()
        self._is_silent = False
        outage.end()

    def let_wait(self) -> None:
        """Record that a new connection timed out."""
        self._is_silent = True
        self._asked_at = self._clock()
        outage.begin(SAYS_NOTHING)

    def refuse_while_silent(self) -> None:
        """Raise psycopg.OperationalError at once while the server is silent. Once a second, one caller probes it."""
        if not self._is_silent:
            return
        if self._clock() - self._asked_at >= PAUSE_S and self._asking.acquire(blocking=False):
            try:
                if self._address is None:
                    # No address to probe: this caller tries to connect; until it has, all others are refused.
                    self._asked_at = self._clock() + CONNECT_S
                    return
                self._ask()
            finally:
                self._asking.release()
        if self._is_silent:
            raise psycopg.OperationalError("the server does not answer")

    def is_silent(self) -> bool:
        """Return True if the server does not answer a probe. Callers that wait at the same time share one probe."""
        with self._asking:
            if self._clock() - self._asked_at >= PAUSE_S:
                self._ask()
            return self._is_silent

    def _ask(self) -> None:
        self._is_silent = not self._answers()
        self._asked_at = self._clock()
        if self._is_silent:
            outage.begin(SAYS_NOTHING)
        else:
            outage.end()

    def _answers(self) -> bool:
        if self._address is None:
            return True
        family, address = self._address
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.settimeout(ASK_S)
                probe.connect(address)
                probe.sendall(QUESTION)
                probe.recv(1)
        except (TimeoutError, BlockingIOError):  # BlockingIOError: a Unix socket whose backlog is full
            return False
        except OSError:
            pass  # there is no server: connections fail by themselves
        return True


server = Server()
