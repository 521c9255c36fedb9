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
MAX_CANDIDATES = 60  # matched against robots.txt, which may have many rules
# Low, because other probes send requests to the same host at the same time.
AT_ONCE = 6
MAX_BYTES = 16 * 1024
CACHED_BYTES = 512 * 1024  # of each page on the same site, because an audit scans the page next
TIMEOUT_S = 8.0
TIME_LIMIT_S = 15.0
GONE_STATUSES = frozenset({404, 410})


@probe()
def link_answers(page: Page, links: PageLinks, robots: RobotsFile | None, network: Network) -> LinkAnswers:
    """Request at most 25 links to the same site and five to others, evenly spaced over the page. Follow redirects.

    Links that may change data, links with rel=nofollow and links that robots.txt disallows are left out, because
    crawlers do not follow them; so are instructions to open a local URL, such as http://localhost:8000. Unresolvable
    host names prove nothing in a closed network whose name servers resolve no other site.

    Requests end when the site refuses them or the budget of requests and bytes is used up. Raises `SiteProtected` or
    `BudgetExceeded` then, unless a broken link was found before.
    """
    if page.response.status >= 400:
        return LinkAnswers()
    internal: dict[str, None] = {}
    external: dict[str, None] = {}
    for link in links.links:
        if link.may_be_followed and not link.is_instruction:
            (internal if link.is_internal else external)[link.url] = None
    candidates = [url for url in sampled(list(internal), MAX_CANDIDATES) if _is_allowed(url, page, robots)]
    requester = _LinkRequester(page, network)
    sample = [(url, True) for url in sampled(candidates, MAX_INTERNAL)]
    sample += [(url, False) for url in sampled(list(external), MAX_EXTERNAL)]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "link") as pool:
        results = list(pool.map(lambda arguments: requester.request(*arguments), sample))
    answers = tuple(answer for answer in results if answer is not None)
    resolves_other_sites = not requester.unresolved or requester.names.are_known()
    if not resolves_other_sites:
        answers = tuple(
            replace(answer, is_broken=None) if answer.url in requester.unresolved else answer for answer in answers
        )
    if requester.error is not None and not any(answer.is_broken for answer in answers):
        raise requester.error
    return LinkAnswers(answers, len(internal), len(external), str(requester.error or ""), resolves_other_sites)


def _is_allowed(url: str, page: Page, robots: RobotsFile | None) -> bool:
    origin = page.target.origin
    if robots is None or not url.startswith(f"{origin}/"):
        return True
    path = url.removeprefix(origin)
    return all(decide(robots.robots, agent, path).allowed for agent in (GOOGLEBOT, "*"))


class _LinkRequester:
    """Requests links of one page until the site refuses requests for the reason in `error`.

    `unresolved` has the URLs on other sites whose host names cannot be resolved.
    """

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._ends = time.monotonic() + TIME_LIMIT_S
        self.error: SiteProtected | BudgetExceeded | None = None
        self.unresolved: set[str] = set()
        self.names = OutsideNames(page, network)

    def request(self, url: str, is_internal: bool) -> LinkAnswer | None:
        """Request a link. Returns None without a request after the end of time or a refusal."""
        if self.error is not None or time.monotonic() >= self._ends:
            return None
        try:
            target = self._page.target.join(url)
            response = self._fetch(target, CACHED_BYTES if is_internal else 0)
        except BudgetExceeded as error:
            self.error = error
            return None
        except NotReachable as error:
            is_unreachable = self._is_unreachable(target, error)
            if not is_internal and is_unreachable and not isinstance(error, Refused):
                self.unresolved.add(url)
            return LinkAnswer(url, is_internal, None, is_unreachable or None, str(error))
        except (NetError, InvalidUrl) as error:
            return LinkAnswer(url, is_internal, None, None, str(error))
        self.names.note(target.host)
        if response.status == 429 and is_internal:
            self.error = RateLimitedBySite()
        is_broken = _is_broken(response, is_internal)
        if is_broken and self._has_credentials(target):
            is_broken = None
        return LinkAnswer(url, is_internal, response.status, is_broken)

    def _has_credentials(self, target: Target) -> bool:
        """Return True if the scan has credentials for the target, so that the page may exist for logged-in users.

        Links are requested without credentials, because a GET of /logout or /delete with a session may take effect.
        """
        credentials = self._network.credentials
        return credentials is not None and credentials.origin == target.origin

    def _fetch(self, target: Target, kept_bytes: int) -> Response:
        """Return the response after all redirects. Retry once after a 5xx, which the load of the scan may cause."""
        for _ in range(2):
            remaining_s = max(self._ends - time.monotonic(), 0.1)
            response = self._network.follow(
                Request(
                    target,
                    headers=ACCEPT,
                    max_bytes=MAX_BYTES,
                    timeout_s=min(TIMEOUT_S, remaining_s),
                    verify=False,
                    reuse=Reuse.ALLOWED,
                    kept_bytes=kept_bytes,
                )
            )[-1]
            if not 500 <= response.status < 600:
                break
        return response

    def _is_unreachable(self, target: Target, error: NotReachable) -> bool:
        """Return True if nobody can reach the target: the host refuses connections, or its name does not exist."""
        if target.origin == self._page.target.origin:
            return False  # the page's own origin has just answered
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
    """Return True if the response proves that the link is broken, False if it proves that the link works.

    None for other responses: sites may refuse only scanners, with 403 and the like or with 503.
    """
    status = response.status
    if challenge_sign(response):
        return None
    if status in GONE_STATUSES:
        return True
    if 500 <= status < 600:
        return True if is_internal or status != 503 else None
    return False if status < 400 else None
