"""Probes of pages that the page's metadata names.

They request the canonical URL, the language versions and the og:image.
"""

from __future__ import annotations

import concurrent.futures
import contextlib

from website_scan.accessibility.document import AccessibleDocument
from website_scan.catalogue import probe
from website_scan.crawl.canonicals import Canonicals
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, NotReachable, TimedOut
from website_scan.net.http.request import Request, Reuse
from website_scan.net.targets import InvalidUrl
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, SiteProtected, detect_challenge, parse_document, raise_if_rate_limited
from website_scan.page.outside_names import OutsideNames
from website_scan.page.soft_404 import siblings
from website_scan.seo.evidence import AlternateAnswers, CanonicalAnswer, MissingPathAnswer, PageAnswer, SocialImage
from website_scan.seo.hreflang import Alternates
from website_scan.seo.metadata import SocialMetadata
from website_scan.seo.visible_text import read_missing_page_words

MAX_FETCHED_ALTERNATES = 10
MAX_CONCURRENT_REQUESTS = 5
MAX_PAGE_BYTES = 1024 * 1024
MAX_IMAGE_BYTES = 1024
REQUEST_TIMEOUT_S = 10.0
CANONICAL_TIMEOUT_S = 15.0


@probe()
def canonical_answer(page: Page, canonicals: Canonicals, network: Network) -> CanonicalAnswer:
    """Fetch the canonical URL, unless it is the page's own URL.

    Redirects are not followed.

    Raises errors that prove nothing about the URL: `SiteProtected`, `TimedOut`, `BudgetExceeded`, and `NotReachable`
    for a host name that may exist.
    """
    url = canonicals.url
    if url is None or canonicals.is_self_referencing:
        return CanonicalAnswer()
    answer = _fetch(url, page, network, CANONICAL_TIMEOUT_S)
    if answer.page is not None and (sign := detect_challenge(answer.page.response)):
        raise SiteProtected(f"A protection answered in place of the canonical URL: {sign}.")
    return CanonicalAnswer(url, answer.page, answer.document, answer.error)


@probe()
def alternate_answers(page: Page, alternates: Alternates, canonicals: Canonicals, network: Network) -> AlternateAnswers:
    """Fetch the first ten other language versions of the page.

    Redirects are not followed.

    Versions on host names that the scanner cannot resolve, but that may exist, are left out. Raises `SiteProtected` if
    the site refuses further requests, `TimedOut` and `BudgetExceeded`.
    """
    own = canonicals.own_urls
    urls = [url for url in alternates.version_by_url if url not in own]

    def fetch(url: str) -> PageAnswer | None:
        with contextlib.suppress(NotReachable):
            return _fetch(url, page, network, REQUEST_TIMEOUT_S)
        return None

    with concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS, "alternate") as pool:
        answers = pool.map(fetch, urls[:MAX_FETCHED_ALTERNATES])
        return AlternateAnswers(tuple(answer for answer in answers if answer is not None))


def _fetch(url: str, page: Page, network: Network, timeout_s: float) -> PageAnswer:
    """Fetch a URL without following redirects.

    Raises `SiteProtected`, `TimedOut`, `BudgetExceeded`, and `NotReachable` for a host name that may exist.
    """
    try:
        target = page.target.join(url)
        response = network.fetch(
            Request(
                target,
                headers=ACCEPT,
                max_bytes=MAX_PAGE_BYTES,
                timeout_s=timeout_s,
                verify=False,
                with_credentials=True,
                reuse=Reuse.ALLOWED,
            )
        )
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl) as error:
        if isinstance(error, NotReachable) and OutsideNames(page, network).may_exist(target, error):
            raise
        return PageAnswer(url, error=str(error))
    raise_if_rate_limited(response)
    fetched = Page(requested=target, target=target, hops=(response,))
    return PageAnswer(url, fetched, parse_document(fetched))


@probe()
def missing_path_answer(page: Page, document: AccessibleDocument, network: Network) -> MissingPathAnswer:
    """Fetch a random path that cannot exist.

    This happens only if the page's title or heading is like "page not found".

    Raises `SiteProtected`, `TimedOut` and `BudgetExceeded`.
    """
    if page.response.status >= 400 or not read_missing_page_words(document).is_in_title_or_heading:
        return MissingPathAnswer()
    path, _ = siblings(page.target.path)
    answer = _fetch(path, page, network, REQUEST_TIMEOUT_S)
    return MissingPathAnswer(path, answer.page.response if answer.page is not None else None)


@probe()
def social_image(page: Page, social: SocialMetadata, network: Network) -> SocialImage:
    """Fetch the beginning of the og:image.

    Redirects are followed, as social networks do.

    Raises `SiteProtected`, `TimedOut`, `BudgetExceeded`, and `NotReachable` for a host name that may exist.
    """
    if not social.image:
        return SocialImage()
    try:
        target = page.target.join(social.image)
        response = network.follow(
            Request(
                target,
                headers={"Accept": "image/*,*/*;q=0.8"},
                max_bytes=MAX_IMAGE_BYTES,
                timeout_s=REQUEST_TIMEOUT_S,
                verify=False,
                with_credentials=True,
                reuse=Reuse.ALLOWED,
            )
        )[-1]
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl) as error:
        if isinstance(error, NotReachable) and OutsideNames(page, network).may_exist(target, error):
            raise
        return SocialImage(error=str(error))
    raise_if_rate_limited(response)
    return SocialImage(response.status)
