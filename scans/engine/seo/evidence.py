"""What the probes of SEO scans bring, beside the page."""

from __future__ import annotations

from dataclasses import dataclass

from scans.engine.page.evidence import Document, Page
from scans.engine.seo.robots import Robots
from scans.net.http.response import Response


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The robots.txt of the page's origin. `robots` is empty unless the file came with a status of success.

    No `response` and an `error`: none came. `redirected_away`: more redirects than crawlers follow.
    """

    url: str
    response: Response | None
    robots: Robots
    error: str = ""
    redirected_away: bool = False

    @property
    def is_unreachable(self) -> bool:
        """Whether crawlers have to take it that everything is forbidden (RFC 9309, section 2.3.1.4).

        Google takes 429 for a server error, too.
        """
        if self.response is None:
            return not self.redirected_away
        return self.response.status >= 500 or self.response.status == 429


@dataclass(frozen=True, slots=True)
class CanonicalAnswer:
    """What the address answers that the page names as canonical; no redirect was followed.

    `url` is None where there is none, or no single one, or it is the page's own. No `page` and an `error`:
    nothing came from there.
    """

    url: str | None = None
    page: Page | None = None
    document: Document | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class AlternateAnswer:
    """What another language version answers; no redirect was followed. No `page` and an `error`: nothing came."""

    url: str
    page: Page | None = None
    document: Document | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class AlternateAnswers:
    """The language versions that were looked at, the page itself not among them."""

    answers: tuple[AlternateAnswer, ...]


@dataclass(frozen=True, slots=True)
class ShareImage:
    """The status of the picture for sharing; None where there is none, or nothing came, and `error` says why."""

    status: int | None = None
    error: str = ""
