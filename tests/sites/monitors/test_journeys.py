"""Test monitors that repeat a journey: requests, runs, comparison by state, failing steps, pauses and deletion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone
from msgspec.structs import replace

from accounts.models import ActivityEvent, Mail, Membership, MonthlyUsage, Tier
from scans.models import Scan
from scans.visits.claims import claim_next
from scans.visits.queue import Worker
from sites.journeys.run_results import RunOutcome, finish_run
from sites.models import Alert, Audit, Cause, Journey, Monitor, MonitorRun, MonitorState
from sites.monitors.runs import create_due_runs, start_run
from tests.factories import Member, make_result, person_of
from tests.queries import counted
from tests.sites.journeys.cast import START, make_journey, prove
from tests.sites.journeys.runs import lead_of
from tests.sites.monitors.watching import DailyMonitor, event_summary, make_finding
from website_scan.findings import ScanType
from website_scan.result import CategoryResult, CheckResult, ScanError, ScanResult, StateOfJourney
from website_scan.states import JudgedState

pytestmark = pytest.mark.django_db

STEPS = "open /rooms\njudge “Closed”\nclick “Book”\njudge “Open”\n"
RECIPIENT = "ann@people.test"
BAD, GOOD = (make_finding("thing"),), (make_finding("thing", status="pass"),)
STEP_FAILED = ScanError("JOURNEY_FAILED", "Step 3: nothing is named “Book”.")
NO_RESPONSE = ScanError("URL_NOT_REACHABLE", "Step 1: the page that the step opens did not answer in time.")
NOT_PROVEN = ScanError("JOURNEY_NOT_PROVEN", "No step was executed, because control of the site is not proven.")


@pytest.fixture(autouse=True)
def browser_worker() -> Iterator[None]:
    with override_settings(SCAN_BROWSER="auto", SCAN_GAP_PER_DOMAIN_S=0.0):
        yield


@pytest.fixture(autouse=True)
def reachable_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the look-up of the start, which is a site that does not exist."""
    monkeypatch.setattr("sites.monitors.services.refuse_unreachable", lambda *_: None)


def new_journey(member: Member, **body: Any) -> Journey:
    values = {"steps": STEPS, "secrets": {}, "types": ["security"], "name": "Rooms"}
    return make_journey(member, **values | body)


def create(member: Member, journey: Journey, status: int = 201, **body: Any) -> dict[str, Any]:
    response = member.api.post("/v1/monitors", {"journey": journey.id, "every": "day", **body})
    assert response.status_code == status, response.json()
    answer: dict[str, Any] = response.json()
    return answer


class ScriptedJourney:
    """Journey whose runs have scripted states and errors.

    Addresses of states contain a number that differs in each run, as those of orders and sessions do.
    """

    def __init__(self, *types: ScanType) -> None:
        self.types = types or (ScanType.SECURITY,)
        self.checks: dict[str, Sequence[CheckResult]] = {"Closed": GOOD, "Open": GOOD}
        self.error: ScanError | None = None
        self.loses_proof = False
        self.runs = 0

    def execute(self, audit_id: str) -> None:
        self.runs += 1
        claim = claim_next(lead_of(Audit.objects.get(id=audit_id)).id, Worker())
        assert claim is not None
        states = tuple(self._state(number, name) for number, name in enumerate(self.checks))
        if self.loses_proof:
            Journey.objects.update(proven_at=None)
        assert finish_run(claim, RunOutcome(states=states, error=self.error), 1.0)

    def _state(self, number: int, name: str) -> JudgedState:
        address = f"{START}rooms/{self.runs}/{number}"
        results = tuple(self._result(scan_type, name, number, address) for scan_type in self.types)
        return JudgedState(name, number, address, True, results)

    def _result(self, scan_type: ScanType, name: str, number: int, address: str) -> ScanResult:
        categories = (CategoryResult("things", "Things", 10, tuple(self.checks[name]), 71),)
        values: dict[str, Any] = {"categories": categories, "score": 90, "grade": "A", "facts": {"status": 200}}
        result = make_result(Scan(type=scan_type, url=address), **values)
        return replace(result, state=StateOfJourney("Rooms", name, number + 1))


def daily_monitor(member: Member, scripted: ScriptedJourney) -> DailyMonitor:
    """Create a monitor of a journey with a recipient, whose first run has ended."""
    recipient = person_of(member, "owner", RECIPIENT)
    created = create(member, new_journey(member), paused=True, notify={"emails": [recipient.email]})
    Monitor.objects.filter(id=created["id"]).update(paused_at=None, pause_reason="")
    monitored = DailyMonitor(Monitor.objects.get(id=created["id"]), scripted.execute)
    assert monitored.run_once() == []
    return monitored


def test_monitor_of_a_journey_has_its_name_start_and_types(owner: Member) -> None:
    journey = new_journey(owner, types=["security", "accessibility"], widths=[412], color_scheme="dark")
    monitor = create(owner, journey)
    assert (monitor["journey"], monitor["name"]) == (journey.id, "Rooms")
    assert monitor["types"] == ["security", "accessibility"]
    assert (monitor["widths"], monitor["color_scheme"]) == ([412], "dark")
    assert not {"page", "pages", "site"} & monitor.keys()
    assert owner.api.get(f"/v1/monitors/{monitor['id']}").json()["journey"] == journey.id
    assert owner.api.get("/v1/monitors?host=shop.example.com").json()["total"] == 1


def test_monitor_refuses_what_a_run_of_the_journey_refuses(owner: Member) -> None:
    Tier.objects.update(journeys=5)
    unproven = new_journey(owner, is_proven=False)
    assert create(owner, unproven, 409)["code"] == "JOURNEY_NOT_PROVEN"
    without_secret = make_journey(owner, secrets={})
    assert create(owner, without_secret, 409)["code"] == "MISSING_SECRET"
    prove(unproven)
    with override_settings(SCAN_BROWSER="off"):
        assert create(owner, unproven, 409)["code"] == "MISSING_BROWSER"
    Tier.objects.update(schedules=0)
    assert create(owner, unproven, 409)["code"] == "MONITOR_LIMIT"
    assert not Monitor.objects.exists()


def test_monitor_refuses_a_foreign_journey_and_options_of_pages(owner: Member, stranger: Member) -> None:
    foreign, own = new_journey(stranger), new_journey(owner)
    assert create(owner, foreign, 404)["code"] == "JOURNEY_NOT_FOUND"
    options: list[dict[str, Any]] = [{"types": ["seo"]}, {"max_pages": 2}, {"request": {}}, {"widths": [412]}]
    for body in (*options, {"page": START}):
        assert create(owner, own, 400, **body)["code"] == "INVALID_PARAMS"
    monitor = create(owner, own)
    for body in ({"types": ["seo"]}, {"color_scheme": "dark"}, {"journey": "jny_1"}):
        refusal = owner.api.patch(f"/v1/monitors/{monitor['id']}", body)
        assert (refusal.status_code, refusal.json()["code"]) == (400, "INVALID_PARAMS")


def test_monitor_can_change_between_a_page_and_a_journey(owner: Member) -> None:
    journey = new_journey(owner)
    page = {"page": f"{START}about", "types": ["seo"], "every": "day", "request": {"headers": {"X-Key": "1"}}}
    path = f"/v1/monitors/{owner.api.post('/v1/monitors', page).json()['id']}"
    Journey.objects.update(proven_at=None)
    assert owner.api.patch(path, {"journey": journey.id}).json()["code"] == "JOURNEY_NOT_PROVEN"
    prove(journey)
    changed = owner.api.patch(path, {"journey": journey.id}).json()
    assert (changed["journey"], changed["types"]) == (journey.id, ["security"])
    assert "page" not in changed
    assert "request" not in changed, "headers are for pages only"
    changed = owner.api.patch(path, {"page": START}).json()
    assert (changed["page"], "journey" in changed) == (START, False)


def test_unready_journey_does_not_prevent_other_changes_of_its_monitor(owner: Member) -> None:
    path = f"/v1/monitors/{create(owner, new_journey(owner))['id']}"
    Journey.objects.update(proven_at=None)
    assert owner.api.patch(path, {"name": "Booking", "every": "week"}).json()["name"] == "Booking"


def test_run_of_the_monitor_is_a_run_of_the_journey(owner: Member) -> None:
    journey = new_journey(owner, types=["security", "accessibility"])
    monitor = Monitor.objects.get(id=create(owner, journey)["id"])
    run = monitor.runs.get()
    assert start_run(run.id, monitor.id, timezone.now())
    run.refresh_from_db()
    audit = run.audit
    assert audit is not None
    assert (audit.kind, audit.journey, audit.run_of, audit.max_pages) == ("journey", journey, "monitor", 2)
    assert MonthlyUsage.objects.get().used == 4, "two states, two types"
    ScriptedJourney(ScanType.SECURITY, ScanType.ACCESSIBILITY).execute(audit.id)
    assert MonthlyUsage.objects.get().used == 4
    runs = owner.api.get(f"/v1/journeys/{journey.id}/runs").json()
    assert [each["id"] for each in runs["audits"]] == [audit.id]


def test_run_without_quota_for_all_states_pauses_the_monitor(owner: Member) -> None:
    Tier.objects.update(scans_per_month=1)
    monitor = Monitor.objects.get(id=create(owner, new_journey(owner))["id"])
    assert start_run(monitor.runs.get().id, monitor.id, timezone.now())
    monitor.refresh_from_db()
    assert (monitor.pause_reason, monitor.runs.get().error_code) == ("quota", "QUOTA_EXCEEDED")


def test_states_are_compared_by_name(owner: Member) -> None:
    scripted = ScriptedJourney()
    monitored = daily_monitor(owner, scripted)
    assert monitored.run_once() == [], "other addresses of the states are no change"
    scripted.checks = {"Closed": GOOD, "Open": BAD}
    (body,) = monitored.run_once()
    assert event_summary(body) == {"event": "changed", "reasons": ["new_findings"], "new": ["thing"]}
    (page,) = body["data"]["new"][0]["pages"]
    assert (page["state"], page["url"]) == ("Open", f"{START}rooms/3/1")
    assert page["previous_report_url"]
    scripted.checks = {"Closed": BAD, "Open": GOOD}
    (body,) = monitored.run_once()
    assert event_summary(body) == {
        "event": "changed",
        "reasons": ["new_findings"],
        "new": ["thing"],
        "fixed": ["thing"],
    }
    assert [page["state"] for page in body["data"]["fixed"][0]["pages"]] == ["Open"]
    assert MonitorState.objects.filter(monitor=monitored.monitor).count() == 2


def test_alert_names_the_state(owner: Member) -> None:
    scripted = ScriptedJourney()
    monitored = daily_monitor(owner, scripted)
    scripted.checks["Open"] = BAD
    monitored.run_once()
    assert {alert.note for alert in Alert.objects.all()} == {"Open: It is so."}


def test_failing_step_is_a_failed_run_that_is_alerted_as_a_failed_journey(owner: Member) -> None:
    scripted = ScriptedJourney()
    monitored = daily_monitor(owner, scripted)
    scripted.checks, scripted.error = {"Closed": BAD}, STEP_FAILED
    (body,) = monitored.run_once()
    assert body["event"] == "monitor.failed"
    assert body["data"]["error"] == {"code": "JOURNEY_FAILED", "message": "Step 3 failed: nothing is named “Book”."}
    assert (monitored.run.status, monitored.run.attempts) == (MonitorRun.Status.FAILED, 2)
    assert monitored.monitor.failure == "Journey failing"
    cause = Cause.objects.get()
    assert (cause.kind, cause.text["title"], cause.site) == ("journey", "Journey failed", "shop.example.com")
    assert {alert.note for alert in Alert.objects.all()} == {body["data"]["error"]["message"]}
    assert monitored.run_once() == [], "the failure has been reported"
    scripted.checks, scripted.error = {"Closed": BAD, "Open": GOOD}, None
    (body,) = monitored.run_once()
    assert event_summary(body) == {"event": "recovered", "reasons": ["new_findings"], "new": ["thing"]}
    assert Cause.objects.get(kind="journey").ended_at is not None
    assert "is_step_failure" not in monitored.monitor.memory


def test_step_without_a_response_is_alerted_as_an_outage(owner: Member) -> None:
    scripted = ScriptedJourney()
    monitored = daily_monitor(owner, scripted)
    scripted.checks, scripted.error = {}, NO_RESPONSE
    (body,) = monitored.run_once()
    assert body["data"]["error"]["code"] == "URL_NOT_REACHABLE"
    cause = Cause.objects.get()
    assert (cause.kind, cause.text["title"]) == ("outage", "Unreachable")
    assert monitored.monitor.failure == "Unreachable"


def test_failing_step_after_an_outage_is_reported_and_ends_the_outage(owner: Member) -> None:
    scripted = ScriptedJourney()
    monitored = daily_monitor(owner, scripted)
    scripted.checks, scripted.error = {}, NO_RESPONSE
    monitored.run_once()
    scripted.error = STEP_FAILED
    (body,) = monitored.run_once()
    assert event_summary(body) == {"event": "failed", "error": "JOURNEY_FAILED"}
    open_kinds = Cause.objects.filter(ended_at=None).values_list("kind", flat=True)
    assert list(open_kinds) == ["journey"]
    scripted.checks, scripted.error = {"Closed": GOOD, "Open": GOOD}, None
    monitored.run_once()
    assert not Cause.objects.filter(ended_at=None).exists()


def test_proof_that_has_ended_pauses_the_monitor_with_the_reason(owner: Member) -> None:
    scripted = ScriptedJourney()
    monitored = daily_monitor(owner, scripted)
    scripted.checks, scripted.error, scripted.loses_proof = {}, NOT_PROVEN, True
    assert monitored.run_once() == []
    monitor = monitored.monitor
    assert (monitor.status, monitor.pause_reason, monitor.failing_since) == ("paused", "proof", None)
    assert (monitored.run.status, monitored.run.error_code) == ("failed", "JOURNEY_NOT_PROVEN")
    assert not Cause.objects.exists()
    mail = Mail.objects.get(user__email=RECIPIENT)
    assert "journey cannot run" in mail.subject
    assert "check the proof" in mail.text
    assert "check the proof" in mail.html


def test_unproven_and_incomplete_journeys_pause_the_monitor_before_a_run(owner: Member) -> None:
    monitor = Monitor.objects.get(id=create(owner, make_journey(owner))["id"])
    run = monitor.runs.get()
    Journey.objects.update(secret_names=["user"])
    assert start_run(run.id, monitor.id, timezone.now())
    monitor.refresh_from_db()
    run.refresh_from_db()
    assert (monitor.pause_reason, monitor.next_run_at) == ("secret", None)
    assert (run.status, run.error_code) == ("skipped", "MISSING_SECRET")
    Journey.objects.update(proven_at=None)
    path = f"/v1/monitors/{monitor.id}"
    assert owner.api.patch(path, {"paused": False}).json()["pause_reason"] is None
    Monitor.objects.update(next_run_at=timezone.now())
    create_due_runs(timezone.now())
    due = monitor.runs.get(status="due")
    assert start_run(due.id, monitor.id, timezone.now())
    assert owner.api.get(path).json()["pause_reason"] == "proof"
    assert not Audit.objects.exists()


def test_site_that_does_not_respond_to_the_check_of_control_is_an_outage(owner: Member) -> None:
    scripted = ScriptedJourney()
    monitored = daily_monitor(owner, scripted)
    scripted.checks, scripted.error = {}, NOT_PROVEN
    (body,) = monitored.run_once()
    assert event_summary(body) == {"event": "failed", "error": "JOURNEY_NOT_PROVEN"}
    assert not monitored.monitor.is_paused


def test_service_without_a_browser_is_no_outage(owner: Member) -> None:
    monitored = daily_monitor(owner, ScriptedJourney())
    with override_settings(SCAN_BROWSER="off"):
        assert monitored.run_once() == []
    assert (monitored.run.status, monitored.run.error_code) == ("failed", "MISSING_BROWSER")
    assert monitored.monitor.failing_since is None


def test_monitor_follows_changes_of_its_journey(owner: Member) -> None:
    journey = new_journey(owner)
    monitor = Monitor.objects.get(id=create(owner, journey)["id"])
    steps = "open /\njudge “A”\nopen /b\njudge “B”\nopen /c\njudge “C”\n"
    body = {"steps": steps, "start": "https://new.shop.example.com/", "types": ["seo"]}
    assert owner.api.patch(f"/v1/journeys/{journey.id}", body).status_code == 200
    monitor.refresh_from_db()
    assert (monitor.url, monitor.types, monitor.max_pages) == ("https://new.shop.example.com/", ["seo"], 3)


def test_other_journey_begins_without_states(owner: Member) -> None:
    Tier.objects.update(journeys=5)
    monitored = daily_monitor(owner, ScriptedJourney())
    assert monitored.monitor.states.count() == 2
    other = new_journey(owner, name="Other")
    assert owner.api.patch(f"/v1/monitors/{monitored.monitor.id}", {"journey": other.id}).status_code == 200
    monitored.monitor.refresh_from_db()
    assert (monitored.monitor.states.count(), monitored.monitor.scores) == (0, {})


def test_deletion_of_a_journey_deletes_its_monitors_and_not_their_reports(owner: Member) -> None:
    monitored = daily_monitor(owner, ScriptedJourney())
    monitor = monitored.monitor
    assert owner.api.delete(f"/v1/journeys/{monitor.journey_id}").status_code == 204
    assert not Monitor.objects.exists()
    assert Audit.objects.get().journey is None
    event = ActivityEvent.objects.get(action="monitor.deleted")
    assert (event.details["monitor"], event.details["journey"]) == (monitor.id, monitor.journey_id)


def test_changes_and_deletion_lock_the_monitors_before_the_journey(owner: Member) -> None:
    """Regression test: a change locked the journey first, so that it and a deletion could wait for each other."""
    journey = new_journey(owner)
    create(owner, journey)
    path = f"/v1/journeys/{journey.id}"
    for request in (lambda: owner.api.patch(path, {"name": "Account"}), lambda: owner.api.delete(path)):
        with counted() as queries:
            assert request().status_code in (200, 204)
        locks = [
            table
            for query in queries
            if " FOR " in query and "UPDATE" in query
            for table in ("sites_monitor", "sites_journey")
            if f'FROM "{table}" ' in query
        ]
        assert locks[:2] == ["sites_monitor", "sites_journey"]


def test_limited_member_cannot_be_a_recipient(owner: Member) -> None:
    journey = new_journey(owner)
    limited = person_of(owner, "member", "ben@people.test")
    Membership.objects.filter(user=limited).update(limited_to=["shop.example.com"])
    refusal = create(owner, journey, 400, notify={"emails": [limited.email]})
    assert "cannot see all pages" in refusal["error"]
