"""What an animal of the zoo is, and the bars it is made of."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scanner.findings import ScanType
from tests.targets.server import Answer, Certificate, Request, Route, Site

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
    """How a scan ends. `says` stands in the error's message, or in the reason of a check that could not run."""

    statuses: frozenset[str]
    code: str = ""
    says: str = ""


COMPLETED = End(frozenset({"completed"}))


def partial(says: str) -> End:
    """The page was judged, and some checks could not run."""
    return End(frozenset({"partial"}), says=says)


# How fast the machine is decides whether a check of such a page gets to its end.
INTRICATE = End(frozenset({"completed", "partial"}), says="The page is so large or intricate that this took too long")
EMPTY = partial("The page shows no content.")
# For pages without anything to see: what they are sent with can still be judged.
EMPTY_ENDS = {ScanType.ACCESSIBILITY: EMPTY, ScanType.SEO: EMPTY}


def failed(code: str, says: str) -> End:
    """There was no page to judge."""
    return End(frozenset({"failed"}), code, says)


@dataclass(frozen=True)
class Animal:
    """A hostile site. `start` makes it, not yet running; `ends` may differ by type of scan.

    A slow one takes all the time there is. A heavy one tempts the scanner to fill its memory. `only` are the
    types of scan that it matters for.
    """

    name: str
    start: Callable[[], Site]
    end: End = COMPLETED
    other_ends: Mapping[ScanType, End] | None = None
    only: Sequence[ScanType] = EVERY_TYPE
    is_slow: bool = False
    is_heavy: bool = False
    scheme: str = ""  # of the URL to scan, where it is another than the site's

    def end_of(self, scan_type: ScanType) -> End:
        """The promised end of a scan of this type."""
        return (self.other_ends or {}).get(scan_type, self.end)

    def url(self, site: Site) -> str:
        """The address to scan."""
        _, _, place = site.url.partition("://")
        return f"{self.scheme or ('https' if site.is_https else 'http')}://{place}/"


def site(route: Route, **others: Route) -> Callable[[], Site]:
    """An HTTPS site with that page, and 404 for everything else but `others`, by path without the slash."""
    routes = {"/": route, **{f"/{path}": each for path, each in others.items()}}
    return lambda: Site(routes, certificate=Certificate.VALID)


def page(make: Callable[[], str | bytes], *headers: tuple[str, str], **others: Route) -> Callable[[], Site]:
    """The same, with a page that is made when the site is: some are large."""

    def start() -> Site:
        pairs = (
            list(headers) if any(name == "Content-Type" for name, _ in headers) else [("Content-Type", HTML), *headers]
        )
        return site(Answer(make(), headers=pairs), **others)()

    return start


def raw(*parts: bytes, then: Callable[[socket.socket], None] = lambda _: None) -> Callable[[Request], None]:
    """A route that sends these bytes, does that, and hangs up."""

    def answer(request: Request) -> None:
        for part in parts:
            request.connection.sendall(part)
        then(request.connection)

    return answer


def silence(connection: socket.socket) -> None:
    """Say nothing more until the client, or the site, ends the connection."""
    while connection.recv(KIB):
        pass


def reset(connection: socket.socket) -> None:
    """End with RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def endless(piece: bytes) -> Callable[[socket.socket], None]:
    """As much as the client takes."""

    def go_on(connection: socket.socket) -> None:
        while True:
            connection.sendall(piece)

    return go_on


def drip(pieces: Iterable[bytes]) -> Callable[[socket.socket], None]:
    """A piece now and then, always in time for a time-out that starts anew with every byte."""

    def go_on(connection: socket.socket) -> None:
        for piece in pieces:
            readable, _, _ = select.select([connection], [], [], DRIP_EVERY_S)
            if readable:
                return  # the client is gone
            connection.sendall(piece)

    return go_on


def http(*lines: str, body: bytes = b"") -> bytes:
    """A response as raw as its lines."""
    return "".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines, "")).encode("latin-1") + body
