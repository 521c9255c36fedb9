"""Tests for audits with invalid requests and outages.

They also cover plan changes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kombu.exceptions import OperationalError as BrokerError
from msgspec.structs import replace

from accounts.closing.services import close_organization
from accounts.models import MonthlyUsage, Tier
from accounts.usage import month_of
from infrastructure import leases
from scans import tasks
from scans.models import BlockedDomain, IdempotencyRecord, Scan
from scans.visits import claims, overload
from scans.visits.claims import claim_next, finish_scan
from scans.visits.queue import Worker, running_visits
from scans.visits.sweeping import INTERRUPTED, sweep_scans
from sites.audits import discovering, dispatch, services
from sites.audits.dispatch import dispatch_pages
from sites.audits.sweeping import sweep_audits
from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from tests.factories import Member, finished_scan, make_result, make_scan
from tests.sites.audits.test_life import created, get_audit, page_urls, used_quota, visit
from website_scan.catalogue import Declaration
from website_scan.check_results import check_result
from website_scan.crawl.discovery.discover import Discovery
from website_scan.findings import HIGH, ScanType
from website_scan.outcomes import Fail, Fix
from website_scan.places import Element
from website_scan.result import CategoryResult
from website_scan.values import Excerpt

JANUARY = datetime(2027, 1, 31, 23, 59, tzinfo=UTC)


@pytest.fixture
def paying_member(home: Member) -> Member:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    return home


# Tests for request bodies:

urls = st.sampled_from(
    [
        "https://example.com/",
        "https://example.com/ä?b#c",
        "http://[::1]/",
        "ftp://x",
        "//",
        "",
        " ",
        "http://a b/",
        "x" * 5000,
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | urls,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "page": values | urls,
        "pages": values | st.lists(urls | values, max_size=12),
        "site": values | urls,
        "types": values | st.lists(st.sampled_from(["seo", "security", "SEO", ""]), max_size=6),
        "discover": values | st.lists(st.sampled_from(["sitemap", "links", "x"]), max_size=3),
        "max_pages": values | st.sampled_from([0, 1, 10, 2**63, -1, 1e308, True]),
        "include": values | st.lists(st.sampled_from(["/a*", "a", "/\0", "/\ud800", "*" * 501]), max_size=52),
        "exclude": values,
        "request": values,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=bodies)
def test_random_requests_are_answered(home: Member, body: dict[str, Any]) -> None:
    Tier.objects.update(requests_per_minute=1_000_000, scans_per_month=1_000_000)
    with mock.patch.object(services, "refuse_unreachable", return_value=None):
        response = home.api.post("/v1/audits", body)
    if response.status_code == 202:
        Audit.objects.all().delete()
        return
    assert 400 <= response.status_code < 500, response.content
    assert set(response.json()) - {"pages"} == {"code", "error"}
    assert response.json()["code"] in {
        "INVALID_TYPE",
        "INVALID_PARAMS",
        "INVALID_REQUEST_FIELD",
        "INVALID_URL",
        "INVALID_PAGES",
        "DOMAIN_BLOCKED",
    }
    assert len(response.content) < 20_000


def test_duplicate_pages_are_scanned_once(paying_member: Member) -> None:
    same = ["https://example.com/a", "https://EXAMPLE.com:443/a#x", "https://example.com/b"]
    audit = created(paying_member, {"pages": same, "types": ["seo"]})
    assert audit["pages"]["planned"] == 2
    assert [page["url"] for page in get_audit(paying_member, audit, "/pages")["pages"]] == [same[0], same[2]]


def test_responses_have_rate_limit_headers(home: Member) -> None:
    audit = created(home, {"pages": page_urls(1), "types": ["seo"]})
    for what in ("", "/pages", "/findings", "/export", "x"):
        assert "X-RateLimit-Remaining" in home.api.get(f"/v1/audits/{audit['id']}{what}").headers


def test_invalid_characters_are_not_stored(paying_member: Member) -> None:
    created(paying_member, {"pages": page_urls(1), "types": ["seo"]})
    outcomes = {"faulty": "Some text is bad", "other": "{text} is bad"}
    fix = Fix("Mend {text}.")
    bad = Declaration("bad", name="Good", outcomes=outcomes, severity=HIGH, why="B.", fix=fix, references=("C",))
    finding = Fail("other", "Bad: {text}.", places=[Element("a\0b")], text=Excerpt("\0\ud800"))
    checked = replace(check_result(bad, finding, None), points=1.0)
    assert visit(paying_member, categories=(CategoryResult("things", "Things", 10, (checked,), 71),))
    assert AuditPlace.objects.get().place == "a\N{REPLACEMENT CHARACTER}b"
    assert AuditFinding.objects.get().title == "\N{REPLACEMENT CHARACTER} is bad"


# Tests for idempotency keys:


def test_same_key_and_body_create_one_audit(home: Member) -> None:
    body = {"pages": page_urls(2), "types": ["seo"]}
    first = home.api.post("/v1/audits", body, Idempotency_Key="k")
    again = home.api.post("/v1/audits", {"types": ["seo"], "pages": page_urls(2)}, Idempotency_Key="k")
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.content == again.content
    assert again["Idempotent-Replayed"] == "true"
    assert again["Location"] == first["Location"]
    assert Audit.objects.count() == 1
    assert used_quota(home) == 1


def test_audit_keys_and_scan_keys_are_separate(home: Member, target: str) -> None:
    assert home.api.post("/v1/audits", {"page": target}, Idempotency_Key="k").status_code == 202
    for path, body in (("/v1/scan", {"url": target, "type": "seo"}), ("/v1/audits", {"pages": page_urls(1)})):
        response = home.api.post(path, body, Idempotency_Key="k")
        assert (response.status_code, response.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    assert home.api.post("/v1/scan", {"url": target, "type": "seo"}, Idempotency_Key="s").status_code == 201
    assert home.api.post("/v1/audits", {"page": target}, Idempotency_Key="s").status_code == 422


def test_refused_audit_does_not_use_its_key(home: Member) -> None:
    assert home.api.post("/v1/audits", {"pages": []}, Idempotency_Key="k").status_code == 400
    with mock.patch.object(Audit.objects, "create", side_effect=OperationalError):
        assert home.api.post("/v1/audits", {"pages": page_urls(1)}, Idempotency_Key="k").status_code == 503
    assert not IdempotencyRecord.objects.exists()
    assert home.api.post("/v1/audits", {"pages": page_urls(1)}, Idempotency_Key="k").status_code == 202


def test_sweeper_dispatches_after_a_crash(paying_member: Member) -> None:
    with mock.patch.object(services, "dispatch_pages", side_effect=OperationalError):
        assert paying_member.api.post("/v1/audits", {"pages": page_urls(2), "types": ["seo"]}).status_code == 503
    assert running_visits(paying_member.organization.id) == 0
    sweep_audits()
    assert running_visits(paying_member.organization.id) == 1


# Tests for outages:


def test_audit_is_refused_without_redis(home: Member) -> None:
    with mock.patch.object(overload, "redis_answers", return_value=False):
        response = home.api.post("/v1/audits", {"pages": page_urls(1)})
    assert (response.status_code, response.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert response["Retry-After"]
    assert not Audit.objects.exists()


def test_empty_redis_loses_no_page(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(3), "types": ["seo"]})
    cache.clear()
    while visit(paying_member):
        cache.clear()
    assert get_audit(paying_member, audit)["status"] == "completed"


def test_sweeper_resends_refused_messages(paying_member: Member) -> None:
    with mock.patch("infrastructure.queue.current_app.send_task", side_effect=BrokerError):
        created(paying_member, {"pages": page_urls(1), "types": ["seo"]})
    sent_scan_ids: list[str] = []
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=1))
    assert sweep_scans(lambda: 0, lambda scan_id, _: sent_scan_ids.append(scan_id)) == 1
    assert sent_scan_ids == [Scan.objects.get().id]


def test_outage_after_a_visit_loses_no_result(paying_member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    created(paying_member, {"pages": page_urls(3), "types": ["seo"]})
    scan = Scan.objects.get()
    failures: list[BaseException | None] = [OperationalError("away"), None]

    def finish_after_failure(*args: Any, **options: Any) -> bool:
        if (failure := failures.pop(0)) is not None:
            raise failure
        return finish_scan(*args, **options)

    monkeypatch.setattr(leases, "PAUSE_S", 0)
    monkeypatch.setattr(tasks, "_visit", lambda claim, _: tasks._finish_with(claim, make_result(scan)))
    # Closing the real connection would end the test's transaction, so this is a mock.
    monkeypatch.setattr(tasks, "connection", mock.Mock())
    monkeypatch.setattr(leases, "connection", mock.Mock())
    monkeypatch.setattr(claims, "finish_scan", finish_after_failure)
    with mock.patch.object(dispatch, "dispatch_pages", side_effect=OperationalError("away again")):
        tasks.run_scan(scan.id)
    scan.refresh_from_db()
    assert (scan.status, running_visits(paying_member.organization.id)) == ("completed", 0)
    sweep_audits()
    assert running_visits(paying_member.organization.id) == 2


def test_outage_after_a_discovery_loses_no_result(paying_member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    with mock.patch.object(services, "refuse_unreachable", return_value=None):
        audit = created(paying_member, {"site": "https://example.com/", "types": ["seo"]})
    discovery = Discovery(pages=tuple(page_urls(2)), notes=("A note.",), is_complete=True, found=2)
    failures: list[BaseException | None] = [OperationalError("away"), None]
    finish_discovery = services.finish_discovery

    def finish_after_failure(*args: Any, **columns: Any) -> bool:
        if (failure := failures.pop(0)) is not None:
            raise failure
        return finish_discovery(*args, **columns)

    monkeypatch.setattr(leases, "PAUSE_S", 0)
    monkeypatch.setattr(discovering, "_discover", lambda *_: discovery)
    monkeypatch.setattr(leases, "connection", mock.Mock())
    monkeypatch.setattr(services, "finish_discovery", finish_after_failure)
    discovering.discover_pages(Worker("one", 8))
    assert (get_audit(paying_member, audit)["status"], get_audit(paying_member, audit)["notes"]) == (
        "running",
        ["A note."],
    )


def test_site_blocked_during_discovery_fails(paying_member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    with mock.patch.object(services, "refuse_unreachable", return_value=None):
        audit = created(paying_member, {"site": "https://example.com/", "types": ["seo"]})
    discovery = Discovery(pages=tuple(page_urls(2)), notes=(), is_complete=True, found=2)
    monkeypatch.setattr(discovering, "_discover", lambda *_: discovery)
    BlockedDomain.objects.create(domain="example.com")
    discovering.discover_pages(Worker("one", 8))
    ended = get_audit(paying_member, audit)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "DOMAIN_BLOCKED")
    assert used_quota(paying_member) == 0


def test_interrupted_visit_is_refunded(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(2), "types": ["seo", "security"]})
    assert used_quota(paying_member) == 2
    for _ in range(3):
        waiting = Scan.objects.visits().get(status__in=("queued", "scanning"))
        assert claim_next(waiting.id, Worker("dies", 8))
        Scan.objects.filter(status="scanning").update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    sweep_scans(lambda: 0, lambda *_: None)
    assert set(Scan.objects.values_list("error_code", flat=True)) == {INTERRUPTED.code}
    assert used_quota(paying_member) == 0
    sweep_audits()
    assert used_quota(paying_member) == 2
    assert visit(paying_member)
    ended = get_audit(paying_member, audit)
    assert (ended["status"], ended["pages"]["done"], ended["pages"]["failed"], used_quota(paying_member)) == (
        "partial",
        1,
        1,
        2,
    )


# Tests for changes during an audit:


def test_pages_count_in_the_month_of_their_start(paying_member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = mock.Mock(wraps=timezone, now=lambda: JANUARY)
    monkeypatch.setattr(dispatch, "timezone", clock)
    created(paying_member, {"pages": page_urls(2), "types": ["seo"]})
    clock.now = lambda: JANUARY + timedelta(minutes=2)
    assert visit(paying_member)
    months = dict(MonthlyUsage.objects.values_list("period", "used"))
    assert months == {month_of(JANUARY): 1, month_of(JANUARY + timedelta(minutes=2)): 1}


def test_lowered_tier_applies_to_waiting_pages(paying_member: Member) -> None:
    audit = created(paying_member, {"pages": page_urls(8), "types": ["seo"]})
    assert visit(paying_member)
    assert running_visits(paying_member.organization.id) == 3
    Tier.objects.update(concurrent_scans=1, scans_per_month=6, pages_per_audit=1)
    for running_count in (2, 1, 1):
        assert visit(paying_member)
        assert running_visits(paying_member.organization.id) == running_count
    while visit(paying_member):
        pass
    ended = get_audit(paying_member, audit)
    assert (ended["status"], ended["error"]["code"], ended["pages"]["done"]) == ("partial", "QUOTA_EXCEEDED", 6)
    assert used_quota(paying_member) == 6


def test_closed_organization_stores_nothing(paying_member: Member) -> None:
    created(paying_member, {"pages": page_urls(4), "types": ["seo", "security"]})
    waiting = Scan.objects.visits().get(status="queued")
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim
    close_organization(paying_member.organization)
    scans = {ScanType(scan.type): scan for scan in Scan.objects.all()}
    assert not finish_scan(claim, *(make_result(scans[scan_type]) for scan_type in claim.types))
    assert dispatch_pages(paying_member.organization.id) == 0
    sweep_audits()
    assert (Audit.objects.get().status, Audit.objects.get().pages_planned) == ("cancelled", 1)
    assert not AuditPage.objects.filter(status="waiting").exists()


# Tests for the order in which pages are scanned:


def test_first_page_of_an_origin_is_scanned_alone(paying_member: Member) -> None:
    requested_urls = [f"https://{host}.example.com/{number}" for host in ("a", "b") for number in range(3)]
    created(paying_member, {"pages": requested_urls, "types": ["seo"]})
    ahead = AuditPage.objects.filter(status="released").order_by("position")
    assert [page.url for page in ahead] == [requested_urls[0], requested_urls[3]]
    assert visit(paying_member)
    assert [page.url for page in ahead.all()] == [requested_urls[1], requested_urls[2], requested_urls[3]]


def test_audits_of_one_organization_take_turns(paying_member: Member) -> None:
    first, second = (
        created(paying_member, {"pages": [f"https://{host}.example.com/{n}" for n in range(6)], "types": ["seo"]})
        for host in ("a", "b")
    )
    done = []
    while scan := visit(paying_member):
        done.append(scan.url[8])
        assert abs(done.count("a") - done.count("b")) <= 2
    for audit in (first, second):
        assert get_audit(paying_member, audit)["status"] == "completed"


def test_single_scan_precedes_waiting_pages(paying_member: Member, target: str) -> None:
    created(paying_member, {"pages": page_urls(50), "types": ["seo"]})
    assert visit(paying_member)
    answer = paying_member.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert answer.status_code == 201
    waiting_scan = Scan.objects.visits().filter(status="queued", is_background=True).first()
    assert waiting_scan
    claim = claim_next(waiting_scan.id, Worker("one", 8))
    assert claim
    assert claim.scan_id == answer.json()["id"]


def test_waiting_pages_do_not_block_single_scans(paying_member: Member, target: str, settings: Any) -> None:
    settings.SCAN_QUEUE_LIMIT = 1
    created(paying_member, {"pages": page_urls(50), "types": ["seo"]})
    assert visit(paying_member)
    assert Scan.objects.filter(status="queued", is_background=True).count() == 3
    assert paying_member.api.post("/v1/scan", {"url": target, "type": "seo"}).status_code == 201


# Tests for the scan API with scans of audits:


def test_scan_list_has_the_documented_format(home: Member) -> None:
    """Compare the whole response.

    It lists a scan of an audit and a single scan.
    """
    Tier.objects.update(pages_per_audit=100)
    moment = datetime(2026, 11, 21, 7, 15, tzinfo=UTC)
    made = created(home, {"pages": page_urls(1), "types": ["seo"]})
    assert visit(home)
    scan = Scan.objects.get(audit_page__audit_id=made["id"])
    Scan.objects.filter(id=scan.id).update(created_at=moment + timedelta(seconds=1), completed_at=moment)
    make_scan(home, id="scan_" + "a" * 22, created_at=moment)
    assert home.api.get("/v1/scans").content.decode() == (
        '{"scans": [{"id":"' + scan.id + '","type":"seo","url":"https://example.com/0","status":"completed",'
        '"score":71,"grade":"C","created_at":"2026-11-21T07:15:01Z","completed_at":"2026-11-21T07:15:00Z","audit":"'
        + made["id"]
        + '"}, '
        '\n {"id":"scan_aaaaaaaaaaaaaaaaaaaaaa","type":"security","url":"https://example.com/","status":"queued",'
        '"score":null,"grade":null,"created_at":"2026-11-21T07:15:00Z","completed_at":null,"audit":null}], '
        '"total": 2, "limit": 20, "offset": 0, '
        '"quota": {"used": 1, "limit": 100, "remaining": 99, "tier": "free"}}'
    )


def test_usage_counts_visits_and_their_scans(paying_member: Member) -> None:
    finished_scan(paying_member)
    created(paying_member, {"pages": page_urls(3), "types": ["seo", "security"]})
    usage = paying_member.api.get("/v1/usage").json()
    assert usage["concurrent"]["running"] == 1
    assert usage["quota"]["used"] == 2
    assert set(usage) == {"period", "quota", "concurrent", "rate_limit", "by_type", "by_status"}
