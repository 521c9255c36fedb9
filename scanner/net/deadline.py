"""Time that runs out, and sockets that know it.

A socket's own time-out starts anew with every byte, so a server that drips one byte a second is never too
slow. These sockets ask their guard before every operation how much time is left, and tell it what came in.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from scanner.net.errors import TimedOut

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class Deadline:
    """A moment on the monotonic clock."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def remaining_s(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._at - time.monotonic())

    def within(self, seconds: float) -> Deadline:
        """The earlier of this deadline and one in `seconds`."""
        return Deadline(min(seconds, self.remaining_s()))

    def check(self) -> float:
        """Seconds left; raises TimedOut when there are none."""
        remaining = self.remaining_s()
        if remaining <= 0:
            raise TimedOut("The site did not answer in time.")
        return remaining


class Guard(Protocol):
    """What a guarded socket asks and tells."""

    def timeout_s(self) -> float:
        """Seconds that the next operation may take; raises TimeoutError when there are none."""

    def received(self, count: int) -> None:
        """Bytes came in; raises BudgetExceeded when they are too many."""


def _shorter(guard: Guard, own_s: float | None) -> float:
    left_s = guard.timeout_s()
    return left_s if own_s is None else min(left_s, own_s)


class GuardedSocket(socket.socket):
    """A TCP socket under a guard. A time-out that is set on it holds too, the guard's time permitting."""

    guard: Guard
    _own_timeout_s: float | None = None

    def settimeout(self, value: float | None) -> None:
        self._own_timeout_s = value
        super().settimeout(value)

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        super().settimeout(_shorter(self.guard, self._own_timeout_s))
        data = super().recv(bufsize, flags)
        self.guard.received(len(data))
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        super().settimeout(_shorter(self.guard, self._own_timeout_s))
        count = super().recv_into(buffer, nbytes, flags)
        self.guard.received(count)
        return count

    def send(self, data: ReadableBuffer, flags: int = 0) -> int:
        super().settimeout(_shorter(self.guard, self._own_timeout_s))
        return super().send(data, flags)

    def sendall(self, data: ReadableBuffer, flags: int = 0) -> None:
        super().settimeout(_shorter(self.guard, self._own_timeout_s))
        super().sendall(data, flags)


# Told of a TLS socket before it shakes hands: from then on the TCP socket it was made from is an empty shell.
before_handshake: ContextVar[Callable[[GuardedTlsSocket], None]] = ContextVar("before_handshake")


class GuardedTlsSocket(ssl.SSLSocket):
    """The same over TLS. The ssl module makes it; `before_handshake` gives it its guard."""

    guard: Guard
    _own_timeout_s: float | None = None

    def do_handshake(self, block: bool = False) -> None:
        before_handshake.get()(self)
        # To OpenSSL's binding a handshake is one operation, however many messages it takes.
        super().settimeout(_shorter(self.guard, None))
        super().do_handshake(block)

    def settimeout(self, value: float | None) -> None:
        self._own_timeout_s = value
        super().settimeout(value)

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        super().settimeout(_shorter(self.guard, self._own_timeout_s))
        data = super().recv(buflen, flags)
        self.guard.received(len(data))
        return data

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, flags: int = 0) -> int:
        super().settimeout(_shorter(self.guard, self._own_timeout_s))
        count = super().recv_into(buffer, nbytes, flags)
        self.guard.received(count)
        return count

    def send(self, data: ReadableBuffer, flags: int = 0) -> int:
        super().settimeout(_shorter(self.guard, self._own_timeout_s))
        return super().send(data, flags)


# Told of a socket before it connects, so that who waits for that can be woken.
before_connect: ContextVar[Callable[[socket.socket], None]] = ContextVar("before_connect")


def dial(address: str, port: int, timeout_s: float) -> socket.socket:
    """Connect to a literal address; raises OSError. The one place where a connection is opened."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        before_connect.get()(connection)
        connection.settimeout(timeout_s)
        connection.connect((address, port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection
