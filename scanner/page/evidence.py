"""Evidence: what probes bring and checks read. Frozen, typed, without behaviour beyond convenient names."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from selectolax.lexbor import LexborHTMLParser

from scanner.findings import ScanType
from scanner.net.http.response import Headers, Response
from scanner.net.targets import Target


@dataclass(frozen=True, slots=True)
class Clock:
    """The scan's time, so that no check reads the clock: aware, UTC."""

    now: datetime


class ScanTypes(frozenset[ScanType]):
    """The scan types of this visit for which there is something to judge."""


@dataclass(frozen=True, slots=True)
class Page:
    """The page that was asked for: every hop of the redirects, the last of which is the page itself, its `response`."""

    requested: Target
    target: Target  # where the redirects ended
    hops: tuple[Response, ...]
    is_keyed: bool = False  # asked for with credentials: what it says may be for one visitor alone

    @property
    def response(self) -> Response:
        return self.hops[-1]

    @property
    def headers(self) -> Headers:
        return self.hops[-1].headers

    @property
    def media_type(self) -> str:
        """In lower case without parameters; empty when none was sent.

        Of several, the last counts (Fetch, "extract a MIME type").
        """
        values = (self.headers.get("Content-Type") or "").split(",")
        return values[-1].split(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Whether a browser would show it as HTML; a missing type is sniffed."""
        if self.media_type:
            return self.media_type in ("text/html", "application/xhtml+xml")
        return self.response.body.lstrip()[:1] == b"<"


@dataclass(frozen=True, slots=True)
class Document:
    """The page's markup, parsed as browsers with scripts do (HTML5), and the base URL of its references."""

    tree: LexborHTMLParser
    text: str  # the decoded source
    encoding: str
    base: Target


@dataclass(frozen=True, slots=True)
class ServedContent:
    """Whether the HTML as it was sent shows people anything, before scripts have run, and whether there are any.

    What is not HTML is not blank.
    """

    is_blank: bool
    has_scripts: bool
