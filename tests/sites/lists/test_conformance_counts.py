"""Tests that sites are counted by success criterion while the results of a run are counted."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from scans.models import Scan
from sites.lists.conformance_counts import SiteConformance
from sites.models import ListCount, ListEntry, ListRun
from sites.models.site_list import empty_conformance_counts
from tests.factories import Member, member_of
from tests.sites.lists.running import UNREACHABLE, FakeWorker, ScriptedResult, make_check, make_numbered_list
from website_scan.accessibility.standards import Standard
from website_scan.result import CheckStatus

migration = import_module("sites.migrations.0036_conformance_of_runs")
CONTRAST: dict[str, CheckStatus] = {"color-contrast": "fail"}
# link-name concerns 2.4.4 and 4.1.2 (A), button-name 4.1.2 (A), color-contrast 1.4.3 (AA).
CHECKS_OF_SITES: tuple[dict[str, CheckStatus] | None, ...] = (
    {"link-name": "fail", "color-contrast": "fail"},
    {"link-name": "warn", "button-name": "fail"},
    CONTRAST,
    {"color-contrast": "warn"},
    {"link-name": "pass"},
    None,
    *(CONTRAST,) * 6,
)


@pytest.fixture
def owner(db: None) -> Member:
    return member_of("Owner", "business")


def result_of(scan: Scan) -> ScriptedResult:
    statuses = CHECKS_OF_SITES[int(scan.host.split(".")[0].removeprefix("site-"))]
    if statuses is None:
        return UNREACHABLE
    return 60, [make_check(check, status) for check, status in statuses.items()] if scan.type == "accessibility" else []


def test_criteria_of_a_site_follow_from_its_checks() -> None:
    site = SiteConformance.of_statuses(
        {"link-name": "warn", "button-name": "fail", "color-contrast": "fail", "hsts": "fail", "title": "pass"}
    )
    assert site.failed == frozenset({"4.1.2", "1.4.3"})
    assert site.to_review == frozenset({"2.4.4"})
    assert site.lowest_levels == dict.fromkeys(Standard, "A")
    # Only WCAG 2.2 has criterion 2.5.8.
    newer = SiteConformance.of_statuses({"target-size": "fail"})
    assert newer.failed == frozenset({"2.5.8"})
    assert newer.lowest_levels == {"wcag22": "AA"}


def test_sites_of_a_run_are_counted_by_criterion(owner: Member) -> None:
    towns = make_numbered_list(owner, len(CHECKS_OF_SITES), types=["accessibility", "seo"])
    ListEntry.objects.filter(host__in=["site-2.example.com", "site-5.example.com"]).update(tags=["north"])
    run = FakeWorker(result_of).run(towns)
    counts_by_tag = {count.tag: count.conformance for count in run.counts.all()}
    ids = {url: id for id, url in run.results.order_by("position").values_list("id", "url")}

    def first(*numbers: int) -> list[int]:
        """Return the IDs of the first five of these sites, in the order of the run."""
        urls = {f"https://site-{number}.example.com/" for number in numbers}
        return [id for url, id in ids.items() if url in urls][:5]

    assert counts_by_tag[""]["criteria"] == {
        "2.4.4": {"failed": 1, "to_review": 1, "first_failed": first(0), "first_to_review": first(1)},
        "4.1.2": {"failed": 2, "to_review": 0, "first_failed": first(0, 1), "first_to_review": []},
        "1.4.3": {"failed": 8, "to_review": 1, "first_failed": first(0, 2, *range(6, 12)), "first_to_review": first(3)},
    }
    assert counts_by_tag[""]["failed_sites"] == {standard: {"A": 2, "AA": 7} for standard in Standard}
    assert {number: row["failed"] for number, row in counts_by_tag["north"]["criteria"].items()} == {"1.4.3": 1}


def test_migration_counts_the_latest_runs(owner: Member) -> None:
    towns = make_numbered_list(owner, len(CHECKS_OF_SITES), types=["accessibility"])
    ListEntry.objects.filter(host="site-2.example.com").update(tags=["north"])
    older, run = FakeWorker(result_of).run(towns), FakeWorker(result_of).run(towns)
    expected = dict(run.counts.values_list("tag", "conformance"))
    assert set(expected) == {"", "north"}
    ListCount.objects.update(conformance=empty_conformance_counts())
    with connection.schema_editor(atomic=False) as editor:
        migration.count_runs(apps, editor)
    assert dict(run.counts.values_list("tag", "conformance")) == expected
    assert older.counts.get(tag="").conformance == empty_conformance_counts()


def test_migration_counts_running_runs(owner: Member) -> None:
    towns = make_numbered_list(owner, len(CHECKS_OF_SITES), types=["accessibility"])
    run = FakeWorker(result_of).run(towns)
    expected = dict(run.counts.values_list("tag", "conformance"))
    ListRun.objects.update(status="running", ended_at=None)
    ListCount.objects.update(conformance=empty_conformance_counts())
    with connection.schema_editor(atomic=False) as editor:
        migration.count_runs(apps, editor)
    assert dict(run.counts.values_list("tag", "conformance")) == expected


def test_runs_of_other_types_have_no_counts(owner: Member) -> None:
    run = FakeWorker(result_of).run(make_numbered_list(owner, 2, types=["seo"]))
    assert run.counts.get(tag="").conformance == empty_conformance_counts()
