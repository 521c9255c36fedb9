"""Facts about a site for the table of a list: bounded, and absent without their evidence."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, page
from website_scan.exhibits.site_facts import site_facts
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.page.evidence import Document, Page
from website_scan.security.csp import Policies, policies_of
from website_scan.security.evidence import TlsPeer, TlsSupport

MARKUP = """<!doctype html><html lang="de-AT"><head><title>A town</title>
<meta name="description" content="All about it"><meta name="Generator" content="WordPress 6.8"></head>"""


def evidence_of(markup: str) -> dict[type, object]:
    found = page(markup)
    return {Page: found, Document: document(found)}


def test_site_facts_contain_title_description_language_and_generator() -> None:
    assert site_facts(evidence_of(MARKUP)) == {
        "title": "A town",
        "description": "All about it",
        "generator": "WordPress 6.8",
        "language": "de-AT",
    }


def test_missing_site_facts_are_empty() -> None:
    facts = site_facts(evidence_of("<p>Hello"))
    assert facts == {"title": "", "description": "", "generator": "", "language": ""}


def test_TLS_versions_are_in_ascending_order() -> None:
    versions = {TlsVersion.TLS1_3: "TLS_AES_128_GCM_SHA256", TlsVersion.TLS1_2: "X"}
    facts = site_facts({TlsSupport: TlsSupport(versions), TlsPeer: TlsPeer("example.com", 443, None)})
    assert facts == {"tls_versions": ["TLS 1.2", "TLS 1.3"]}


def test_report_only_policy_does_not_count_as_csp() -> None:
    for header, expected in (("Content-Security-Policy", True), ("Content-Security-Policy-Report-Only", False)):
        found = page("<p>Hello", (header, "default-src 'self'"))
        facts = site_facts({Page: found, Policies: policies_of(found, document(found))})
        assert facts["csp"] is expected


def test_site_facts_without_evidence_are_absent() -> None:
    assert site_facts({}) == {}


@given(st.text(max_size=5_000))
def test_site_facts_are_bounded_for_any_text(text: str) -> None:
    markup = head(f'<title>{text}</title><meta name="generator" content="{text}">')
    assert len(json.dumps(site_facts(evidence_of(markup)))) < 20_000
