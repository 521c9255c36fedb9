"""Faults of a page's canonical URL, such as redirects, errors or noindex."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from website_scan.crawl.canonicals import is_front_page, is_root_url
from website_scan.crawl.indexing import read_indexing_rules
from website_scan.outcomes import Fail
from website_scan.page.evidence import Page
from website_scan.page.markup import http_address
from website_scan.page.registrable_domain import is_same_site
from website_scan.places import Place
from website_scan.seo.evidence import CanonicalAnswer
from website_scan.seo.hreflang import Alternates
from website_scan.urls import Url, are_equivalent, normal_form
from website_scan.values import Address, Excerpt, Reason, Value, Word


def find_canonical_target_fault(
    page: Page, url: str, alternates: Alternates, answer: CanonicalAnswer, now: datetime, details: Sequence[Place]
) -> Fail | None:
    """Return why search engines may reject `url` as the canonical URL.

    None if the URL is suitable.
    """
    own, other = page.target.address, Url.of(url)
    address = Address(url)
    if is_same_site(own.host, other.host) and is_root_url(other) and not is_front_page(own):
        return Fail("other-page", "The canonical URL {url} is the front page.", url=address, details=details)
    versions = alternates.version_by_url
    if normal_form(own.href) in versions and (version := versions.get(normal_form(url))) is not None:
        return Fail(
            "other-page",
            "The canonical URL {url} is another language version ({code}); each version should name itself.",
            url=address,
            code=Excerpt(version.code),
            details=details,
        )
    if answer.page is None or answer.document is None:
        return Fail(
            "unreachable",
            "The canonical URL {url} cannot be loaded ({error}).",
            url=address,
            error=Reason(answer.error),
            details=details,
        )
    response = answer.page.response
    if 300 <= response.status < 400:
        location = http_address(Url.parse(response.headers.get("Location") or "", response.url))
        to: Value = (
            Word("this very page")
            if location and are_equivalent(location, page.target.url)
            else Address(location)
            if location
            else Word("nowhere")
        )
        return Fail(
            "redirects",
            "The canonical URL {url} redirects ({status}) to {to}.",
            url=address,
            status=response.status,
            to=to,
            details=details,
        )
    if response.status != 200:
        return Fail(
            "error-status",
            "The canonical URL {url} answers with status {status}.",
            url=address,
            status=response.status,
            details=details,
        )
    decisive = read_indexing_rules(answer.page, answer.document, now).decisive
    if not decisive:
        return None
    return Fail(
        "noindex",
        "The canonical URL {url} must not be indexed: {rule}.",
        url=address,
        rule=Excerpt(decisive[0].shown),
        details=details,
    )
