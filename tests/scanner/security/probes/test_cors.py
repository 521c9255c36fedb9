"""Requests as foreign origins: a site that allows `null` alone, and says nothing to others, is found."""

from __future__ import annotations

from scanner.findings import Fail
from scanner.net.client import Network
from scanner.page.fetch import fetch_page
from scanner.security.checks.headers import cors_credentials
from scanner.security.probes.cors import cors
from tests.scanner.cast import POLICY, target
from tests.targets.server import Answer, Request, Site

NULL = {"Access-Control-Allow-Origin": "null", "Access-Control-Allow-Credentials": "true"}


def allows_null_alone(request: Request) -> Answer:
    return Answer("<p>Text", headers=NULL if request.header("Origin") == "null" else {})


def test_a_site_that_allows_null_alone_without_vary_is_found() -> None:
    with Site({"/": allows_null_alone}) as site, Network(POLICY) as network:
        found = cors(fetch_page(target(f"{site.url}/"), network), network)
        assert [each.header("Origin") for each in site.requests[1:]] == [each.origin for each in found.answers]
    assert isinstance(cors_credentials(found), Fail)
