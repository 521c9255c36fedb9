"""Tests that an additional element is a change.

It is in the timeline, and in messages if alerts include it.
"""

from __future__ import annotations

import pytest

from tests.factories import Member
from tests.sites.monitors.test_outcome import daily_monitor
from tests.sites.monitors.watching import ScriptedSite, make_finding
from website_scan.findings import HIGH, MEDIUM, Severity
from website_scan.result import CheckResult

pytestmark = pytest.mark.django_db


def image_findings(count: int, severity: Severity = HIGH) -> tuple[CheckResult, ...]:
    return (
        make_finding("image-alt", severity, *(f"main > img:nth-of-type({number})" for number in range(1, count + 1))),
    )


@pytest.mark.parametrize(("severity", "messages"), [(HIGH, 1), (MEDIUM, 0)])
def test_enabled_alert_reports_an_additional_image(
    owner: Member, site: ScriptedSite, severity: Severity, messages: int
) -> None:
    home = daily_monitor(owner, site)
    site.default_checks = image_findings(3, severity)
    home.run_once()
    assert home.run_once() == []
    site.default_checks = image_findings(4, severity)
    assert len(home.run_once()) == messages
    (worse,) = home.run.news["worse"]
    assert (worse["said"], worse["pages"][0]["places"]) == ("1 new place", ["main > img:nth-of-type(4)"])
    assert home.run.is_told == bool(messages)
    assert home.run_once() == []
    assert home.run.news == {}


def test_new_elements_are_grouped_across_pages(owner: Member, site: ScriptedSite) -> None:
    home = daily_monitor(owner, site, "/", "/shop")
    site.default_checks = image_findings(1)
    home.run_once()
    site.results_by_path = {"/": image_findings(2), "/shop": image_findings(4)}
    (body,) = home.run_once()
    (worse,) = body["data"]["worse"]
    assert (worse["pages_affected"], len(worse["fingerprints"])) == (2, 1)
