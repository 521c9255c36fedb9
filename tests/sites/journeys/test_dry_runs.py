"""Test dry runs of journeys: steps are executed, nothing is judged, and no quota is used."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import override_settings
from django.utils import timezone

from accounts.models import MonthlyUsage, Organization, Tier
from infrastructure.retention import delete_from
from reports.models import Report
from scans.models import Scan
from scans.tasks import run_scan
from scans.visits.claims import fail_visits
from scans.visits.tallies import tallies
from sites.audits.muting import AuditMutes
from sites.audits.pages.since import compare_with_previous_audit
from sites.journeys.dry_runs import DRY_RUNS_PER_HOUR_AND_SLOT, dry_run_journey
from sites.models import Audit, AuditPage, Journey, JourneyStep
from tests.factories import Member, key_caller
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.sites.journeys.runs import EXAMPLES, example_steps, lead_of, make_journey, run, worker_with_browser
from tests.targets.server import Answer, Site
from webhooks.models import Event
from website_scan.result import ScanError

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

STEPS = 'open /\njudge "Start"\nclick "Next"\nwait for "Second page"\njudge "Second"\n'
HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><title>{0}</title><h1>{0}</h1><a href="/2">{1}</a></html>'


@pytest.fixture(autouse=True)
def worker() -> Iterator[None]:
    with worker_with_browser():
        yield


def html(title: str, link: str) -> Answer:
    return Answer(HTML.format(title, link), headers={"Content-Type": "text/html; charset=utf-8"})


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": html("First page", "Next"), "/2": html("Second page", "Back")}) as running:
        yield running


def start(journey: Journey) -> Audit:
    created = dry_run_journey(caller=key_caller(journey.organization_id), journey_id=journey.id)
    return Audit.objects.get(id=created.response["id"])


def dry_run(journey: Journey) -> Audit:
    """Execute a dry run in this process, and return its audit."""
    audit = start(journey)
    run_scan(lead_of(audit).id)
    audit.refresh_from_db()
    return audit


def used_scans(member: Member) -> int:
    return sum(MonthlyUsage.objects.filter(organization=member.organization).values_list("used", flat=True))


def test_dry_run_stores_steps_with_pictures_and_judges_nothing(home: Member) -> None:
    example = EXAMPLES["account"]
    with Site(example.make(is_faulty=True)) as site:
        journey = make_journey(home, site.url, example_steps("account"), example.secrets)
        audit = dry_run(journey)
    assert (audit.status, audit.error_message) == (Audit.Status.COMPLETED, "")
    steps = JourneyStep.objects.filter(audit=audit).order_by("position")
    assert {step.status for step in steps} == {"done"}
    assert len(steps) == len(journey.steps.steps)
    assert [step.state for step in steps if step.state] == list(example.states)
    assert all(step.picture or step.state for step in steps)
    assert not any(model.objects.exists() for model in (Scan, Report, AuditPage, MonthlyUsage, Event))
    assert not [value for value in example.secrets.values() for step in steps if value in f"{step.text}{step.url}"]


def test_dry_run_shows_near_matches_of_a_failed_step(home: Member, site: Site) -> None:
    journey = make_journey(home, site.url, STEPS.replace('"Next"', '"Nxt"'))
    audit = dry_run(journey)
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "JOURNEY_FAILED")
    response = browser_of(home).get(f"/audit/{audit.id}")
    text = text_of(response)
    assert audit.error_message in text
    assert "On the page there was: link “Next”" in text
    assert "Not reached" in text
    frames = page_of(response).xpath("//ol[@class='storyboard']/li")
    assert [frame.get("id") for frame in frames] == ["step-1", "step-3", "step-4", "step-5"]
    assert "State Start" in " ".join(frames[0].text_content().split())


def test_page_of_a_dry_run_has_its_steps_and_no_results(home: Member, site: Site) -> None:
    journey = make_journey(home, site.url, STEPS)
    audit = start(journey)
    browser = browser_of(home)
    path = f"/audit/{audit.id}"
    assert "The steps appear here when the dry run has ended." in text_of(browser.get(path))
    run_scan(lead_of(audit).id)
    response = browser.get(path)
    text = text_of(response)
    assert "Dry run of a journey" in text
    assert "A dry run judges nothing and uses no quota." in text
    links = strings(page_of(response), "//main//a/@href | //main//form/@action")
    journey_page = f"/o/home/journeys/{journey.id}"
    assert {journey_page, f"{journey_page}/dry-run", f"{journey_page}/run"} <= set(links)
    assert not [link for link in links if "export" in link or "share" in link or "show=" in link]
    assert browser.get(f"{path}/steps/0/picture").status_code == 200


def test_dry_runs_are_not_in_lists_and_not_compared(home: Member, site: Site) -> None:
    journey = make_journey(home, site.url, STEPS)
    dry = dry_run(journey)
    judged = run(journey)
    dry_run(journey)
    browser = browser_of(home)
    assert [audit["id"] for audit in home.api.get("/v1/audits").json()["audits"]] == [judged.id]
    assert [audit["id"] for audit in home.api.get(f"/v1/journeys/{journey.id}/runs").json()["audits"]] == [judged.id]
    for path in ("/o/home/scans/?monitors=yes", "/o/home/", f"/o/home/journeys/{journey.id}", "/o/home/journeys/"):
        content = browser.get(path).content.decode()
        assert (path, judged.id in content, dry.id in content) == (path, True, False)
    assert compare_with_previous_audit(judged, AuditMutes(judged)) is None
    assert home.api.get(f"/v1/audits/{dry.id}").json()["is_dry_run"] is True


def test_dry_run_needs_no_quota(home: Member, site: Site) -> None:
    Tier.objects.update(scans_per_month=1)
    MonthlyUsage.objects.create(organization=home.organization, period=timezone.now().date().replace(day=1), used=5)
    assert dry_run(make_journey(home, site.url, STEPS)).status == Audit.Status.COMPLETED
    assert used_scans(home) == 5


def test_dry_runs_are_limited_by_the_hour(home: Member, site: Site) -> None:
    journey = make_journey(home, site.url, STEPS)
    Tier.objects.update(concurrent_scans=1)
    row = {"organization": home.organization, "kind": "journey", "run_of": "dry_run", "types": [], "max_pages": 1}
    earlier = [Audit(url=site.url, status="completed", **row) for _ in range(DRY_RUNS_PER_HOUR_AND_SLOT)]
    Audit.objects.bulk_create(earlier)
    path = f"/v1/journeys/{journey.id}/dry-run"
    refusal = home.api.post(path, {})
    assert (refusal.status_code, refusal.json()["code"]) == (429, "CONCURRENT_LIMIT")
    assert refusal.json()["error"].startswith("10 dry runs were started within an hour")
    page = browser_of(home).post(f"/o/home/journeys/{journey.id}/dry-run", follow=True)
    assert "The dry run was not started. 10 dry runs" in text_of(page)
    Audit.objects.filter(id=earlier[0].id).update(created_at=timezone.now() - timedelta(hours=2))
    assert home.api.post(path, {}).status_code == 202


def test_dry_run_uses_a_slot_of_the_organization(home: Member, site: Site) -> None:
    journey = make_journey(home, site.url, STEPS)
    Tier.objects.update(concurrent_scans=1)
    first, second = start(journey), start(journey)
    assert Scan.objects.filter(audit_page__audit=first).count() == 1
    assert not Scan.objects.filter(audit_page__audit=second).exists()


def test_dry_run_needs_what_a_run_needs(home: Member, site: Site) -> None:
    journey = make_journey(home, site.url, "open /\nfill “E-mail” with {{user}}\n")
    path = f"/v1/journeys/{journey.id}/dry-run"
    assert home.api.post(path, {}).json()["code"] == "MISSING_SECRET"
    with override_settings(SCAN_BROWSER="off"):
        assert home.api.post(path, {}).json()["code"] == "MISSING_BROWSER"
    Journey.objects.update(proven_at=None)
    assert home.api.post(path, {}).json()["code"] == "JOURNEY_NOT_PROVEN"
    assert not Audit.objects.exists()


def test_dry_run_of_a_site_that_is_no_longer_proven_executes_nothing(home: Member, site: Site) -> None:
    audit = start(make_journey(home, site.url, STEPS))
    with override_settings(SCAN_JOURNEY_NETWORKS=()):
        run_scan(lead_of(audit).id)
    audit.refresh_from_db()
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "JOURNEY_NOT_PROVEN")
    assert not JourneyStep.objects.exists()
    assert not Scan.objects.exists()


def test_dry_run_whose_worker_died_ends_without_a_scan_or_a_refund(home: Member, site: Site) -> None:
    audit = start(make_journey(home, site.url, STEPS))
    assert fail_visits(Scan.objects.filter(id=lead_of(audit).id), ScanError("TIMEOUT", "It took too long.")) == 1
    audit.refresh_from_db()
    assert (audit.status, audit.error_message) == (Audit.Status.FAILED, "It took too long.")
    assert (Scan.objects.count(), used_scans(home)) == (0, 0)


def test_cancelled_dry_run_stays_cancelled(home: Member, site: Site) -> None:
    audit = start(make_journey(home, site.url, STEPS))
    assert home.api.delete(f"/v1/audits/{audit.id}").json()["status"] == "cancelled"
    audit.refresh_from_db()
    assert (audit.status, audit.error_code, Scan.objects.count()) == (Audit.Status.CANCELLED, "", 0)


def test_dry_runs_are_counted_in_the_metrics(home: Member, site: Site) -> None:
    dry_run(make_journey(home, site.url, STEPS))
    dry_run(make_journey(home, site.url, STEPS.replace('"Next"', '"Nxt"')))
    fail_visits(Scan.objects.filter(id=lead_of(start(Journey.objects.all()[0])).id), ScanError("TIMEOUT", "Too long."))
    totals = tallies()
    ended = {labels[1:3]: number for labels, number in totals["ended"].items()}
    assert ended == {("completed", ""): 1, ("failed", "JOURNEY_FAILED"): 1, ("failed", "TIMEOUT"): 1}
    assert sum(totals["duration"].values()) == sum(totals["cpu"].values()) == 2
    assert not Scan.objects.exists()


def test_dry_run_is_private_and_deleted_after_a_day(home: Member, site: Site) -> None:
    Organization.objects.update(shares_reports=True)
    audit = dry_run(make_journey(home, site.url, STEPS))
    assert audit.shared_at is None
    delete_from()
    assert Audit.objects.exists()
    a_day_ago = timezone.now() - timedelta(days=1, minutes=1)
    Audit.objects.update(created_at=a_day_ago, released_at=a_day_ago)
    assert home.api.get(f"/v1/audits/{audit.id}").status_code == 404
    delete_from()
    assert not Audit.objects.exists()
    assert not JourneyStep.objects.exists()


def test_repeated_request_with_a_key_starts_one_dry_run(home: Member, site: Site) -> None:
    path = f"/v1/journeys/{make_journey(home, site.url, STEPS).id}"
    first, second = (home.api.post(f"{path}/dry-run", {}, Idempotency_Key="try") for _ in range(2))
    assert (first.status_code, first["Location"]) == (202, f"/v1/audits/{first.json()['id']}")
    assert (second.json(), second["Idempotent-Replayed"]) == (first.json(), "true")
    assert home.api.post(f"{path}/runs", {}, Idempotency_Key="try").json()["code"] == "IDEMPOTENCY_MISMATCH"
    assert Audit.objects.count() == 1
