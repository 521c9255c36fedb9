"""/metrics: its values compared with the rows, and access to it."""

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

SAID = ScanError("NOT_REACHABLE", "It does not answer.")


@pytest.fixture(autouse=True)
def token(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(servers, "queues_of_workers", lambda: {"worker@here": ["scans", "maintenance"]})
    views._metrics_cache.clear()
    counters.counters.reset()


def end(scan: Scan, *, cpu_s: float | None, error: ScanError = SAID) -> None:
    claim = claims.claim_scan(scan.id)
    assert claim is not None
    results = [failed_result(each, scan.url, timezone.now(), error) for each in claim.types]
    assert claims.finish_scan(claim, *results, cpu_s=cpu_s)


def ended(of: Samples) -> dict[str, float]:
    return {name: value for name, value in of.items() if name.startswith("scans_ended_total")}


def test_a_scan_that_never_started_has_no_duration_and_no_clock_makes_one_negative(home: Member) -> None:
    now = timezone.now()
    early = timedelta(seconds=3)
    waiting = make_scan(home, status="failed", created_at=now, completed_at=now)
    fast = make_scan(home, status="failed", created_at=now, started_at=now - early, completed_at=now - 2 * early)
    slow = make_scan(home, status="failed", created_at=now, started_at=now + early, completed_at=now + 2 * early)
    for scan in (waiting, fast, slow):
        tallies.note_ends([scan], None)
    noted = EndedScan.objects.order_by("id").values_list("waited_ms", "duration_ms", "cpu_ms")
    assert list(noted) == [(None, None, None), (0, 0, None), (3000, 3000, None)]


def test_without_a_token_there_is_nothing(db: None, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    for header in ("", "Bearer ", f"Bearer {TOKEN}"):
        assert Client().get("/metrics", headers={"Authorization": header}).status_code == 404


@pytest.mark.parametrize("header", ["", TOKEN, "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"])
def test_with_another_token_it_is_a_401(header: str) -> None:
    response = Client().get("/metrics", headers={"Authorization": header})
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")


def test_whatever_the_host_header(db: None) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "10.1.2.3:8000"}
    response = Client().get("/metrics", headers=headers)
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert Client().post("/metrics", headers=headers).status_code == 405


def test_visits_are_counted_by_queue_and_by_whether_somebody_waits(home: Member) -> None:
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
    found = scrape()
    assert found['visits_queued{class="interactive",queue="scans"}'] == 2
    assert found['visits_queued{class="background",queue="scans"}'] == 1
    assert found['visits_queued{class="interactive",queue="browser"}'] == 0
    assert 90 <= found['oldest_visit_seconds{class="interactive",queue="scans"}'] < 150
    assert found['oldest_visit_seconds{class="background",queue="browser"}'] == 0
    assert found['visits_running{class="interactive",queue="scans"}'] == 1
    assert found["visits_interrupted"] == 1
    assert found['queue_workers{queue="scans"}'] == 1
    assert found['queue_workers{queue="webhooks"}'] == 0


def test_each_scan_that_ends_is_counted_once_whenever_it_is_added_up(home: Member) -> None:
    lead = make_scan(home, type="security", created_at=timezone.now() - timedelta(seconds=7))
    make_scan(home, type="seo", lead=lead)
    end(lead, cpu_s=3.0)
    end(make_scan(home, type="seo", is_background=True), cpu_s=None)
    claims.fail_visit(Scan.objects.of_visit(make_scan(home, type="seo").id), ScanError("SCAN_CANCELLED", "No."))
    before = scrape()
    expected = {
        'scans_ended_total{class="background",reason="NOT_REACHABLE",status="failed",type="seo"}': 1,
        'scans_ended_total{class="interactive",reason="NOT_REACHABLE",status="failed",type="security"}': 1,
        'scans_ended_total{class="interactive",reason="NOT_REACHABLE",status="failed",type="seo"}': 1,
        'scans_ended_total{class="interactive",reason="SCAN_CANCELLED",status="failed",type="seo"}': 1,
    }
    assert ended(before) == expected
    # Two scans of one visit share its 3 seconds; a cancelled scan has taken no time.
    assert before['scan_cpu_seconds_sum{type="seo"}'] == 1.5
    assert before['scan_cpu_seconds_bucket{le="1.0",type="seo"}'] == 0
    assert before['scan_cpu_seconds_bucket{le="2.0",type="seo"}'] == 1
    assert before['scan_cpu_seconds_count{type="seo"}'] == 1
    assert before['scan_duration_seconds_count{type="seo"}'] == 2
    assert before['scan_wait_seconds_bucket{class="interactive",le="5.0"}'] == 1
    assert before['scan_wait_seconds_bucket{class="interactive",le="10.0"}'] == 2
    tallies.add_up()
    tallies.add_up()
    assert not EndedScan.objects.exists()
    after = scrape()
    assert {name: after[name] for name in before if name.startswith("scan")} == {
        name: value for name, value in before.items() if name.startswith("scan")
    }


def test_deleting_scans_takes_nothing_back(home: Member) -> None:
    end(make_scan(home, type="seo"), cpu_s=0.5)
    tallies.add_up()
    before = ended(scrape())
    Scan.objects.all().delete()
    end(make_scan(home, type="seo"), cpu_s=0.5)
    (name,) = before
    assert ended(scrape()) == {name: 2}
    tallies.add_up()
    assert ended(scrape()) == {name: 2}
    assert set(ScanTally.objects.filter(name="ended").values_list("value", flat=True)) == {2}


def test_a_time_on_a_bound_is_in_its_bucket(db: None) -> None:
    for milliseconds in (500, 501, 90_000, 90_001):
        EndedScan.objects.create(
            type="seo", status="completed", error_code="", is_background=False, duration_ms=milliseconds
        )
    found = scrape()
    counts = [
        found[f'scan_duration_seconds_bucket{{le="{le}",type="seo"}}'] for le in ("0.5", "1.0", "60.0", "90.0", "+Inf")
    ]
    assert counts == [1, 2, 2, 3, 4]
    assert found['scan_duration_seconds_sum{type="seo"}'] == 181.002


def test_requests_are_counted_by_route_and_never_by_address(home: Member) -> None:
    home.api.get("/v1/scan/scan_secret")
    home.api.get("/v1/usage")
    home.api.get("/v1/usage")
    Client().get("/report/nothing-of-this-is-known")
    Client().get("/wp-login.php")
    Client().generic("BREW", "/v1/teapot")
    found = scrape()
    counted = {name: value for name, value in found.items() if name.startswith("http_requests_total")}
    assert counted == {
        'http_requests_total{method="GET",route="/v1/scan/<any:scan_id>",status="404"}': 1,
        'http_requests_total{method="GET",route="/v1/usage",status="200"}': 2,
        'http_requests_total{method="GET",route="/report/<any:scan_id>",status="302"}': 1,
        'http_requests_total{method="GET",route="unknown",status="404"}': 1,
        'http_requests_total{method="other",route="unknown",status="405"}': 1,
    }
    assert found['http_request_duration_seconds_count{route="/v1/usage"}'] == 2
    assert 0 < found['http_request_duration_seconds_sum{route="/v1/usage"}'] < 60
    assert 0 < found['http_request_cpu_seconds_total{route="/v1/usage"}'] < 60
    assert found['refusals_total{code="SCAN_NOT_FOUND"}'] == 1


def test_what_redis_did_not_take_goes_with_the_next_time(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = counters.Counter("website_scan_browser_starts", "")
    ours = counters.counters
    with monkeypatch.context() as broken:
        broken.setattr(ours, "_client", redis.Redis(port=1, **settings.REDIS_TIMEOUTS))
        counters.count(counter, by=2)
        ours.hand_over()
    counters.count(counter)
    assert ours.totals() == {("website_scan_browser_starts",): 3}
    assert ours.totals() == {("website_scan_browser_starts",): 3}


def test_a_thread_hands_over_by_itself(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "HAND_OVER_EVERY_S", 0.01)
    process = counters.Counters()
    process.add([(("some", "where"), 1)])
    deadline = time.monotonic() + 60
    while not counters.counters.totals() and time.monotonic() < deadline:
        pass
    monkeypatch.setattr(counters, "HAND_OVER_EVERY_S", 3600)
    assert counters.counters.totals() == {("some", "where"): 1}


def test_without_postgresql_it_says_so_and_what_it_knows(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Iterator[object]:
        raise OperationalError("gone")

    monkeypatch.setattr(rows, "fetch", fail)
    found = scrape()
    assert (found['up{server="postgresql"}'], found['up{server="redis"}']) == (0, 1)
    assert 'queue_messages{queue="scans"}' in found
    assert "mails_waiting" not in found


def test_who_asks_while_it_is_collected_gets_what_is_new() -> None:
    """An old cached result may be lower than another process' newer one: counters would appear to be reset."""
    collected = itertools.count(1)
    is_collecting, may_end = threading.Event(), threading.Event()
    may_end.set()

    def collect() -> Iterator[Metric]:
        is_collecting.set()
        assert may_end.wait(30)
        yield Metric(f"number_{next(collected)}", "", "gauge")

    latest = views._MetricsCache(collect)

    def told() -> list[str]:
        return [each.name for each in latest.get() or ()]

    assert told() == told() == ["number_1"], "kept for a while"
    latest._until = 0.0
    is_collecting.clear()
    may_end.clear()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(told)
        assert is_collecting.wait(30)
        second = pool.submit(told)
        wait_until(lambda: second.running() or second.done(), 30)
        may_end.set()
        assert (first.result(30), second.result(30)) == (["number_2"], ["number_2"])


def test_nobody_waits_for_ever_for_what_another_collects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PATIENCE_S", 0.01)
    latest = views._MetricsCache(lambda: iter(()))
    with latest._lock:
        assert latest.get() is None


def test_the_types_of_a_visit_are_known_to_the_histograms() -> None:
    assert {str(each) for each in ScanType} == set(Scan.Type.values)
