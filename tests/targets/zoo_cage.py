"""Animals of the zoo: the class, and the building blocks of hostile sites."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.targets.server import Answer, Certificate, Request, Route, Site
from website_scan.findings import ScanType

KIB = 1024
MIB = 1024 * KIB
EVERY_TYPE = tuple(ScanType)
ACCESSIBILITY = (ScanType.ACCESSIBILITY,)
PERFORMANCE = (ScanType.PERFORMANCE,)
SECURITY = (ScanType.SECURITY,)
SEO = (ScanType.SEO,)
DRIP_EVERY_S = 0.1
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class End:
    """The end of a scan. `says` must be in the error's message, or in the reason of a check that could not run."""

    statuses: frozenset[str]
    code: str = ""
    says: str = ""


COMPLETED = End(frozenset({"completed"}))


def partial(says: str) -> End:
    """Return the end of a scan that judged the page but could not run some checks."""
    return End(frozenset({"partial"}), says=says)


# The machine's speed decides whether a check of such a page finishes.
INTRICATE = End(frozenset({"completed", "partial"}), says="The page is so large or intricate that this took too long")
EMPTY = partial("The page shows no content.")
# For pages with nothing to see: their headers can still be judged.
EMPTY_ENDS = dict.fromkeys((ScanType.PERFORMANCE, ScanType.ACCESSIBILITY, ScanType.SEO), EMPTY)


def failed(code: str, says: str) -> End:
    """Return the end of a scan that got no page to judge."""
    return End(frozenset({"failed"}), code, says)


@dataclass(frozen=True)
class Animal:
    """A hostile site. `start` creates it, not yet running. `other_ends` are ends that differ by type of scan.

    A slow animal uses up all the time of a scan. A heavy one tempts the scanner to fill its memory. `only` lists
    the types of scan that it is for.
    """

    name: str
    start: Callable[[], Site]
    end: End = COMPLETED
    other_ends: Mapping[ScanType, End] | None = None
    only: Sequence[ScanType] = EVERY_TYPE
    is_slow: bool = False
    is_heavy: bool = False
    scheme: str = ""  # of the URL to scan, if not the site's own

    def end_of(self, scan_type: ScanType) -> End:
        """Return the expected end of a scan of this type."""
        return (self.other_ends or {}).get(scan_type, self.end)

    def url(self, site: Site) -> str:
        """Return the URL to scan."""
        _, _, place = site.url.partition("://")
        return f"{self.scheme or ('https' if site.is_https else 'http')}://{place}/"


def site(route: Route, **others: Route) -> Callable[[], Site]:
    """Return a factory of HTTPS sites with that page. Other paths are 404, except `others` (without the slash)."""
    routes = {"/": route, **{f"/{path}": each for path, each in others.items()}}
    return lambda: Site(routes, certificate=Certificate.VALID)


def page(make: Callable[[], str | bytes], *headers: tuple[str, str], **others: Route) -> Callable[[], Site]:
    """Return the same for a page that is only built when the site is, because some are large."""

    def start() -> Site:
        pairs = (
            list(headers) if any(name == "Content-Type" for name, _ in headers) else [("Content-Type", HTML), *headers]
        )
        return site(Answer(make(), headers=pairs), **others)()

    return start


def raw(*parts: bytes, then: Callable[[socket.socket], None] = lambda _: None) -> Callable[[Request], None]:
    """Return a route that sends these bytes, calls `then`, and hangs up."""

    def answer(request: Request) -> None:
        for part in parts:
            request.connection.sendall(part)
        then(request.connection)

    return answer


def silence(connection: socket.socket) -> None:
    """Send nothing more until the client or the site ends the connection."""
    while connection.recv(KIB):
        pass


def reset(connection: socket.socket) -> None:
    """Make the connection end with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def endless(piece: bytes) -> Callable[[socket.socket], None]:
    """Return a function that sends `piece` as long as the client reads."""

    def go_on(connection: socket.socket) -> None:
        while True:
            connection.sendall(piece)

    return go_on


def drip(pieces: Iterable[bytes]) -> Callable[[socket.socket], None]:
    """Return a function that sends a piece now and then, in time to reset any timeout between bytes."""

    def go_on(connection: socket.socket) -> None:
        for piece in pieces:
            readable, _, _ = select.select([connection], [], [], DRIP_EVERY_S)
            if readable:
                return  # the client has gone
            connection.sendall(piece)

    return go_on


def http(*lines: str, body: bytes = b"") -> bytes:
    """Return a raw response of these header lines."""
    return "".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines, "")).encode("latin-1") + body
