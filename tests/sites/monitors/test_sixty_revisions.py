"""Monitor of a page with sixty revisions, with real scans for all types: exactly the alerts of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import Tier
from scans import tasks
from tests.factories import Member, member_of, register_webhook
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import Watch, told
from tests.targets.changing import Revision, changing_site
from tests.targets.server import Site
from website_scan import catalogue, judging
from website_scan.net.errors import TimedOut
from website_scan.performance.evidence import Timing
from website_scan.security.evidence import Exposure

ALERT = {"new_findings": "medium", "score_drop": 5, "score_below": {"seo": 80}}
MONITOR_EVENTS = ["monitor.changed", "monitor.failed", "monitor.recovered"]
FINE = Revision()


@dataclass(frozen=True)
class Day:
    """Revision of the page, changed conditions of the scan (`with_`), and the expected alert; None for no alert."""

    what: str
    page: Revision = FINE
    told: dict[str, Any] | None = None
    with_: dict[str, Any] = field(default_factory=dict)


def changed(*reasons: str, **lists: list[str]) -> dict[str, Any]:
    return {"event": "changed", "reasons": list(reasons), **lists}


SLOW, PARTIAL, OTHER_RULES = {"ttfb_s": 12.0}, {"is_partial": True}, {"rules": "next"}
NO_NOSNIFF = replace(FINE, nosniff=False)
NO_TITLE = replace(FINE, has_title=False)
BAD_COOKIE = replace(FINE, cookie="sid=%s; Path=/")
DAYS = [
    Day("the first look"),
    Day("another nonce", replace(FINE, nonce=2)),
    Day("another build, other visitors", replace(FINE, build=2, nonce=3, visitors=99)),
    Day("the list is sorted otherwise", replace(FINE, goods=("cake", "tea", "coffee"))),
    Day("a header is gone", NO_NOSNIFF, changed("new_findings", new=["x-content-type-options"])),
    Day("it is still gone", NO_NOSNIFF),
    Day("and with another build", replace(NO_NOSNIFF, build=3, nonce=4)),
    Day("it is back"),
    Day(
        "the title is gone",
        NO_TITLE,
        changed("new_findings", "score_drop", "score_below", new=["document-title", "title"]),
    ),
    Day("it is still gone", NO_TITLE),
    Day("it is back"),
    Day("a warning becomes a failure of low severity", replace(FINE, has_description=False)),
    Day("it still is", replace(FINE, has_description=False, nonce=9)),
    Day("a warning again"),
    Day("a slow day", with_=SLOW),
    Day("a quick one"),
    Day("a slow day", with_=SLOW),
    Day("a quick one"),
    Day("slow for good: once", with_=SLOW),
    # Two in a row outside the range seen: the score has changed. The finding came and went twice, so it still waits.
    Day("twice", told=changed("score_drop"), with_=SLOW),
    Day("three times", with_=SLOW),
    Day("four times", told=changed("new_findings", new=["est-load-time", "ttfb"]), with_=SLOW),
    Day("quick again"),
    Day("and it stays so"),
    Day("a cookie is bad, in a partial run", BAD_COOKIE, with_=PARTIAL),
    # This is also the fourth quick day in a row, for a finding that came and went twice.
    Day(
        "so it is",
        BAD_COOKIE,
        changed("new_findings", new=["cookie-httponly", "cookie-samesite"], fixed=["est-load-time", "ttfb"]),
    ),
    Day("it is good, in a partial run", with_=PARTIAL),
    Day("so it is"),
    Day(
        "hidden from search engines, while security is partial",
        replace(FINE, is_hidden=True),
        changed("new_findings", "score_drop", "score_below", new=["is-indexable"]),
        with_=PARTIAL,
    ),
    Day("to be found again"),
    Day("a header is gone, in a partial run", NO_NOSNIFF, with_=PARTIAL),
    Day(
        "another partial run says the same",
        NO_NOSNIFF,
        changed("new_findings", new=["x-content-type-options"]),
        with_=PARTIAL,
    ),
    Day("it is back"),
    Day("down", replace(FINE, status=503), {"event": "failed", "error": "TARGET_STATUS"}),
    Day("still down", replace(FINE, status=503)),
    Day("down otherwise", replace(FINE, status=0)),
    Day("up again", told={"event": "recovered"}),
    Day("down", replace(FINE, status=0), {"event": "failed", "error": "URL_NOT_REACHABLE"}),
    Day(
        "up, but without a title",
        NO_TITLE,
        {
            "event": "recovered",
            "reasons": ["new_findings", "score_drop", "score_below"],
            "new": ["document-title", "title"],
        },
    ),
    Day("the title is back"),
    Day("gone", replace(FINE, status=404), {"event": "failed", "error": "TARGET_STATUS"}),
    Day("there again", told={"event": "recovered"}),
    Day(
        "images without a text",
        replace(FINE, images_without_alt=("a", "b")),
        changed("new_findings", "score_drop", new=["image-alt", "seo-image-alt"]),
    ),
    Day("sorted otherwise", replace(FINE, images_without_alt=("b", "a"), nonce=5)),
    Day(
        "one more",
        replace(FINE, images_without_alt=("b", "a", "c")),
        changed("worse_findings", worse=["image-alt", "seo-image-alt"]),
    ),
    Day("two less", replace(FINE, images_without_alt=("a",))),
    Day("none any more"),
    Day("one of two servers lacks a header", NO_NOSNIFF, changed("new_findings", new=["x-content-type-options"])),
    Day("the other server answers"),
    Day("the one without", NO_NOSNIFF),
    Day("the other one"),
    Day("the one without", NO_NOSNIFF),
    Day("the other one"),
    Day("both lack it: once", NO_NOSNIFF),
    Day("twice", NO_NOSNIFF),
    Day("three times", NO_NOSNIFF),
    Day("four times", NO_NOSNIFF, changed("new_findings", new=["x-content-type-options"])),
    Day("it is back"),
    Day("another version of the rules", with_=OTHER_RULES),
    Day("a last build", replace(FINE, build=60, nonce=60, visitors=60), with_=OTHER_RULES),
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
def conditions(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that changes the conditions of scans: measured times, missing evidence, other rules."""
    probes, version = catalogue.probes(), catalogue.catalogue_version
    timing, exposure = probes[Timing], probes[Exposure]

    def fails(*_: object, **__: object) -> Exposure:
        raise TimedOut("The site did not answer in time.")

    def set_to(*, ttfb_s: float = 0.05, is_partial: bool = False, rules: str = "") -> None:
        monkeypatch.setitem(probes, Timing, replace(timing, function=lambda **_: Timing((ttfb_s,) * 3)))
        monkeypatch.setitem(probes, Exposure, replace(exposure, function=fails) if is_partial else exposure)
        monkeypatch.setattr(judging, "catalogue_version", lambda scan_type: rules or version(scan_type))

    return set_to


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_sixty_revisions_of_a_page_send_the_alerts_of_the_table(
    owner: Member, site: tuple[Site, list[Revision]], conditions: Callable[..., None]
) -> None:
    server, revisions = site
    register_webhook(owner, f"{server.url}/hook", MONITOR_EVENTS)
    types = ["security", "performance", "accessibility", "seo"]
    monitor = make_monitor(owner, pages=[f"{server.url_as('localhost')}/"], types=types, alert=ALERT)
    watch = Watch(monitor)
    wrong = []
    for number, day in enumerate(DAYS, 1):
        revisions.append(day.page)
        conditions(**day.with_)
        found = [told(each) for each in watch.look()]
        if found != ([day.told] if day.told else []):
            wrong.append(f"{number} {day.what}: {found}, not {day.told}; {watch.run.scores}")
    assert not wrong, "\n".join(wrong)
