"""Addresses that the page's head names: its language versions, and the picture for sharing."""

from __future__ import annotations

import concurrent.futures

from scans.engine.catalogue import probe
from scans.engine.page.evidence import Document, Page
from scans.engine.page.fetch import ACCEPT, parse_document, raise_if_rate_limited
from scans.engine.seo.evidence import AlternateAnswer, AlternateAnswers, ShareImage
from scans.engine.seo.hreflang import own_addresses, versions
from scans.engine.seo.social import share_picture
from scans.net.client import Network
from scans.net.errors import BudgetExceeded, NetError, TimedOut
from scans.net.targets import InvalidUrl

MAX_ALTERNATES = 10
AT_ONCE = 5
PAGE_BYTES = 1024 * 1024
IMAGE_BYTES = 1024
TIMEOUT_S = 10.0


@probe()
def alternate_answers(page: Page, document: Document, network: Network) -> AlternateAnswers:
    """The first ten other language versions, each fetched once without following redirects.

    Raises `SiteProtected` when the site has enough of requests.
    """
    own = own_addresses(page, document)
    urls = dict.fromkeys(each.url for each in versions(page, document) if each.url is not None and each.url not in own)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "alternate") as pool:
        answers = list(pool.map(lambda url: _alternate(url, page, network), list(urls)[:MAX_ALTERNATES]))
    return AlternateAnswers(tuple(answers))


def _alternate(url: str, page: Page, network: Network) -> AlternateAnswer:
    try:
        target = page.target.join(url)
        response = network.fetch(target, headers=ACCEPT, max_bytes=PAGE_BYTES, timeout_s=TIMEOUT_S, verify=False)
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl) as error:
        return AlternateAnswer(url, error=str(error))
    raise_if_rate_limited(response)
    answered = Page(requested=target, target=target, hops=(response,))
    return AlternateAnswer(url, answered, parse_document(answered))


@probe()
def share_image(page: Page, document: Document, network: Network) -> ShareImage:
    """The picture of og:image, its beginning only; its redirects are followed as networks do."""
    reference = share_picture(document)
    if not reference:
        return ShareImage()
    try:
        target = page.target.join(reference)
        response = network.follow(
            target, headers={"Accept": "image/*,*/*;q=0.8"}, max_bytes=IMAGE_BYTES, timeout_s=TIMEOUT_S, verify=False
        )[-1]
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl) as error:
        return ShareImage(error=str(error))
    raise_if_rate_limited(response)
    return ShareImage(response.status)
