"""Tests for /metrics."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import redis
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from prometheus_client.metrics_core import Metric
from pytest_django import Settings

from infrastructure.telemetry import counters
from operations.metrics import endpoint as views
from operations.metrics import rows, servers
from scans.models import EndedScan, Scan, ScanTally
from scans.visits import claims, tallies
from tests.factories import Member, make_scan
from tests.operations.metrics.scraping import TOKEN, Samples, scrape
from tests.operations.stack.processes import wait_until
from website_scan.findings import ScanType
from website_scan.result import ScanError
from website_scan.run import failed_result

ERROR = ScanError("NOT_REACHABLE", "It does not answer.")


@pytest.fixture(autouse=True)
def token(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(servers, "queues_of_workers", lambda: {"worker@here": ["scans", "maintenance"]})
    views._latest.forget()
    counters.counters.reset()


def finish(scan: Scan, *, cpu_s: float | None, error: ScanError = ERROR) -> None:
    claim = claims.claim_scan(scan.id)
    assert claim is not None
    results = [failed_result(scan_type, scan.url, timezone.now(), error) for scan_type in claim.types]
    assert claims.finish_scan(claim, *results, cpu_s=cpu_s)


def ended_scan_counts(samples: Samples) -> dict[str, float]:
    return {name: value for name, value in samples.items() if name.startswith("scans_ended_total")}


def test_tallies_are_never_negative(home: Member) -> None:
    now = timezone.now()
    early = timedelta(seconds=3)
    waiting = make_scan(home, status="failed", created_at=now, completed_at=now)
    fast = make_scan(home, status="failed", created_at=now, started_at=now - early, completed_at=now - 2 * early)
    slow = make_scan(home, status="failed", created_at=now, started_at=now + early, completed_at=now + 2 * early)
    for scan in (waiting, fast, slow):
        tallies.record_ended_scans([scan], None)
    rows = EndedScan.objects.order_by("id").values_list("waited_ms", "duration_ms", "cpu_ms")
    assert list(rows) == [(None, None, None), (0, 0, None), (3000, 3000, None)]


def test_metrics_is_404_without_METRICS_TOKEN(db: None, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    for header in ("", "Bearer ", f"Bearer {TOKEN}"):
        assert Client().get("/metrics", headers={"Authorization": header}).status_code == 404


@pytest.mark.parametrize("header", ["", TOKEN, "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"])
def test_metrics_with_a_wrong_token_returns_401(header: str) -> None:
    response = Client().get("/metrics", headers={"Authorization": header})
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")


def test_metrics_accept_any_Host_header(db: None) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "10.1.2.3:8000"}
    response = Client().get("/metrics", headers=headers)
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert Client().post("/metrics", headers=headers).status_code == 405


def test_visits_are_labelled_by_queue_and_class(home: Member) -> None:
    now = timezone.now()
    make_scan(home, type="seo", created_at=now - timedelta(seconds=90))
    lead = make_scan(home, type="seo")
    make_scan(home, type="security", lead=lead)
    make_scan(home, type="seo", is_background=True)
    running = make_scan(home, type="security")
    assert claims.claim_scan(running.id) is not None
    died = make_scan(home, type="security")
    assert claims.claim_scan(died.id) is not None
    Scan.objects.filter(id=died.id).update(lease_expires_at=now - timedelta(minutes=1))
    samples = scrape()
    assert samples['visits_queued{class="interactive",queue="scans"}'] == 2
    assert samples['visits_queued{class="background",queue="scans"}'] == 1
    assert samples['visits_queued{class="interactive",queue="browser"}'] == 0
    assert 90 <= samples['oldest_visit_seconds{class="interactive",queue="scans"}'] < 150
    assert samples['oldest_visit_seconds{class="background",queue="browser"}'] == 0
    assert samples['visits_running{class="interactive",queue="scans"}'] == 1
    assert samples["visits_interrupted"] == 1
    assert samples['queue_workers{queue="scans"}'] == 1
    assert samples['queue_workers{queue="webhooks"}'] == 0


def test_tallying_does_not_change_the_metrics(home: Member) -> None:
    lead = make_scan(home, type="security", created_at=timezone.now() - timedelta(seconds=7))
    make_scan(home, type="seo", lead=lead)
    finish(lead, cpu_s=3.0)
    finish(make_scan(home, type="seo", is_background=True), cpu_s=None)
    claims.fail_visit(Scan.objects.of_visit(make_scan(home, type="seo").id), ScanError("SCAN_CANCELLED", "No."))
    before = scrape()
    expected = {
        'scans_ended_total{class="background",reason="NOT_REACHABLE",status="failed",type="seo"}': 1,
        'scans_ended_total{class="interactive",reason="NOT_REACHABLE",status="failed",type="security"}': 1,
        'scans_ended_total{class="interactive",reason="NOT_REACHABLE",status="failed",type="seo"}': 1,
        'scans_ended_total{class="interactive",reason="SCAN_CANCELLED",status="failed",type="seo"}': 1,
    }
    assert ended_scan_counts(before) == expected
    # Two scans share the visit's 3 seconds, and the cancelled scan took no time.
    assert before['scan_cpu_seconds_sum{type="seo"}'] == 1.5
    assert before['scan_cpu_seconds_bucket{le="1.0",type="seo"}'] == 0
    assert before['scan_cpu_seconds_bucket{le="2.0",type="seo"}'] == 1
    assert before['scan_cpu_seconds_count{type="seo"}'] == 1
    assert before['scan_duration_seconds_count{type="seo"}'] == 2
    assert before['scan_wait_seconds_bucket{class="interactive",le="5.0"}'] == 1
    assert before['scan_wait_seconds_bucket{class="interactive",le="10.0"}'] == 2
    tallies.tally_ended_scans()
    tallies.tally_ended_scans()
    assert not EndedScan.objects.exists()
    after = scrape()
    assert {name: after[name] for name in before if name.startswith("scan")} == {
        name: value for name, value in before.items() if name.startswith("scan")
    }


def test_deleted_scans_remain_in_the_total(home: Member) -> None:
    finish(make_scan(home, type="seo"), cpu_s=0.5)
    tallies.tally_ended_scans()
    before = ended_scan_counts(scrape())
    Scan.objects.all().delete()
    finish(make_scan(home, type="seo"), cpu_s=0.5)
    (name,) = before
    assert ended_scan_counts(scrape()) == {name: 2}
    tallies.tally_ended_scans()
    assert ended_scan_counts(scrape()) == {name: 2}
    assert set(ScanTally.objects.filter(name="ended").values_list("value", flat=True)) == {2}


def test_histogram_bucket_includes_its_upper_bound(db: None) -> None:
    for milliseconds in (500, 501, 90_000, 90_001):
        EndedScan.objects.create(
            type="seo", status="completed", error_code="", is_background=False, duration_ms=milliseconds
        )
    samples = scrape()
    counts = [
        samples[f'scan_duration_seconds_bucket{{le="{le}",type="seo"}}']
        for le in ("0.5", "1.0", "60.0", "90.0", "+Inf")
    ]
    assert counts == [1, 2, 2, 3, 4]
    assert samples['scan_duration_seconds_sum{type="seo"}'] == 181.002


def test_http_metrics_have_routes(home: Member) -> None:
    home.api.get("/v1/scan/scan_secret")
    home.api.get("/v1/usage")
    home.api.get("/v1/usage")
    Client().get("/report/nothing-of-this-is-known")
    Client().get("/wp-login.php")
    Client().generic("BREW", "/v1/teapot")
    samples = scrape()
    requests = {name: value for name, value in samples.items() if name.startswith("http_requests_total")}
    assert requests == {
        'http_requests_total{method="GET",route="/v1/scan/<any:scan_id>",status="404"}': 1,
        'http_requests_total{method="GET",route="/v1/usage",status="200"}': 2,
        'http_requests_total{method="GET",route="/report/<any:scan_id>",status="302"}': 1,
        'http_requests_total{method="GET",route="unknown",status="404"}': 1,
        'http_requests_total{method="other",route="unknown",status="405"}': 1,
    }
    assert samples['http_request_duration_seconds_count{route="/v1/usage"}'] == 2
    assert 0 < samples['http_request_duration_seconds_sum{route="/v1/usage"}'] < 60
    assert 0 < samples['http_request_cpu_seconds_total{route="/v1/usage"}'] < 60
    assert samples['refusals_total{code="SCAN_NOT_FOUND"}'] == 1


def test_failed_flush_is_repeated(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = counters.Counter("website_scan_browser_starts", "")
    process_counters = counters.counters
    with monkeypatch.context() as outage:
        outage.setattr(process_counters, "_client", redis.Redis(port=1, **settings.REDIS_TIMEOUTS))
        counters.count(counter, by=2)
        process_counters.flush()
    counters.count(counter)
    assert process_counters.totals() == {("website_scan_browser_starts",): 3}
    assert process_counters.totals() == {("website_scan_browser_starts",): 3}


def test_background_thread_flushes_counts(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "FLUSH_EVERY_S", 0.01)
    process = counters.Counters()
    process.add([(("some", "where"), 1)])
    deadline = time.monotonic() + 60
    while not counters.counters.totals() and time.monotonic() < deadline:
        pass
    monkeypatch.setattr(counters, "FLUSH_EVERY_S", 3600)
    assert counters.counters.totals() == {("some", "where"): 1}


def test_postgresql_outage_leaves_redis_metrics(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Iterator[object]:
        raise OperationalError("gone")

    monkeypatch.setattr(rows, "fetch", fail)
    samples = scrape()
    assert (samples['up{server="postgresql"}'], samples['up{server="redis"}']) == (0, 1)
    assert 'queue_messages{queue="scans"}' in samples
    assert "mails_waiting" not in samples


def test_request_waits_for_a_running_collection() -> None:
    """A cached counter may be lower than another process's newer one.

    The difference would look like a reset.
    """
    collected = itertools.count(1)
    is_collecting, may_end = threading.Event(), threading.Event()
    may_end.set()

    def collect() -> Iterator[Metric]:
        is_collecting.set()
        assert may_end.wait(30)
        yield Metric(f"number_{next(collected)}", "", "gauge")

    metrics_cache = views._MetricsCache(collect)

    def metric_names() -> list[str]:
        return [metric.name for metric in metrics_cache.get() or ()]

    assert metric_names() == metric_names() == ["number_1"], "cached for a while"
    metrics_cache._expires_at = 0.0
    is_collecting.clear()
    may_end.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(metric_names)
        assert is_collecting.wait(30)
        second = pool.submit(metric_names)
        wait_until(lambda: second.running() or second.done(), 30)
        may_end.set()
        assert (first.result(30), second.result(30)) == (["number_2"], ["number_2"])


def test_request_stops_waiting_for_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PATIENCE_S", 0.01)
    metrics_cache = views._MetricsCache(lambda: iter(()))
    with metrics_cache._lock:
        assert metrics_cache.get() is None


def test_both_scan_type_enums_have_the_same_values() -> None:
    assert {str(scan_type) for scan_type in ScanType} == set(Scan.Type.values)
