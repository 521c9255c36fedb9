"""Fetcher of a site's robots.txt."""

from __future__ import annotations

from msgspec import Struct

from website_scan.crawl.robots import MAX_BYTES, Robots, parse_robots
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, TooManyRedirects
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.fetch import SiteProtected, detect_challenge

MAX_ROBOTS_REDIRECTS = 5  # Crawlers should follow this many redirects (RFC 9309, section 2.3.1.2).
ROBOTS_TIMEOUT_S = 15.0


class RobotsFile(Struct, frozen=True):
    """Response for the robots.txt of an origin.

    `robots` is empty unless the status is a success. Without a `response`, `error` has the reason.
    `has_too_many_redirects` is True if there were more redirects than crawlers follow.
    """

    url: str
    response: Response | None
    robots: Robots
    error: str = ""
    has_too_many_redirects: bool = False

    @property
    def is_unreachable(self) -> bool:
        """Return True if crawlers must assume that everything is disallowed.

        RFC 9309, section 2.3.1.4. Google treats status 429 like a server error.
        """
        if self.response is None:
            return not self.has_too_many_redirects
        return self.response.status >= 500 or self.response.status == 429


def load_robots(page: Target, network: Network) -> RobotsFile:
    """Fetch the robots.txt of a page's origin, following redirects.

    Raises `SiteProtected` if a bot protection responds instead, and `BudgetExceeded`.
    """
    url = f"{page.origin}/robots.txt"
    try:
        hops = network.follow(
            Request(
                page.join("/robots.txt"),
                max_bytes=MAX_BYTES + 1,
                timeout_s=ROBOTS_TIMEOUT_S,
                verify=False,
                with_credentials=True,
                reuse=Reuse.ALLOWED,
            )
        )
    except TooManyRedirects as error:
        return RobotsFile(url, None, Robots(), str(error), has_too_many_redirects=True)
    except BudgetExceeded:
        raise
    except (NetError, InvalidUrl) as error:
        return RobotsFile(url, None, Robots(), str(error))
    if len(hops) - 1 > MAX_ROBOTS_REDIRECTS:
        error_text = f"It redirects {len(hops) - 1} times."
        return RobotsFile(url, None, Robots(), error_text, has_too_many_redirects=True)
    response = hops[-1]
    if sign := detect_challenge(response):
        raise SiteProtected(f"The site's protection answered instead of robots.txt: {sign}.")
    robots = parse_robots(response.body) if 200 <= response.status < 300 else Robots()
    return RobotsFile(url, response, robots)
