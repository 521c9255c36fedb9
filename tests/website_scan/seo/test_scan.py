"""An SEO scan of a site on loopback, through the engine's entry point."""

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


def scanned(url: str) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(url), [ScanType.SEO], network, Budget())[0]


def statuses(result: ScanResult) -> dict[str, str]:
    return {each.id: each.status for each in result.checks if each.id in INDEXABILITY}


def test_a_page_in_order_passes_every_check_of_indexability() -> None:
    with Site() as site:
        markup = head(f"<link rel=canonical href={site.url}/shop>", "<h1>Shop</h1><p>Shoes and boots.")
        site.routes |= {"/shop": Answer(markup), "/robots.txt": Answer("User-agent: *\nDisallow: /admin\n")}
        result = scanned(f"{site.url}/shop")
    assert result.status == "completed"
    assert statuses(result) == dict.fromkeys(INDEXABILITY, "pass")
    assert result.caps == ()


def test_a_missing_page_is_a_report_with_at_most_40_points() -> None:
    missing = Answer(head("<meta name=robots content=noindex><link rel=canonical href=/>", "<a href=/x>x"), status=404)
    with Site({"/gone": missing}) as site:
        result = scanned(f"{site.url}/gone")
    assert result.status == "completed"
    assert statuses(result) == {"http-status": "fail", "robots-blocked": "pass", "redirect-chain": "pass"}
    assert not {each.id for each in result.categories} & {"content", "links"}
    assert result.score is not None
    assert result.score <= 40


def test_a_file_is_judged_by_its_headers_and_its_url() -> None:
    headers = {"Content-Type": "application/pdf", "X-Robots-Tag": "noindex", "Link": "</other>; rel=canonical"}
    with Site({"/a.pdf": Answer("%PDF-1.7", headers=headers)}) as site:
        result = scanned(f"{site.url}/a.pdf")
    assert statuses(result)["is-indexable"] == "fail"
    assert statuses(result)["canonical-target"] == "fail"
    judged = {each.id for each in result.checks}
    assert not judged & {each.id for each in checks(ScanType.SEO) if each.html}


def test_the_canonical_address_is_asked_once_and_its_redirect_not_followed() -> None:
    with Site({"/old": Answer.redirect("/", status=301)}) as site:
        site.routes["/"] = Answer(head(f"<link rel=canonical href={site.url}/old>"))
        result = scanned(f"{site.url}/")
        assert site.paths().count("/old") == 1
        assert site.paths().count("/") == 1
    assert statuses(result)["canonical-target"] == "fail"


def test_robots_txt_is_that_of_the_origin_where_the_page_ended() -> None:
    with (
        Site({"/robots.txt": Answer("User-agent: *\nDisallow: /")}) as first,
        Site({"/robots.txt": Answer.redirect("/r.txt"), "/r.txt": Answer("User-agent: *\nDisallow: /x")}) as last,
    ):
        first.routes["/"] = Answer.redirect(f"{last.url}/page", status=301)
        last.routes["/page"] = Answer(head(""))
        result = scanned(f"{first.url}/")
        assert "/robots.txt" not in first.paths()
    assert statuses(result)["robots-blocked"] == "pass"


def test_a_robots_txt_with_a_server_error_leaves_the_scan_whole() -> None:
    with Site({"/": Answer(head("")), "/robots.txt": Answer("Down", status=503)}) as site:
        result = scanned(f"{site.url}/")
    assert result.status == "completed"
    assert [each.status for each in result.checks if each.id == "robots-txt"] == ["fail"]
    assert [(each.id, each.told_by) for each in result.repeated_checks if each.id == "robots-blocked"] == [
        ("robots-blocked", "robots-txt")
    ]


def test_a_canonical_address_that_nobody_may_reach_fails() -> None:
    with Site() as site:
        site.routes["/"] = Answer(head("<link rel=canonical href=http://staging.internal/>"))
        result = scanned(f"{site.url}/")
    assert statuses(result)["canonical-target"] == "fail"


def test_a_protection_in_place_of_robots_txt_leaves_its_check_out() -> None:
    challenge = Answer("Blocked", status=403, headers={"cf-mitigated": "challenge"})
    with Site({"/": Answer(head("")), "/robots.txt": challenge}) as site:
        result = scanned(f"{site.url}/")
    assert result.status == "partial"
    assert [each.id for each in result.skipped_checks] == ["robots-blocked", "robots-txt"]
