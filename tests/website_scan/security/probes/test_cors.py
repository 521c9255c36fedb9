"""CORS probe and check on a site that allows only the origin `null`."""

from __future__ import annotations

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import POLICY, outcome, target
from website_scan.net.client import Network
from website_scan.page.fetch import fetch_page
from website_scan.security.checks.headers import cors_credentials
from website_scan.security.probes.cors import cors

NULL = {"Access-Control-Allow-Origin": "null", "Access-Control-Allow-Credentials": "true"}


def allow_null_origin_only(request: Request) -> Answer:
    return Answer("<p>Text", headers=NULL if request.header("Origin") == "null" else {})


def test_site_that_allows_only_null_origin_fails() -> None:
    with Site({"/": allow_null_origin_only}) as site, Network(POLICY) as network:
        evidence = cors(fetch_page(target(f"{site.url}/"), network), network)
        assert [request.header("Origin") for request in site.requests[1:]] == [
            answer.origin for answer in evidence.answers
        ]
    assert outcome(cors_credentials(evidence)) == "null-origin"
