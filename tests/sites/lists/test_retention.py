"""Tests for the retention of snapshots and single-entry scans."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from infrastructure.postgresql import deletion
from sites.lists.snapshots import figures
from sites.models import ListCount, ListResult, ListRun, ListShare
from sites.retention import delete_snapshots
from tests.factories import Member
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, make_share, snapshot

NOW = timezone.now()
SITES = [SnapshotSite(f"https://{letter}.example/", {"seo": 70}, "p", ("x",)) for letter in "abc"]


def test_snapshots_expire_with_the_plan(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "BATCH", 2)
    site_list = make_list(home)
    runs = {
        (days, kept_days): snapshot(site_list, SITES, at=NOW - timedelta(days=days), kept_days=kept_days)
        for days in (1, 31, 400, 4_000)
        for kept_days in (30, 365, None)
    }
    running = snapshot(site_list, SITES, at=NOW - timedelta(days=99), kept_days=30, status="running", ended_at=None)
    shares = [make_share(site_list, run) for run in (None, *runs.values())]
    # An entry keeps its scores without the snapshot of its latest result.
    entry = site_list.entries.get(url=SITES[0].url)
    old = runs[400, 365].results.get(entry=entry)
    entry.result = old
    entry.seo_score = 70
    entry.save()
    delete_snapshots()
    expected_keys = {(1, 30), (1, 365), (31, 365), (1, None), (31, None), (400, None), (4_000, None)}
    expected_ids = {runs[key].id for key in expected_keys} | {running.id}
    assert set(ListRun.objects.values_list("id", flat=True)) == expected_ids
    assert set(ListResult.objects.values_list("run_id", flat=True)) == expected_ids
    assert set(ListCount.objects.values_list("run_id", flat=True)) == expected_ids
    assert ListShare.objects.count() == len(shares) - (len(runs) - len(expected_keys))
    entry.refresh_from_db()
    assert entry.result is None
    assert entry.seo_score == 70
    assert figures(runs[1, 30])["judged"] == 3


def test_latest_single_scan_is_kept(home: Member) -> None:
    site_list = make_list(home)
    snapshot(site_list, SITES[:1])
    entry = site_list.entries.get()
    results_by_age = {
        days: ListResult.objects.create(
            site_list=site_list,
            entry=entry,
            starts_at=NOW - timedelta(days=days),
            ended_at=NOW - timedelta(days=days),
            status="done",
            url=entry.url,
        )
        for days in (1, 29, 31, 90)
    }
    started_at = NOW - timedelta(days=99)
    unfinished = ListResult.objects.create(site_list=site_list, entry=entry, starts_at=started_at, url=entry.url)
    entry.result = results_by_age[90]
    entry.save()
    delete_snapshots()
    remaining_ids = set(ListResult.objects.filter(run=None).values_list("id", flat=True))
    assert remaining_ids == {results_by_age[1].id, results_by_age[29].id, results_by_age[90].id, unfinished.id}


def test_deletion_stops_at_its_time_limit(home: Member) -> None:
    snapshot(make_list(home), SITES, at=NOW - timedelta(days=9), kept_days=1)
    assert delete_snapshots(lambda: False) is False
    assert ListRun.objects.count() == 1
    assert delete_snapshots() is True
