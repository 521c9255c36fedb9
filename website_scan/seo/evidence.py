"""Evidence classes that the probes of SEO scans return."""

from __future__ import annotations

from msgspec import Struct

from website_scan.net.http.response import Response
from website_scan.page.evidence import Document, Page


class PageAnswer(Struct, frozen=True):
    """Response of a URL in the page's metadata, without following redirects.

    `error` is the reason if there is no `page`.
    """

    url: str | None = None
    page: Page | None = None
    document: Document | None = None
    error: str = ""


class CanonicalAnswer(PageAnswer, frozen=True):
    """Response of the canonical URL.

    `url` is None if there is no single canonical URL or if it is the page's own URL.
    """


class AlternateAnswers(Struct, frozen=True):
    """Fetched language versions (hreflang) of the page."""

    answers: tuple[PageAnswer, ...]


class MissingPathAnswer(Struct, frozen=True):
    """Response of a random path next to the page, which cannot exist.

    None if the path was not requested.
    """

    path: str = ""
    response: Response | None = None


class SocialImage(Struct, frozen=True):
    """HTTP status of the og:image.

    None if there is no image or no response.

    `error` is the reason why there was no response.
    """

    status: int | None = None
    error: str = ""


class LinkAnswer(Struct, frozen=True):
    """Result of requesting one link.

    `is_broken` is None if the response is inconclusive.

    `status` is the status after all redirects, or None if no response came for the reason in `error`.
    """

    url: str
    is_internal: bool
    status: int | None
    is_broken: bool | None
    error: str = ""


class LinkAnswers(Struct, frozen=True):
    """Results of the requested links, and the number of all links.

    `stopped` is the reason why requests ended early, or empty. `resolves_other_sites` is False if the scanner's name
    servers resolve no name of another site (closed network).
    """

    answers: tuple[LinkAnswer, ...] = ()
    internal: int = 0
    external: int = 0
    stopped: str = ""
    resolves_other_sites: bool = True
