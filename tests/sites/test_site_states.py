"""Tests for the current state of sites."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.migrations.state import ProjectState
from django.utils import timezone

from reports.models import Mute
from reports.mutes.requests import MuteRequest
from reports.mutes.services import create_mute, end_mute
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites import site_states
from sites.models import SiteFinding, SiteState
from sites.retention import delete_site_states
from tests.factories import Member, finished_scan, key_caller, make_result, make_scan
from tests.results import check_of
from website_scan.findings import CRITICAL, HIGH
from website_scan.result import CategoryResult, ScanError, SkippedCheck
from website_scan.security_categories import SecurityCategory

HOST = "example.com"
ENV = check_of(
    "env", "Environment file", "Environment file is public", "fail", CRITICAL, CRITICAL, "It is.", "Hide it."
)
BAD = check_of("bad", "Bad thing", "Bad thing found", "fail", HIGH, HIGH, "It is bad.", "Mend it.")


def scan_with(member: Member, *checks: Any, url: str = "https://example.com/", score: int = 71, **columns: Any) -> Scan:
    """Finish a scan whose report has these checks."""
    scan = make_scan(member, url=url, **columns)
    claim = claim_scan(scan.id)
    assert claim is not None
    categories = (CategoryResult("things", "Things", 10, checks, score),) if checks else ()
    assert finish_scan(claim, make_result(scan, categories=categories, score=score))
    return scan


def scan_light(member: Member, url: str) -> None:
    """Finish a scan of chosen categories."""
    scan = make_scan(member, url=url, categories=["mail"])
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, chosen_categories=(SecurityCategory.MAIL,)))


def fail_scan(member: Member, code: str, url: str = "https://example.com/") -> None:
    scan = make_scan(member, url=url)
    claim = claim_scan(scan.id)
    assert claim is not None
    error = ScanError(code, "The page does not answer.")
    assert finish_scan(claim, make_result(scan, "failed", error=error, score=None, grade=None, categories=()))


def mute(member: Member, **scope: str) -> Mute:
    everything = {"check_id": "env", "host": HOST, "path_prefix": "", "outcome": "", "fingerprint": ""}
    request = MuteRequest(**everything | scope, reason="Known.", expires_at=None)
    return create_mute(caller=key_caller(member.organization.id), request=request)[0]


def state(host: str = HOST) -> SiteState:
    return SiteState.objects.get(host=host)


def level(host: str = HOST) -> int:
    return state(host).urgency // SiteState.LEVEL_STEP


def open_checks() -> list[str]:
    return sorted(SiteFinding.objects.filter(fixed_at=None).values_list("check_id", flat=True))


def test_state_counts_urgent_checks_of_all_pages(home: Member) -> None:
    scan_with(home, BAD, ENV)
    scan_with(home, BAD, url="https://example.com/shop")
    row = state()
    assert (row.critical, row.high, row.security_score, row.security_grade) == (1, 1, 71, "C")
    assert (row.urgency, row.lowest_score, row.url) == (71, 71, "https://example.com/")
    assert SiteFinding.objects.count() == 3


def test_later_scan_fixes_and_reopens_findings(home: Member) -> None:
    scan_with(home, BAD, ENV)
    assert not SiteFinding.objects.filter(is_new=True).exists(), "there was no scan before"
    scan_with(home, BAD, score=90)
    fixed = SiteFinding.objects.get(check_id="env")
    assert (fixed.fixed_at is not None, open_checks()) == (True, ["bad"])
    assert (state().critical, level()) == (0, SiteState.Level.HIGH)
    scan_with(home, ENV)
    again = SiteFinding.objects.get(check_id="env")
    assert (again.fixed_at, again.is_new, again.since > fixed.since) == (None, True, True)
    assert level() == SiteState.Level.CRITICAL


def test_check_that_could_not_run_stays_open(home: Member) -> None:
    scan_with(home, ENV)
    scan = make_scan(home)
    claim = claim_scan(scan.id)
    assert claim is not None
    skipped = (SkippedCheck("env", "Environment file", "The site did not answer in time.", "timeout"),)
    finish_scan(claim, make_result(scan, "partial", categories=(), skipped_checks=skipped))
    assert open_checks() == ["env"]


def test_start_page_becomes_the_main_page(home: Member) -> None:
    scan_with(home, url="https://example.com/shop", score=40)
    scan_with(home, url="https://example.com/about", score=30)
    assert (state().url, state().security_score) == ("https://example.com/shop", 40)
    scan_with(home, type="seo", score=90)
    row = state()
    assert (row.url, row.security_score, row.seo_score, row.lowest_score) == ("https://example.com/", None, 90, 90)


def test_scan_of_chosen_categories_replaces_no_scores(home: Member) -> None:
    scan_with(home, url="https://example.com/shop", score=40)
    scan_light(home, "https://example.com/")
    row = state()
    assert (row.url, row.security_score, row.lowest_score) == ("https://example.com/shop", 40, 40)
    scan_with(home, url="https://example.com/shop", score=50)
    assert state().security_score == 50


def test_site_with_only_chosen_categories_gets_scores_later(home: Member) -> None:
    scan_light(home, "https://example.com/")
    assert (state().url, state().security_score) == ("https://example.com/", None)
    scan_with(home, url="https://example.com/shop", score=40)
    assert (state().url, state().security_score) == ("https://example.com/shop", 40)


def test_failed_scan_of_the_main_page_is_an_outage(home: Member) -> None:
    scan_with(home)
    assert level() == SiteState.Level.FINE
    fail_scan(home, "TARGET_STATUS", "https://example.com/gone")
    fail_scan(home, "INTERNAL_ERROR")
    assert state().failing_since is None
    fail_scan(home, "TIMEOUT")
    row = state()
    assert (row.error_message, level(), row.security_score) == ("The page does not answer.", 1, 71)
    scan_with(home)
    assert (state().failing_since, state().error_message, level()) == (None, "", SiteState.Level.FINE)


def test_cancelled_scan_creates_no_state(home: Member) -> None:
    fail_scan(home, "SCAN_CANCELLED")
    assert not SiteState.objects.exists()


@pytest.mark.parametrize(
    ("scope", "is_muted"),
    [
        ({}, True),
        ({"outcome": "other"}, False),
        ({"path_prefix": "/shop"}, True),
        ({"path_prefix": "/sho"}, False),
        ({"host": "www.example.com"}, False),
        ({"fingerprint": "0123456789abcdef"}, False),
    ],
)
def test_mutes_hide_findings_from_the_state(home: Member, scope: dict[str, str], is_muted: bool) -> None:
    scan_with(home, ENV, url="https://example.com/shop/teas?page=2")
    created = mute(home, **scope)
    assert state().critical == (0 if is_muted else 1)
    end_mute(caller=key_caller(home.organization.id), mute_id=created.id)
    assert state().critical == 1


def test_mutes_of_all_places_hide_a_finding(home: Member) -> None:
    finished_scan(home)
    (place,) = SiteFinding.objects.get().fingerprints
    mute(home, check_id="bad", fingerprint=place)
    assert state().high == 0
    SiteFinding.objects.update(is_cut=True)
    site_states.refresh_states(home.organization.id, [HOST], timezone.now())
    assert state().high == 1


def test_expired_mute_no_longer_hides_findings(home: Member) -> None:
    scan_with(home, ENV)
    mute(home)
    assert state().critical == 0
    Mute.objects.update(expires_at=timezone.now() - timedelta(minutes=30))
    site_states.refresh_after_expired_mutes(timezone.now())
    assert state().critical == 1


def test_organizations_have_separate_states(home: Member, stranger: Member) -> None:
    scan_with(home, ENV)
    scan_with(stranger, BAD)
    rows = dict(SiteState.objects.values_list("organization_id", "critical"))
    assert rows == {home.organization.id: 1, stranger.organization.id: 0}


def test_retention_deletes_old_findings_and_states(home: Member) -> None:
    scan_with(home, ENV, BAD)
    now = timezone.now()
    SiteFinding.objects.filter(check_id="env").update(fixed_at=now - timedelta(days=15))
    assert delete_site_states()
    assert open_checks() == ["bad"]
    SiteFinding.objects.update(expires_at=now)
    SiteState.objects.update(scanned_at=now - timedelta(days=2))
    assert delete_site_states()
    assert (SiteFinding.objects.count(), SiteState.objects.count()) == (0, 1)
    Scan.objects.all().delete()
    assert delete_site_states()
    assert not SiteState.objects.exists()


def test_migration_fills_states_from_reports(home: Member) -> None:
    scan_with(home, ENV, BAD)
    scan_with(home, BAD, score=55, type="seo")
    scan_with(home, ENV, url="https://shop.example.com/x", score=33)
    columns = ("host", "url", "critical", "high", "urgency", "lowest_score", "security_grade", "seo_score")
    written = sorted(SiteState.objects.values_list(*columns))
    findings = sorted(SiteFinding.objects.values_list("host", "check_id", "severity", "title", "outcome"))
    SiteState.objects.all().delete()
    SiteFinding.objects.all().delete()
    migration = import_module("sites.migrations.0015_site_states")
    with transaction.atomic(), connection.schema_editor(atomic=False) as editor:
        migration.Migration.operations[-1].database_forwards("sites", editor, ProjectState(), ProjectState())
    assert sorted(SiteState.objects.values_list(*columns)) == written
    assert sorted(SiteFinding.objects.values_list("host", "check_id", "severity", "title", "outcome")) == findings
