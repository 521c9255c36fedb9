"""Deadlines, and sockets that enforce them.

A socket's own time-out restarts with every byte, so a server that sends one byte a second never exceeds it. Before
every operation, these sockets read the remaining time from their guard, and they report received bytes to the guard.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from website_scan.net.errors import TimedOut

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class Deadline:
    """Deadline on the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def remaining_s(self) -> float:
        """Return the seconds until the deadline, never negative."""
        return max(0.0, self._at - time.monotonic())

    def within(self, seconds: float) -> Deadline:
        """Return a deadline `seconds` from now.

        It is not later than this deadline.
        """
        return Deadline(min(seconds, self.remaining_s()))

    def check(self) -> float:
        """Return the seconds until the deadline.

        Raises TimedOut after the deadline.
        """
        remaining = self.remaining_s()
        if remaining <= 0:
            raise TimedOut("The site did not answer in time.")
        return remaining


class Guard(Protocol):
    """Interface of a socket's guard.

    It limits the time of operations and counts received bytes.
    """

    def timeout_s(self) -> float:
        """Return the seconds that the next socket operation may take.

        Raises TimeoutError if no time is left.
        """

    def received(self, count: int) -> None:
        """Count received bytes.

        Raises BudgetExceeded beyond the limit.
        """


def _shorter_timeout(guard: Guard, own_s: float | None) -> float:
    remaining_s = guard.timeout_s()
    return remaining_s if own_s is None else min(remaining_s, own_s)


class GuardedSocket(socket.socket):
    """TCP or UDP socket with a guard.

    The shorter of the guard's and the socket's own time-out applies.
    """

    guard: Guard
    _own_timeout_s: float | None = None

    def settimeout(self, value: float | None) -> None:
        self._own_timeout_s = value
        super().settimeout(value)

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        super().settimeout(_shorter_timeout(self.guard, self._own_timeout_s))
        data = super().recv(bufsize, flags)
        self.guard.received(len(data))
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        super().settimeout(_shorter_timeout(self.guard, self._own_timeout_s))
        count = super().recv_into(buffer, nbytes, flags)
        self.guard.received(count)
        return count

    def send(self, data: ReadableBuffer, flags: int = 0) -> int:
        super().settimeout(_shorter_timeout(self.guard, self._own_timeout_s))
        return super().send(data, flags)

    def sendall(self, data: ReadableBuffer, flags: int = 0) -> None:
        super().settimeout(_shorter_timeout(self.guard, self._own_timeout_s))
        super().sendall(data, flags)


# Called with a TLS socket before its handshake.
before_handshake: ContextVar[Callable[[GuardedTlsSocket], None]] = ContextVar("before_handshake")


class GuardedTlsSocket(ssl.SSLSocket):
    """TLS socket with a guard.

    The ssl module creates the socket, and `before_handshake` sets the guard.
    """

    guard: Guard
    _own_timeout_s: float | None = None

    def do_handshake(self, block: bool = False) -> None:
        before_handshake.get()(self)
        # Python's ssl module performs the handshake with one time-out.
        super().settimeout(_shorter_timeout(self.guard, None))
        super().do_handshake(block)

    def settimeout(self, value: float | None) -> None:
        self._own_timeout_s = value
        super().settimeout(value)

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        super().settimeout(_shorter_timeout(self.guard, self._own_timeout_s))
        data = super().recv(buflen, flags)
        self.guard.received(len(data))
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, flags: int = 0) -> int:
        super().settimeout(_shorter_timeout(self.guard, self._own_timeout_s))
        count = super().recv_into(buffer, nbytes, flags)
        self.guard.received(count)
        return count

    def send(self, data: ReadableBuffer, flags: int = 0) -> int:
        super().settimeout(_shorter_timeout(self.guard, self._own_timeout_s))
        return super().send(data, flags)


# Called with a socket before it connects, so that others can end the wait.
before_connect: ContextVar[Callable[[socket.socket], None]] = ContextVar("before_connect")


def dial(address: str, port: int, timeout_s: float) -> socket.socket:
    """Open a TCP socket that is connected to an IP address.

    Raises OSError.
    """
    connection = _connect(address, port, timeout_s, socket.SOCK_STREAM)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def dial_datagrams(address: str, port: int, timeout_s: float) -> socket.socket:
    """Open a UDP socket that only exchanges datagrams with an IP address and port.

    Raises OSError.
    """
    return _connect(address, port, timeout_s, socket.SOCK_DGRAM)


def _connect(address: str, port: int, timeout_s: float, kind: socket.SocketKind) -> socket.socket:
    """Open a connected socket. Only this function opens connections."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = socket.socket(family, kind)
    try:
        before_connect.get()(connection)
        connection.settimeout(timeout_s)
        connection.connect((address, port))
    except BaseException:
        connection.close()
        raise
    return connection
