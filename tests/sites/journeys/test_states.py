"""Test that states of journeys with the same address are distinguished by their names."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile

import pytest
from django.test import override_settings
from django.utils import timezone
from msgspec.structs import replace

from accounts.models import MonthlyUsage
from dashboard.sites import page_results, pages_of_site
from reports.models import Report
from reports.page.history import scans_of_same_page
from scans.models import Scan
from scans.visits.claims import claim_next
from scans.visits.queue import Worker
from sites.audits.muting import AuditMutes
from sites.audits.pages.since import compare_with_previous_audit
from sites.journeys.run_results import RunOutcome, finish_run
from sites.models import Audit, AuditPage, Journey, MonitorState, SiteFinding
from sites.monitors.comparison import compare_audit
from tests.factories import Member, browser_of, finished_scan, make_result, person_of
from tests.sites.journeys.cast import START, make_journey
from tests.sites.journeys.runs import lead_of, start
from tests.sites.monitors.cast import make_monitor
from website_scan.findings import ScanType
from website_scan.result import StateOfJourney
from website_scan.states import JudgedState

SECURITY, SEO, ACCESSIBILITY = ScanType.SECURITY, ScanType.SEO, ScanType.ACCESSIBILITY
ADDRESS = f"{START}rooms"
STEPS = "open /rooms\njudge “Closed”\nclick “Book”\njudge “Open”\n"


@pytest.fixture(autouse=True)
def browser_worker() -> Iterator[None]:
    with override_settings(SCAN_BROWSER="auto", SCAN_GAP_PER_DOMAIN_S=0.0):
        yield


def new_journey(member: Member, *types: ScanType, name: str = "Rooms") -> Journey:
    return make_journey(member, steps=STEPS, secrets={}, types=[str(each) for each in types or [SECURITY]], name=name)


def state(name: str, step: int, types: Sequence[ScanType]) -> JudgedState:
    """Return a state at ADDRESS with a result of each type."""
    result = make_result(Scan(type="security", url=ADDRESS))
    place = StateOfJourney("Rooms", name, step + 1)
    return JudgedState(name, step, ADDRESS, True, tuple(replace(result, type=each, state=place) for each in types))


def store_run(journey: Journey, *states: JudgedState) -> Audit:
    """Store a run with these states, or with the states “Closed” and “Open”."""
    audit = start(journey)
    claim = claim_next(lead_of(audit).id, Worker())
    assert claim is not None
    types = [ScanType(each) for each in journey.types]
    judged = states or (state("Closed", 1, types), state("Open", 3, types))
    assert finish_run(claim, RunOutcome(states=judged), 1.0)
    audit.refresh_from_db()
    return audit


def scan_of(audit: Audit, name: str, scan_type: ScanType = SECURITY) -> Scan:
    return Scan.objects.get(audit_page__audit=audit, audit_page__state=name, type=scan_type)


def test_scans_of_a_type_belong_to_the_first_state_that_it_judges(home: Member) -> None:
    journey = new_journey(home, SECURITY, SEO)
    planned = start(journey)
    seo, security = (Scan.objects.get(audit_page__audit=planned, type=each) for each in (SEO, SECURITY))
    assert security.lead == seo
    claim = claim_next(seo.id, Worker())
    assert claim is not None
    states = (state("Closed", 1, [SECURITY]), state("Open", 3, [SECURITY, SEO]))
    assert finish_run(claim, RunOutcome(states=states), 1.0)
    assert scan_of(planned, "Closed").id == security.id
    assert scan_of(planned, "Open", SEO).id == seo.id
    leads = {page.state: [scan.type for scan in page.scans.filter(lead=None)] for page in planned.pages.all()}
    assert leads == {"Closed": ["security"], "Open": ["security"]}
    assert scan_of(planned, "Open", SEO).lead == scan_of(planned, "Open")
    assert MonthlyUsage.objects.get().used == Scan.objects.count() == Report.objects.count() == 3
    planned.refresh_from_db()
    assert (planned.status, planned.pages_done, planned.scans_done) == (Audit.Status.COMPLETED, 2, 3)


def test_lead_scan_of_a_type_that_judges_no_state_is_deleted(home: Member) -> None:
    states = (state("Closed", 1, [SECURITY]), state("Open", 3, [SECURITY]))
    audit = store_run(new_journey(home, SECURITY, SEO), *states)
    assert audit.status == Audit.Status.COMPLETED
    assert [scan.type for scan in Scan.objects.all()] == ["security", "security"]
    assert MonthlyUsage.objects.get().used == 2


def test_more_states_than_reserved_are_left_out(home: Member) -> None:
    states = [state(name, 1, [SECURITY]) for name in ("Closed", "Open", "Third")]
    audit = store_run(new_journey(home), *states)
    assert [page.state for page in audit.pages.order_by("position")] == ["Closed", "Open"]
    assert MonthlyUsage.objects.get().used == 2
    assert audit.notes == ["1 state was not judged, because the run had no quota."]


def test_history_of_a_state_has_only_the_same_state(home: Member) -> None:
    page = finished_scan(home, url=ADDRESS, type="security")
    journey = new_journey(home)
    first, second = store_run(journey), store_run(journey)
    assert {scan.id for scan in scans_of_same_page(scan_of(second, "Open"))} == {
        scan_of(first, "Open").id,
        scan_of(second, "Open").id,
    }
    assert [scan.id for scan in scans_of_same_page(page)] == [page.id]


def test_states_are_no_pages_of_their_site(home: Member) -> None:
    store_run(new_journey(home))
    host = "shop.example.com"
    assert list(pages_of_site(home.organization.id, host, {}).rows) == []
    assert not any(page_results(home.organization.id, [ADDRESS], limit=5)[ADDRESS].values())
    assert not SiteFinding.objects.exists()


def test_run_is_compared_with_the_run_before(home: Member) -> None:
    journey = new_journey(home)
    first, second = store_run(journey), store_run(journey)
    comparison = compare_with_previous_audit(second, AuditMutes(second))
    assert comparison is not None
    assert comparison.url.endswith(first.id)
    journey.delete()
    second.refresh_from_db()
    assert compare_with_previous_audit(second, AuditMutes(second)) is None


def test_monitor_has_a_state_for_each_state_of_a_journey(home: Member) -> None:
    audit = store_run(new_journey(home))
    monitor = make_monitor(home, types=["security"])
    with TemporaryFile() as pending:
        comparison = compare_audit(monitor, audit, pending, timezone.now())
        comparison.write(monitor, timezone.now())
    assert comparison.judged == 2
    assert MonitorState.objects.filter(monitor=monitor, url=ADDRESS).count() == 2
    changed = AuditPage.objects.get(audit=audit, state="Open")
    Report.objects.filter(scan__audit_page=changed).delete()
    Scan.objects.filter(audit_page=changed).update(status="failed", score=None, error_code="TIMEOUT")
    for _ in range(2):
        with TemporaryFile() as pending:
            comparison = compare_audit(monitor, audit, pending, timezone.now())
            comparison.write(monitor, timezone.now())
    assert [page["state"] for page in comparison.changes.unreachable] == ["Open"]


def test_exports_name_the_states(home: Member) -> None:
    audit = store_run(new_journey(home))
    path = f"/v1/audits/{audit.id}/export?format="
    document = json.loads(home.api.get(f"{path}json").getvalue())
    assert [(page["state"], page["step"], page["url"]) for page in document["pages"]] == [
        ("Closed", 2, ADDRESS),
        ("Open", 4, ADDRESS),
    ]
    worst = document["audit"]["results"]["security"]["worst_pages"]
    assert {page["state"] for page in worst} == {"Closed", "Open"}
    assert all(finding["pages_affected"] == 2 for finding in document["findings"])
    rows = list(csv.DictReader(home.api.get(f"{path}csv").getvalue().decode("utf-8-sig").splitlines(keepends=True)))
    assert rows[0]["sample_pages"].splitlines() == [f"Closed ({ADDRESS})", f"Open ({ADDRESS})"]
    sarif = json.loads(home.api.get(f"{path}sarif").getvalue())
    assert "“Closed”" in sarif["runs"][0]["results"][0]["message"]["text"]
    report = json.loads(home.api.get(f"/v1/report/{scan_of(audit, 'Open').id}/export?format=json").content)
    assert report["state"] == {"journey": "Rooms", "name": "Open", "step": 4}


def test_pages_name_the_states(home: Member) -> None:
    audit = store_run(new_journey(home, SECURITY, ACCESSIBILITY))
    browser = browser_of(person_of(home, "member", "m@people.test"))
    page = browser.get(f"/audit/{audit.id}").content.decode()
    assert "Closed" in page
    assert "Closed" in browser.get(f"/audit/{audit.id}?show=pages").content.decode()
    assert "Open" in browser.get(f"/audit/{audit.id}?show=pages&q=open").content.decode()
    report = browser.get(f"/report/{scan_of(audit, 'Open').id}").content.decode()
    assert '<span class="target">Open <a' in report
    assert "the states of a journey" in report
    assert browser.get("/o/home/scans/").status_code == 200


def test_running_run_shows_its_progress(home: Member) -> None:
    audit = start(new_journey(home))
    browser = browser_of(person_of(home, "member", "m@people.test"))
    assert "Waiting in the queue" in browser.get(f"/audit/{audit.id}").content.decode()
    assert claim_next(lead_of(audit).id, Worker())
    Scan.objects.update(percent=45, phase="collecting")
    page = browser.get(f"/audit/{audit.id}").content.decode()
    assert "Running the journey" in page
    assert "45" in page


def test_run_again_starts_another_run(home: Member) -> None:
    journey = new_journey(home)
    audit = store_run(journey)
    browser = browser_of(person_of(home, "member", "m@people.test"))
    path = f"/o/home/audits/{audit.id}/again"
    with override_settings(SCAN_BROWSER="off"):
        for again in (path, f"/o/home/scans/{scan_of(audit, 'Open').id}/again"):
            assert "Journeys need a browser" in browser.post(again, follow=True).content.decode()
    journey.delete()
    assert "was deleted" in browser.post(path, follow=True).content.decode()
    assert Audit.objects.count() == 1
