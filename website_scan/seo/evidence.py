"""Evidence that the probes of SEO scans get from the site, in addition to the page."""

from __future__ import annotations

from dataclasses import dataclass

from website_scan.net.http.response import Response
from website_scan.page.evidence import Document, Page


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """Response of a URL that the page names; no redirect was followed. No `page` and an `error`: no response came."""

    url: str | None = None
    page: Page | None = None
    document: Document | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class CanonicalAnswer(PageAnswer):
    """Response of the canonical URL. `url` is None if there is none, several differ, or it is the page's own."""


@dataclass(frozen=True, slots=True)
class AlternateAnswers:
    """The language versions that were fetched, without the page itself."""

    answers: tuple[PageAnswer, ...]


@dataclass(frozen=True, slots=True)
class MissingPathAnswer:
    """Response for a path next to the page's where nothing is. None if it was not requested."""

    path: str = ""
    response: Response | None = None


@dataclass(frozen=True, slots=True)
class SocialImage:
    """Status of the image for sharing. None if there is no image, or if no response came; then `error` says why."""

    status: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """Result of checking one link. `is_broken` is None if the response proves nothing.

    `status` is that of the end of its redirects, or None if no response came; then `error` says why.
    """

    url: str
    is_internal: bool
    status: int | None
    is_broken: bool | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswers:
    """Results of the links that were checked, and how many links there were. `stopped` says why some were left out.

    `knows_outside_names` is False if the scanner's name servers knew no name of another site.
    """

    answers: tuple[LinkAnswer, ...] = ()
    internal: int = 0
    external: int = 0
    stopped: str = ""
    knows_outside_names: bool = True
