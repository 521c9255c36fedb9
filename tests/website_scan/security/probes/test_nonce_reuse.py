from __future__ import annotations

import itertools

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import target
from tests.website_scan.net.loopback import loopback_network
from website_scan.page.fetch import SiteProtected, fetch_page, parse_document
from website_scan.security.csp import read_policies
from website_scan.security.evidence import SecondFetch
from website_scan.security.probes.nonce_reuse import second_fetch


def fetch_twice(site: Site) -> SecondFetch:
    with loopback_network() as network:
        page = fetch_page(target(f"{site.url}/"), network)
        return second_fetch(page, read_policies(page, parse_document(page)), network)


def test_page_with_nonce_is_fetched_past_caches() -> None:
    numbers = itertools.count()

    def answer(request: Request) -> Answer:
        policy = f"script-src 'nonce-{next(numbers)}AAAA'"
        return Answer("<title>Hello</title>", headers={"Content-Security-Policy": policy})

    with Site({"/": answer}) as site:
        second = fetch_twice(site)
    assert second.page is not None
    assert second.page.headers.get("Content-Security-Policy") == "script-src 'nonce-1AAAA'"
    assert second.policies.nonces == {"'nonce-1AAAA'"}
    assert site.requests[1].header("Cache-Control") == "no-cache"


def test_page_with_meta_nonce_is_fetched_again() -> None:
    meta = "<meta http-equiv=Content-Security-Policy content=\"script-src 'nonce-AAAA'\">"
    with Site({"/": Answer(meta)}) as site:
        assert fetch_twice(site).page is not None


def test_page_without_nonce_is_not_fetched() -> None:
    with Site({"/": Answer("<title>Hello</title>", headers={"Content-Security-Policy": "script-src 'self'"})}) as site:
        assert fetch_twice(site) == SecondFetch()
    assert site.paths() == ["/"]


def test_second_fetch_stops_after_status_429() -> None:
    answers = iter(
        [Answer("Hello", headers={"Content-Security-Policy": "script-src 'nonce-AAAA'"}), Answer(status=429)]
    )
    with Site({"/": lambda _: next(answers)}) as site, pytest.raises(SiteProtected):
        fetch_twice(site)
