"""Faults of the URL that a page names as its canonical one."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from website_scan.crawl.canonicals import is_front_page, is_root
from website_scan.crawl.indexing import read_indexing_rules
from website_scan.crawl.link_relations import same_escapes
from website_scan.messages import excerpt
from website_scan.page.evidence import Page
from website_scan.page.markup import http_address
from website_scan.page.registrable_domain import is_same_site
from website_scan.seo.evidence import CanonicalAnswer
from website_scan.seo.hreflang import Alternates
from website_scan.urls import Url


class TargetFault(NamedTuple):
    """Why a canonical URL can't stand for the page: the title of the finding, and the end of a sentence."""

    title: str
    clause: str


def target_fault(
    page: Page, url: str, alternates: Alternates, answer: CanonicalAnswer, now: datetime
) -> TargetFault | None:
    """Return why the canonical `url` can't stand for this page. None if it can."""
    own, other = page.target.address, Url.of(url)
    if is_same_site(own.host, other.host) and is_root(other) and not is_front_page(own):
        return TargetFault("Canonical URL is the front page", "is the front page")
    versions = alternates.by_url
    if same_escapes(own.href) in versions and (version := versions.get(same_escapes(url))) is not None:
        return TargetFault(
            "Canonical URL is another language version",
            f"is another language version ({excerpt(version.code)}); each version should name itself",
        )
    if answer.page is None or answer.document is None:
        return TargetFault("Canonical URL does not load", f"can't be loaded: {answer.error.rstrip('.')}")
    response = answer.page.response
    if 300 <= response.status < 400:
        goal = http_address(Url.parse(response.headers.get("Location") or "", response.url))
        to = "this very page" if goal == page.target.url else excerpt(goal or "nowhere")
        return TargetFault("Canonical URL redirects", f"redirects ({response.status}) to {to}")
    if response.status != 200:
        answers = f"answers with status {response.status}"
        return TargetFault(f"Canonical URL {answers}", answers)
    decisive = read_indexing_rules(answer.page, answer.document, now).decisive
    if not decisive:
        return None
    return TargetFault("Canonical URL must not be indexed", f"must not be indexed: {excerpt(decisive[0].shown)}")
