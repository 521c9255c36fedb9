"""Requests as foreign origins: a site that allows `null` alone, and says nothing to others, is found."""

from __future__ import annotations

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import POLICY, outcome, target
from website_scan.net.client import Network
from website_scan.page.fetch import fetch_page
from website_scan.security.checks.headers import cors_credentials
from website_scan.security.probes.cors import cors

NULL = {"Access-Control-Allow-Origin": "null", "Access-Control-Allow-Credentials": "true"}


def allows_null_alone(request: Request) -> Answer:
    return Answer("<p>Text", headers=NULL if request.header("Origin") == "null" else {})


def test_a_site_that_allows_null_alone_without_vary_is_found() -> None:
    with Site({"/": allows_null_alone}) as site, Network(POLICY) as network:
        found = cors(fetch_page(target(f"{site.url}/"), network), network)
        assert [each.header("Origin") for each in site.requests[1:]] == [each.origin for each in found.answers]
    assert outcome(cors_credentials(found)) == "null-origin"
