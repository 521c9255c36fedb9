"""Tests for the CORS probes and check."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import POLICY, outcome, target
from website_scan.net.client import Network
from website_scan.page.fetch import fetch_page
from website_scan.security.checks.headers import cors_credentials
from website_scan.security.evidence import Cors, OriginCors
from website_scan.security.probes.cors import cors, origin_cors


def allow(is_allowed: Callable[[str], bool], credentials: str = "true", **headers: str) -> Callable[[Request], Answer]:
    """Return a route that allows the origins which a function accepts."""

    def answer(request: Request) -> Answer:
        origin = request.header("Origin") or ""
        allowed = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": credentials}
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return Answer("<p>Text", headers=names | (allowed if origin and is_allowed(origin) else {}))

    return answer


def host_of(origin: str) -> str:
    return urlsplit(origin).hostname or ""


def gather(site: Site, path: str = "/", origin_path: str = "/") -> tuple[str, Cors, OriginCors]:
    """Return the outcome and evidence for a page.

    The origin's evidence is gathered from `origin_path`.
    """
    with Network(POLICY) as network:
        of_origin = origin_cors(fetch_page(target(f"{site.url_as('localhost')}{origin_path}"), network), network)
        site.requests.clear()
        page = fetch_page(target(f"{site.url_as('localhost')}{path}"), network)
        evidence = cors(page, of_origin, network)
    return outcome(cors_credentials(page, evidence, of_origin)), evidence, of_origin


@pytest.mark.parametrize(
    ("is_allowed", "expected"),
    [
        pytest.param(lambda origin: True, "any-origin", id="any"),
        pytest.param(lambda origin: origin == "null", "null-origin", id="null"),
        pytest.param(lambda origin: host_of(origin).endswith("localhost"), "look-alike", id="end"),
        pytest.param(lambda origin: host_of(origin).startswith("localhost"), "look-alike", id="beginning"),
        pytest.param(lambda origin: "localhost" in origin, "look-alike", id="part"),
        pytest.param(lambda origin: "localhost_" in origin, "look-alike", id="underscore"),
        pytest.param(lambda origin: host_of(origin) in ("localhost", "app.localhost"), "pass", id="list"),
        pytest.param(lambda origin: origin.endswith(".localhost"), "pass", id="subdomains"),
        pytest.param(lambda origin: False, "pass", id="none"),
    ],
)
def test_origin_comparison_has_outcome(is_allowed: Callable[[str], bool], expected: str) -> None:
    with Site({"/": allow(is_allowed)}) as site:
        assert gather(site)[0] == expected


def test_look_alike_origin_passes_without_credentials() -> None:
    with Site({"/": allow(lambda origin: "localhost" in origin, credentials="false")}) as site:
        assert gather(site)[0] == "pass"


def test_another_page_needs_only_two_requests() -> None:
    with Site({"/": Answer("<p>Text"), "/other": Answer("<p>Text")}) as site:
        gather(site, "/other")
        assert len(site.requests) == 3


@pytest.mark.parametrize(
    "headers",
    [{"Vary": "Accept, Origin"}, {"Content_Type": "application/json"}, {"Access_Control_Allow_Credentials": "true"}],
    ids=["Vary", "data", "CORS"],
)
def test_data_is_requested_with_similar_origins(headers: dict[str, str]) -> None:
    with Site({"/": Answer("<p>Text"), "/api": allow(lambda origin: "localhost." in origin, **headers)}) as site:
        found, evidence, _ = gather(site, "/api")
        assert found == "look-alike"
        assert len(evidence.answers) == 5
        assert [request.header("Origin") for request in site.requests[1:]] == [
            answer.origin for answer in evidence.answers
        ]


def test_page_of_origin_is_not_fetched_again() -> None:
    with Site({"/": allow(lambda origin: "localhost." in origin, Vary="Origin")}) as site:
        found, evidence, of_origin = gather(site)
        assert found == "look-alike"
        assert (len(evidence.answers), len(of_origin.answers)) == (2, 3)
