"""Facts and findings of a site, from the results of its scans."""

from __future__ import annotations

import pytest

from scans.models import Scan
from sites.lists.collecting import facts_of, moved_to
from tests.factories import Member, make_result, make_scan, member_of
from tests.sites.lists.running import Found, Script, check, entry_of, listed
from website_scan.findings import LOW
from website_scan.places import Rows
from website_scan.result import CategoryResult
from website_scan.security.certificates import CertificateRow
from website_scan.stored_data import StoredHop

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(db: None) -> Member:
    return member_of("Owner", "business")


def hops(*steps: tuple[str, int]) -> list[StoredHop]:
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
def test_site_has_moved_if_all_redirects_to_another_host_are_permanent(steps: list[tuple[str, int]], host: str) -> None:
    assert moved_to(hops(*steps)) == host


def test_facts_of_a_site_come_from_scan_and_checks(owner: Member) -> None:
    leaf = CertificateRow("example.com", "R11", "2026-09-25T18:00:00Z", "2026-12-24T18:00:00Z", "RSA 2048", None)
    checks = (
        check("tls-cert-expiry", "pass", details=Rows.of([leaf])),
        check("http-to-https-redirect", "pass"),
        check("security-txt", "warn"),
        check("dmarc", "fail"),
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


def test_result_has_findings_of_all_types_and_moved_to(owner: Member) -> None:
    def found(scan: Scan) -> Found:
        return 80, [check("hsts"), check("caa", "warn", LOW)] if scan.type == "security" else [check("title", "warn")]

    redirects = hops(("https://site-0.example.com/", 301), ("https://moved.example.org/", 200))
    towns = listed(owner, 1, types=["security", "seo"])
    script = Script(found, exhibits={"redirects": redirects}, site={"language": "de"}, facts={"status": 200})
    run = script.run(towns)
    result = run.results.get()
    assert [(each["type"], each["check"], each["status"], each["severity"]) for each in result.findings] == [
        ("security", "hsts", "fail", "high"),
        ("seo", "title", "warn", "high"),
        ("security", "caa", "warn", "low"),
    ]
    assert result.severities == {"high": 2, "low": 1}
    assert (result.facts, result.moved_to) == ({"language": "de", "status": 200, "caa": False}, "moved.example.org")
    entry = entry_of(towns, 0)
    assert (entry.moved_to, entry.url) == ("moved.example.org", "https://site-0.example.com/")
