"""Test a monitor whose runs execute a journey in Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accounts.models import Tier
from scans.tasks import run_scan
from sites.models import Audit, MonitorRun
from tests.factories import Member
from tests.sites.journeys.runs import lead_of, make_journey, worker_with_browser
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import DailyMonitor, event_summary
from tests.targets.server import Answer, Request, Site
from website_scan.findings import ScanType

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

STEPS = 'open /\njudge "Start"\nclick "Next"\nwait for "Second page"\njudge "Second"\n'
HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><title>{0}</title><main><h1>{0}</h1>{1}</main></html>'
PICTURE = (
    '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" width="90" height="90">'
)


@pytest.fixture(autouse=True)
def worker() -> Iterator[None]:
    with worker_with_browser():
        yield


def execute(audit_id: str) -> None:
    run_scan(lead_of(Audit.objects.get(id=audit_id)).id)


def test_monitor_reports_changes_of_states_failing_steps_and_outages(owner: Member) -> None:
    Tier.objects.update(concurrent_scans=9)
    link, second, visits = '<a href="/{}">Next</a>', "<p>Fine</p>", 0

    def first_page(_: Request) -> Answer:
        nonlocal visits
        visits += 1
        return html("First page", link.format(f"orders/{visits}"))

    with Site({"/": first_page, "*": lambda _: html("Second page", second)}) as site:
        journey = make_journey(owner, site.url, STEPS, types=[ScanType.ACCESSIBILITY])
        monitor = make_monitor(
            owner, kind="journey", journey=journey, pages=[journey.start_url], types=journey.types, max_pages=2
        )
        monitored = DailyMonitor(monitor, execute)
        assert monitored.run_once() == []
        first = monitored.run.audit
        assert first is not None
        assert [page.state for page in first.pages.order_by("position")] == ["Start", "Second"]
        assert monitored.run_once() == [], "the second state has another address in each run"

        second = PICTURE
        (body,) = monitored.run_once()
        assert event_summary(body)["new"] == ["image-alt"]
        assert [page["state"] for page in body["data"]["new"][0]["pages"]] == ["Second"]

        link = '<a href="/{}">Nxt</a>'
        (body,) = monitored.run_once()
        assert event_summary(body) == {"event": "failed", "error": "JOURNEY_FAILED"}
        assert body["data"]["error"]["message"].startswith("Step 3 failed: ")
        assert (monitored.run.status, monitored.run.attempts) == (MonitorRun.Status.FAILED, 2)

        link = '<a href="/{}">Next</a>'
        (body,) = monitored.run_once()
        assert event_summary(body)["event"] == "recovered"
    (body,) = monitored.run_once()
    assert event_summary(body) == {"event": "failed", "error": "URL_NOT_REACHABLE"}
    assert monitored.monitor.failure == "Unreachable"


def html(title: str, content: str) -> Answer:
    return Answer(HTML.format(title, content), headers={"Content-Type": "text/html; charset=utf-8"})
