"""Retention of snapshots by plan, and of scans of single entries."""

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
from tests.sites.lists.snapshot_cast import Looked, share_of, snapshot

NOW = timezone.now()
SITES = [Looked(f"https://{each}.example/", {"seo": 70}, "p", ("x",)) for each in "abc"]


def test_snapshots_expire_after_the_retention_of_the_plan(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "BATCH", 2)
    site_list = make_list(home)
    runs = {
        (days, kept_days): snapshot(site_list, SITES, at=NOW - timedelta(days=days), kept_days=kept_days)
        for days in (1, 31, 400, 4_000)
        for kept_days in (30, 365, None)
    }
    running = snapshot(site_list, SITES, at=NOW - timedelta(days=99), kept_days=30, status="running", ended_at=None)
    shares = [share_of(site_list, each) for each in (None, *runs.values())]
    # What an entry shows goes on, when the snapshot has gone.
    entry = site_list.entries.get(url=SITES[0].url)
    old = runs[400, 365].results.get(entry=entry)
    entry.result = old
    entry.seo_score = 70
    entry.save()
    delete_snapshots()
    left = {(1, 30), (1, 365), (31, 365), (1, None), (31, None), (400, None), (4_000, None)}
    kept = {runs[each].id for each in left} | {running.id}
    assert set(ListRun.objects.values_list("id", flat=True)) == kept
    assert set(ListResult.objects.values_list("run_id", flat=True)) == kept
    assert set(ListCount.objects.values_list("run_id", flat=True)) == kept
    assert ListShare.objects.count() == len(shares) - (len(runs) - len(left))
    entry.refresh_from_db()
    assert entry.result is None
    assert entry.seo_score == 70
    assert figures(runs[1, 30])["judged"] == 3


def test_single_scan_is_stored_while_latest_and_for_a_month(home: Member) -> None:
    site_list = make_list(home)
    snapshot(site_list, SITES[:1])
    entry = site_list.entries.get()
    looks = {
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
    begun = NOW - timedelta(days=99)
    going = ListResult.objects.create(site_list=site_list, entry=entry, starts_at=begun, url=entry.url)
    entry.result = looks[90]
    entry.save()
    delete_snapshots()
    left = set(ListResult.objects.filter(run=None).values_list("id", flat=True))
    assert left == {looks[1].id, looks[29].id, looks[90].id, going.id}


def test_deletion_of_snapshots_stops_at_its_time_limit(home: Member) -> None:
    snapshot(make_list(home), SITES, at=NOW - timedelta(days=9), kept_days=1)
    assert delete_snapshots(lambda: False) is False
    assert ListRun.objects.count() == 1
    assert delete_snapshots() is True
