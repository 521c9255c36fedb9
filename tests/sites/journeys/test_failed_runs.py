"""Test runs of journeys that stop early, are cancelled, or are not executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import psutil
import pytest
from django.db import connection
from django.test import override_settings
from msgspec.structs import replace

from accounts.models import MonthlyUsage
from infrastructure import encryption
from reports.models import Report
from scans.models import Scan
from scans.tasks import run_scan
from scans.visits.claims import claim_next
from scans.visits.queue import Worker
from sites.audits.services import cancel_audit
from sites.journeys.run_results import RunOutcome, finish_run
from sites.models import Audit, AuditFinding, JourneyStep
from tests.factories import Member, key_caller
from tests.sites.journeys.runs import EXAMPLES, example_steps, lead_of, make_journey, run, start, worker_with_browser
from tests.targets.server import Answer, Request, Route, Site
from webhooks.models import Event, EventKind, Webhook
from website_scan.findings import ScanType
from website_scan.picture_types import picture_type
from website_scan.result import ScanError

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

STEPS = 'open /\njudge "Start"\nclick "Next"\nwait for "Second page"\njudge "Second"\n'
HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><title>{0}</title><h1>{0}</h1><a href="/2">{1}</a></html>'
TYPES = (ScanType.SECURITY, ScanType.ACCESSIBILITY)


@pytest.fixture(autouse=True)
def worker() -> Iterator[None]:
    with worker_with_browser():
        yield


def two_pages(link: str = "Next", before_second: Callable[[], object] = lambda: None) -> dict[str, Route]:
    """Return a site of two pages. `before_second` runs before the response with the second page."""

    def second(_: Request) -> Answer:
        before_second()
        return html("Second page", "Back")

    return {"/": html("First page", link), "/2": second}


def html(title: str, link: str) -> Answer:
    return Answer(HTML.format(title, link), headers={"Content-Type": "text/html; charset=utf-8"})


def used_scans(member: Member) -> int:
    return sum(MonthlyUsage.objects.filter(organization=member.organization).values_list("used", flat=True))


def subscribe_to_all_events(member: Member) -> None:
    Webhook.objects.create(
        organization=member.organization,
        url="https://hooks.example.com/",
        receiver="hooks.example.com:443",
        events=EventKind.values,
        encrypted_secret=encryption.encrypt("whsec_test"),
    )


def test_failing_step_is_reported_with_the_states_before(home: Member) -> None:
    with Site(two_pages(link="Nxt")) as site:
        audit = run(make_journey(home, site.url, STEPS, types=TYPES))
    assert (audit.status, audit.error_code) == (Audit.Status.PARTIAL, "JOURNEY_FAILED")
    assert audit.error_message.startswith("Step 3: ")
    assert "“Next”" in audit.error_message
    assert [page.state for page in audit.pages.all()] == ["Start"]
    assert used_scans(home) == Scan.objects.count() == Report.objects.count() == 2
    steps = list(JourneyStep.objects.filter(audit=audit).order_by("position"))
    assert [step.status for step in steps] == ["done", "done", "failed", "not_reached", "not_reached"]
    failed = steps[2]
    assert failed.problem == audit.error_message
    assert failed.near_matches
    assert failed.text == "Click “Next”."
    assert failed.picture is not None
    assert picture_type(bytes(failed.picture)) == "image/jpeg"
    response = home.api.get(f"/v1/audits/{audit.id}").json()
    assert response["error"] == {"code": "JOURNEY_FAILED", "message": audit.error_message}


def test_run_without_a_state_fails_and_uses_no_quota(home: Member) -> None:
    with Site({"*": Answer("", status=500)}) as site:
        audit = run(make_journey(home, site.url, 'open /\nclick "Next"\njudge "Second"\n', types=TYPES))
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "JOURNEY_FAILED")
    assert audit.error_message.startswith("Step ")
    scans = Scan.objects.filter(audit_page__audit=audit)
    assert {(scan.status, scan.error_code, scan.error_message) for scan in scans} == {
        ("failed", "JOURNEY_FAILED", audit.error_message)
    }
    assert (audit.pages_planned, audit.pages_failed, audit.scans_done) == (1, 1, 2)
    assert used_scans(home) == 0


def test_seo_alone_judges_no_state_behind_a_log_in(home: Member) -> None:
    example = EXAMPLES["account"]
    with Site(example.make(is_faulty=False)) as site:
        steps = example_steps("account").partition('click "Loans"')[0]
        audit = run(make_journey(home, site.url, steps, example.secrets, types=[ScanType.SEO]))
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "JOURNEY_FAILED")
    assert "no state" in audit.error_message
    assert used_scans(home) == 0


def test_site_without_proof_gets_no_step(home: Member) -> None:
    with Site(two_pages()) as site, override_settings(SCAN_JOURNEY_NETWORKS=()):
        audit = run(make_journey(home, site.url, STEPS, types=TYPES))
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "JOURNEY_NOT_PROVEN")
    assert used_scans(home) == 0
    assert not JourneyStep.objects.exists()
    assert not any("Chrome/" in (request.header("User-Agent") or "") for request in site.requests)


def test_worker_without_a_browser_fails_the_run_with_the_reason(home: Member) -> None:
    with Site(two_pages()) as site:
        audit = start(make_journey(home, site.url, STEPS, types=TYPES))
        with override_settings(SCAN_BROWSER="off"):
            run_scan(lead_of(audit).id)
    audit.refresh_from_db()
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "INTERNAL_ERROR")
    assert "no browser" in audit.error_message
    assert used_scans(home) == 0


def test_secrets_of_an_unknown_key_fail_the_run(home: Member) -> None:
    with Site(two_pages()) as site:
        steps = f'{STEPS}fill "Name" with {{{{name}}}}\n'
        journey = make_journey(home, site.url, steps, {"name": "a secret"}, types=TYPES)
        journey.encrypted_secrets = b"encrypted with another key"
        journey.save()
        audit = run(journey)
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "INTERNAL_ERROR")
    assert "cannot decrypt" in audit.error_message
    assert not any("Chrome/" in (request.header("User-Agent") or "") for request in site.requests)


def test_deleted_journey_is_not_run(home: Member) -> None:
    with Site(two_pages()) as site:
        journey = make_journey(home, site.url, STEPS, types=TYPES)
        audit = start(journey)
        journey.delete()
        run_scan(lead_of(audit).id)
    audit.refresh_from_db()
    assert (audit.status, audit.error_code) == (Audit.Status.FAILED, "JOURNEY_FAILED")
    assert "deleted" in audit.error_message


def test_run_reserves_its_planned_states_and_refunds_the_others(home: Member) -> None:
    with Site(two_pages(link="Nxt")) as site:
        audit = start(make_journey(home, site.url, STEPS, types=TYPES))
        assert used_scans(home) == 4
        cancel_audit(caller=key_caller(home.organization.id), audit_id=audit.id)
        assert used_scans(home) == 0
        run_scan(Scan.objects.filter(audit_page__audit=audit, lead=None).get().id)
    audit.refresh_from_db()
    assert audit.status == Audit.Status.CANCELLED
    assert {scan.error_code for scan in Scan.objects.all()} == {"SCAN_CANCELLED"}
    assert site.requests == []


def test_run_that_is_cancelled_while_it_runs_is_stored_once(home: Member) -> None:
    def cancel() -> None:
        cancel_audit(caller=key_caller(home.organization.id), audit_id=Audit.objects.get().id)
        connection.close()

    with Site(two_pages(before_second=cancel)) as site:
        audit = run(make_journey(home, site.url, STEPS, types=TYPES))
    assert audit.status == Audit.Status.CANCELLED
    assert [page.status for page in audit.pages.all()] == ["done", "done"]
    assert used_scans(home) == Scan.objects.count() == Report.objects.count() == 4


def test_browser_killed_during_a_run_keeps_the_states_before(home: Member) -> None:
    def kill_browser() -> None:
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # It ends with its parent.
                if "chrom" in process.name() or "headless" in process.name():
                    process.kill()

    subscribe_to_all_events(home)
    with Site(two_pages(before_second=kill_browser)) as site:
        audit = run(make_journey(home, site.url, STEPS, types=TYPES))
    assert (audit.status, audit.error_code) == (Audit.Status.PARTIAL, "JOURNEY_FAILED")
    assert audit.error_message
    assert [page.state for page in audit.pages.all()] == ["Start"]
    assert used_scans(home) == Report.objects.count() == 2
    assert site.paths().count("/2") == 1
    scans = {scan.id for scan in Scan.objects.all()}
    events = list(Event.objects.values_list("kind", "scan_id", "audit_id"))
    assert sorted(kind for kind, _, _ in events) == ["audit.completed", "audit.scan", "audit.scan"]
    assert {scan for _, scan, _ in events if scan} == scans
    assert [audit_id for kind, _, audit_id in events if kind == "audit.completed"] == [audit.id]


def test_lost_claim_stores_nothing(home: Member) -> None:
    audit = start(make_journey(home, "http://127.0.0.1:9", STEPS, types=TYPES))
    claim = claim_next(lead_of(audit).id, Worker())
    assert claim is not None
    assert claim.journey_run_id == audit.id
    Scan.objects.update(claim_token="00000000-0000-0000-0000-000000000000")
    outcome = RunOutcome(error=ScanError("JOURNEY_FAILED", "Step 1: it failed."))
    assert not finish_run(claim, outcome, None)
    assert {scan.status for scan in Scan.objects.all()} == {"scanning"}
    Scan.objects.update(claim_token=claim.token)
    assert finish_run(claim, outcome, None)
    assert not finish_run(claim, replace(outcome, error=None), None)
    audit.refresh_from_db()
    assert audit.error_message == "Step 1: it failed."


def test_repeated_finding_counts_once_for_each_state(home: Member) -> None:
    with Site(two_pages()) as site:
        audit = run(make_journey(home, site.url, STEPS, types=TYPES))
    assert audit.status == Audit.Status.COMPLETED
    finding = AuditFinding.objects.get(audit=audit, check_id="csp-present")
    assert finding.pages_affected == 2
    assert [sample["state"] for sample in finding.samples] == ["Start", "Second"]
