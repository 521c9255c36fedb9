"""Tests for audits on the dashboard."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import TextField, Value
from django.db.models.functions import Concat
from django.test import Client
from django.utils import timezone

from accounts.closing.services import close_organization
from accounts.models import ActivityEvent, Membership, MonthlyUsage, Tier, User
from reports.models import Report
from reports.page.since import previous_report_time
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.audits.pages import page as audit_page
from sites.models import Audit, AuditFinding, AuditPage
from tests.factories import Member, finished_scan, make_result, member_of
from tests.page_reading import browser_of, page_of, rows_of, text_of, used
from tests.populated_audits import FAILED, SITE, look_at, make_audit, make_pages, release
from tests.queries import counted
from tests.responses import ClientResponse
from tests.results import check_of
from website_scan.findings import HIGH
from website_scan.places import Element
from website_scan.result import CategoryResult, ScanError

NOW = timezone.now
FAILURE: dict[str, Any] = {"status": "failed", "score": None, "grade": None, "categories": (), "error": FAILED}
WHOLE_SITE_COLUMNS = {"kind": "site", "max_pages": 100, "discover": ["sitemap", "links"]}


def page_audit(home: Member, **columns: Any) -> Audit:
    """Create a finished audit of one page for all types."""
    audit = make_audit(home)
    look_at(make_pages(audit, [SITE])[0], NOW(), **columns)
    return Audit.objects.get(id=audit.id)


def site_audit(home: Member, pages: int, **columns: Any) -> Audit:
    """Create a site audit whose last page was not scanned."""
    audit = make_audit(home, **WHOLE_SITE_COLUMNS | columns)
    for page in make_pages(audit, [f"{SITE}{n}" for n in range(pages)])[:-1]:
        look_at(page, NOW())
    return Audit.objects.get(id=audit.id)


def element_texts(response: ClientResponse, xpath: str) -> list[str]:
    return [" ".join(element.text_content().split()) for element in page_of(response).xpath(xpath)]


def test_page_audit_is_one_row(home: Member) -> None:
    audit = page_audit(home)
    finished_scan(home, url="https://example.com/by-api", type="seo", age=timedelta(hours=1))
    client = browser_of(home)
    for path in ("/o/home/", "/o/home/scans/"):
        page = client.get(path)
        assert rows_of(page) == [SITE, "https://example.com/by-api"], path
        row, other = page_of(page).xpath("//table//tbody/tr")
        assert row.xpath("./th/a/@href") == [f"/audit/{audit.id}"]
        reports = row.xpath("./td[@class='of-type']//a/@href")
        scans = {scan.type: scan.id for scan in Scan.objects.filter(audit_page__audit=audit)}
        assert reports == [f"/report/{scans[type]}" for type in Scan.Type.values]
        assert len(other.xpath("./td[@class='of-type']//a")) == 1


def test_site_audit_is_one_row(home: Member) -> None:
    site_audit(home, 4)
    page = browser_of(home).get("/o/home/scans/")
    assert rows_of(page) == [SITE]
    assert "Whole site, 4 pages" in text_of(page)
    assert element_texts(page, "//td[@class='of-type']//span[@class='result']") == ["Grade C 71"] * 4


def test_audits_are_paginated_with_single_scans(home: Member) -> None:
    moment = NOW()
    for n in range(40):
        created_at = moment - timedelta(seconds=n // 3)  # Groups of three rows have the same creation time.
        if n % 2:
            finished_scan(home, url=f"https://example.com/{n}")
            Scan.objects.filter(url=f"https://example.com/{n}").update(created_at=created_at)
        else:
            make_audit(home, url=f"https://example.com/{n}", created_at=created_at, status="completed")
    client = browser_of(home)
    first = client.get("/o/home/scans/")
    (older,) = page_of(first).xpath("//a[@rel='next']/@href")
    second = client.get(f"/o/home/scans/{older}")
    listed_urls = rows_of(first) + rows_of(second)
    assert sorted(listed_urls) == sorted(f"https://example.com/{n}" for n in range(40))
    (newer,) = page_of(second).xpath("//a[@rel='prev']/@href")
    assert rows_of(client.get(f"/o/home/scans/{newer}")) == rows_of(first)


def test_audit_pages_need_few_queries(home: Member) -> None:
    """A deferred column would cost another query for each row."""
    for _ in range(2):  # The second audit's page compares it with the first audit.
        page, site = page_audit(home), site_audit(home, 4)
    client = browser_of(home)
    for path in (
        f"/audit/{page.id}",
        f"/audit/{site.id}",
        f"/audit/{site.id}?show=pages",
        "/o/home/",
        "/o/home/scans/",
    ):
        client.get(path)
        with counted() as queries:
            client.get(path)
        assert len(queries) <= (16 if path == "/o/home/" else 13), path


def test_scan_list_is_filtered_by_audits(home: Member) -> None:
    page_audit(home)
    make_audit(home, url="https://example.com/running", status="running", types=["seo"])
    make_audit(home, url="https://example.com/cancelled", status="cancelled")
    client = browser_of(home)

    def list_urls(query: str) -> set[str]:
        return set(rows_of(client.get(f"/o/home/scans/?{query}")))

    assert list_urls("status=completed") == {SITE}
    assert list_urls("status=running") == {"https://example.com/running"}
    assert list_urls("status=failed") == {"https://example.com/cancelled"}
    assert list_urls("type=security") == {SITE, "https://example.com/cancelled"}
    assert list_urls("q=RUNNING&type=seo") == {"https://example.com/running"}


def test_scans_of_a_deleted_audit_stay_one_row(home: Member) -> None:
    page_audit(home)
    site_audit(home, 3)
    Audit.objects.all().delete()
    page = browser_of(home).get("/o/home/scans/")
    assert rows_of(page) == [SITE]
    assert element_texts(page, "//td[@class='of-type']//span[@class='result']") == ["Grade C 71"] * 4


def test_audit_page_shows_four_gauges(home: Member) -> None:
    audit = page_audit(home)
    client = browser_of(home)
    page = client.get(f"/audit/{audit.id}")
    assert element_texts(page, "//*[@class='gauge-name']") == ["Security", "Performance", "Accessibility", "SEO"]
    assert element_texts(page, "//*[@class='gauge-score']") == ["Grade C, 71 of 100"] * 4
    scans = {scan.type: scan.id for scan in Scan.objects.all()}
    links = page_of(page).xpath("//ul[@class='gauges']//a/@href")
    for link, type in zip(links, Scan.Type.values, strict=True):
        type_page = client.get(link)
        assert page_of(type_page).xpath("//ul[@class='gauges']//a[@aria-current]/@href") == [link]
        assert page_of(type_page).xpath("//a[contains(., 'The whole')]/@href") == [f"/report/{scans[type]}"]
        assert page_of(type_page).xpath("//ol[@class='first']//a/@href") == [f"/report/{scans[type]}#check-meh"]
    assert not page_of(page).xpath("//*[@hx-get]")


def test_audit_page_opens_with_the_worst_type(home: Member) -> None:
    """A blank page must not look excellent.

    Regression test: its audit page once opened with “Excellent: visitors are well protected”.
    """
    audit = make_audit(home)
    blank = make_result(Scan(type="accessibility", url=SITE), score=40, grade="F")
    look_at(make_pages(audit, [SITE])[0], NOW(), {"accessibility": blank})
    page = browser_of(home).get(f"/audit/{audit.id}")
    assert element_texts(page, "//ul[@class='gauges']//a[@aria-current]//*[@class='gauge-name']") == ["Accessibility"]


def test_failed_scan_type_shows_its_reason(home: Member) -> None:
    audit = make_audit(home)
    error = ScanError("TIMEOUT", "The page did not answer in time.")
    failed = make_result(Scan(type="seo", url=SITE), **FAILURE | {"error": error})
    look_at(make_pages(audit, [SITE])[0], NOW(), {"seo": failed})
    client = browser_of(home)
    assert "SEO Could not run" in text_of(client.get(f"/audit/{audit.id}"))
    assert "The page did not answer in time." in text_of(client.get(f"/audit/{audit.id}?type=seo"))


def test_audit_page_updates_its_progress(home: Member) -> None:
    audit = make_audit(home)
    (page,) = make_pages(audit, [SITE])
    client = browser_of(home)
    assert "Waiting in the queue" in text_of(client.get(f"/audit/{audit.id}"))
    release(page, NOW())
    Scan.objects.update(status="scanning", percent=37, phase="collecting")
    response = client.get(f"/audit/{audit.id}")
    (live_part,) = page_of(response).xpath("//*[@hx-get]")
    htmx = {"HX-Request": "true"}
    fragment = client.get(live_part.get("hx-get"), headers=htmx)
    assert "Checking the page loading it" in text_of(fragment)
    assert page_of(fragment).xpath("//progress/@value") == ["37"]
    assert page_of(response).xpath("//noscript/meta[@http-equiv='refresh']")
    Audit.objects.update(status="completed")
    assert client.get(live_part.get("hx-get"), headers=htmx)["HX-Refresh"] == "true"
    assert not page_of(client.get(f"/audit/{audit.id}")).xpath("//*[@hx-get]")


def test_site_audit_lists_a_finding_once(home: Member) -> None:
    audit = site_audit(home, 8)
    client = browser_of(home)
    page = client.get(f"/audit/{audit.id}")
    findings = element_texts(page, "//ol[@class='findings']/li")
    assert len(findings) == 8
    assert findings[0].startswith("Meh thing found On all 7 pages Accessibility Low +1.5 points")
    assert "and 2 more" in findings[0]
    first = Scan.objects.get(url=f"{SITE}0", type="accessibility")
    assert page_of(page).xpath("//ul[@class='samples']//a/@href")[0] == f"/report/{first.id}#check-meh"
    seo_page = client.get(f"/audit/{audit.id}?type=seo")
    assert len(element_texts(seo_page, "//ol[@class='findings']/li")) == 2
    assert element_texts(seo_page, "//ul[@class='gauges']//a[@aria-current]") == ["C SEO Grade C, 71 of 100 7 pages"]


def test_page_audit_is_compared_with_the_previous(home: Member) -> None:
    elsewhere = make_audit(home, url=f"{SITE}elsewhere", created_at=NOW() - timedelta(days=1))
    look_at(make_pages(elsewhere, [elsewhere.url])[0], NOW())
    before = make_audit(home, created_at=NOW() - timedelta(hours=26))
    look_at(make_pages(before, [SITE])[0], NOW(), score=80)
    failed = make_audit(home, created_at=NOW() - timedelta(hours=2))
    look_at(make_pages(failed, [SITE])[0], NOW(), **FAILURE)
    audit = page_audit(home, score=71)
    client = browser_of(home)
    comparison_xpath = "//p[@class='since']"
    day = previous_report_time(before.created_at, audit.created_at)
    scores = ", ".join(f"{label} 80 → 71" for label in Scan.Type.labels)
    AuditFinding.objects.filter(audit=audit).exclude(type="seo").delete()
    AuditFinding.objects.filter(audit=before).exclude(type="seo", check_id="bad").delete()
    AuditFinding.objects.create(
        audit=before,
        type="security",
        check_id="gone",
        title="Git repository is public",
        status="fail",
        severity="critical",
        pages_affected=1,
        points=1.0,
    )
    response = client.get(f"/audit/{audit.id}")
    named = "1 fixed: Git repository is public. 1 left: Bad thing found. 1 new: Meh thing found."
    assert element_texts(response, comparison_xpath) == [f"Since the scan of {day}: {scores}. {named}"]
    assert page_of(response).xpath(f"{comparison_xpath}/a/@href") == [f"/audit/{before.id}"]
    (left,) = page_of(response).xpath(f"{comparison_xpath}//a[.='Bad thing found']/@href")
    assert left == f"/report/{Scan.objects.get(audit_page__audit=audit, type='seo').id}#check-bad"
    AuditFinding.objects.all().delete()
    assert element_texts(client.get(f"/audit/{before.id}"), comparison_xpath) == []
    Audit.objects.update(shared_at=NOW())
    assert element_texts(Client().get(f"/audit/{audit.id}"), comparison_xpath) == []

    Scan.objects.filter(audit_page__audit=before, type="seo").update(catalogue_version="2025.1")
    report = Report.objects.get(scan__audit_page__audit=before, scan__type="security")
    Report.objects.filter(id=report.id).update(facts={**report.facts, "browser": "Chromium 150.0"})
    only = "Performance 80 → 71, Accessibility 80 → 71"
    assert element_texts(client.get(f"/audit/{audit.id}"), comparison_xpath) == [
        f"Since the scan of {day}: {only}. Cannot be compared: Security, SEO."
    ]
    Scan.objects.filter(audit_page__audit=before).update(catalogue_version="2025.1")
    assert element_texts(client.get(f"/audit/{audit.id}"), comparison_xpath) == [
        f"Cannot be compared with the scan of {day}: the rules changed, or only one of the two was made with a browser."
    ]


def test_site_audit_names_fixed_and_new_findings(home: Member) -> None:
    before = site_audit(home, 3, created_at=NOW() - timedelta(hours=26))
    site_audit(home, 3, created_at=NOW() - timedelta(hours=3), exclude=["*?print=*"])
    audit, client = site_audit(home, 3), browser_of(home)
    Audit.objects.update(status="completed")
    AuditFinding.objects.filter(audit=before, type="seo", check_id="bad").delete()
    AuditFinding.objects.filter(audit=before, type="security", check_id="bad").update(title="Old thing", check_id="old")
    AuditFinding.objects.exclude(type__in=("seo", "security")).delete()
    day = previous_report_time(before.created_at, audit.created_at)
    sentence = f"The same scores as in the scan of {day}."
    left = "1 left: Meh thing found."
    page, xpath = f"/audit/{audit.id}", "//p[@class='since']"
    assert element_texts(client.get(page), xpath) == [f"{sentence} 1 fixed: Old thing. {left} 1 new: Bad thing found."]
    assert page_of(client.get(page)).xpath(f"{xpath}//a/@href")[-1].endswith("#check-security-bad")
    # A check that could not run, or a page that was not scanned, proves no repair.
    Audit.objects.filter(id=audit.id).update(status="partial")
    skipped = [{"id": "old", "name": "Old", "reason": "Timeout"}]
    Scan.objects.filter(audit_page__audit=audit, type="security").update(status="partial", skipped_checks=skipped)
    assert " fixed" not in element_texts(client.get(page), xpath)[0]
    Scan.objects.update(skipped_checks=[])
    assert "1 fixed" in element_texts(client.get(page), xpath)[0]
    Audit.objects.filter(id=audit.id).update(pages_failed=1)
    assert " fixed" not in element_texts(client.get(page), xpath)[0]


def test_comparison_names_three_findings_of_many(home: Member) -> None:
    site_audit(home, 3, created_at=NOW() - timedelta(hours=26))
    audit, client = site_audit(home, 3), browser_of(home)
    Audit.objects.update(status="completed")
    AuditFinding.objects.update(title=Concat("type", Value(": "), "title", output_field=TextField()))
    (sentence,) = element_texts(client.get(f"/audit/{audit.id}"), "//p[@class='since']")
    assert "8 left: " in sentence
    assert sentence.count(": Meh thing found") == 3
    assert sentence.endswith("and 5 more.")


def test_comparison_names_a_title_of_several_types_once(home: Member) -> None:
    before = site_audit(home, 3, created_at=NOW() - timedelta(hours=26))
    audit, client = site_audit(home, 3), browser_of(home)
    Audit.objects.update(status="completed")
    AuditFinding.objects.filter(audit=audit, type="seo", check_id="bad").delete()
    old = {"status": "fail", "severity": "high", "pages_affected": 1, "points": 1.0}
    for type in ("seo", "security"):
        AuditFinding.objects.create(audit=before, type=type, check_id="old", title="Old thing", **old)
    (sentence,) = element_texts(client.get(f"/audit/{audit.id}"), "//p[@class='since']")
    # SEO no longer reports the bad thing, but the other types do.
    assert sentence.endswith(" 1 fixed: Old thing. 2 left: Meh thing found, Bad thing found.")


def test_critical_findings_precede_skipped_checks(home: Member) -> None:
    audit = site_audit(home, 3)
    message = "Checks could not run in 3 of 4 scans."
    Audit.objects.update(status="partial", error_code="CHECKS_SKIPPED", error_message=message)
    AuditFinding.objects.filter(audit=audit, type="seo").update(critical_pages=2)
    page = text_of(browser_of(home).get(f"/audit/{audit.id}"))
    assert page.count(message) == 1
    assert page.index("fix these first") < page.index(message)


def test_invalid_query_parameters_are_ignored(home: Member) -> None:
    audit = site_audit(home, 3)
    client = browser_of(home)
    for query in ("after=x", "after=99999999999", "before=-1", "before=.", "type=%00", "show=pages&q=%00&after=²"):
        assert client.get(f"/audit/{audit.id}?{query}").status_code == 200


def test_audited_pages_are_filtered_and_sorted(home: Member) -> None:
    audit = make_audit(home, **WHOLE_SITE_COLUMNS)
    for page, score in zip(make_pages(audit, [f"{SITE}{n}" for n in "abcd"]), (90, 60, 75), strict=False):
        look_at(page, NOW(), score=score)
    look_at(AuditPage.objects.get(url=f"{SITE}d"), NOW(), **FAILURE)
    client = browser_of(home)

    def list_rows(query: str) -> list[str]:
        return element_texts(client.get(f"/audit/{audit.id}?show=pages&{query}"), "//tbody//th")

    assert list_rows("") == ["/a", "/b", "/c", "/dThe page answers with status 404."]
    assert list_rows("order=worst")[:3] == ["/b", "/c", "/a"]
    assert list_rows("status=failed") == ["/dThe page answers with status 404."]
    assert list_rows("q=COM/c") == ["/c"]
    assert list_rows("status=left_out") == []
    scan = Scan.objects.get(url=f"{SITE}a", type="seo")
    pages_tab = page_of(client.get(f"/audit/{audit.id}?show=pages"))
    assert pages_tab.xpath("//tbody/tr[1]/td[4]//a/@href") == [f"/report/{scan.id}"]


@pytest.mark.parametrize("order", ["", "&order=worst"])
def test_paging_shows_every_page_once(home: Member, monkeypatch: pytest.MonkeyPatch, order: str) -> None:
    monkeypatch.setattr(audit_page, "ROWS_PER_PAGE", 2)
    audit = make_audit(home, **WHOLE_SITE_COLUMNS)
    for page, score in zip(make_pages(audit, [f"{SITE}{n}" for n in "abcdefg"]), (90, 60, 75, 60, 60), strict=False):
        look_at(page, NOW(), score=score)
    client = browser_of(home)

    def follow_pager(query: str, rel: str) -> tuple[list[str], str]:
        """Follow the pager links to the end.

        Return the paths of all rows and the last query string.
        """
        rows: list[str] = []
        while True:
            response = client.get(f"/audit/{audit.id}?{query}")
            paths = [cell[:2] for cell in element_texts(response, "//tbody//th")]
            rows = [*rows, *paths] if rel == "next" else [*paths, *rows]
            links = page_of(response).xpath(f"//nav[@class='pager']/a[@rel='{rel}']/@href")
            if not links:
                return rows, query
            query = links[0].removeprefix("?")

    expected = ["/b", "/d", "/e", "/c", "/a", "/f", "/g"] if order else [f"/{n}" for n in "abcdefg"]
    there, last = follow_pager(f"show=pages{order}", "next")
    assert there == expected
    assert follow_pager(last, "prev")[0] == expected


def test_audit_page_lists_omitted_pages(home: Member) -> None:
    audit = site_audit(home, 5, notes=["robots.txt forbids 3 addresses."])
    AuditPage.objects.filter(audit=audit, status="waiting").update(status="left_out")
    message = "1 page was not checked. All 100 scans of this month are used."
    Audit.objects.update(status="partial", error_code="QUOTA_EXCEEDED", error_message=message)
    page = browser_of(home).get(f"/audit/{audit.id}")
    assert "1 page was found but not checked. Show them" in text_of(page)
    assert message in text_of(page)
    assert "robots.txt forbids 3 addresses." in text_of(page)
    (which,) = page_of(page).xpath("//a[text()='Show them']/@href")
    assert element_texts(browser_of(home).get(which), "//tbody//th") == [f"/4{message}"]


def test_cancelled_audit_refunds_waiting_pages(home: Member) -> None:
    audit = site_audit(home, 4)
    client = browser_of(home)
    (form,) = page_of(client.get(f"/audit/{audit.id}")).xpath("//form[contains(@action, '/cancel')]")
    assert "does not count against your quota" in form.text_content()
    response = client.post(form.get("action"), {"next": f"/audit/{audit.id}"})
    assert response["Location"] == f"/audit/{audit.id}"
    assert Audit.objects.get().status == "cancelled"
    assert "Cancelled. Scans that had not started" in text_of(client.get(response["Location"]))
    assert ActivityEvent.objects.filter(action="audit.cancelled").count() == 1
    client.post(form.get("action"))
    assert "had already ended" in text_of(client.get("/o/home/"))
    assert ActivityEvent.objects.filter(action="audit.cancelled").count() == 1


@pytest.mark.parametrize("kind", ["page", "pages", "site"])
def test_scan_again_repeats_the_same_audit(home: Member, target: str, kind: str) -> None:
    Tier.objects.update(pages_per_audit=50)
    columns = {"kind": kind, "url": target, "types": ["seo"], "max_pages": 77 if kind == "site" else 2}
    if kind == "site":
        columns |= {"discover": ["links"], "exclude": ["/x/*"]}
    audit = make_audit(home, **columns, status="completed")
    if kind == "pages":
        make_pages(audit, [target, f"{target}two"])
        Audit.objects.update(status="completed")
    response = browser_of(home).post(f"/o/home/audits/{audit.id}/again")
    again = Audit.objects.exclude(id=audit.id).get()
    assert response["Location"] == f"/audit/{again.id}"
    assert (again.kind, again.url, again.types, again.discover, again.exclude) == (
        *(kind, target, ["seo"]),
        *(audit.discover, audit.exclude),
    )
    if kind == "pages":
        assert list(again.pages.order_by("position").values_list("url", flat=True)) == [target, f"{target}two"]
    if kind == "site":
        assert again.max_pages == 50  # The plan now allows only 50 pages.


def test_unrepeatable_audit_shows_the_reason(home: Member, target: str) -> None:
    audit = make_audit(home, url=target, status="completed")
    MonthlyUsage.objects.create(organization=home.organization, period=NOW().date().replace(day=1), used=100)
    client = browser_of(home)
    response = client.post(f"/o/home/audits/{audit.id}/again", {"next": f"/audit/{audit.id}"})
    assert "The scan was not started. This needs 4 scans" in text_of(client.get(response["Location"]))
    assert used(home) == 100


def test_viewer_sees_no_controls(home: Member) -> None:
    audit = site_audit(home, 3)
    page = page_of(browser_of(home, "viewer").get(f"/audit/{audit.id}"))
    assert not page.xpath(
        "//form[@method='post'][.//button[not(contains(@class, 'menu'))]][contains(@action, '/audits/')]"
    )
    assert not page.xpath("//button[@name='shared']")


def test_shared_audit_is_public_until_revoked(home: Member) -> None:
    audit = page_audit(home)
    report = f"/report/{Scan.objects.get(type='seo').id}"
    member, anybody = browser_of(home), Client()
    addresses = [f"/audit/{audit.id}", report, f"{report}/export/json"]
    assert [anybody.get(address).status_code for address in addresses] == [302, 302, 302]
    assert member.post(f"/audit/{audit.id}/share", {"shared": "on"}).status_code == 302
    for address in addresses:
        response = anybody.get(address)
        assert response.status_code == 200, address
        assert response["X-Robots-Tag"] == "noindex, nofollow"
        assert "Home" not in response.content.decode()
    card = {
        element.get("property"): element.get("content")
        for element in page_of(anybody.get(f"/audit/{audit.id}")).xpath("//meta")
    }
    assert card["og:title"] == "Security C, Performance C, Accessibility C, SEO C: bakery.example.com"
    assert card["og:description"].startswith("Fix first: ")
    assert "the scan it is part of" in text_of(member.get(report))
    assert "Anyone with the link can read this report" in text_of(member.get(report))
    assert member.post(f"/audit/{audit.id}/share", {"shared": "off"}).status_code == 302
    assert [anybody.get(address).status_code for address in addresses] == [302, 302, 302]
    assert not page_of(member.get(report)).xpath("//meta[@property='og:title']")
    actions = ActivityEvent.objects.filter(action__startswith="audit.").order_by("id")
    assert list(actions.values_list("action", flat=True)) == ["audit.shared", "audit.unshared"]


@pytest.mark.parametrize("format", ["json", "csv", "sarif"])
def test_page_exports_equal_the_api_exports(home: Member, format: str) -> None:
    audit = page_audit(home)
    client = browser_of(home, "viewer")
    links = page_of(client.get(f"/audit/{audit.id}")).xpath("//a[@download]/@href")
    assert f"/audit/{audit.id}/export/{format}" in links
    download = client.get(f"/audit/{audit.id}/export/{format}")
    api = home.api.get(f"/v1/audits/{audit.id}/export?format={format}")
    assert download.getvalue() == api.getvalue()
    assert download["Content-Disposition"] == api["Content-Disposition"]
    assert client.get(f"/audit/{audit.id}/export/pdf").status_code == 404
    Audit.objects.update(status="running")
    assert client.get(f"/audit/{audit.id}/export/{format}").status_code == 404


def test_audit_menu_copies_and_prints(home: Member) -> None:
    """Regression test: the menu of a report had Print, and that of an audit had not."""
    for audit in (page_audit(home), site_audit(home, 2)):
        Audit.objects.update(status="completed")
        page = page_of(browser_of(home, "viewer").get(f"/audit/{audit.id}"))
        (menu,) = page.xpath("//details[summary='Export']")
        assert menu.xpath(".//a/@href")[0] == f"/audit/{audit.id}/for-developer.txt"
        assert menu.xpath(".//button/@data-copy-from") == [f"/audit/{audit.id}/for-developer.txt"]
        assert len(menu.xpath(".//button[@data-print]")) == 1
        assert [path for path in page.xpath("//script/@src") if path.endswith("js/report.js")]


def test_developer_text_names_affected_pages(home: Member) -> None:
    audit = site_audit(home, 4)
    Audit.objects.update(status="completed")
    AuditFinding.objects.filter(severity="high").update(consequence="Visitors may leave.")
    client = browser_of(home)
    text = client.get(f"/audit/{audit.id}/for-developer.txt").content.decode()
    for part in (
        "Address: https://bakery.example.com/",
        "  Security:      C",
        "1. Bad thing found (",
        "   Visitors may leave.",
        "On 3 of 3 pages, such as https://bakery.example.com/0 and",
        "- =1+1",
        "Fix: Mend it.",
        f"Report:  {audit.audit_url}",
        f"Only members of {home.organization.name} can open this link",
    ):
        assert part in text, text
    assert "Meh thing" not in text
    Audit.objects.update(status="running")
    assert client.get(f"/audit/{audit.id}/for-developer.txt").status_code == 404


def test_developer_text_of_a_page_counts_elements_of_the_same_kind(home: Member) -> None:
    """Regression test: three images without alternative text became two, because two have the same fingerprint."""
    audit = make_audit(home, types=["accessibility"])
    (page,) = make_pages(audit, [SITE])
    (scan,) = release(page, NOW())
    images = [
        Element(f'img[src$="{name}.png"]', f'<img src="/{name}.png">', ancestry=ancestry)
        for name, ancestry in (("cart", "header > img"), ("green", "ul > li > img"), ("black", "ul > li > img"))
    ]
    check = check_of("image-alt", "Images", "Images without text", "fail", HIGH, HIGH, "No text.", "Add it.", images)
    claim = claim_scan(scan.id)
    assert claim is not None
    finish_scan(claim, make_result(scan, categories=(CategoryResult("text", "Text alternatives", 10, (check,), 71),)))
    text = browser_of(home).get(f"/audit/{audit.id}/for-developer.txt").content.decode()
    assert '- img[src$="cart.png"]\n' in text, text
    assert '- img[src$="green.png"] and 1 more of its kind\n' in text, text


def test_critical_and_high_findings_begin_with_their_consequence(home: Member) -> None:
    audit = site_audit(home, 2)
    AuditFinding.objects.filter(severity="high").update(consequence="Visitors may leave.", critical_pages=1)
    page = browser_of(home).get(f"/audit/{audit.id}")
    for xpath in ("//*[@id='critical']//li/p[1]", "//li[contains(@class, 'of-high')]//details/div/p[1]"):
        assert set(element_texts(page, xpath)) == {"Visitors may leave."}, xpath


def test_closed_organization_shares_no_audits(home: Member) -> None:
    audit = page_audit(home)
    Audit.objects.update(shared_at=NOW())
    report = Scan.objects.get(type="seo")
    close_organization(home.organization)
    for path in (f"/audit/{audit.id}", f"/report/{report.id}"):
        assert Client().get(path).status_code == 302


def test_expired_audit_is_unavailable(home: Member) -> None:
    audit = page_audit(home)
    old = NOW() - timedelta(days=31)
    Audit.objects.update(created_at=old, released_at=old, shared_at=old)
    member = browser_of(home).get(f"/audit/{audit.id}")
    assert (member.status_code, "no longer available" in text_of(member)) == (404, True)
    assert Client().get(f"/audit/{audit.id}").status_code == 302


def test_unknown_audit_looks_like_a_foreign_one(home: Member, stranger: Member) -> None:
    client = browser_of(home, "owner")
    theirs, never = client.get(f"/audit/{make_audit(stranger).id}"), client.get(f"/audit/aud_{'0' * 22}")
    assert (theirs.status_code, never.status_code) == (404, 404)
    assert text_of(theirs) == text_of(never)


def test_report_links_to_its_audit(home: Member) -> None:
    audit = site_audit(home, 3)
    scan = Scan.objects.filter(status="completed").first()
    assert scan is not None
    client = browser_of(home)
    page = client.get(f"/report/{scan.id}")
    assert f"Part of the scan of the site {SITE}" in text_of(page)
    assert page_of(page).xpath("//a[starts-with(text(), 'the scan of')]/@href") == [f"/audit/{audit.id}"]
    single = finished_scan(home)
    assert "Part of" not in text_of(client.get(f"/report/{single.id}"))


def test_shared_report_does_not_name_its_audit(home: Member) -> None:
    audit = page_audit(home)
    scan = Scan.objects.get(type="seo")
    scan.report.shared_at = NOW()
    scan.report.save()
    page = Client().get(f"/report/{scan.id}")
    assert page.status_code == 200
    assert audit.id not in page.content.decode()


def test_tabs_act_for_their_own_organization(home: Member) -> None:
    """Actions must apply to the audit's organization.

    Another organization may be the selected one.
    """
    other = member_of("Other")
    audit = site_audit(home, 3)
    client = browser_of(home)
    Membership.objects.create(organization=other.organization, user=User.objects.get(), role="member")
    client.post("/organizations/switch", {"organization": other.organization.id})
    page = page_of(client.get(f"/audit/{audit.id}"))
    assert page.xpath("//*[@class='switch-name']/text()") == ["Home"]
    (action,) = page.xpath("//form[contains(@action, '/cancel')]/@action")
    assert action == f"/o/home/audits/{audit.id}/cancel"
    for name in ("cancel", "again"):
        assert client.post(f"/o/other/audits/{audit.id}/{name}").status_code == 404
    assert Audit.objects.get().status == "running"


def test_hostile_text_is_escaped(home: Member) -> None:
    evil = "https://example.com/<script>alert(1)</script>\"'&%3Cb%3E"
    audit = make_audit(
        home, **WHOLE_SITE_COLUMNS | {"url": evil, "notes": [evil], "exclude": ["/<script>alert(2)</script>"]}
    )
    look_at(make_pages(audit, [evil])[0], NOW())
    Audit.objects.update(error_message="<script>alert(3)</script>", shared_at=NOW())
    client = browser_of(home)
    for path in ("", "?show=pages", "?type=seo"):
        assert b"<script>alert" not in client.get(f"/audit/{audit.id}{path}").content
    for path in ("/o/home/", "/o/home/scans/", "/o/home/sites/", "/o/home/sites/example.com"):
        assert b"<script>alert" not in client.get(path).content
