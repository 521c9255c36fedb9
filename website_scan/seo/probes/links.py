"""Probe that finds broken links.

It requests a sample of the page's links at a polite rate.
"""

from __future__ import annotations

import concurrent.futures
import time

from msgspec.structs import replace

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
from website_scan.page.fetch import ACCEPT, RateLimitedBySite, SiteProtected, detect_challenge
from website_scan.page.outside_names import OutsideNames
from website_scan.seo.evidence import LinkAnswer, LinkAnswers
from website_scan.urls import normal_form

MAX_INTERNAL_LINKS = 25
MAX_EXTERNAL_LINKS = 5
MAX_LINK_CANDIDATES = 60  # Limit of links to match against robots.txt, which may have many rules.
# The limit is low, because other probes send requests to the same host concurrently.
MAX_CONCURRENT_REQUESTS = 6
MAX_BODY_BYTES = 16 * 1024
MAX_CACHED_PAGE_BYTES = 512 * 1024  # Pages of the same site are cached, because an audit scans them next.
REQUEST_TIMEOUT_S = 8.0
MAX_REQUESTING_S = 15.0
GONE_STATUSES = frozenset({404, 410})


@probe()
def link_answers(page: Page, links: PageLinks, robots: RobotsFile | None, network: Network) -> LinkAnswers:
    """Request a sample of the page's links.

    It has at most 25 links to the same site and five to other sites.

    Links that may change data, links with rel=nofollow and links that robots.txt disallows are left out, because
    crawlers do not follow them; so are instructions to open a local URL, such as http://localhost:8000. Unresolvable
    host names prove nothing in a closed network whose name servers resolve no other site.

    Requests end when the site refuses them or the budget of requests and bytes is used up. Raises `SiteProtected` or
    `BudgetExceeded` then, unless a broken link was found before.
    """
    if page.response.status >= 400:
        return LinkAnswers()
    # Keys are URLs in normal form, values are the URLs as written in the page.
    internal: dict[str, str] = {}
    external: dict[str, str] = {}
    for link in links.links:
        if link.may_be_followed and not link.is_local_instruction:
            (internal if link.is_internal else external).setdefault(normal_form(link.url), link.url)
    candidates = [
        url
        for url in sampled(list(internal.values()), MAX_LINK_CANDIDATES)
        if _is_allowed_by_robots_txt(url, page, robots)
    ]
    requester = _LinkRequester(page, network)
    sample = [(url, True) for url in sampled(candidates, MAX_INTERNAL_LINKS)]
    sample += [(url, False) for url in sampled(list(external.values()), MAX_EXTERNAL_LINKS)]
    with concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS, "link") as pool:
        results = list(pool.map(lambda arguments: requester.request(*arguments), sample))
    answers = tuple(answer for answer in results if answer is not None)
    resolves_other_sites = not requester.unresolved or requester.names.resolves_public_names()
    if not resolves_other_sites:
        answers = tuple(
            replace(answer, is_broken=None) if answer.url in requester.unresolved else answer for answer in answers
        )
    if requester.error is not None and not any(answer.is_broken for answer in answers):
        raise requester.error
    return LinkAnswers(answers, len(internal), len(external), str(requester.error or ""), resolves_other_sites)


def _is_allowed_by_robots_txt(url: str, page: Page, robots: RobotsFile | None) -> bool:
    origin = page.target.origin
    if robots is None or not url.startswith(f"{origin}/"):
        return True
    path = url.removeprefix(origin)
    return all(decide(robots.robots, agent, path).allowed for agent in (GOOGLEBOT, "*"))


class _LinkRequester:
    """Requests a page's links until the site or the budget refuses a request.

    `error` is the refusal. `unresolved` has the URLs on other sites whose host names cannot be resolved.
    """

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._ends = time.monotonic() + MAX_REQUESTING_S
        self.error: SiteProtected | BudgetExceeded | None = None
        self.unresolved: set[str] = set()
        self.names = OutsideNames(page, network)

    def request(self, url: str, is_internal: bool) -> LinkAnswer | None:
        """Request a link.

        Return None without a request if the time is over or the site refused a request.
        """
        if self.error is not None or time.monotonic() >= self._ends:
            return None
        try:
            target = self._page.target.join(url)
            response = self._fetch(target, MAX_CACHED_PAGE_BYTES if is_internal else 0)
        except BudgetExceeded as error:
            self.error = error
            return None
        except NotReachable as error:
            is_unreachable = self._is_target_unreachable(target, error)
            if not is_internal and is_unreachable and not isinstance(error, Refused):
                self.unresolved.add(url)
            return LinkAnswer(url, is_internal, None, is_unreachable or None, str(error))
        except (NetError, InvalidUrl) as error:
            return LinkAnswer(url, is_internal, None, None, str(error))
        self.names.note(target.host)
        if response.status == 429 and is_internal:
            self.error = RateLimitedBySite()
        is_broken = _is_broken_link(response, is_internal)
        if is_broken and self._has_credentials(target):
            is_broken = None
        return LinkAnswer(url, is_internal, response.status, is_broken)

    def _has_credentials(self, target: Target) -> bool:
        """Return True if the scan has credentials for the target.

        Then the page may exist only for logged-in users.

        Links are requested without credentials, because a GET of /logout or /delete with a session may take effect.
        """
        credentials = self._network.credentials
        return credentials is not None and credentials.origin == target.origin

    def _fetch(self, target: Target, cached_body_bytes: int) -> Response:
        """Return the response after all redirects.

        Retry once after a 5xx, which the scan itself may have caused.
        """
        for _ in range(2):
            remaining_s = max(self._ends - time.monotonic(), 0.1)
            response = self._network.follow(
                Request(
                    target,
                    headers=ACCEPT,
                    max_bytes=MAX_BODY_BYTES,
                    timeout_s=min(REQUEST_TIMEOUT_S, remaining_s),
                    verify=False,
                    reuse=Reuse.ALLOWED,
                    cached_body_bytes=cached_body_bytes,
                )
            )[-1]
            if not 500 <= response.status < 600:
                break
        return response

    def _is_target_unreachable(self, target: Target, error: NotReachable) -> bool:
        """Return True if nobody can reach the target.

        Its host refuses connections or does not exist.
        """
        if target.origin == self._page.target.origin:
            return False  # The page's origin answered a moment ago, so the failure is not permanent.
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


def _is_broken_link(response: Response, is_internal: bool) -> bool | None:
    """Return True for a broken link, False for a working link, else None.

    None for other responses: sites may refuse only scanners, with 403 and the like or with 503.
    """
    status = response.status
    if detect_challenge(response):
        return None
    if status in GONE_STATUSES:
        return True
    if 500 <= status < 600:
        return True if is_internal or status != 503 else None
    return False if status < 400 else None
