"""A server that hangs: its connections stay open and say nothing. Learnt by one thread, spared the others.

A frozen process or a vanished host closes no connection, so a query's answer may come late or never. Whether the
server is slow or silent is told by a question that any server answers before it knows who asks.
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

PATIENCE_S = 1.0  # for an answer, before the server is asked whether it answers at all
ASK_S = 2.0  # for that answer
CONNECT_S = 3.0  # for a new connection, as settings have it
PAUSE_S = 1.0  # an answer to that question holds for so long, whoever asked
# SSLRequest: the server says S or N (PostgreSQL's "Message Formats"). It needs no password and no free place.
QUESTION = struct.pack("!II", 8, 80877103)

SAYS_NOTHING = "it takes a connection, and says nothing"

logger = logging.getLogger(__name__)

outage = Outage("PostgreSQL")


def log_failure(error: BaseException) -> None:
    """Log Django's OperationalError or InterfaceError: one line for an outage, one each for what the server refused."""
    state = getattr(error.__cause__, "sqlstate", None)
    # Class 08 is connections, 57P a server that is shut down: PostgreSQL's "Error Codes".
    if state is None or state.startswith(("08", "57P")):
        outage.begin(error)
    else:
        logger.error("PostgreSQL gave up: %s", " ".join(str(error).split()))


class Server:
    """What this process knows of the server that it is connected to."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asking = threading.Lock()
        self._address: tuple[int, Any] | None = None
        self._asked_at = float("-inf")
        self._is_silent = False

    def met(self, connection: int) -> None:
        """Remember where a connection (its file descriptor) leads; there is somebody who answers."""
        with socket.socket(fileno=os.dup(connection)) as copy:
            self._address = copy.family, copy.getpeername()
        self._is_silent = False
        outage.end()

    def let_wait(self) -> None:
        """Note that a new connection was not answered in time."""
        self._is_silent = True
        self._asked_at = self._clock()
        outage.begin(SAYS_NOTHING)

    def refuse_while_silent(self) -> None:
        """Raise psycopg.OperationalError at once while the server is silent. Once a second, one caller asks it."""
        if not self._is_silent:
            return
        if self._clock() - self._asked_at >= PAUSE_S and self._asking.acquire(blocking=False):
            try:
                if self._address is None:
                    # Nobody to ask: this caller's connection will tell, and until then no other tries.
                    self._asked_at = self._clock() + CONNECT_S
                    return
                self._ask()
            finally:
                self._asking.release()
        if self._is_silent:
            raise psycopg.OperationalError("the server does not answer")

    def is_silent(self) -> bool:
        """Whether it is, for somebody who has waited long enough to ask; those who wait together ask once."""
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
        except (TimeoutError, BlockingIOError):  # the latter: a Unix socket whose queue is full
            return False
        except OSError:
            pass  # there is no server, which connections notice by themselves
        return True


server = Server()
