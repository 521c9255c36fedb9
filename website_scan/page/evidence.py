"""Evidence: what probes bring and checks read. Frozen, typed, without behaviour beyond convenient names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from selectolax.lexbor import LexborHTMLParser

from website_scan.findings import ScanType
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import Target


@dataclass(frozen=True, slots=True)
class Clock:
    """The scan's time, aware and UTC, so that no check reads the clock."""

    now: datetime


class ScanTypes(frozenset[ScanType]):
    """The scan types of this visit that have something to judge."""


@dataclass(frozen=True, slots=True)
class Page:
    """The requested page: the responses of all redirect hops; the last one is the page itself, its `response`."""

    requested: Target
    target: Target  # where the redirects ended
    hops: tuple[Response, ...]
    is_keyed: bool = False  # requested with credentials, so its content may be for one visitor only

    @property
    def response(self) -> Response:
        return self.hops[-1]

    @property
    def headers(self) -> Headers:
        return self.hops[-1].headers

    @property
    def media_type(self) -> str:
        """Return the media type in lower case without parameters; empty if none was sent.

        Of several, the last counts (Fetch, "extract a MIME type").
        """
        values = (self.headers.get("Content-Type") or "").split(",")
        return values[-1].split(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Return True if a browser would show the page as HTML; a missing type is sniffed."""
        if self.media_type:
            return self.media_type in ("text/html", "application/xhtml+xml")
        return self.response.body.lstrip()[:1] == b"<"


@dataclass(frozen=True, slots=True)
class Document:
    """The page's markup, parsed as by a browser with scripts (HTML5), and the base URL of its references."""

    tree: LexborHTMLParser
    text: str  # the decoded source
    encoding: str
    base: Target


@dataclass(frozen=True, slots=True)
class ServedContent:
    """Visibility of the served HTML: is it blank before scripts have run, and does it have scripts?

    A page that is not HTML is not blank.
    """

    is_blank: bool
    has_scripts: bool
