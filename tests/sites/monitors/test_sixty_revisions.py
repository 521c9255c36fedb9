"""Tests for the alerts for sixty revisions of a page.

A monitor must send exactly the expected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from msgspec import Struct, field
from msgspec.structs import replace
from pytest_django import Settings

from accounts.models import Tier
from scans import tasks
from tests.factories import Member, member_of, register_webhook
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import DailyMonitor, event_summary
from tests.targets.changing import Revision, changing_site
from tests.targets.server import Site
from website_scan import catalogue, extension
from website_scan.net.errors import TimedOut
from website_scan.performance.evidence import Timing
from website_scan.security.evidence import Exposure

ALERT = {"new_findings": "medium", "score_drop": 5, "score_below": {"seo": 80}}
MONITOR_EVENTS = ["monitor.changed", "monitor.failed", "monitor.recovered"]
FINE = Revision()


class MonitoredDay(Struct, frozen=True):
    """One day of the monitored page.

    `expected_event` summarizes the expected event, if any.
    """

    what: str
    page: Revision = FINE
    expected_event: dict[str, Any] | None = None
    conditions: dict[str, Any] = field(default_factory=dict)


def changed_event(*reasons: str, **lists: list[str]) -> dict[str, Any]:
    return {"event": "changed", "reasons": list(reasons), **lists}


SLOW, PARTIAL, OTHER_RULES = {"ttfb_s": 12.0}, {"is_partial": True}, {"rules": "next"}
NO_NOSNIFF = replace(FINE, nosniff=False)
NO_TITLE = replace(FINE, has_title=False)
BAD_COOKIE = replace(FINE, cookie="sid=%s; Path=/")
DAYS = [
    MonitoredDay("the first look"),
    MonitoredDay("another nonce", replace(FINE, nonce=2)),
    MonitoredDay("another build, other visitors", replace(FINE, build=2, nonce=3, visitors=99)),
    MonitoredDay("the list is sorted otherwise", replace(FINE, goods=("cake", "tea", "coffee"))),
    MonitoredDay("a header is gone", NO_NOSNIFF, changed_event("new_findings", new=["x-content-type-options"])),
    MonitoredDay("it is still gone", NO_NOSNIFF),
    MonitoredDay("and with another build", replace(NO_NOSNIFF, build=3, nonce=4)),
    MonitoredDay("it is back"),
    MonitoredDay(
        "the title is gone",
        NO_TITLE,
        changed_event("new_findings", "score_drop", "score_below", new=["document-title"]),
    ),
    MonitoredDay("it is still gone", NO_TITLE),
    MonitoredDay("it is back"),
    MonitoredDay("a warning becomes a failure of low severity", replace(FINE, has_description=False)),
    MonitoredDay("it still is", replace(FINE, has_description=False, nonce=9)),
    MonitoredDay("a warning again"),
    MonitoredDay("a slow day", conditions=SLOW),
    MonitoredDay("a quick one"),
    MonitoredDay("a slow day", conditions=SLOW),
    MonitoredDay("a quick one"),
    MonitoredDay("slow for good: once", conditions=SLOW),
    # The score was below its range twice, so the drop is reported. The finding has flapped, so it is not.
    MonitoredDay("twice", expected_event=changed_event("score_drop"), conditions=SLOW),
    MonitoredDay("three times", conditions=SLOW),
    MonitoredDay(
        "four times", expected_event=changed_event("new_findings", new=["est-load-time", "ttfb"]), conditions=SLOW
    ),
    MonitoredDay("quick again"),
    MonitoredDay("and it stays so"),
    MonitoredDay("a cookie is bad, in a partial run", BAD_COOKIE, conditions=PARTIAL),
    # After four quick days, even findings that flapped twice count as fixed.
    MonitoredDay(
        "so it is",
        BAD_COOKIE,
        changed_event("new_findings", new=["cookie-httponly", "cookie-samesite"], fixed=["est-load-time", "ttfb"]),
    ),
    MonitoredDay("it is good, in a partial run", conditions=PARTIAL),
    MonitoredDay("so it is"),
    MonitoredDay(
        "hidden from search engines, while security is partial",
        replace(FINE, is_noindex=True),
        changed_event("new_findings", "score_drop", "score_below", new=["is-indexable"]),
        conditions=PARTIAL,
    ),
    MonitoredDay("to be found again"),
    MonitoredDay("a header is gone, in a partial run", NO_NOSNIFF, conditions=PARTIAL),
    MonitoredDay(
        "another partial run says the same",
        NO_NOSNIFF,
        changed_event("new_findings", new=["x-content-type-options"]),
        conditions=PARTIAL,
    ),
    MonitoredDay("it is back"),
    MonitoredDay("down", replace(FINE, status=503), {"event": "failed", "error": "TARGET_STATUS"}),
    MonitoredDay("still down", replace(FINE, status=503)),
    MonitoredDay("down otherwise", replace(FINE, status=0)),
    MonitoredDay("up again", expected_event={"event": "recovered"}),
    MonitoredDay("down", replace(FINE, status=0), {"event": "failed", "error": "URL_NOT_REACHABLE"}),
    MonitoredDay(
        "up, but without a title",
        NO_TITLE,
        {
            "event": "recovered",
            "reasons": ["new_findings", "score_drop", "score_below"],
            "new": ["document-title"],
        },
    ),
    MonitoredDay("the title is back"),
    MonitoredDay("gone", replace(FINE, status=404), {"event": "failed", "error": "TARGET_STATUS"}),
    MonitoredDay("there again", expected_event={"event": "recovered"}),
    MonitoredDay(
        "images without a text",
        replace(FINE, images_without_alt=("a", "b")),
        changed_event("new_findings", "score_drop", new=["image-alt"]),
    ),
    MonitoredDay("sorted otherwise", replace(FINE, images_without_alt=("b", "a"), nonce=5)),
    MonitoredDay(
        "one more",
        replace(FINE, images_without_alt=("b", "a", "c")),
        changed_event("worse_findings", worse=["image-alt"]),
    ),
    MonitoredDay("two less", replace(FINE, images_without_alt=("a",))),
    MonitoredDay("none any more"),
    MonitoredDay(
        "one of two servers lacks a header", NO_NOSNIFF, changed_event("new_findings", new=["x-content-type-options"])
    ),
    MonitoredDay("the other server answers"),
    MonitoredDay("the one without", NO_NOSNIFF),
    MonitoredDay("the other one"),
    MonitoredDay("the one without", NO_NOSNIFF),
    MonitoredDay("the other one"),
    MonitoredDay("both lack it: once", NO_NOSNIFF),
    MonitoredDay("twice", NO_NOSNIFF),
    MonitoredDay("three times", NO_NOSNIFF),
    MonitoredDay("four times", NO_NOSNIFF, changed_event("new_findings", new=["x-content-type-options"])),
    MonitoredDay("it is back"),
    MonitoredDay("another version of the rules", conditions=OTHER_RULES),
    MonitoredDay("a last build", replace(FINE, build=60, nonce=60, visitors=60), conditions=OTHER_RULES),
]
assert len(DAYS) == 60


@pytest.fixture
def owner(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Member:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setattr(tasks, "browser", lambda: None)
    owner = member_of("Owner", "business")
    Tier.objects.update(scans_per_month=100_000)
    return owner


@pytest.fixture
def site() -> Iterator[tuple[Site, list[Revision]]]:
    site, revisions = changing_site()
    with site:
        yield site, revisions


@pytest.fixture
def set_conditions(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that adjusts the reports of scans.

    It sets measured times, missing evidence and the catalogue version.
    """
    probes, version = catalogue.probes(), catalogue.catalogue_version
    timing, exposure = probes[Timing], probes[Exposure]

    def raise_timeout(*_: object, **__: object) -> Exposure:
        raise TimedOut("The site did not answer in time.")

    def apply_conditions(*, ttfb_s: float = 0.05, is_partial: bool = False, rules: str = "") -> None:
        monkeypatch.setitem(probes, Timing, replace(timing, function=lambda **_: Timing((ttfb_s,) * 3)))
        monkeypatch.setitem(probes, Exposure, replace(exposure, function=raise_timeout) if is_partial else exposure)
        monkeypatch.setattr(extension, "catalogue_version", lambda scan_type: rules or version(scan_type))

    return apply_conditions


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_sixty_revisions_cause_expected_alerts(
    owner: Member, site: tuple[Site, list[Revision]], set_conditions: Callable[..., None]
) -> None:
    server, revisions = site
    register_webhook(owner, f"{server.url}/hook", MONITOR_EVENTS)
    types = ["security", "performance", "accessibility", "seo"]
    monitor = make_monitor(owner, pages=[f"{server.url_as('localhost')}/"], types=types, alert=ALERT)
    daily_monitor = DailyMonitor(monitor)
    wrong = []
    for number, day in enumerate(DAYS, 1):
        revisions.append(day.page)
        set_conditions(**day.conditions)
        events = [event_summary(body) for body in daily_monitor.run_once()]
        if events != ([day.expected_event] if day.expected_event else []):
            wrong.append(f"{number} {day.what}: {events}, not {day.expected_event}; {daily_monitor.run.scores}")
    assert not wrong, "\n".join(wrong)
