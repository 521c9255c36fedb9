"""Evidence classes that the probes of SEO scans return."""

from __future__ import annotations

from dataclasses import dataclass

from website_scan.net.http.response import Response
from website_scan.page.evidence import Document, Page


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """Response of a URL that the page names, without following redirects. Without a `page`, `error` is the reason."""

    url: str | None = None
    page: Page | None = None
    document: Document | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class CanonicalAnswer(PageAnswer):
    """Response of the canonical URL. `url` is None without a single canonical URL, or if it is the page's own."""


@dataclass(frozen=True, slots=True)
class AlternateAnswers:
    """Responses of the other language versions (hreflang) that were fetched."""

    answers: tuple[PageAnswer, ...]


@dataclass(frozen=True, slots=True)
class MissingPathAnswer:
    """Response for a random path beside the page's own, which cannot exist. None if it was not requested."""

    path: str = ""
    response: Response | None = None


@dataclass(frozen=True, slots=True)
class SocialImage:
    """HTTP status of the og:image. None without an image, or if no response came for the reason in `error`."""

    status: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """Result of requesting one link. `is_broken` is None if the response proves neither.

    `status` is the status after all redirects, or None if no response came for the reason in `error`.
    """

    url: str
    is_internal: bool
    status: int | None
    is_broken: bool | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswers:
    """Results of the requested links, and the numbers of all links. `stopped` is the reason if requests ended early.

    `resolves_other_sites` is False if the scanner's name servers resolve no name of another site (closed network).
    """

    answers: tuple[LinkAnswer, ...] = ()
    internal: int = 0
    external: int = 0
    stopped: str = ""
    resolves_other_sites: bool = True
