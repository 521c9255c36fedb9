"""Tests for the page that the User-Agent of scans links to."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client

from scans.policy import network_policy_from_settings, scan_policy
from website_scan.crawl.robots import product_token
from website_scan.net.policy import PRODUCT, Policy, RouteValidator

pytestmark = pytest.mark.django_db


def page(client: Client) -> str:
    answer = client.get("/about-our-scans")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_user_agent_links_to_the_about_page(client: Client, settings: Any) -> None:
    settings.BASE_URL = "https://scan.example.com"
    agent = scan_policy().user_agent
    assert agent == network_policy_from_settings().user_agent
    assert agent == "WebsiteScanService/1.0 (+https://scan.example.com/about-our-scans)"
    assert product_token(agent) == PRODUCT
    text = page(client)
    assert text.count(agent) == 2, "of requests, and of the browser"
    assert "<loc>https://scan.example.com/about-our-scans</loc>" in client.get("/sitemap.xml").content.decode()


def test_user_agent_of_the_command_has_no_url() -> None:
    assert Policy().user_agent == "WebsiteScanService/1.0"


def test_about_page_lists_source_addresses(client: Client, settings: Any) -> None:
    settings.SCAN_CONTACT = "mailto:abuse@example.com"
    settings.SCAN_SOURCE_ADDRESSES = (ip_network("203.0.113.7"), ip_network("2001:db8::/64"))
    text = page(client)
    assert '<a href="mailto:abuse@example.com">abuse@example.com</a>' in text
    assert "<code>203.0.113.7</code>" in text
    assert "<code>2001:db8::/64</code>" in text


def test_about_page_describes_connections_to_mail_servers(client: Client, settings: Any) -> None:
    assert "STARTTLS" not in page(client)
    settings.BASE_URL, settings.SCAN_MAIL_SERVERS = "https://scan.example.com", True
    text = page(client)
    assert "domain, as <code>scan.example.com</code>" in text
    assert "at most 5 times a minute to one address after the first 10" in text


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("https://scan.example.com", "scan.example.com"),
        ("https://scan.example.com:8443/scans", "scan.example.com"),
        # Mail servers reject such names.
        ("http://localhost:8000", ""),
        ("http://192.0.2.7", ""),
        ("http://[2001:db8::7]:8000", ""),
    ],
)
def test_service_introduces_itself_to_mail_servers_by_its_public_name(
    settings: Any, base_url: str, expected: str
) -> None:
    settings.BASE_URL = base_url
    assert scan_policy().mail_name == expected


def test_validator_of_routes_is_that_of_the_settings(settings: Any) -> None:
    assert scan_policy().route_validator is None
    settings.SCAN_RPKI_URL, settings.SCAN_ORIGIN_ZONE = "http://routinator:8323", "asn.example.net"
    assert scan_policy().route_validator == RouteValidator("http://routinator:8323", "asn.example.net")


def test_about_page_says_if_no_contact_is_published(client: Client) -> None:
    text = page(client)
    assert "has not published the addresses" in text
    assert "Ask the operator of" in text
    assert "mailto:" not in text


@pytest.mark.parametrize(
    ("visits", "gap_s", "sentence"),
    [
        (4, 1.0, "4 visits to a domain, its subdomains included, run at the same time, and each starts at "),
        (1, 0.5, "At most 1 visit to a domain, its subdomains included, runs at the same time, and each starts at "),
        (2, 0.0, "At most 2 visits to a domain, its subdomains included, run at the same time. These limits apply"),
    ],
)  # fmt: skip
def test_about_page_lists_configured_limits(
    client: Client, settings: Any, visits: int, gap_s: float, sentence: str
) -> None:
    settings.SCAN_VISITS_PER_DOMAIN, settings.SCAN_GAP_PER_DOMAIN_S = visits, gap_s
    assert sentence in page(client)
