"""Broken link probe: requests a sample of the page's links at a polite rate."""

from __future__ import annotations

import concurrent.futures
import time
from dataclasses import replace

from website_scan.catalogue import probe
from website_scan.crawl.links import PageLinks, sampled
from website_scan.crawl.robots import GOOGLEBOT, decide
from website_scan.crawl.robots_file import RobotsFile
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, NotReachable, Refused
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, RateLimitedBySite, SiteProtected, challenge_sign
from website_scan.page.outside_names import OutsideNames
from website_scan.seo.evidence import LinkAnswer, LinkAnswers

MAX_INTERNAL = 25
MAX_EXTERNAL = 5
MAX_CANDIDATES = 60  # compared with robots.txt, whose rules may be many
# Other probes request the same host at the same time.
AT_ONCE = 6
MAX_BYTES = 16 * 1024
KEPT_BYTES = 512 * 1024  # of a page of the same site, which an audit is about to visit
TIMEOUT_S = 8.0
TIME_LIMIT_S = 15.0
GONE = frozenset({404, 410})


@probe()
def link_answers(page: Page, links: PageLinks, robots: RobotsFile | None, network: Network) -> LinkAnswers:
    """Request at most 25 links to the own site and five to others, evenly spaced over the page. Follow redirects.

    Links that may change something, rel=nofollow, and links that robots.txt disallows are left out, because crawlers
    do not follow them, and so are instructions to open a local address. In a closed network, whose name servers know
    no other site, names without an address prove nothing. If the site refuses further requests, or the budget is used
    up, the rest is not requested. Raises `SiteProtected` or `BudgetExceeded` then if no broken link was found before.
    """
    if page.response.status >= 400:
        return LinkAnswers()
    internal: dict[str, None] = {}
    external: dict[str, None] = {}
    for link in links.links:
        if link.may_be_followed and not link.is_instruction:
            (internal if link.is_internal else external)[link.url] = None
    candidates = [url for url in sampled(list(internal), MAX_CANDIDATES) if _is_allowed(url, page, robots)]
    asker = _Asker(page, network)
    wanted = [(url, True) for url in sampled(candidates, MAX_INTERNAL)]
    wanted += [(url, False) for url in sampled(list(external), MAX_EXTERNAL)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "link") as pool:
        found = list(pool.map(lambda each: asker.answer(*each), wanted))
    answers = tuple(each for each in found if each is not None)
    knows_outside_names = not asker.nameless or asker.names.are_known()
    if not knows_outside_names:
        answers = tuple(replace(each, is_broken=None) if each.url in asker.nameless else each for each in answers)
    if asker.ended is not None and not any(each.is_broken for each in answers):
        raise asker.ended
    return LinkAnswers(answers, len(internal), len(external), str(asker.ended or ""), knows_outside_names)


def _is_allowed(url: str, page: Page, robots: RobotsFile | None) -> bool:
    origin = page.target.origin
    if robots is None or not url.startswith(f"{origin}/"):
        return True
    path = url.removeprefix(origin)
    return all(decide(robots.robots, agent, path).allowed for agent in (GOOGLEBOT, "*"))


class _Asker:
    """Requests links of one page until the site refuses; `ended` is then the error.

    `nameless` has the links to other sites whose names have no address.
    """

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._ends = time.monotonic() + TIME_LIMIT_S
        self.ended: SiteProtected | BudgetExceeded | None = None
        self.nameless: set[str] = set()
        self.names = OutsideNames(page, network)

    def answer(self, url: str, is_internal: bool) -> LinkAnswer | None:
        """Request the link. None if it was not requested."""
        if self.ended is not None or time.monotonic() >= self._ends:
            return None
        try:
            target = self._page.target.join(url)
            response = self._ask(target, KEPT_BYTES if is_internal else 0)
        except BudgetExceeded as error:
            self.ended = error
            return None
        except NotReachable as error:
            is_proved = self._is_proved(target, error)
            if not is_internal and is_proved and not isinstance(error, Refused):
                self.nameless.add(url)
            return LinkAnswer(url, is_internal, None, is_proved or None, str(error))
        except (NetError, InvalidUrl) as error:
            return LinkAnswer(url, is_internal, None, None, str(error))
        self.names.note(target.host)
        if response.status == 429 and is_internal:
            self.ended = RateLimitedBySite()
        is_broken = _is_broken(response, is_internal)
        if is_broken and self._is_hidden(target):
            is_broken = None
        return LinkAnswer(url, is_internal, response.status, is_broken)

    def _is_hidden(self, target: Target) -> bool:
        """Return True if the scan has credentials for the target, so that logged-in users may find a page there.

        The link is not requested with them: a GET of /logout or /delete with somebody's session could do what it says.
        """
        credentials = self._network.credentials
        return credentials is not None and credentials.origin == target.origin

    def _ask(self, target: Target, kept_bytes: int) -> Response:
        """Return the response at the end of the redirects. A 5xx is requested again, as the scan may have caused it."""
        for _ in range(2):
            left_s = max(self._ends - time.monotonic(), 0.1)
            response = self._network.follow(
                Request(
                    target,
                    headers=ACCEPT,
                    max_bytes=MAX_BYTES,
                    timeout_s=min(TIMEOUT_S, left_s),
                    verify=False,
                    reuse=Reuse.ALLOWED,
                    kept_bytes=kept_bytes,
                )
            )[-1]
            if not 500 <= response.status < 600:
                break
        return response

    def _is_proved(self, target: Target, error: NotReachable) -> bool:
        """Return True if nobody can reach the target: the host refuses, or its name has no address."""
        if target.origin == self._page.target.origin:
            return False  # it has just answered
        if isinstance(error, Refused):
            self.names.note(target.host)
            return True
        try:
            self._network.addresses(target.host, target.port)
        except NotReachable:
            return self.names.is_missing(target.host)
        except NetError:
            return False
        return False


def _is_broken(response: Response, is_internal: bool) -> bool | None:
    """Return True if the response proves the link broken, False if it proves it works, None if neither.

    A refusal may be for scanners only, and large sites refuse machines with 503, too.
    """
    status = response.status
    if challenge_sign(response):
        return None
    if status in GONE:
        return True
    if 500 <= status < 600:
        return True if is_internal or status != 503 else None
    return False if status < 400 else None
