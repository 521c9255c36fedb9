"""Probes of the URLs that a page names: its canonical URL, its language versions, and its image for sharing."""

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
from website_scan.page.fetch import ACCEPT, SiteProtected, challenge_sign, parse_document, raise_if_rate_limited
from website_scan.page.outside_names import OutsideNames
from website_scan.page.soft_404 import siblings
from website_scan.seo.evidence import AlternateAnswers, CanonicalAnswer, MissingPathAnswer, PageAnswer, SocialImage
from website_scan.seo.hreflang import Alternates
from website_scan.seo.metadata import SocialMetadata
from website_scan.seo.visible_text import read_missing_page_words

MAX_ALTERNATES = 10
AT_ONCE = 5
PAGE_BYTES = 1024 * 1024
IMAGE_BYTES = 1024
TIMEOUT_S = 10.0
CANONICAL_TIMEOUT_S = 15.0


@probe()
def canonical_answer(page: Page, canonicals: Canonicals, network: Network) -> CanonicalAnswer:
    """Fetch the canonical URL once without following redirects, unless it is the page's own.

    Raises `SiteProtected`, `TimedOut`, `BudgetExceeded`, and `NotReachable` for a name that may exist, because none of
    them proves anything about the URL.
    """
    url = canonicals.url
    if url is None or url == page.target.url:
        return CanonicalAnswer()
    found = _answer(url, page, network, CANONICAL_TIMEOUT_S)
    if found.page is not None and (sign := challenge_sign(found.page.response)):
        raise SiteProtected(f"A protection answered in place of the canonical URL: {sign}.")
    return CanonicalAnswer(url, found.page, found.document, found.error)


@probe()
def alternate_answers(page: Page, alternates: Alternates, canonicals: Canonicals, network: Network) -> AlternateAnswers:
    """Fetch the first ten other language versions once each, without following redirects.

    Versions on names that may exist although they have no address here are left out. Raises `SiteProtected` if the site
    refuses further requests, `TimedOut` and `BudgetExceeded`.
    """
    own = canonicals.own_urls
    urls = [url for url in alternates.by_url if url not in own]

    def ask(url: str) -> PageAnswer | None:
        with contextlib.suppress(NotReachable):
            return _answer(url, page, network, TIMEOUT_S)
        return None

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "alternate") as pool:
        answers = pool.map(ask, urls[:MAX_ALTERNATES])
        return AlternateAnswers(tuple(each for each in answers if each is not None))


def _answer(url: str, page: Page, network: Network, timeout_s: float) -> PageAnswer:
    """Fetch a URL. Raises as the probes do, and `NotReachable` only for a name that may exist."""
    try:
        target = page.target.join(url)
        response = network.fetch(
            Request(
                target,
                headers=ACCEPT,
                max_bytes=PAGE_BYTES,
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
    answered = Page(requested=target, target=target, hops=(response,))
    return PageAnswer(url, answered, parse_document(answered))


@probe()
def missing_path_answer(page: Page, document: AccessibleDocument, network: Network) -> MissingPathAnswer:
    """Fetch a path that does not exist, but only if the page's title or heading says that it does not exist.

    Raises `SiteProtected`, `TimedOut` and `BudgetExceeded`.
    """
    if page.response.status >= 400 or not read_missing_page_words(document).any:
        return MissingPathAnswer()
    path, _ = siblings(page.target.path)
    found = _answer(path, page, network, TIMEOUT_S)
    return MissingPathAnswer(path, found.page.response if found.page is not None else None)


@probe()
def social_image(page: Page, social: SocialMetadata, network: Network) -> SocialImage:
    """Fetch the beginning of the og:image. Redirects are followed, as networks do.

    Raises `SiteProtected`, `TimedOut`, `BudgetExceeded`, and `NotReachable` for a name that may exist.
    """
    if not social.image:
        return SocialImage()
    try:
        target = page.target.join(social.image)
        response = network.follow(
            Request(
                target,
                headers={"Accept": "image/*,*/*;q=0.8"},
                max_bytes=IMAGE_BYTES,
                timeout_s=TIMEOUT_S,
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
