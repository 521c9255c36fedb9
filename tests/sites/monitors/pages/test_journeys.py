"""Test the pages of monitors that repeat a journey."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client, override_settings
from django.utils import timezone
from lxml.html import HtmlElement

from accounts.models import Membership, Tier
from dashboard.attention import failures
from scans.models import credential_columns
from sites.models import Audit, Journey, Monitor
from tests.factories import Member
from tests.page_reading import browser_of, page_of, strings, text_of
from tests.populated_audits import make_audit
from tests.populated_monitors import finding, news
from tests.sites.journeys.cast import START, make_journey
from tests.sites.monitors.cast import make_monitor
from website_scan.net.credentials import parse as parse_credentials

NEW, LIST = "/o/home/monitors/new", "/o/home/monitors/"
FORM = {"every": "day", "timezone": "UTC", "at": "06:00"}
OF_JOURNEY = {**FORM, "scope": "journey"}


@pytest.fixture(autouse=True)
def service_with_browser(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("sites.monitors.services.refuse_unreachable", lambda *_: None)
    with override_settings(SCAN_BROWSER="auto"):
        yield


@pytest.fixture
def home(home: Member) -> Member:
    Tier.objects.update(schedules=9, journeys=9)
    return home


@pytest.fixture
def client(home: Member) -> Client:
    return browser_of(home)


@pytest.fixture
def journey(home: Member) -> Journey:
    return make_journey(home, name="Log-in", types=["security", "seo"])


def monitor_of(home: Member, journey: Journey, **columns: object) -> Monitor:
    values = {"name": "Members", "kind": "journey", "journey": journey, "pages": [journey.start_url], "max_pages": 1}
    return make_monitor(home, **values | {"types": journey.types} | columns)


def page_of_journey(journey: Journey) -> str:
    return f"/o/home/journeys/{journey.id}"


def page_of_monitor(monitor: Monitor) -> str:
    return f"{LIST}{monitor.id}"


def test_journey_that_can_run_offers_a_monitor_to_members(client: Client, home: Member, journey: Journey) -> None:
    link = f"{NEW}?journey={journey.id}"
    assert link in strings(page_of(client.get(page_of_journey(journey))), "//main//a/@href")
    viewer = browser_of(home, "viewer")
    assert link not in strings(page_of(viewer.get(page_of_journey(journey))), "//main//a/@href")
    unproven = make_journey(home, name="Unproven", is_proven=False)
    assert "Monitor this journey" not in text_of(client.get(page_of_journey(unproven)))


def test_run_of_a_journey_offers_a_monitor_to_members(client: Client, home: Member, journey: Journey) -> None:
    link = f"{NEW}?journey={journey.id}"
    columns = {"kind": "journey", "url": journey.start_url, "journey": journey, "status": "completed"}
    run, of_monitor, dry = (make_audit(home, **columns, run_of=run_of) for run_of in ("", "monitor", "dry_run"))

    def offers(browser: Client, audit: Audit) -> bool:
        return link in strings(page_of(browser.get(f"/audit/{audit.id}")), "//main//a/@href")

    assert [offers(client, audit) for audit in (run, of_monitor, dry)] == [True, False, False]
    assert client.get(link).status_code == 200
    assert not offers(browser_of(home, "viewer"), run)
    Journey.objects.update(proven_at=None)
    assert not offers(client, run)


def chosen(page: HtmlElement, name: str) -> list[str]:
    return strings(page, f"//*[@name='{name}'][@checked]/@value | //select[@name='{name}']/option[@selected]/@value")


def test_form_creates_a_monitor_of_the_journey(client: Client, journey: Journey) -> None:
    form = client.get(f"{NEW}?journey={journey.id}")
    assert "Each run uses up to 2 scans : 1 state \u00d7 2 types" in text_of(form)
    page = page_of(form)
    assert (chosen(page, "scope"), chosen(page, "journey")) == (["journey"], [journey.id])
    response = client.post(NEW, {**OF_JOURNEY, "journey": journey.id, "name": ""}, follow=True)
    text = text_of(response)
    assert "The monitor was created." in text
    monitor = Monitor.objects.get()
    assert (monitor.journey, monitor.name, monitor.types) == (journey, "Log-in", ["security", "seo"])
    assert "Repeats the journey Log-in" in text
    assert "Journey, up to 1 state" in text
    assert "Repeated by the monitor Log-in" in text_of(client.get(page_of_journey(journey)))


def test_form_offers_the_journeys_of_the_organization(
    client: Client, home: Member, journey: Journey, stranger: Member
) -> None:
    make_journey(stranger, name="Foreign")
    make_journey(home, name="Basket", is_proven=False)
    page = page_of(client.get(NEW))
    assert chosen(page, "scope") == ["page"]
    names = ["Choose a journey", "Basket \u2013 example.com (control not proven)", "Log-in \u2013 example.com"]
    assert [option.text for option in page.xpath("//select[@name='journey']/option")] == names
    assert "up to one scan for every type of every state" in text_of(client.get(NEW))


def test_form_without_journeys_leads_to_a_new_one(client: Client, home: Member) -> None:
    page = page_of(client.get(NEW))
    assert strings(page, "//input[@name='scope']/@value") == ["page", "pages", "site"]
    assert "/o/home/journeys/new" in strings(page, "//main//a/@href")


def test_fields_of_pages_are_not_validated_for_a_journey(client: Client, journey: Journey) -> None:
    unused = {"url": "ftp://x", "max_pages": "none", "widths": "1", "include": "x", "type": []}
    client.post(NEW, {**OF_JOURNEY, **unused, "journey": journey.id})
    assert Monitor.objects.get().journey == journey


def test_form_needs_a_chosen_journey(client: Client, journey: Journey) -> None:
    response = client.post(NEW, OF_JOURNEY)
    assert response.status_code == 400
    assert strings(page_of(response), "//*[@id='id_journey_error']/text()") == ["Choose a journey."]
    assert not Monitor.objects.exists()


def test_form_for_a_page_ignores_a_journey_that_was_chosen_before(client: Client, journey: Journey) -> None:
    entered = {**FORM, "scope": "page", "url": START, "type": ["seo"], "journey": journey.id}
    client.post(NEW, entered)
    monitor = Monitor.objects.get()
    assert (monitor.journey, monitor.kind, monitor.pages) == (None, "page", [START])


def test_form_that_was_opened_before_journeys_could_be_chosen_is_accepted(client: Client, journey: Journey) -> None:
    client.post(NEW, {**FORM, "journey": journey.id})
    assert Monitor.objects.get().journey == journey


def test_form_changes_a_monitor_of_the_journey(client: Client, home: Member, journey: Journey) -> None:
    monitor = monitor_of(home, journey)
    Journey.objects.update(proven_at=None)
    path = f"{page_of_monitor(monitor)}/edit"
    page = page_of(client.get(path))
    assert (chosen(page, "scope"), chosen(page, "journey")) == (["journey"], [journey.id])
    entered = {**OF_JOURNEY, "journey": journey.id, "every": "week", "name": "A"}
    assert "The monitor was changed." in text_of(client.post(path, entered, follow=True))
    monitor.refresh_from_db()
    assert (monitor.name, monitor.every, monitor.journey) == ("A", "week", journey)


def test_monitor_of_a_page_becomes_one_of_a_journey_and_back(client: Client, home: Member, journey: Journey) -> None:
    key = parse_credentials({"headers": {"X-Key": "k"}})
    monitor = make_monitor(home, name="Shop", pages=[START], types=["seo"], **credential_columns(key))
    path = f"{page_of_monitor(monitor)}/edit"
    client.post(path, {**OF_JOURNEY, "journey": journey.id, "name": "Shop"})
    monitor.refresh_from_db()
    assert (monitor.kind, monitor.journey, monitor.types) == ("journey", journey, ["security", "seo"])
    assert monitor.credential_names is None
    page = {**FORM, "scope": "page", "url": START, "type": ["seo"], "journey": journey.id, "name": "Shop"}
    client.post(path, page)
    monitor.refresh_from_db()
    assert (monitor.kind, monitor.journey, monitor.types) == ("page", None, ["seo"])


def test_monitor_does_not_change_to_a_journey_that_is_not_proven(client: Client, home: Member) -> None:
    unproven = make_journey(home, name="Unproven", is_proven=False)
    monitor = make_monitor(home, name="Shop", pages=[START], types=["seo"])
    response = client.post(f"{page_of_monitor(monitor)}/edit", {**OF_JOURNEY, "journey": unproven.id})
    assert response.status_code == 409
    assert "has not proven that it controls" in page_of(response).xpath("string(//*[@id='id_journey_error'])")
    monitor.refresh_from_db()
    assert (monitor.kind, monitor.journey) == ("page", None)


def test_form_shows_why_a_journey_cannot_be_monitored(client: Client, journey: Journey) -> None:
    Journey.objects.update(proven_at=None)
    response = client.post(NEW, {**OF_JOURNEY, "journey": journey.id})
    assert response.status_code == 409
    assert "has not proven that it controls" in page_of(response).xpath("string(//*[@id='id_journey_error'])")
    assert not Monitor.objects.exists()


def test_form_refuses_journeys_of_other_organizations(client: Client, home: Member, stranger: Member) -> None:
    foreign = make_journey(stranger)
    monitor = make_monitor(home, name="Shop", pages=[START])
    assert client.get(f"{NEW}?journey={foreign.id}").status_code == 404
    for path in (NEW, f"{page_of_monitor(monitor)}/edit"):
        assert client.post(path, {**OF_JOURNEY, "journey": foreign.id}).status_code == 404


def test_run_leads_to_the_storyboard_and_its_changes_name_the_state(
    client: Client, home: Member, journey: Journey
) -> None:
    monitor = monitor_of(home, journey)
    now = timezone.now()
    audit = make_audit(home, kind="journey", url=journey.start_url, journey=journey, run_of="monitor")
    changed = finding("hsts")
    changed["pages"] = [{**changed["pages"][0], "state": "Account <b>"}]
    changes = news(new=[changed])
    changes["unreachable_pages"] = [{"url": START, "state": "Orders", "message": "It is down."}]
    columns = {"status": "done", "started_at": now, "ended_at": now, "audit": audit, "news": changes}
    monitor.runs.create(due_at=now, not_before=now, **columns)
    response = client.get(page_of_monitor(monitor))
    assert f"/audit/{audit.id}" in strings(page_of(response), "//main//a/@href")
    assert "Account <b>" in text_of(response)
    assert "No longer reachable: Orders" in text_of(response)


def test_failing_journey_is_not_shown_as_an_outage(client: Client, home: Member, journey: Journey) -> None:
    now = timezone.now()
    monitor = monitor_of(home, journey, failing_since=now, memory={"is_step_failure": True})
    message = "Step 3 failed: nothing is named “Book”."
    columns = {"status": "failed", "error_code": "JOURNEY_FAILED", "error_message": message}
    monitor.runs.create(due_at=now, not_before=now, **columns)
    text = text_of(client.get(page_of_monitor(monitor)))
    assert "Journey failing since" in text
    assert message in text
    assert "Unreachable" not in text
    found = failures([home.organization.id])
    assert [(failure.name, failure.reason) for failure in found["failed"].rows] == [("Members", message)]
    assert not found["down"].rows


@pytest.mark.parametrize(
    ("reason", "shown", "needed"),
    [
        ("proof", "no longer proven", "Control of the journey\u2019s site is not proven."),
        ("secret", "has no value any more", "A secret of the journey has no value."),
    ],
)
def test_forced_pause_shows_its_reason(
    client: Client, home: Member, journey: Journey, reason: str, shown: str, needed: str
) -> None:
    monitor = monitor_of(home, journey, paused_at=timezone.now(), pause_reason=reason, next_run_at=None)
    assert shown in text_of(client.get(page_of_monitor(monitor)))
    assert needed in text_of(client.get("/o/home/"))


def test_deletion_of_a_journey_names_its_monitors(client: Client, home: Member, journey: Journey) -> None:
    path = f"{page_of_journey(journey)}/delete"
    assert "deleted as well" not in text_of(client.get(path))
    monitor_of(home, journey)
    assert "Its monitor is deleted as well, with all runs in the timeline: Members" in text_of(client.get(path))
    client.post(path)
    assert not Monitor.objects.exists()


def test_limited_member_sees_no_monitor_of_a_journey(home: Member, journey: Journey) -> None:
    monitor = monitor_of(home, journey)
    make_monitor(home, name="Page", pages=[START])
    client = browser_of(home)
    Membership.objects.update(limited_to=["shop.example.com"])
    text = text_of(client.get(LIST))
    assert "Page" in text
    assert "Members" not in text
    path = page_of_monitor(monitor)
    assert {client.get(f"{path}{rest}").status_code for rest in ("", "/edit", "/delete", "/live")} <= {404, 302}
    assert client.get(path).status_code == 404
    assert client.get(f"{NEW}?journey={journey.id}").status_code == 404
    assert client.post(NEW, {**OF_JOURNEY, "journey": journey.id}).status_code == 404
    own_page = f"{page_of_monitor(Monitor.objects.get(name='Page'))}/edit"
    assert client.post(own_page, {**OF_JOURNEY, "journey": journey.id}).status_code == 404
    assert not page_of(client.get(NEW)).xpath("//*[@name='journey' or @value='journey']")
    client.post("/o/home/selected-monitors", {"action": "deleted", "monitor": monitor.id})
    client.post("/o/home/selected-monitors", {"action": "pause", "all": "yes"})
    monitor.refresh_from_db()
    assert not monitor.is_paused
    assert Monitor.objects.get(name="Page").is_paused


def test_progress_of_a_run_is_that_of_the_journey(client: Client, home: Member, journey: Journey) -> None:
    monitor = monitor_of(home, journey)
    now = timezone.now()
    audit = make_audit(home, kind="journey", url=journey.start_url, journey=journey, run_of="monitor", status="running")
    monitor.runs.create(due_at=now - timedelta(minutes=1), not_before=now, status="running", attempts=1, audit=audit)
    assert "Running the journey" in text_of(client.get(page_of_monitor(monitor)))
