"""Requests as foreign origins: `null` is tried where the server looks at origins."""

from __future__ import annotations

import pytest

from scanner.net.client import Network
from scanner.page.fetch import fetch_page
from scanner.security.probes.cors import cors
from tests.scanner.cast import POLICY, target
from tests.targets.server import Answer, Request, Site


def page(request: Request) -> Answer:
    return Answer("<p>Text")


def refuses_strangers(request: Request) -> Answer:
    return Answer("Invalid CORS request", status=403) if request.header("Origin") else Answer("<p>Text")


def varies(request: Request) -> Answer:
    if request.header("Origin") == "null":
        return Answer("<p>Text", headers={"Access-Control-Allow-Origin": "null", "Vary": "Accept, Origin"})
    return Answer("<p>Text", headers={"Vary": "Accept, Origin"})


def varies_otherwise(request: Request) -> Answer:
    return Answer("<p>Text", headers={"Vary": "Accept-Encoding, X-Original-Host"})


def allows_one(request: Request) -> Answer:
    return Answer("<p>Text", headers={"Access-Control-Allow-Origin": "https://partner.example.com"})


def has_methods(request: Request) -> Answer:
    return Answer("<p>Text", headers={"Access-Control-Allow-Methods": "GET"})


@pytest.mark.parametrize(
    ("route", "origins"),
    [(page, 1), (varies_otherwise, 1), (refuses_strangers, 2), (varies, 2), (allows_one, 2), (has_methods, 2)],
)
def test_null_is_sent_where_the_server_looks_at_origins(route: object, origins: int) -> None:
    with Site({"/": route}) as site, Network(POLICY) as network:  # type: ignore[dict-item]
        found = cors(fetch_page(target(f"{site.url}/"), network), network)
        assert len(found.answers) == origins
        assert [each.header("Origin") for each in site.requests[1:]] == [each.origin for each in found.answers]
        assert [each.origin for each in found.answers[1:]] == ["null"] * (origins - 1)
