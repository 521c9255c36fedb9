"""What the probes of SEO scans get from the site, beside the page."""

from __future__ import annotations

from dataclasses import dataclass

from scanner.net.http.response import Response
from scanner.page.evidence import Document, Page


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """What a URL answers that the page names; no redirect was followed. No `page` and an `error`: nothing came."""

    url: str | None = None
    page: Page | None = None
    document: Document | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class CanonicalAnswer(PageAnswer):
    """That of the canonical URL; `url` is None where there is none, or no single one, or it is the page's own."""


@dataclass(frozen=True, slots=True)
class AlternateAnswers:
    """The language versions that were fetched, the page itself not among them."""

    answers: tuple[PageAnswer, ...]


@dataclass(frozen=True, slots=True)
class MissingPathAnswer:
    """What the site answers for a path beside the page's that nothing lies at; None where that was not asked."""

    path: str = ""
    response: Response | None = None


@dataclass(frozen=True, slots=True)
class SocialImage:
    """The status of the image for sharing; None where there is none, or nothing came, and `error` says why."""

    status: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """What came from where a link leads. `is_broken` is None where that proves nothing.

    `status` is that of the end of its redirects; None where nothing came, and `error` says why.
    """

    url: str
    is_internal: bool
    status: int | None
    is_broken: bool | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswers:
    """The links that were checked, and how many might have been; `stopped` says why some of them were left."""

    answers: tuple[LinkAnswer, ...] = ()
    internal: int = 0
    external: int = 0
    stopped: str = ""
