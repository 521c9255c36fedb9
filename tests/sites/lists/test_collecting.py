"""Tests for collecting a site's facts and findings from its scan results."""

from __future__ import annotations

import pytest

from scans.models import Scan
from sites.lists.collecting import facts_of, moved_to
from tests.factories import Member, make_result, make_scan, member_of
from tests.sites.lists.running import FakeWorker, ScriptedResult, get_entry, make_check, make_numbered_list
from website_scan.findings import LOW
from website_scan.places import Rows
from website_scan.result import CategoryResult
from website_scan.security.certificates import CertificateRow
from website_scan.stored_data import StoredHop

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(db: None) -> Member:
    return member_of("Owner", "business")


def make_hops(*steps: tuple[str, int]) -> list[StoredHop]:
    return [{"url": url, "status": status} for url, status in steps]


@pytest.mark.parametrize(
    ("steps", "host"),
    [
        ([], ""),
        ([("https://a.com/", 200)], ""),
        ([("http://a.com/", 301), ("https://a.com/", 200)], ""),
        ([("https://a.com/", 301), ("https://www.a.com/", 200)], ""),
        ([("https://www.a.com/", 308), ("https://a.com/", 200)], ""),
        ([("https://a.com/", 301), ("https://b.com/", 200)], "b.com"),
        ([("https://a.com/", 301), ("https://www.a.com/", 308), ("https://b.com:8443/x", 404)], "b.com"),
        ([("https://a.com/", 302), ("https://b.com/", 200)], ""),
        ([("https://a.com/", 301), ("https://b.com/", 307), ("https://c.com/", 200)], ""),
        ([("https://a.com/", 301), ("https://b.com/", 301), ("https://a.com/home", 200)], ""),
        ([("https://a.com/", 301), ("https://shop.a.com/", 200)], "shop.a.com"),
    ],
)
def test_permanent_redirects_mean_a_moved_site(steps: list[tuple[str, int]], host: str) -> None:
    assert moved_to(make_hops(*steps)) == host


def test_facts_come_from_scan_and_checks(owner: Member) -> None:
    leaf = CertificateRow("example.com", "R11", "2026-09-25T18:00:00Z", "2026-12-24T18:00:00Z", "RSA 2048", None)
    checks = (
        make_check("tls-cert-expiry", "pass", details=Rows.of([leaf])),
        make_check("http-to-https-redirect", "pass"),
        make_check("security-txt", "warn"),
        make_check("dmarc", "fail"),
    )
    result = make_result(
        make_scan(owner),
        categories=(CategoryResult("things", "Things", 10, checks, 71),),
        facts={"final_url": "https://example.com/", "status": 200, "server": "nginx"},
        exhibits={"headers": [["Strict-Transport-Security", "max-age=1"]]},
        site={"tls_versions": ["TLS 1.2", "TLS 1.3"], "http_version": "HTTP/2", "csp": True, "title": "A\0B"},
    )
    assert facts_of(result) == {
        "final_url": "https://example.com/",
        "https": True,
        "status": 200,
        "server": "nginx",
        "tls_versions": ["TLS 1.2", "TLS 1.3"],
        "http_version": "HTTP/2",
        "csp": True,
        "title": "AB",
        "hsts": True,
        "certificate_issuer": "R11",
        "certificate_expires_at": "2026-12-24T18:00:00Z",
        "https_redirect": True,
        "security_txt": False,
        "dmarc": False,
    }


def test_site_without_https_has_no_hsts(owner: Member) -> None:
    headers = [["Strict-Transport-Security", "max-age=1"]]
    result = make_result(make_scan(owner), facts={"final_url": "http://example.com/"}, exhibits={"headers": headers})
    assert facts_of(result) == {"final_url": "http://example.com/", "https": False, "hsts": False}


def test_result_combines_all_types(owner: Member) -> None:
    def result_for(scan: Scan) -> ScriptedResult:
        return 80, [make_check("hsts"), make_check("caa", "warn", LOW)] if scan.type == "security" else [
            make_check("title", "warn")
        ]

    redirects = make_hops(("https://site-0.example.com/", 301), ("https://moved.example.org/", 200))
    towns = make_numbered_list(owner, 1, types=["security", "seo"])
    script = FakeWorker(result_for, exhibits={"redirects": redirects}, site={"language": "de"}, facts={"status": 200})
    run = script.run(towns)
    result = run.results.get()
    assert [
        (finding["type"], finding["check"], finding["status"], finding["severity"]) for finding in result.findings
    ] == [
        ("security", "hsts", "fail", "high"),
        ("seo", "title", "warn", "high"),
        ("security", "caa", "warn", "low"),
    ]
    assert result.severities == {"high": 2, "low": 1}
    assert (result.facts, result.moved_to) == ({"language": "de", "status": 200, "caa": False}, "moved.example.org")
    entry = get_entry(towns, 0)
    assert (entry.moved_to, entry.url) == ("moved.example.org", "https://site-0.example.com/")
