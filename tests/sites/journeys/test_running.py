"""Test runs of journeys in a worker with Chromium: states, findings, steps, failures and quota."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accounts.models import MonthlyUsage, Tier
from reports.models import Report
from scans.models import Scan
from sites.models import Audit, AuditFinding, JourneyStep
from tests.factories import Member
from tests.sites.journeys.runs import EXAMPLES, example_steps, make_journey, run, worker_with_browser
from tests.targets.server import Site
from website_scan.findings import ScanType

# Faults that the sites have on all pages.
PLANTED = {
    "account": {
        "password-paste": {"Signed out"},
        "log-out": {"Signed out"},
        "session-fixation": {"Account", "Loans"},
        "secret-in-address": {"Account"},
        "private-cache": {"Account"},
        "keyboard-reach": {"Loans"},
    },
    "checkout": {
        "next-paint": {"Filtered"},
        "color-contrast": {"In the cart"},
        "status-message": {"In the cart"},
        "label": {"Payment", "Paid"},
        "token-in-storage": {"Paid"},
    },
    "booking": {"focus-lost": {"Removed"}, "dialog-focus": {"Dialog"}, "error-message": {"Refused"}},
}

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture(autouse=True)
def worker() -> Iterator[None]:
    with worker_with_browser():
        yield


def used_scans(member: Member) -> int:
    return sum(MonthlyUsage.objects.filter(organization=member.organization).values_list("used", flat=True))


@pytest.mark.parametrize("name", EXAMPLES)
def test_run_reports_each_planted_fault_in_its_states(home: Member, name: str) -> None:
    example = EXAMPLES[name]
    with Site(example.make(is_faulty=True)) as site:
        audit = run(make_journey(home, site.url, example_steps(name), example.secrets))
    assert (audit.status, audit.error_message) == (Audit.Status.COMPLETED, "")
    pages = list(audit.pages.order_by("position"))
    assert [page.state for page in pages] == list(example.states)
    assert (audit.pages_planned, audit.pages_done, audit.pages_failed) == (len(pages), len(pages), 0)
    for check_id, states in PLANTED[name].items():
        finding = AuditFinding.objects.get(audit=audit, check_id=check_id)
        assert (check_id, finding.pages_affected) == (check_id, len(states))
        assert {sample["state"] for sample in finding.samples} == states
    scans = Scan.objects.filter(audit_page__audit=audit)
    assert audit.scans_done == scans.count() == used_scans(home) == Report.objects.count()
    assert {scan.url for scan in scans if scan.audit_page == pages[0]} == {pages[0].url}
    assert scans.filter(lead=None).count() == len(pages)
    for page in pages:
        assert set(page.results) >= {"security", "performance", "accessibility"}
        assert {scan.type for scan in page.scans.all()} == set(page.results)
    steps = JourneyStep.objects.filter(audit=audit).order_by("position")
    assert {step.status for step in steps} == {"done"}
    assert audit.journey
    assert [step.position for step in steps] == list(range(len(audit.journey.steps.steps)))
    assert all(len(step.picture) <= 60 * 1024 for step in steps if step.picture)


def test_states_beyond_the_plan_are_left_out_and_counted(home: Member) -> None:
    Tier.objects.update(pages_per_audit=2)
    example = EXAMPLES["account"]
    with Site(example.make(is_faulty=False)) as site:
        journey = make_journey(home, site.url, example_steps("account"), example.secrets, [ScanType.SECURITY])
        audit = run(journey)
    assert (audit.status, audit.max_pages, used_scans(home)) == (Audit.Status.COMPLETED, 2, 2)
    assert [page.state for page in audit.pages.order_by("position")] == list(example.states[:2])
    assert audit.notes == ["1 state was not judged, because this run judges at most 2 states."]


def test_types_that_judge_no_state_have_no_scans(home: Member) -> None:
    example = EXAMPLES["account"]
    with Site(example.make(is_faulty=False)) as site:
        steps = example_steps("account").replace('click "Sign out"\njudge "Signed out"\n', "")
        audit = run(make_journey(home, site.url, steps, example.secrets))
    assert audit.status == Audit.Status.COMPLETED
    assert not Scan.objects.filter(type=ScanType.SEO).exists()
    assert used_scans(home) == Scan.objects.count() == 6
