"""Detect a PostgreSQL server that hangs.

Only one thread in the process probes the server at a time.

A frozen server process or a lost host closes no connection, so the response to a query may come late or never. A probe
distinguishes a slow server from a silent one: it sends SSLRequest, which every server answers before authentication.
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

PATIENCE_S = 1.0  # Time to wait for a query's response before the server is probed.
PROBE_TIMEOUT_S = 2.0  # Time limit of the probe.
CONNECT_S = 3.0  # Time limit of a new connection, as in the settings.
PAUSE_S = 1.0  # Time for which the result of a probe is valid, for all threads.
# The server answers SSLRequest with S or N (PostgreSQL's "Message Formats"), without a password or a connection slot.
SSL_REQUEST = struct.pack("!II", 8, 80877103)

SILENT_SERVER = "it accepts a connection, but does not respond"

logger = logging.getLogger(__name__)

outage = Outage("PostgreSQL")


def log_failure(error: BaseException) -> None:
    """Log Django's OperationalError or InterfaceError.

    An outage gets one line, and so does any other error.
    """
    state = getattr(error.__cause__, "sqlstate", None)
    # SQLSTATE class 08 means a connection error, and 57P a server shutdown (PostgreSQL's "Error Codes").
    if state is None or state.startswith(("08", "57P")):
        outage.begin(error)
    else:
        logger.error("PostgreSQL gave up: %s", " ".join(str(error).split()))


class Server:
    """This process's view of the PostgreSQL server: its address, and whether it has stopped answering."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._probe_lock = threading.Lock()
        self._address: tuple[int, Any] | None = None
        self._probed_at = float("-inf")
        self._is_silent = False

    def record_connection(self, connection: int) -> None:
        """Record that the server answers, and store its address.

        `connection` is a new connection's file descriptor.
        """
        with socket.socket(fileno=os.dup(connection)) as copy:
            self._address = copy.family, copy.getpeername()
        self._is_silent = False
        outage.end()

    def record_timeout(self) -> None:
        """Record that a new connection timed out, so the server is silent."""
        self._is_silent = True
        self._probed_at = self._clock()
        outage.begin(SILENT_SERVER)

    def refuse_while_silent(self) -> None:
        """Raise psycopg.OperationalError without waiting if the server is silent.

        One caller per second probes it.
        """
        if not self._is_silent:
            return
        if self._clock() - self._probed_at >= PAUSE_S and self._probe_lock.acquire(blocking=False):
            try:
                if self._address is None:
                    # No address to probe is known, so this caller connects. Other callers are refused until it has
                    # connected.
                    self._probed_at = self._clock() + CONNECT_S
                    return
                self._probe()
            finally:
                self._probe_lock.release()
        if self._is_silent:
            raise psycopg.OperationalError("the server does not answer")

    def is_silent(self) -> bool:
        """Return True if the server does not answer a probe.

        Callers that wait at the same time share one probe.
        """
        with self._probe_lock:
            if self._clock() - self._probed_at >= PAUSE_S:
                self._probe()
            return self._is_silent

    def _probe(self) -> None:
        self._is_silent = not self._answers()
        self._probed_at = self._clock()
        if self._is_silent:
            outage.begin(SILENT_SERVER)
        else:
            outage.end()

    def _answers(self) -> bool:
        if self._address is None:
            return True
        family, address = self._address
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.settimeout(PROBE_TIMEOUT_S)
                probe.connect(address)
                probe.sendall(SSL_REQUEST)
                probe.recv(1)
        except (TimeoutError, BlockingIOError):  # A Unix socket with a full backlog raises BlockingIOError.
            return False
        except OSError:
            pass  # No server listens, so new connections fail immediately anyway.
        return True


server = Server()
