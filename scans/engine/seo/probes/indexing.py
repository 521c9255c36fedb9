"""What decides beside the page itself whether search engines index it: robots.txt, the canonical address."""

from __future__ import annotations

from scans.engine.catalogue import probe
from scans.engine.page.evidence import Document, Page
from scans.engine.page.fetch import ACCEPT, SiteProtected, challenge_sign, parse_document
from scans.engine.seo.canonical import canonicals, named_url
from scans.engine.seo.evidence import CanonicalAnswer, RobotsFile
from scans.engine.seo.robots import MAX_BYTES, Robots, parse_robots
from scans.net.client import Network
from scans.net.errors import BudgetExceeded, NetError, TimedOut, TooManyRedirects
from scans.net.targets import InvalidUrl

ROBOTS_REDIRECTS = 5  # RFC 9309, section 2.3.1.2
CANONICAL_MAX_BYTES = 1024 * 1024
TIMEOUT_S = 15.0


@probe()
def robots_file(page: Page, network: Network) -> RobotsFile:
    """The robots.txt of the origin where the page ended, its redirects followed.

    Raises `SiteProtected` when a bot protection answers instead, and `BudgetExceeded`.
    """
    url = f"{page.target.origin}/robots.txt"
    try:
        hops = network.follow(
            page.target.join("/robots.txt"), max_bytes=MAX_BYTES + 1, timeout_s=TIMEOUT_S, verify=False
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


@probe()
def canonical_answer(page: Page, document: Document, network: Network) -> CanonicalAnswer:
    """The canonical address fetched once, unless it is the page's own.

    Raises `SiteProtected`, and `TimedOut` or `BudgetExceeded`, as neither says anything about the address.
    """
    url = named_url(canonicals(page, document))
    if url is None or url == page.target.url:
        return CanonicalAnswer()
    try:
        response = network.fetch(
            page.target.join(url),
            headers=ACCEPT,
            max_bytes=CANONICAL_MAX_BYTES,
            timeout_s=TIMEOUT_S,
            verify=False,
        )
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl) as error:
        return CanonicalAnswer(url, error=str(error))
    sign = "too many requests" if response.status == 429 else challenge_sign(response)
    if sign:
        raise SiteProtected(f"A protection answered in place of the canonical address: {sign}.")
    target = page.target.join(url)
    answered = Page(requested=target, target=target, hops=(response,))
    return CanonicalAnswer(url, answered, parse_document(answered))
