"""Tests for widths and colour schemes of scans, audits, monitors and lists in the API and on pages."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Tier
from scans.browser import _cached_browser, close_browser
from scans.models import Scan
from scans.services import requeue_scan
from scans.tasks import run_scan
from scans.visits.claims import claim_scan
from sites.lists.starting import start_entries
from sites.models import Audit, Monitor, MonitorRun, SiteList
from sites.monitors.runs import start_run
from tests.factories import Member, browser_of, make_scan, person_of
from tests.page_reading import page_of
from tests.sites.lists.cast import make_entry, make_list
from tests.targets.server import Answer, Site
from website_scan.viewing import StoredViewing, Viewing

pytestmark = pytest.mark.django_db

DARK: StoredViewing = {"widths": [800, 412], "color_scheme": "dark"}
VIEWING = Viewing((800, 412), "dark")
NEW_MONITOR = "/o/home/monitors/new"
MONITOR_FORM = {"scope": "page", "type": ["seo"], "every": "day", "timezone": "UTC"}
PAGE = (
    "<!doctype html><html lang=en><title>Tea</title><meta name=viewport content='width=device-width'>"
    "<style>body { background: #fff } @media (prefers-color-scheme: dark) { .text { color: #ccc } }"
    " .middle { display: none } @media (min-width: 700px) and (max-width: 900px) { .middle { display: block } }</style>"
    "<main><h1>Tea</h1><p class=text>Green tea from Uji</p><input class=middle name=q></main>"
)


def viewing_in(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in ("widths", "color_scheme") if name in answer}


def post(member: Member, path: str, body: dict[str, Any], status: int) -> dict[str, Any]:
    response = member.api.post(path, body)
    assert response.status_code == status, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_scan_has_the_requested_viewing(home: Member, target: str) -> None:
    scan = post(home, "/v1/scan", {"url": target, "type": "accessibility", **DARK}, 201)
    assert viewing_in(scan) == DARK
    assert viewing_in(home.api.get(f"/v1/scan/{scan['id']}").json()) == DARK
    claim = claim_scan(scan["id"])
    assert claim is not None
    assert claim.viewing == VIEWING


def test_one_field_completes_the_usual_viewing(home: Member, target: str) -> None:
    for body, expected in (
        ({"widths": [320]}, {"widths": [320], "color_scheme": "light"}),
        ({"color_scheme": "dark"}, {"widths": [412, 1440], "color_scheme": "dark"}),
    ):
        assert viewing_in(post(home, "/v1/scan", {"url": target, "type": "seo", **body}, 201)) == expected
        Scan.objects.all().delete()


def test_scan_without_viewing_has_the_usual_fields(home: Member, target: str) -> None:
    scan = post(home, "/v1/scan", {"url": target, "type": "seo"}, 201)
    assert len(scan) == 13
    claim = claim_scan(scan["id"])
    assert claim is not None
    assert claim.viewing is None


def test_other_viewing_is_another_request(home: Member, target: str) -> None:
    body = {"url": target, "type": "accessibility"}
    assert home.api.post("/v1/scan", body | DARK, Idempotency_Key="k").status_code == 201
    assert home.api.post("/v1/scan", body | DARK, Idempotency_Key="k")["Idempotent-Replayed"] == "true"
    for other in (body, body | DARK | {"widths": [412, 800]}, body | DARK | {"color_scheme": "light"}):
        response = home.api.post("/v1/scan", other, Idempotency_Key="k")
        assert response.json()["code"] == "IDEMPOTENCY_MISMATCH", response.content


@pytest.mark.parametrize(
    ("field", "value"),
    [("widths", [319]), ("widths", [800, 800]), ("widths", "800"), ("widths", []), ("color_scheme", "sepia")],
)
def test_wrong_viewing_is_refused_with_its_field(home: Member, target: str, field: str, value: object) -> None:
    for path, body in (
        ("/v1/scan", {"url": target, "type": "seo"}),
        ("/v1/audits", {"page": target}),
        ("/v1/monitors", {"page": target, "every": "day"}),
        ("/v1/lists", {"name": "Teas"}),
    ):
        answer = post(home, path, {**body, field: value}, 400)
        assert answer["code"] == "INVALID_PARAMS"
        assert answer["error"].startswith(f"{field} must be ")


def test_scan_again_keeps_the_viewing(home: Member, target: str) -> None:
    scan = make_scan(home, url=target, viewing=DARK, status="failed", error_code="NOT_REACHABLE", error_message="-")
    user = person_of(home, "member", "ann@example.com")
    assert browser_of(user).post(f"/o/home/scans/{scan.id}/again").status_code == 302
    assert Scan.objects.exclude(id=scan.id).get().chosen_viewing == VIEWING


def test_replacement_of_a_failed_scan_keeps_the_viewing(home: Member) -> None:
    scan = make_scan(home, viewing=DARK, status="failed", error_code="INTERNAL_ERROR", error_message="-")
    user = person_of(home, "member", "ann@example.com")
    assert requeue_scan(actor=user, scan_id=scan.id).chosen_viewing == VIEWING


def test_audit_passes_the_viewing_to_its_scans(home: Member, target: str) -> None:
    audit = post(home, "/v1/audits", {"page": target, "types": ["accessibility", "seo"], **DARK}, 202)
    assert viewing_in(home.api.get(f"/v1/audits/{audit['id']}").json()) == DARK
    assert [scan.chosen_viewing for scan in Scan.objects.all()] == [VIEWING, VIEWING]
    assert not viewing_in(post(home, "/v1/audits", {"page": target, "types": ["seo"]}, 202))


def test_audits_with_other_viewing_share_no_visit(home: Member, target: str) -> None:
    Tier.objects.update(concurrent_scans=5)
    body = {"page": target, "types": ["accessibility"]}
    for viewing in ({}, DARK, {"widths": [800]}):
        post(home, "/v1/audits", body | viewing, 202)
    scans = Scan.objects.order_by("created_at")
    assert [scan.lead_id for scan in scans] == [None] * 3
    assert [scan.chosen_viewing for scan in scans] == [None, VIEWING, Viewing((800,))]


def test_audit_again_keeps_the_viewing(home: Member, target: str) -> None:
    audit = post(home, "/v1/audits", {"page": target, "types": ["seo"], **DARK}, 202)
    user = person_of(home, "member", "ann@example.com")
    assert browser_of(user).post(f"/o/home/audits/{audit['id']}/again").status_code == 302
    assert Audit.objects.exclude(id=audit["id"]).get().chosen_viewing == VIEWING


def test_monitor_runs_with_its_viewing(home: Member, target: str) -> None:
    monitor = post(home, "/v1/monitors", {"page": target, "types": ["seo"], "every": "day", **DARK}, 201)
    assert viewing_in(monitor) == DARK
    run = MonitorRun.objects.get()
    assert start_run(run.id, monitor["id"], timezone.now())
    assert Audit.objects.get().chosen_viewing == VIEWING


def test_monitor_changes_single_options_of_its_viewing(home: Member, target: str) -> None:
    monitor = post(home, "/v1/monitors", {"page": target, "types": ["seo"], "every": "day"}, 201)
    path = f"/v1/monitors/{monitor['id']}"
    assert not viewing_in(monitor)
    changed = home.api.patch(path, {"color_scheme": "dark"}).json()
    assert viewing_in(changed) == {"widths": [412, 1440], "color_scheme": "dark"}
    assert viewing_in(home.api.patch(path, {"widths": [800]}).json()) == {"widths": [800], "color_scheme": "dark"}
    # Changes of other options keep it.
    assert viewing_in(home.api.patch(path, {"types": ["security"]}).json()) == {
        "widths": [800],
        "color_scheme": "dark",
    }
    assert viewing_in(home.api.patch(path, {"name": "Teas"}).json()) == {"widths": [800], "color_scheme": "dark"}


def test_recent_audit_with_other_viewing_is_no_first_result(home: Member, target: str) -> None:
    Tier.objects.update(schedules=5)
    now = timezone.now()
    audit = Audit.objects.create(
        organization=home.organization,
        kind="page",
        url=target,
        types=["seo"],
        max_pages=1,
        status="completed",
        started_at=now,
        completed_at=now,
        viewing=DARK,
    )
    body = {"page": target, "types": ["seo"], "every": "day"}
    for viewing, expected in (({}, None), (DARK | {"widths": [800]}, None), (DARK, audit)):
        monitor = post(home, "/v1/monitors", body | viewing, 201)
        assert MonitorRun.objects.get(monitor=monitor["id"]).audit == expected, viewing


def test_list_has_the_requested_viewing(home: Member) -> None:
    Tier.objects.update(lists=2)
    answer = post(home, "/v1/lists", {"name": "Teas", **DARK}, 201)
    assert viewing_in(answer) == DARK
    changed = home.api.patch(f"/v1/lists/{answer['id']}", {"widths": [320]}).json()
    assert viewing_in(changed) == {"widths": [320], "color_scheme": "dark"}
    assert not viewing_in(post(home, "/v1/lists", {"name": "Coffees"}, 201))


def test_form_of_a_list_stores_and_shows_the_viewing(home: Member) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    entered = {"name": "Teas", "type": "accessibility", "pages_per_entry": "1", "window_hours": "0", "timezone": "UTC"}
    assert client.post("/o/home/lists/new", entered | {"widths": "800, 412", "color_scheme": "dark"}).status_code == 302
    (site_list,) = SiteList.objects.all()
    assert site_list.chosen_viewing == VIEWING
    edit = f"/o/home/lists/{site_list.id}/edit"
    (widths,) = page_of(client.get(edit)).xpath("//input[@name='widths']/@value")
    assert widths == "800, 412"
    assert client.post(edit, entered).status_code == 302
    assert SiteList.objects.get().chosen_viewing is None


def test_entry_of_a_list_is_audited_with_the_viewing(home: Member, target: str) -> None:
    site_list = make_list(home, viewing=DARK)
    entry = make_entry(site_list, target)
    response = home.api.post(f"/v1/lists/{site_list.id}/entries/{entry.id}/scan", {})
    assert response.status_code in (201, 202), response.content
    start_entries(home.organization.id, timezone.now(), lambda: True)
    assert Audit.objects.get().chosen_viewing == VIEWING


def test_monitor_form_sets_and_shows_the_viewing(home: Member, target: str) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    entered = {**MONITOR_FORM, "url": target, "widths": "800, 412", "color_scheme": "dark"}
    assert client.post(NEW_MONITOR, entered).status_code == 302
    monitor = Monitor.objects.get()
    assert monitor.chosen_viewing == VIEWING
    page = page_of(client.get(f"/o/home/monitors/{monitor.id}/edit"))
    assert page.xpath("//input[@name='widths']/@value") == ["800, 412"]
    assert page.xpath("//select[@name='color_scheme']/option[@selected]/@value") == ["dark"]
    assert page.xpath("//details[contains(@class, 'viewing')]/@open")
    usual = {**MONITOR_FORM, "url": target, "widths": "412, 1440", "color_scheme": "light"}
    assert client.post(f"/o/home/monitors/{monitor.id}/edit", usual).status_code == 302
    monitor.refresh_from_db()
    assert monitor.chosen_viewing is None


@pytest.mark.parametrize("widths", ["300", "412, wide", "800 800", "1, 2, 3, 4", "-800", "412.5", "9" * 90])
def test_form_refuses_wrong_widths_in_words(home: Member, target: str, widths: str) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    page = page_of(client.post(NEW_MONITOR, {**MONITOR_FORM, "url": target, "widths": widths}))
    (problem,) = page.xpath("//p[@id='id_widths_error']")
    assert problem.text_content() == "Enter 1 to 3 different numbers from 320 to 2560, separated by commas."
    assert not Monitor.objects.exists()


def test_form_of_a_scan_starts_an_audit_with_the_viewing(home: Member, target: str) -> None:
    client = browser_of(person_of(home, "member", "ann@example.com"))
    entered = {"url": target, "scope": "page", "type": "accessibility", "widths": "800 412", "color_scheme": "dark"}
    assert client.post("/o/home/scans/new", entered).status_code == 302
    assert Audit.objects.get().chosen_viewing == VIEWING


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.SCAN_BROWSER = "auto"
    _cached_browser.cache_clear()  # Another test in this process may have run without a browser.
    with Site({"/": Answer(PAGE, headers={"Content-Type": "text/html"})}) as running:
        yield running
    close_browser()
    _cached_browser.cache_clear()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_report_has_faults_of_the_chosen_viewing_only(home: Member, site: Site) -> None:
    """The contrast fails in the dark scheme only, and the field without a label is at 800 pixels only."""
    faults = {}
    exports = []
    for viewing in ({}, {"color_scheme": "dark"}, {"widths": [800]}, DARK):
        scan = post(home, "/v1/scan", {"url": f"{site.url}/", "type": "accessibility", **viewing}, 201)
        run_scan(scan["id"])
        export = home.api.get(f"/v1/report/{scan['id']}/export?format=json").json()
        failed = {check["id"] for part in export["categories"] for check in part["checks"] if check["status"] == "fail"}
        faults[str(viewing)] = failed & {"color-contrast", "label"}
        exports.append(viewing_in(export))
    assert list(faults.values()) == [set(), {"color-contrast"}, {"label"}, {"color-contrast", "label"}]
    assert exports == [
        {},
        {"widths": [412, 1440], "color_scheme": "dark"},
        {"widths": [800], "color_scheme": "light"},
        DARK,
    ]
