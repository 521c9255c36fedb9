"""Tests for whole SEO scans of sites on loopback."""

from __future__ import annotations

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

INDEXABILITY = {
    "http-status",
    "is-indexable",
    "robots-blocked",
    "canonical-valid",
    "canonical-absolute",
    "canonical-target",
    "redirect-chain",
    "head-integrity",
}


def scan_seo(url: str) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(url), [ScanType.SEO], network, Budget())[0]


def indexability_statuses(result: ScanResult) -> dict[str, str]:
    return {check.id: check.status for check in result.checks if check.id in INDEXABILITY}


def test_good_page_passes_indexability_checks() -> None:
    with Site() as site:
        markup = head(f"<link rel=canonical href={site.url}/shop>", "<h1>Shop</h1><p>Shoes and boots.")
        site.routes |= {"/shop": Answer(markup), "/robots.txt": Answer("User-agent: *\nDisallow: /admin\n")}
        result = scan_seo(f"{site.url}/shop")
    assert result.status == "completed"
    assert indexability_statuses(result) == dict.fromkeys(INDEXABILITY, "pass")
    assert result.caps == ()


def test_missing_page_gets_at_most_40_points() -> None:
    missing = Answer(head("<meta name=robots content=noindex><link rel=canonical href=/>", "<a href=/x>x"), status=404)
    with Site({"/gone": missing}) as site:
        result = scan_seo(f"{site.url}/gone")
    assert result.status == "completed"
    assert indexability_statuses(result) == {"http-status": "fail", "robots-blocked": "pass", "redirect-chain": "pass"}
    assert not {category.id for category in result.categories} & {"content", "links"}
    assert result.score is not None
    assert result.score <= 40


def test_pdf_is_judged_by_headers() -> None:
    headers = {"Content-Type": "application/pdf", "X-Robots-Tag": "noindex", "Link": "</other>; rel=canonical"}
    with Site({"/a.pdf": Answer("%PDF-1.7", headers=headers)}) as site:
        result = scan_seo(f"{site.url}/a.pdf")
    assert indexability_statuses(result)["is-indexable"] == "fail"
    assert indexability_statuses(result)["canonical-target"] == "fail"
    check_ids = {check.id for check in result.checks}
    assert not check_ids & {check.id for check in checks(ScanType.SEO) if check.html}


def test_canonical_url_is_requested_once() -> None:
    with Site({"/old": Answer.redirect("/", status=301)}) as site:
        site.routes["/"] = Answer(head(f"<link rel=canonical href={site.url}/old>"))
        result = scan_seo(f"{site.url}/")
        assert site.paths().count("/old") == 1
        assert site.paths().count("/") == 1
    assert indexability_statuses(result)["canonical-target"] == "fail"


def test_robots_txt_is_loaded_after_redirects() -> None:
    with (
        Site({"/robots.txt": Answer("User-agent: *\nDisallow: /")}) as first,
        Site({"/robots.txt": Answer.redirect("/r.txt"), "/r.txt": Answer("User-agent: *\nDisallow: /x")}) as last,
    ):
        first.routes["/"] = Answer.redirect(f"{last.url}/page", status=301)
        last.routes["/page"] = Answer(head(""))
        result = scan_seo(f"{first.url}/")
        assert "/robots.txt" not in first.paths()
    assert indexability_statuses(result)["robots-blocked"] == "pass"


def test_scan_is_complete_without_robots_txt() -> None:
    with Site({"/": Answer(head("")), "/robots.txt": Answer("Down", status=503)}) as site:
        result = scan_seo(f"{site.url}/")
    assert result.status == "completed"
    assert [check.status for check in result.checks if check.id == "robots-txt"] == ["fail"]
    assert [(check.id, check.told_by) for check in result.repeated_checks if check.id == "robots-blocked"] == [
        ("robots-blocked", "robots-txt")
    ]


def test_unreachable_canonical_url_fails() -> None:
    with Site() as site:
        site.routes["/"] = Answer(head("<link rel=canonical href=http://staging.internal/>"))
        result = scan_seo(f"{site.url}/")
    assert indexability_statuses(result)["canonical-target"] == "fail"


def test_challenge_skips_robots_checks() -> None:
    challenge = Answer("Blocked", status=403, headers={"cf-mitigated": "challenge"})
    with Site({"/": Answer(head("")), "/robots.txt": challenge}) as site:
        result = scan_seo(f"{site.url}/")
    assert result.status == "partial"
    assert [check.id for check in result.skipped_checks] == ["robots-blocked", "robots-txt"]
