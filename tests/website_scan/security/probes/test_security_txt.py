"""Tests for the domain probes with a real name server.

The sites run on loopback.
"""

from __future__ import annotations

import socket

import pytest

from tests.targets.server import Answer, Certificate, Request, Site
from tests.website_scan.cast import message, outcome, target, verdict
from tests.website_scan.net.loopback import NETWORKS, loopback_network
from tests.website_scan.security.cast import NOW
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.policy import Policy
from website_scan.page.evidence import Clock, Page
from website_scan.page.fetch import SiteProtected, fetch_page
from website_scan.security.checks.names import security_txt as security_txt_check
from website_scan.security.probes.security_txt import security_txt

HOST = target("https://www.shop.example.co.uk/")


GOOD = "Contact: mailto:security@example.com\nExpires: 2027-01-01T00:00:00Z\n"
TEXT = {"Content-Type": "text/plain"}


def load_page(site: Site) -> tuple[Page, Network]:
    network = Network(Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file))
    return fetch_page(target(f"{site.url}/"), network), network


def test_security_txt_redirects_are_followed() -> None:
    routes = {
        "/": Answer("Hello"),
        "/.well-known/security.txt": Answer.redirect("/security.txt"),
        "/security.txt": Answer("Contact: mailto:a@example.com", headers=TEXT),
    }
    with Site(routes, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network:
            file = security_txt(page, network)
    assert file.response is not None
    assert file.response.body == b"Contact: mailto:a@example.com"


def test_security_txt_needs_its_media_type() -> None:
    page_type = {"Content-Type": "text/html; charset=utf-8"}
    routes = {"/": Answer("Hello"), "/.well-known/security.txt": Answer(GOOD, headers=page_type)}
    with Site(routes, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network:
            finding = security_txt_check(security_txt(page, network), Clock(NOW))
    assert (verdict(finding), outcome(finding)) == ("fail", "media-type")
    assert message(finding).endswith("is invalid: it is sent as text/html, not as text/plain.")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=404),
        Answer("Contact: <a href=/contact>write to us</a>"),
        Answer("<!doctype html><title>Our app</title>"),
        Answer("<html>everything</html>", headers=TEXT),
        Answer('{"error": "no"}', headers={"Content-Type": "application/json"}),
        Answer(status=403),
    ],
)
def test_other_response_is_not_security_txt(answer: Answer) -> None:
    with Site({"/": Answer("Hello"), "/.well-known/security.txt": answer}, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network:
            assert security_txt(page, network).response is None


def test_security_txt_probe_stops_after_status_429() -> None:
    routes = {"/": Answer("Hello"), "/.well-known/security.txt": Answer(status=429)}
    with Site(routes, certificate=Certificate.VALID) as site:
        page, network = load_page(site)
        with network, pytest.raises(SiteProtected):
            security_txt(page, network)


def test_security_txt_applies_to_hosts_of_domain() -> None:
    class LoopbackResolver:
        def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
            return ("127.0.0.1",)

    def answer(request: Request) -> Answer:
        return Answer(GOOD, headers=TEXT) if request.header("Host") == "example.co.uk" else Answer(status=404)

    with Site({"*": answer}, certificate=Certificate.VALID) as site:

        def dial(address: str, port: int, timeout_s: float) -> socket.socket:
            return socket.create_connection((address, site.port), timeout_s)

        page = Page(HOST, HOST, ())
        with Network(Policy(allowed_networks=NETWORKS), resolver=LoopbackResolver(), dialer=dial) as network:
            file = security_txt(page, network)
    assert file.response is not None
    assert file.response.url == "https://example.co.uk/.well-known/security.txt"


def test_security_txt_over_http_does_not_count() -> None:
    with Site({"*": Answer("Contact: mailto:a@example.com", headers=TEXT)}) as site, loopback_network() as network:
        page = fetch_page(target(f"{site.url}/"), network)
        assert security_txt(page, network).response is None
