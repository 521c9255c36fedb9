"""Tests for the scan pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.test import override_settings
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ActivityEvent, Membership, MonthlyUsage, Tier, User
from accounts.usage import month_of
from reports.models import Report
from scans.models import Scan
from scans.visits.claims import claim_scan
from scans.visits.queue import running_visits
from sites.models import Audit
from tests.factories import Member, finished_scan, make_scan, member_of, register_webhook
from tests.page_reading import browser_of, page_of, rows_of, text_of, used
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Site
from webhooks.models import Delivery

EVIL = "https://example.com/<script>alert(1)</script>\"'&%3Cb%3E"
READ = ["/o/home/", "/o/home/recent", "/o/home/scans/", "/o/home/sites/", "/o/home/sites/example.com"]
LOOPBACK = (ip_network("127.0.0.0/8"),)


def create_charged_scan(member: Member, **columns: object) -> Scan:
    """Create a queued scan that is charged to the quota."""
    MonthlyUsage.objects.update_or_create(
        organization=member.organization, period=month_of(timezone.now()), defaults={"used": 1}
    )
    return make_scan(member, **columns)


def test_viewer_has_no_scan_forms(home: Member) -> None:
    create_charged_scan(home)
    viewer = browser_of(home, "viewer")
    for path in READ:
        forms = page_of(viewer.get(path)).xpath("//form[contains(@action, '/o/home/scans/')]")
        assert not forms, path


def test_new_organization_has_instructions(home: Member) -> None:
    page = browser_of(home, "admin").get("/o/home/")
    assert 'Authorization: Bearer API_KEY"' in text_of(page)
    assert "http://localhost:8000/v1/scan" in text_of(page)
    assert not page_of(page).xpath("//a[text()='Create a key']"), "there is one"
    assert page_of(page).xpath("//a[@href='/docs/ci' and text()='Set up a gate']")
    assert page_of(page).xpath("//form[@action='/o/home/scans/new']//input[@name='url']")
    assert home.plaintext not in page.content.decode()
    assert "No scans yet" in text_of(browser_of(home).get("/o/home/scans/"))
    assert "No sites yet" in text_of(browser_of(home).get("/o/home/sites/"))


def test_quota_gauge_displays_remaining_scans(home: Member) -> None:
    MonthlyUsage.objects.create(organization=home.organization, period=month_of(timezone.now()), used=85)
    text = text_of(browser_of(home).get("/o/home/"))
    assert "85 % used" in text
    assert "Left 15 Used 85 of 100" in text
    MonthlyUsage.objects.update(used=100)
    assert "You have used all scans for this month." in text_of(browser_of(home).get("/o/home/"))


def test_gauge_is_full_if_the_tier_allows_no_scans(home: Member) -> None:
    Tier.objects.filter(name="free").update(scans_per_month=0)
    assert "100 % used" in text_of(browser_of(home).get("/o/home/"))


def test_overview_polls_only_while_a_scan_runs(home: Member) -> None:
    client = browser_of(home)
    finished_scan(home, url="https://example.com/ended")
    scan = make_scan(home, url="https://example.com/waits")
    (polled,) = page_of(client.get("/o/home/")).xpath("//*[@hx-trigger]")
    assert polled.get("hx-trigger") == "every 3s"
    fragment = client.get(polled.get("hx-get"))
    assert "https://example.com/waits" in text_of(fragment)
    assert "https://example.com/ended" in text_of(fragment)
    assert page_of(fragment).xpath("//a[@href='/o/home/' and text()='Reload']")
    Scan.objects.filter(id=scan.id).update(status="failed")
    for path in ("/o/home/", "/o/home/recent"):
        page = client.get(path)
        assert not page_of(page).xpath("//*[@hx-trigger]")
        assert "Running now" not in text_of(page)


def test_overview_lists_ten_running_scans(home: Member) -> None:
    Scan.objects.bulk_create(
        Scan(organization=home.organization, type="seo", url=f"https://{n}.test/", period=month_of(timezone.now()))
        for n in range(15)
    )
    page = page_of(browser_of(home).get("/o/home/"))
    assert len(page.xpath("//progress")) == 10
    assert page.xpath("//a[@href='/o/home/scans/?status=running']")


def test_scan_form_creates_an_audit_of_the_person(home: Member, target: str) -> None:
    client = browser_of(home)
    response = client.post("/o/home/scans/new", {"url": f"{target}#part", "type": "seo"})
    audit = Audit.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/audit/{audit.id}")
    person = Membership.objects.get().user
    assert (audit.kind, audit.url, audit.types, audit.created_by) == ("page", target, ["seo"], person)
    scan = Scan.objects.get()
    assert (scan.url, scan.type, scan.api_key, scan.created_by, scan.status) == (target, "seo", None, person, "queued")
    assert used(home) == 1
    event = ActivityEvent.objects.get(action="audit.created")
    assert (event.actor, event.object_name) == (person, target)


def test_scan_types_of_a_page_use_one_slot(home: Member, target: str) -> None:
    client = browser_of(home)
    ticked = page_of(client.get("/o/home/scans/new")).xpath("//input[@name='type' and @checked]/@value")
    assert ticked == Scan.Type.values
    client.post("/o/home/scans/new", {"url": target, "type": ticked})
    assert sorted(Scan.objects.values_list("type", flat=True)) == sorted(ticked)
    assert (running_visits(home.organization.id), used(home)) == (1, 4)
    # The tier has two slots.
    assert client.post("/o/home/scans/new", {"url": f"{target}x", "type": ticked}).status_code == 302
    assert running_visits(home.organization.id) == 2


def test_site_scan_form_sets_the_options(home: Member, target: str) -> None:
    form = {
        "url": target,
        "scope": "site",
        "type": ["seo", "security"],
        "max_pages": "7",
        "discover": "links",
        "include": "/docs/*\n\n /blog/* ",
        "exclude": "*?page=*",
    }
    response = browser_of(home).post("/o/home/scans/new", form)
    audit = Audit.objects.get()
    assert response["Location"] == f"/audit/{audit.id}"
    assert (audit.kind, audit.status, audit.max_pages) == ("site", "queued", 7)
    assert (audit.types, audit.discover) == (["security", "seo"], ["links"])
    assert (audit.include, audit.exclude) == (["/docs/*", "/blog/*"], ["*?page=*"])


def test_page_scan_ignores_site_options(home: Member, target: str) -> None:
    form = {"url": target, "scope": "page", "type": "seo", "max_pages": "9999", "include": "/docs/*"}
    assert browser_of(home).post("/o/home/scans/new", form).status_code == 302
    assert Audit.objects.get().kind == "page"


@pytest.mark.parametrize(
    ("entered", "code"),
    [
        ("", "INVALID_URL"),
        ("https://u:p@example.com/", "INVALID_URL"),
        ("http:/example.com", "INVALID_URL"),
        ("ftp://example.com/", "INVALID_URL"),
        ("http://localhost/", "DOMAIN_BLOCKED"),
    ],
)
def test_refused_url_displays_the_api_error(home: Member, entered: str, code: str) -> None:
    refused = home.api.post("/v1/audits", {"page": entered})
    assert refused.json()["code"] == code
    response = browser_of(home).post("/o/home/scans/new", {"url": entered, "type": "seo"})
    assert response.status_code == refused.status_code
    (problem,) = page_of(response).xpath("//form//*[@role='alert']")
    assert problem.text == refused.json()["error"]
    assert problem.get("id") == "id_url_error"
    assert page_of(response).xpath("//*[@aria-describedby='id_url_error']")
    assert page_of(response).xpath("string(//input[@name='url']/@value)") == entered
    assert not Audit.objects.exists()


@pytest.mark.parametrize(
    ("form", "field", "problem"),
    [
        ({"type": []}, "type", "Choose at least one."),
        ({"scope": "site", "discover": []}, "discover", "Choose at least one."),
        ({"scope": "site", "max_pages": "11"}, "max_pages", "Your plan allows up to 10 pages per scan."),
        ({"scope": "site", "max_pages": "0"}, "max_pages", "Enter at least 1."),
        ({"scope": "site", "include": "docs"}, "include", "docs: A pattern must start with / or *"),
        ({"scope": "site", "exclude": "\n".join(f"/{n}" for n in range(51))}, "exclude", "Enter at most 50 patterns."),
    ],
)
def test_invalid_scan_option_displays_an_error(home: Member, form: dict[str, object], field: str, problem: str) -> None:
    entered = {"url": "https://example.com/", "type": "seo", "discover": "links"} | form
    response = browser_of(home).post("/o/home/scans/new", entered)
    assert response.status_code == 400
    (error,) = page_of(response).xpath("//*[@id=$id]", id=f"id_{field}_error")
    assert problem in error.text_content()
    assert page_of(response).xpath("//*[@aria-describedby[contains(., $id)]]", id=f"id_{field}_error")
    # Fields with errors are not hidden in a closed section.
    assert not page_of(response).xpath("//details[not(@open)]//*[@id=$id]", id=f"id_{field}_error")
    assert not Audit.objects.exists()


def test_unknown_scan_type_is_refused(home: Member, target: str) -> None:
    assert browser_of(home).post("/o/home/scans/new", {"url": target, "type": "looks"}).status_code == 400
    assert not Audit.objects.exists()


def test_refused_scan_form_escapes_its_input(home: Member) -> None:
    response = browser_of(home).post("/o/home/scans/new", {"url": '"><script>alert(1)</script>', "type": "seo"})
    assert "<script>alert" not in response.content.decode()
    assert page_of(response).xpath("//input[@name='url']/@value") == ['"><script>alert(1)</script>']
    assert page_of(response).xpath("//input[@name='type' and @checked]/@value") == ["seo"]


def test_address_without_scheme_falls_back_to_http(home: Member) -> None:
    with Site({"/": Answer("<p>Hello</p>")}) as site, override_settings(SCAN_ALLOWED_NETWORKS=LOOPBACK):
        bare = site.url.removeprefix("http://")
        client = browser_of(home)
        response = client.post("/o/home/scans/new", {"url": f" {bare}/ ", "type": "seo"})
        assert response.status_code == 302
    assert Audit.objects.get().url == f"http://{bare}/"
    assert f"The site does not respond over https, so the scan uses http://{bare}/" in text_of(client.get("/o/home/"))


def test_address_without_scheme_prefers_https(home: Member) -> None:
    with sample_site() as site, override_settings(SCAN_ALLOWED_NETWORKS=LOOPBACK):
        bare = site.url.removeprefix("https://")
        client = browser_of(home)
        assert client.post("/o/home/scans/new", {"url": bare, "type": "seo"}).status_code == 302
    assert Audit.objects.get().url == f"https://{bare}/"
    assert f"so the scan uses https://{bare}/" in text_of(client.get("/o/home/"))


@pytest.mark.parametrize("entered", ["127.0.0.1:1", "http://127.0.0.1:1/"])
def test_unreachable_page_causes_a_url_error(home: Member, target: str, entered: str) -> None:
    response = browser_of(home).post("/o/home/scans/new", {"url": entered, "type": "seo"})
    assert response.status_code == 400
    assert page_of(response).xpath("//*[@id='id_url_error']")


def test_exhausted_quota_is_displayed(home: Member, target: str) -> None:
    MonthlyUsage.objects.create(organization=home.organization, period=month_of(timezone.now()), used=100)
    response = browser_of(home).post("/o/home/scans/new", {"url": target, "type": "seo"})
    assert response.status_code == 429
    assert "This needs 1 scan, and 0 are left" in page_of(response).xpath("//form//*[@role='alert']")[0].text


def test_scan_form_and_api_share_a_rate_limit(home: Member, target: str) -> None:
    Tier.objects.filter(name="free").update(requests_per_minute=2)
    client = browser_of(home)
    assert home.api.get("/v1/usage").status_code == 200
    assert client.post("/o/home/scans/new", {"url": "https://", "type": "seo"}).status_code == 400
    refused = client.post("/o/home/scans/new", {"url": target, "type": "seo"})
    assert refused.status_code == 429
    assert "Too many requests in this minute." in text_of(refused)
    assert client.get("/o/home/").status_code == 200
    assert home.api.get("/v1/usage").status_code == 429
    assert not Audit.objects.exists()


def test_maintenance_mode_refuses_new_scans(home: Member, target: str, settings: Settings) -> None:
    settings.MAINTENANCE_MODE = True
    response = browser_of(home).post("/o/home/scans/new", {"url": target, "type": "seo"})
    assert response.status_code == 503
    assert not Audit.objects.exists()


def test_repeated_scan_has_the_same_url_and_type(home: Member, target: str) -> None:
    scan = finished_scan(home, url=target, type="accessibility")
    response = browser_of(home).post(f"/o/home/scans/{scan.id}/again")
    new = Scan.objects.exclude(id=scan.id).get()
    assert response["Location"] == f"/report/{new.id}"
    assert (new.url, new.type, new.api_key) == (target, "accessibility", None)


def test_page_says_why_a_scan_cannot_be_repeated(home: Member) -> None:
    scan = finished_scan(home, url="http://127.0.0.1/")
    client = browser_of(home)
    response = client.post(f"/o/home/scans/{scan.id}/again", {"next": "/o/home/scans/?type=security"})
    assert response["Location"] == "/o/home/scans/?type=security"
    assert "The scan was not started. The target is not publicly accessible" in text_of(client.get("/o/home/scans/"))


def test_cancelled_scan_fails_and_is_refunded(home: Member) -> None:
    scan = create_charged_scan(home)
    client = browser_of(home)
    response = client.post(f"/o/home/scans/{scan.id}/cancel")
    assert response.status_code == 302
    person = Membership.objects.get().user
    answer = home.api.get(f"/v1/scan/{scan.id}").json()
    assert answer["status"] == "failed"
    assert answer["error"] == {
        "code": "SCAN_CANCELLED",
        "message": f"Cancelled by {person.email} before it started. It does not count against your quota.",
    }
    assert answer["progress"]["phase"] == "done"
    assert used(home) == 0
    assert not Report.objects.exists()
    assert claim_scan(scan.id) is None
    event = ActivityEvent.objects.get(action__startswith="scan.")
    assert (event.action, event.actor, event.object_name) == ("scan.cancelled", person, scan.url)
    assert "Cancelled" in text_of(client.get("/o/home/scans/"))
    # A second cancellation changes and refunds nothing.
    MonthlyUsage.objects.update(used=5)
    client.post(f"/o/home/scans/{scan.id}/cancel")
    assert used(home) == 5
    assert ActivityEvent.objects.filter(action="scan.cancelled").count() == 1


def test_cancelled_scan_is_delivered_to_webhooks(home: Member, target: str) -> None:
    register_webhook(home, target)
    scan = create_charged_scan(home)
    browser_of(home).post(f"/o/home/scans/{scan.id}/cancel")
    delivery = Delivery.objects.get()
    assert delivery.event.kind == "scan.failed"
    assert b'"code":"SCAN_CANCELLED"' in bytes(delivery.event.body)


@pytest.mark.parametrize("ending", [lambda scan: claim_scan(scan.id), lambda scan: None])
def test_started_scan_cannot_be_cancelled(home: Member, ending: Callable[[Scan], object]) -> None:
    scan = create_charged_scan(home)
    assert claim_scan(scan.id) is not None
    ending(scan)
    client = browser_of(home)
    client.post(f"/o/home/scans/{scan.id}/cancel")
    assert Scan.objects.get().status == "scanning"
    assert used(home) == 1
    assert "had already started" in text_of(client.get("/o/home/scans/"))
    assert not page_of(client.get("/o/home/scans/")).xpath("//form[contains(@action, '/cancel')]")


def test_hostile_url_is_escaped(home: Member) -> None:
    finished_scan(home, url=EVIL)
    make_scan(home, url=EVIL, type="seo")
    client = browser_of(home)
    for path in ("/o/home/", "/o/home/scans/", "/o/home/sites/", "/o/home/sites/example.com"):
        page = client.get(path)
        assert b"<script>alert" not in page.content
        assert not page_of(page).xpath("//*[@onerror or @onclick]")


def test_expired_report_is_not_linked(home: Member) -> None:
    finished_scan(home, age=timedelta(days=31))
    client = browser_of(home)
    for path in ("/o/home/", "/o/home/scans/", "/o/home/sites/", "/o/home/sites/example.com"):
        assert not page_of(client.get(path)).xpath("//main//a[starts-with(@href, '/report/')]"), path


def test_scan_list_contains_one_organization(home: Member) -> None:
    other = member_of("Other")
    finished_scan(home, url="https://home.example.com/")
    finished_scan(other, url="https://other.example.com/")
    client = browser_of(home)
    Membership.objects.create(organization=other.organization, user=User.objects.get(), role="member")
    assert rows_of(client.get("/o/home/scans/")) == ["https://home.example.com/"]
    assert rows_of(client.get("/o/other/scans/")) == ["https://other.example.com/"]


def test_trend_contains_scores_of_one_page(home: Member) -> None:
    """Regression test: a page with status 404 lowered the site's trend."""
    for score, grade, url in ((86, "B", "/"), (88, "B", "/"), (40, "F", "/404"), (90, "A", "/")):
        scan = finished_scan(home, url=f"https://example.com{url}")
        Scan.objects.filter(id=scan.id).update(score=score, grade=grade)
    client = browser_of(home, "viewer")

    def scores(query: str = "") -> list[str]:
        site_page = page_of(client.get(f"/o/home/sites/example.com{query}"))
        return [
            element.text_content() for element in site_page.xpath("//section[contains(@class, 'trend')]//tbody//td")
        ]

    assert scores() == ["90 (A)", "88 (B)", "86 (B)"]
    assert scores("?page=https%3A//example.com/404") == ["40 (F)"]
    assert scores("?page=https%3A//elsewhere.test/") == scores()
