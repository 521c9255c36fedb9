"""Tests for the exhibits of a report page."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.browser.loads import load, request, visit
from tests.website_scan.cast import document, head, page
from website_scan.browser.evidence import BrowserLoad
from website_scan.exhibits.collection import exhibits
from website_scan.exhibits.weights import MAX_WEIGHT_ROWS
from website_scan.findings import ScanType
from website_scan.page.evidence import Document, Page
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Resource, Resources
from website_scan.security.csp import Policies, read_policies
from website_scan.stored_data import StoredExhibits

SECURITY, PERFORMANCE, ACCESSIBILITY, SEO = (
    ScanType.SECURITY,
    ScanType.PERFORMANCE,
    ScanType.ACCESSIBILITY,
    ScanType.SEO,
)


def security_exhibits(*headers: tuple[str, str]) -> StoredExhibits:
    scanned_page = page(head('<meta http-equiv="Content-Security-Policy" content="img-src *">'), *headers)
    return exhibits(SECURITY, {Page: scanned_page, Policies: read_policies(scanned_page, document(scanned_page))})


def test_exhibits_list_headers_in_order() -> None:
    stored = security_exhibits(
        ("X-A", "1"), ("Content-Security-Policy", "default-src 'self'"), ("Content-Security-Policy-Report-Only", "x"),
        ("x-a", "2"),
    )  # fmt: skip
    assert stored["headers"][1:] == [
        ["X-A", "1"],
        ["Content-Security-Policy", "default-src 'self'"],
        ["Content-Security-Policy-Report-Only", "x"],
        ["x-a", "2"],
    ]
    assert stored["policies"] == [
        {"way": "header", "text": "default-src 'self'"},
        {"way": "meta", "text": "img-src *"},
        {"way": "report only", "text": "x"},
    ]


def test_secrets_in_headers_are_masked() -> None:
    stored = security_exhibits(
        ("Set-Cookie", "id=abcdefgh; Path=/; Secure"),
        ("Set-Cookie", "lonely"),
        ("X-Auth-Token", "opensesame"),
        ("Link", "<https://user:opensesame@a.test/?api_key=opensesame>"),
    )
    assert dict(reversed(stored["headers"]))["Set-Cookie"] == "id=•••; Path=/; Secure"
    assert ["Set-Cookie", "•••"] in stored["headers"]
    assert ["X-Auth-Token", "•••"] in stored["headers"]
    for secret in ("abcdefgh", "lonely", "opensesame"):
        assert secret not in json.dumps(stored)


@given(st.lists(st.tuples(st.text(min_size=1), st.text(max_size=2000)), max_size=100))
def test_size_of_exhibits_is_bounded(headers: list[tuple[str, str]]) -> None:
    assert len(json.dumps(security_exhibits(*headers))) < 400_000
    assert len(security_exhibits(*headers)["headers"]) <= 60


def test_every_scan_type_lists_redirects() -> None:
    scanned_page = page(via=(("https://example.com/", 301),))
    for scan_type in ScanType:
        stored = exhibits(scan_type, {Page: scanned_page})
        assert stored["redirects"] == [
            {"url": "https://example.com/", "status": 301},
            {"url": "https://site.example.com/shop/shoes", "status": 200},
        ]
        assert "redirects" not in exhibits(scan_type, {Page: page()})
    assert exhibits(ACCESSIBILITY, {Page: page()}) == {}
    assert exhibits(SEO, {}) == {}


def test_weights_are_summed_by_host() -> None:
    loaded = visit(
        load(
            request("one.png", wire_bytes=700),
            request("two.png", wire_bytes=800),
            request("https://img.example.com/three.png", wire_bytes=5),
            request("https://tracker.test/t.js", ResourceKind.SCRIPT, wire_bytes=9000),
            request("data:image/png;base64,AA://", wire_bytes=0),
        )
    )
    stored = exhibits(PERFORMANCE, {Page: page(), BrowserLoad: loaded})["weights"]
    assert [tuple(row.values()) for row in stored] == [
        ("tracker.test", "script", 9000, 1, True),
        ("site.example.com", "image", 1500, 2, False),
        ("img.example.com", "image", 5, 1, False),
        ("site.example.com", "document", 1, 1, False),
    ]


def test_weights_include_eager_resources() -> None:
    scanned_page = page("<!doctype html>12345")
    files = Resources(
        (
            Resource("https://cdn.test/a.css", ResourceKind.STYLESHEET, True, 1, 200, wire_bytes=300),
            Resource("https://cdn.test/b.png", ResourceKind.IMAGE, False, 1, 200, wire_bytes=9000),
        )
    )
    stored = exhibits(PERFORMANCE, {Page: scanned_page, Resources: files})["weights"]
    assert [tuple(row.values()) for row in stored] == [
        ("cdn.test", "stylesheet", 300, 1, True),
        ("site.example.com", "document", 20, 1, False),
    ]


def test_weights_beyond_limit_are_summed() -> None:
    files = [request(f"https://h{number}.test/", wire_bytes=100 + number) for number in range(MAX_WEIGHT_ROWS + 30)]
    stored = exhibits(PERFORMANCE, {Page: page(), BrowserLoad: visit(load(*files))})["weights"]
    assert len(stored) == MAX_WEIGHT_ROWS + 1
    assert sum(row["requests"] for row in stored) == MAX_WEIGHT_ROWS + 31


def test_only_HTML_pages_have_previews() -> None:
    scanned_page = page(
        head('<meta property="og:title" content="Shared"><meta name="description" content="What it is.">')
    )
    stored = exhibits(SEO, {Page: scanned_page, Document: document(scanned_page)})
    assert stored["search_result"] == {
        "title": "A page",
        "description": "What it is.",
        "url": "https://site.example.com/shop/shoes",
        "site": "",
    }
    assert stored["shared_link"]["title"] == "Shared"
    assert stored["shared_link"]["description"] == "What it is."
    text = page("just text", ("Content-Type", "text/plain"))
    assert exhibits(SEO, {Page: text, Document: document(text)}) == {}
