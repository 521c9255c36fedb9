"""Functions and a class for hostile sites.

They are the animals in the zoo.
"""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from tests.targets.server import Answer, Certificate, Request, Route, Site
from website_scan.findings import ScanType

KIB = 1024
MIB = 1024 * KIB
ALL_TYPES = tuple(ScanType)
ACCESSIBILITY = (ScanType.ACCESSIBILITY,)
PERFORMANCE = (ScanType.PERFORMANCE,)
SECURITY = (ScanType.SECURITY,)
SEO = (ScanType.SEO,)
DRIP_INTERVAL_S = 0.1
HTML = "text/html; charset=utf-8"


class End(Struct, frozen=True):
    """How a scan must end.

    `says` must be in the error message or in the reason of a skipped check.
    """

    statuses: frozenset[str]
    code: str = ""
    says: str = ""


COMPLETED = End(frozenset({"completed"}))


def partial_end(says: str) -> End:
    """Return the expected end of a scan that runs only some of its checks."""
    return End(frozenset({"partial"}), says=says)


# On a slow machine, some checks of an intricate page may not finish.
INTRICATE = End(frozenset({"completed", "partial"}), says="The page is so large or complex that this took too long")
EMPTY = partial_end("The page shows no content.")
# Scans of an empty page end like this, but a security scan can still check the headers.
EMPTY_ENDS = dict.fromkeys((ScanType.PERFORMANCE, ScanType.ACCESSIBILITY, ScanType.SEO), EMPTY)


def failed_end(code: str, says: str) -> End:
    """Return the expected end of a scan that finds no page to check."""
    return End(frozenset({"failed"}), code, says)


class Animal(Struct, frozen=True):
    """Hostile site that `start` creates.

    `other_ends` overrides `end` for some scan types.

    A slow animal uses up all the time of a scan. A heavy one tempts the scanner to fill its memory. `only` lists
    the types of scan that it is for.
    """

    name: str
    start: Callable[[], Site]
    end: End = COMPLETED
    other_ends: Mapping[ScanType, End] | None = None
    only: Sequence[ScanType] = ALL_TYPES
    is_slow: bool = False
    is_heavy: bool = False
    scheme: str = ""  # Scheme of the URL to scan, if it is not the scheme of the site.

    def expected_end(self, scan_type: ScanType) -> End:
        return (self.other_ends or {}).get(scan_type, self.end)

    def url(self, site: Site) -> str:
        """Return the URL to scan."""
        _, _, authority = site.url.partition("://")
        return f"{self.scheme or ('https' if site.is_https else 'http')}://{authority}/"


def site(route: Route, **others: Route) -> Callable[[], Site]:
    """Return a function that creates an HTTPS site.

    The names in `others` are paths without the leading slash.
    """
    routes = {"/": route, **{f"/{path}": other_route for path, other_route in others.items()}}
    return lambda: Site(routes, certificate=Certificate.VALID)


def page_factory(make: Callable[[], str | bytes], *headers: tuple[str, str], **others: Route) -> Callable[[], Site]:
    """Return a function that creates the page and its site.

    Large pages are built only when needed.
    """

    def create_site() -> Site:
        pairs = (
            list(headers) if any(name == "Content-Type" for name, _ in headers) else [("Content-Type", HTML), *headers]
        )
        return site(Answer(make(), headers=pairs), **others)()

    return create_site


def raw_route(*parts: bytes, then: Callable[[socket.socket], None] = lambda _: None) -> Callable[[Request], None]:
    """Return a route that sends bytes and disconnects.

    It calls `then` before it closes the connection.
    """

    def send_parts(request: Request) -> None:
        for part in parts:
            request.connection.sendall(part)
        then(request.connection)

    return send_parts


def stay_silent(connection: socket.socket) -> None:
    """Send nothing until the client or the site closes the connection."""
    while connection.recv(KIB):
        pass


def reset_connection(connection: socket.socket) -> None:
    """Make the connection end with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def send_endlessly(piece: bytes) -> Callable[[socket.socket], None]:
    """Return a function that sends `piece` until the client disconnects."""

    def send_pieces(connection: socket.socket) -> None:
        while True:
            connection.sendall(piece)

    return send_pieces


def send_slowly(pieces: Iterable[bytes]) -> Callable[[socket.socket], None]:
    """Return a function that sends the pieces slowly.

    It sends often enough to reset any timeout between bytes.
    """

    def send_pieces(connection: socket.socket) -> None:
        for piece in pieces:
            readable, _, _ = select.select([connection], [], [], DRIP_INTERVAL_S)
            if readable:
                return  # The client has closed the connection.
            connection.sendall(piece)

    return send_pieces


def http_response(*lines: str, body: bytes = b"") -> bytes:
    """Return the bytes of a response with these header lines."""
    return "".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines, "")).encode("latin-1") + body
