"""Tests that a monitor reports a fact of two types once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reports.models import Mute
from sites.monitors.repeated_changes import repeated_changes
from tests.factories import Member
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import DailyMonitor, ScriptedSite, event_summary, make_finding
from website_scan.findings import HIGH, LOW, ScanType, Severity
from website_scan.result import CheckResult, RepeatedCheck

pytestmark = pytest.mark.django_db

BOTH = ["accessibility", "seo"]


def with_alternative_texts(*faulty: str, seo: Severity = HIGH) -> dict[str, tuple[CheckResult, ...]]:
    """Return the image text checks of both scan types.

    Those in `faulty` fail, and the others pass.
    """
    ids = {"accessibility": "image-alt", "seo": "seo-image-alt"}
    severities = {"accessibility": HIGH, "seo": seo}
    return {
        scan_type: (
            make_finding(id, severities[scan_type], "img") if id in faulty else make_finding(id, status="pass"),
        )
        for scan_type, id in ids.items()
    }


def monitor_of(owner: Member, site: ScriptedSite, types: list[str], **columns: Any) -> DailyMonitor:
    monitor = make_monitor(
        owner, pages=["https://example.com/"], kind="page", max_pages=1, types=types, alert={"fixed": True}, **columns
    )
    return DailyMonitor(monitor, site.run_all_work)


def run_with(monitored: DailyMonitor, site: ScriptedSite, checks: dict[str, tuple[CheckResult, ...]]) -> list[Any]:
    site.checks_by_type = checks
    return [
        {name: value for name, value in event_summary(body).items() if name in ("new", "fixed", "worse", "better")}
        for body in monitored.run_once()
        if body["event"].startswith("monitor.")
    ]


def test_fact_of_two_types_is_reported_once(owner: Member, site: ScriptedSite) -> None:
    monitored = monitor_of(owner, site, BOTH)
    run_with(monitored, site, with_alternative_texts())
    assert run_with(monitored, site, with_alternative_texts("image-alt", "seo-image-alt")) == [{"new": ["image-alt"]}]
    assert run_with(monitored, site, with_alternative_texts()) == [{"fixed": ["image-alt"]}]


def test_fact_of_one_type_is_reported(owner: Member, site: ScriptedSite) -> None:
    """An empty alternative text may be a fault for one type.

    This concerns decorative images.
    """
    monitored = monitor_of(owner, site, BOTH)
    run_with(monitored, site, with_alternative_texts())
    assert run_with(monitored, site, with_alternative_texts("seo-image-alt")) == [{"new": ["seo-image-alt"]}]
    # The reporting type did not find this fact in the previous run.
    assert run_with(monitored, site, with_alternative_texts("image-alt", "seo-image-alt")) == [{"new": ["image-alt"]}]


def test_monitor_of_one_type_reports_its_finding(owner: Member, site: ScriptedSite) -> None:
    monitored = monitor_of(owner, site, ["seo"])
    run_with(monitored, site, with_alternative_texts())
    assert run_with(monitored, site, with_alternative_texts("seo-image-alt")) == [{"new": ["seo-image-alt"]}]


def test_mute_of_one_type_does_not_hide_the_other(owner: Member, site: ScriptedSite) -> None:
    monitored = monitor_of(owner, site, BOTH)
    run_with(monitored, site, with_alternative_texts())
    Mute.objects.create(
        organization=owner.organization, check_id="image-alt", host="example.com", reason="accepted_risk",
        created_at=timezone.now(), expires_at=timezone.now() + timedelta(days=9),
    )  # fmt: skip
    failed = with_alternative_texts("image-alt", "seo-image-alt")
    assert run_with(monitored, site, failed) == [{"new": ["seo-image-alt"]}]


def test_severity_of_a_repeat_triggers_the_alert(owner: Member, site: ScriptedSite) -> None:
    monitored = monitor_of(owner, site, BOTH)
    run_with(monitored, site, with_alternative_texts())
    failed = with_alternative_texts("image-alt", "seo-image-alt")
    failed["accessibility"] = (make_finding("image-alt", LOW, "img"),)
    assert run_with(monitored, site, failed) == [{"new": ["image-alt"]}]


def test_fact_of_two_checks_is_reported_once(owner: Member, site: ScriptedSite) -> None:
    """The missing heading is part of the missing landmark.

    The accessibility scan reports the heading as part of the main landmark.
    """
    monitored = monitor_of(owner, site, BOTH)
    good: dict[str, tuple[CheckResult, ...]] = {
        "accessibility": (make_finding("landmark-one-main", status="pass"),),
        "seo": (make_finding("h1", status="pass"),),
    }
    run_with(monitored, site, good)
    site.columns = {
        "repeated_checks": (RepeatedCheck("page-has-heading-one", "Heading", "landmark-one-main", "No main"),)
    }
    bad: dict[str, tuple[CheckResult, ...]] = {
        "accessibility": (make_finding("landmark-one-main"),),
        "seo": (make_finding("h1"),),
    }
    assert run_with(monitored, site, bad) == [{"new": ["landmark-one-main"]}]
    site.columns = {}
    assert run_with(monitored, site, good) == [{"fixed": ["landmark-one-main"]}]


def test_unchanged_page_has_no_repeats() -> None:
    assert repeated_changes({}, {}) == {}
    assert repeated_changes({ScanType.SEO: []}, {ScanType.SEO: (None, {"repeated_checks": []})}) == {ScanType.SEO: []}  # type: ignore[typeddict-item]  # not read
