"""Hostile sites that fail before any HTTP.

Some speak plain HTTP where TLS is expected.
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable

from tests.targets.server import Answer, Certificate, Site
from tests.targets.zoo_cage import KIB, Animal, failed_end, reset_connection, send_endlessly, send_slowly, stay_silent
from tests.targets.zoo_wire import PAGE, TIMEOUT_END

TLS12 = b"\x03\x03"
HANDSHAKE, ALERT = b"\x16", b"\x15"
HELLO_REQUEST = HANDSHAKE + TLS12 + b"\x00\x04" + b"\x00\x00\x00\x00"
SERVER_HELLO_OF_16_MIB = b"\x02\xff\xff\xff"
HANDSHAKE_FAILURE = ALERT + TLS12 + b"\x00\x02" + b"\x02\x28"
FAILED_HANDSHAKE_END = failed_end("TLS_FAILED", "The TLS handshake failed:")
WARNING = ALERT + TLS12 + b"\x00\x02" + b"\x01\x5a"


def _tls_record(content: bytes) -> bytes:
    return HANDSHAKE + TLS12 + len(content).to_bytes(2, "big") + content


def _tls_site(*parts: bytes, then: Callable[[socket.socket], None] = lambda _: None) -> Callable[[], Site]:
    """Return a function that creates a TLS site.

    The site reads the client hello, sends these bytes and calls `then`.
    """

    def converse(connection: socket.socket) -> None:
        if connection.recv(64 * KIB):
            for part in parts:
                connection.sendall(part)
            then(connection)

    return lambda: Site(converse=converse)


ANIMALS = (
    Animal("tls-stalls", _tls_site(then=stay_silent), TIMEOUT_END, is_slow=True, scheme="https"),
    Animal(
        "tls-drips",
        _tls_site(HANDSHAKE + TLS12 + b"\x40\x00", then=send_slowly(itertools.repeat(b"\x02"))),
        TIMEOUT_END,
        is_slow=True,
        scheme="https",
    ),
    Animal(
        "tls-goes-round",
        _tls_site(then=send_slowly(itertools.repeat(HELLO_REQUEST))),
        TIMEOUT_END,
        is_slow=True,
        scheme="https",
    ),
    Animal(
        "tls-endless-hello",
        _tls_site(_tls_record(SERVER_HELLO_OF_16_MIB), then=send_endlessly(_tls_record(b"\0" * 16_000))),
        FAILED_HANDSHAKE_END,
        scheme="https",
    ),
    Animal(
        "tls-endless-warnings", _tls_site(then=send_endlessly(WARNING * 1000)), FAILED_HANDSHAKE_END, scheme="https"
    ),
    Animal(
        "tls-resets",
        _tls_site(then=reset_connection),
        failed_end("TLS_FAILED", "The server closed the connection during the TLS handshake."),
        scheme="https",
    ),
    Animal("tls-garbage", _tls_site(b"\x16\x03" + b"\xa5" * KIB), FAILED_HANDSHAKE_END, scheme="https"),
    Animal("tls-refuses", _tls_site(HANDSHAKE_FAILURE), FAILED_HANDSHAKE_END, scheme="https"),
    Animal("plain-on-tls-port", lambda: Site({"/": Answer(PAGE)}), scheme="https"),
    Animal(
        "tls-on-plain-port",
        lambda: Site({"/": Answer(PAGE)}, certificate=Certificate.VALID),
        failed_end("URL_NOT_REACHABLE", "closed the connection without an answer"),
        scheme="http",
    ),
)
