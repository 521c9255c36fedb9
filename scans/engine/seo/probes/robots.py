"""The site's robots.txt."""

from __future__ import annotations

from scans.engine.catalogue import probe
from scans.engine.page.evidence import Page
from scans.engine.page.fetch import SiteProtected, challenge_sign
from scans.engine.seo.evidence import RobotsFile
from scans.engine.seo.robots import MAX_BYTES, Robots, parse_robots
from scans.net.client import Network
from scans.net.errors import BudgetExceeded, NetError, TooManyRedirects
from scans.net.targets import InvalidUrl

ROBOTS_REDIRECTS = 5  # RFC 9309, section 2.3.1.2
TIMEOUT_S = 15.0


@probe()
def robots_file(page: Page, network: Network) -> RobotsFile:
    """The robots.txt of the origin where the page ended, its redirects followed.

    Raises `SiteProtected` when a bot protection answers instead, and `BudgetExceeded`.
    """
    url = f"{page.target.origin}/robots.txt"
    try:
        hops = network.follow(
            page.target.join("/robots.txt"),
            max_bytes=MAX_BYTES + 1,
            timeout_s=TIMEOUT_S,
            verify=False,
            with_credentials=True,
        )
    except TooManyRedirects as error:
        return RobotsFile(url, None, Robots(), str(error), redirected_away=True)
    except BudgetExceeded:
        raise
    except (NetError, InvalidUrl) as error:
        return RobotsFile(url, None, Robots(), str(error))
    if len(hops) - 1 > ROBOTS_REDIRECTS:
        error_text = f"It redirects {len(hops) - 1} times."
        return RobotsFile(url, None, Robots(), error_text, redirected_away=True)
    response = hops[-1]
    if sign := challenge_sign(response):
        raise SiteProtected(f"The site's protection answered in place of robots.txt: {sign}.")
    found = parse_robots(response.body) if 200 <= response.status < 300 else Robots()
    return RobotsFile(url, response, found)
