"""Evidence about a page, which probes gather and checks judge.

It is immutable.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from website_scan.findings import ScanType
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import Target


class Clock(Struct, frozen=True):
    """Time of the scan as an aware datetime in UTC.

    Checks use this time, not the system clock.
    """

    now: datetime


class ScanTypes(frozenset[ScanType]):
    """Scan types of a visit for which there is evidence to judge."""


class Page(Struct, frozen=True):
    """Requested page with the responses of all redirect hops.

    The last response is the page itself.
    """

    requested: Target
    target: Target  # Final URL after all redirects.
    hops: tuple[Response, ...]
    has_credentials: bool = False  # True if the request had credentials, so that the content may be private.

    @property
    def response(self) -> Response:
        return self.hops[-1]

    @property
    def headers(self) -> Headers:
        return self.hops[-1].headers

    @property
    def media_type(self) -> str:
        """Return the page's media type in lower case without parameters.

        Empty if none was sent.

        If there are several, the last counts (Fetch, "extract a MIME type").
        """
        values = (self.headers.get("Content-Type") or "").split(",")
        return values[-1].split(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Return True if a browser would display the page as HTML.

        Without a media type, the content is sniffed.
        """
        if self.media_type:
            return self.media_type in ("text/html", "application/xhtml+xml")
        return self.response.body.lstrip()[:1] == b"<"


class Document(Struct, frozen=True):
    """Parsed HTML of the page, and the base URL of its references.

    The HTML is parsed as in a browser that runs scripts.
    """

    tree: LexborHTMLParser
    text: str  # Decoded source of the page.
    encoding: str
    base: Target


class ServedContent(Struct, frozen=True):
    """Content of the HTML as sent, before scripts run.

    A page that is not HTML is not blank.
    """

    is_blank: bool
    has_scripts: bool
