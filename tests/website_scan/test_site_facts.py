"""Tests for facts about a site."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, page
from website_scan.exhibits.site_facts import site_facts
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.page.evidence import Document, Page
from website_scan.security.csp import Policies, read_policies
from website_scan.security.evidence import TlsPeer, TlsSupport

MARKUP = """<!doctype html><html lang="de-AT"><head><title>A town</title>
<meta name="description" content="All about it"><meta name="Generator" content="WordPress 6.8"></head>"""


def gather_evidence(markup: str) -> dict[type, object]:
    html_page = page(markup)
    return {Page: html_page, Document: document(html_page)}


def test_site_facts_contain_title() -> None:
    assert site_facts(gather_evidence(MARKUP)) == {
        "title": "A town",
        "description": "All about it",
        "generator": "WordPress 6.8",
        "language": "de-AT",
    }


def test_missing_site_facts_are_empty() -> None:
    facts = site_facts(gather_evidence("<p>Hello"))
    assert facts == {"title": "", "description": "", "generator": "", "language": ""}


def test_TLS_versions_are_ascending() -> None:
    versions = {TlsVersion.TLS1_3: "TLS_AES_128_GCM_SHA256", TlsVersion.TLS1_2: "X"}
    facts = site_facts({TlsSupport: TlsSupport(versions), TlsPeer: TlsPeer("example.com", 443, None)})
    assert facts == {"tls_versions": ["TLS 1.2", "TLS 1.3"]}


def test_report_only_policy_is_no_csp() -> None:
    for header, expected in (("Content-Security-Policy", True), ("Content-Security-Policy-Report-Only", False)):
        html_page = page("<p>Hello", (header, "default-src 'self'"))
        facts = site_facts({Page: html_page, Policies: read_policies(html_page, document(html_page))})
        assert facts["csp"] is expected


def test_site_facts_need_evidence() -> None:
    assert site_facts({}) == {}


@given(st.text(max_size=5_000))
def test_site_facts_are_bounded(text: str) -> None:
    markup = head(f'<title>{text}</title><meta name="generator" content="{text}">')
    assert len(json.dumps(site_facts(gather_evidence(markup)))) < 20_000
