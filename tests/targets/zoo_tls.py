"""Animals that never get as far as HTTP, or speak plain HTTP where TLS is expected."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Callable

from tests.targets.server import Answer, Certificate, Site
from tests.targets.zoo_cage import KIB, Animal, drip, endless, failed, reset, silence
from tests.targets.zoo_wire import PAGE, TOO_SLOW

TLS12 = b"\x03\x03"
HANDSHAKE, ALERT = b"\x16", b"\x15"
HELLO_REQUEST = HANDSHAKE + TLS12 + b"\x00\x04" + b"\x00\x00\x00\x00"
SERVER_HELLO_OF_16_MIB = b"\x02\xff\xff\xff"
HANDSHAKE_FAILURE = ALERT + TLS12 + b"\x00\x02" + b"\x02\x28"
NO_HANDSHAKE = failed("TLS_FAILED", "The TLS handshake failed:")
WARNING = ALERT + TLS12 + b"\x00\x02" + b"\x01\x5a"


def _record(content: bytes) -> bytes:
    return HANDSHAKE + TLS12 + len(content).to_bytes(2, "big") + content


def _converse(*parts: bytes, then: Callable[[socket.socket], None] = lambda _: None) -> Callable[[], Site]:
    """Return a factory of sites that read the hello, send these bytes, and call `then`."""

    def answer(connection: socket.socket) -> None:
        if connection.recv(64 * KIB):
            for part in parts:
                connection.sendall(part)
            then(connection)

    return lambda: Site(converse=answer)


ANIMALS = (
    Animal("tls-stalls", _converse(then=silence), TOO_SLOW, is_slow=True, scheme="https"),
    Animal(
        "tls-drips",
        _converse(HANDSHAKE + TLS12 + b"\x40\x00", then=drip(itertools.repeat(b"\x02"))),
        TOO_SLOW,
        is_slow=True,
        scheme="https",
    ),
    Animal(
        "tls-goes-round", _converse(then=drip(itertools.repeat(HELLO_REQUEST))), TOO_SLOW, is_slow=True, scheme="https"
    ),
    Animal(
        "tls-endless-hello",
        _converse(_record(SERVER_HELLO_OF_16_MIB), then=endless(_record(b"\0" * 16_000))),
        NO_HANDSHAKE,
        scheme="https",
    ),
    Animal("tls-endless-warnings", _converse(then=endless(WARNING * 1000)), NO_HANDSHAKE, scheme="https"),
    Animal(
        "tls-resets",
        _converse(then=reset),
        failed("TLS_FAILED", "The server closed the connection during the TLS handshake."),
        scheme="https",
    ),
    Animal("tls-garbage", _converse(b"\x16\x03" + b"\xa5" * KIB), NO_HANDSHAKE, scheme="https"),
    Animal("tls-refuses", _converse(HANDSHAKE_FAILURE), NO_HANDSHAKE, scheme="https"),
    Animal("plain-on-tls-port", lambda: Site({"/": Answer(PAGE)}), scheme="https"),
    Animal(
        "tls-on-plain-port",
        lambda: Site({"/": Answer(PAGE)}, certificate=Certificate.VALID),
        failed("URL_NOT_REACHABLE", "closed the connection without an answer"),
        scheme="http",
    ),
)
