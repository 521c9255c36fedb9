"""Tests for a monitor with own requirements: real scans of a site, the report, the alert and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from accounts.models import Mail
from scans.models import Scan
from sites.models import Audit, Monitor, MonitorState
from sites.monitors.grouping import send_due_alerts
from tests.factories import Member, browser_of, person_of
from tests.page_reading import page_of
from tests.sites.monitors.watching import DailyMonitor, event_summary
from tests.targets.server import Answer, Site

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

IMPRINT = {"name": "Imprint is linked", "severity": "high", "link": "/imprint"}
PHONE = {"name": "Phone number", "severity": "high", "text": "Call us"}
PRICE = {"name": "Prices have a currency", "severity": "high", "text": "EUR *"}
FEW_SCRIPTS = {"name": "Few scripts", "severity": "high", "requests": "script", "at_most": 1}
PAGE = "<!doctype html><html lang=en><title>Tea from Uji</title><main><h1>Tea</h1><p>Call us. {link}</p></main>"
WITH_IMPRINT = Answer(PAGE.format(link="<a href=/imprint>Imprint</a>"), headers={"Content-Type": "text/html"})
WITHOUT_IMPRINT = Answer(PAGE.format(link="<a href=/about>Imprint</a>"), headers={"Content-Type": "text/html"})


@pytest.fixture
def shop(settings: Settings) -> Iterator[Site]:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.SCAN_GAP_PER_DOMAIN_S = 0.0
    with Site({"/": WITH_IMPRINT, "/imprint": WITH_IMPRINT, "/about": WITH_IMPRINT}) as running:
        yield running


def run_at(monitored: DailyMonitor, shop: Site, answer: Answer) -> list[dict[str, Any]]:
    """Run the monitor with this answer of the page, and return the summaries of its events."""
    shop.routes["/"] = answer
    cache.clear()
    events = [event_summary(body) for body in monitored.run_once() if body["event"].startswith("monitor.")]
    return [{"reasons": set(event["reasons"]), **{k: v for k, v in event.items() if k in LISTS}} for event in events]


LISTS = ("new", "fixed", "worse", "better")


def own_checks(export: dict[str, Any]) -> dict[str, str]:
    """Return the status of each own requirement in a report."""
    categories = [category for category in export["categories"] if category["name"] == "Own requirements"]
    return {check["id"]: check["status"] for category in categories for check in category["checks"]}


def test_monitor_with_own_requirements(owner: Member, shop: Site) -> None:
    ann = person_of(owner, "owner", "ann@people.test")
    body = {
        "page": f"{shop.url}/",
        "types": ["seo"],
        "every": "day",
        "paused": True,
        "requirements": {"rules": [IMPRINT, PHONE, FEW_SCRIPTS]},
        "notify": {"emails": [ann.email]},
    }
    created = owner.api.post("/v1/monitors", body).json()
    path = f"/v1/monitors/{created['id']}"
    Monitor.objects.update(paused_at=None, pause_reason="")
    monitored = DailyMonitor(Monitor.objects.get())

    # A limit on loading is not judged, because the monitor has no scans of performance.
    assert run_at(monitored, shop, WITH_IMPRINT) == []
    first = Scan.objects.get()
    export = owner.api.get(f"/v1/report/{first.id}/export?format=json").json()
    assert own_checks(export) == {"own-imprint-is-linked": "pass", "own-phone-number": "pass"}

    # One of two requirements fails: the alert, the report and the comparison name it, and the score is the same.
    (event,) = run_at(monitored, shop, WITHOUT_IMPRINT)
    assert event["new"] == ["own-imprint-is-linked"]
    send_due_alerts(monitored.now.replace(year=monitored.now.year + 1), lambda: True)
    mail = Mail.objects.get(user=ann)
    for text in (mail.text, mail.html):
        assert "Not met: Imprint is linked" in text
        assert "/docs/requirements" in text
        assert "/docs/checks/own" not in text
    second = Scan.objects.exclude(id=first.id).get()
    assert second.score == first.score
    report = page_of(browser_of(ann).get(f"/report/{second.id}"))
    assert report.xpath("//h3[contains(., 'Own requirements')]|//h2[contains(., 'Own requirements')]")
    (card,) = report.xpath("//*[@id='check-own-imprint-is-linked']")
    assert "Not met: Imprint is linked" in card.text_content()
    assert report.xpath("//a[code='own-imprint-is-linked']/@href") == ["/docs/requirements"]
    difference = owner.api.get(f"/v1/report/{second.id}/diff?with={first.id}").json()
    assert [finding["id"] for finding in difference["new"]] == ["own-imprint-is-linked"]
    audit = Audit.objects.order_by("created_at").last()
    assert audit is not None
    findings = owner.api.get(f"/v1/audits/{audit.id}/findings").json()["findings"]
    assert "own-imprint-is-linked" in {finding["check"] for finding in findings}

    # A removed requirement is neither fixed nor new.
    owner.api.patch(path, {"requirements": {"rules": [PHONE]}})
    monitored.monitor.refresh_from_db()
    for _ in range(2):
        assert run_at(monitored, shop, WITHOUT_IMPRINT) == []
    assert "own-imprint-is-linked" not in str(MonitorState.objects.get().document)
    third = Scan.objects.order_by("created_at").last()
    assert third is not None
    difference = owner.api.get(f"/v1/report/{third.id}/diff?with={second.id}").json()
    assert (difference["new"], difference["fixed"]) == ([], [])

    # A requirement that was added is a new finding, also with a weight, which changes the rules of the score.
    owner.api.patch(path, {"requirements": {"rules": [PHONE, PRICE], "weight": 10}})
    monitored.monitor.refresh_from_db()
    (event,) = run_at(monitored, shop, WITHOUT_IMPRINT)
    assert event["new"] == ["own-prices-have-a-currency"]

    # A mute of an own requirement silences it.
    mute = {"check": "own-phone-number", "host": shop.url.partition("://")[2], "reason": "The shop has no phone."}
    assert owner.api.post("/v1/mutes", mute).status_code == 201
    silent_page = Answer(PAGE.replace("Call us", "Write to us"), headers={"Content-Type": "text/html"})
    assert not any("new" in event for event in run_at(monitored, shop, silent_page))
    last = Scan.objects.order_by("created_at").last()
    assert last is not None
    export = owner.api.get(f"/v1/report/{last.id}/export?format=json").json()
    assert own_checks(export)["own-phone-number"] == "fail"
