"""Evidence about a page, which probes gather and checks judge: frozen, typed data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from selectolax.lexbor import LexborHTMLParser

from website_scan.findings import ScanType
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import Target


@dataclass(frozen=True, slots=True)
class Clock:
    """Time of the scan, aware and in UTC, so that no check reads the system clock."""

    now: datetime


class ScanTypes(frozenset[ScanType]):
    """Scan types of this visit that have something to judge."""


@dataclass(frozen=True, slots=True)
class Page:
    """Requested page: the responses of all redirect hops. The last one, `response`, is the page itself."""

    requested: Target
    target: Target  # URL at which the redirects ended
    hops: tuple[Response, ...]
    is_keyed: bool = False  # True if requested with credentials, so that the content may be for one visitor only

    @property
    def response(self) -> Response:
        return self.hops[-1]

    @property
    def headers(self) -> Headers:
        return self.hops[-1].headers

    @property
    def media_type(self) -> str:
        """Return the media type in lower case without parameters; empty if none was sent.

        If there are several, the last counts (Fetch, "extract a MIME type").
        """
        values = (self.headers.get("Content-Type") or "").split(",")
        return values[-1].split(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Return True if a browser would display the page as HTML. A missing media type is sniffed."""
        if self.media_type:
            return self.media_type in ("text/html", "application/xhtml+xml")
        return self.response.body.lstrip()[:1] == b"<"


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed markup of the page, as in a browser with scripts (HTML5), and the base URL of its references."""

    tree: LexborHTMLParser
    text: str  # the decoded source
    encoding: str
    base: Target


@dataclass(frozen=True, slots=True)
class ServedContent:
    """Visibility of the served HTML: whether it is blank before scripts have run, and whether it has scripts.

    A page that is not HTML is not blank.
    """

    is_blank: bool
    has_scripts: bool
