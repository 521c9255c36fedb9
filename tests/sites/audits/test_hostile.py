"""Audits under failures, invalid input and excessive requests."""

from __future__ import annotations

from dataclasses import replace
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
from tests.sites.audits.test_life import created, pages, shown, used, visit
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
def roomy(home: Member) -> Member:
    Tier.objects.update(concurrent_scans=4, pages_per_audit=100)
    return home


# Request bodies

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
def test_random_audit_requests_are_accepted_or_refused_with_a_code(home: Member, body: dict[str, Any]) -> None:
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


def test_duplicate_pages_of_a_request_are_scanned_once(roomy: Member) -> None:
    same = ["https://example.com/a", "https://EXAMPLE.com:443/a#x", "https://example.com/b"]
    audit = created(roomy, {"pages": same, "types": ["seo"]})
    assert audit["pages"]["planned"] == 2
    assert [each["url"] for each in shown(roomy, audit, "/pages")["pages"]] == [same[0], same[2]]


def test_every_response_has_rate_limit_headers(home: Member) -> None:
    audit = created(home, {"pages": pages(1), "types": ["seo"]})
    for what in ("", "/pages", "/findings", "/export", "x"):
        assert "X-RateLimit-Remaining" in home.api.get(f"/v1/audits/{audit['id']}{what}").headers


def test_a_page_cannot_write_characters_that_the_database_rejects(roomy: Member) -> None:
    created(roomy, {"pages": pages(1), "types": ["seo"]})
    outcomes = {"faulty": "Some text is bad", "other": "{text} is bad"}
    fix = Fix("Mend {text}.")
    bad = Declaration("bad", name="Good", outcomes=outcomes, severity=HIGH, why="B.", fix=fix, references=("C",))
    finding = Fail("other", "Bad: {text}.", places=[Element("a\0b")], text=Excerpt("\0\ud800"))
    found = replace(check_result(bad, finding, None), points=1.0)
    assert visit(roomy, categories=(CategoryResult("things", "Things", 10, (found,), 71),))
    assert AuditPlace.objects.get().place == "a\N{REPLACEMENT CHARACTER}b"
    assert AuditFinding.objects.get().title == "\N{REPLACEMENT CHARACTER} is bad"


# Idempotency


def test_same_idempotency_key_and_body_create_one_audit(home: Member) -> None:
    body = {"pages": pages(2), "types": ["seo"]}
    first = home.api.post("/v1/audits", body, Idempotency_Key="k")
    again = home.api.post("/v1/audits", {"types": ["seo"], "pages": pages(2)}, Idempotency_Key="k")
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.content == again.content
    assert again["Idempotent-Replayed"] == "true"
    assert again["Location"] == first["Location"]
    assert Audit.objects.count() == 1
    assert used(home) == 1


def test_idempotency_keys_of_audits_and_scans_are_separate(home: Member, target: str) -> None:
    assert home.api.post("/v1/audits", {"page": target}, Idempotency_Key="k").status_code == 202
    for path, body in (("/v1/scan", {"url": target, "type": "seo"}), ("/v1/audits", {"pages": pages(1)})):
        response = home.api.post(path, body, Idempotency_Key="k")
        assert (response.status_code, response.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    assert home.api.post("/v1/scan", {"url": target, "type": "seo"}, Idempotency_Key="s").status_code == 201
    assert home.api.post("/v1/audits", {"page": target}, Idempotency_Key="s").status_code == 422


def test_refused_audit_does_not_use_its_idempotency_key(home: Member) -> None:
    assert home.api.post("/v1/audits", {"pages": []}, Idempotency_Key="k").status_code == 400
    with mock.patch.object(Audit.objects, "create", side_effect=OperationalError):
        assert home.api.post("/v1/audits", {"pages": pages(1)}, Idempotency_Key="k").status_code == 503
    assert not IdempotencyRecord.objects.exists()
    assert home.api.post("/v1/audits", {"pages": pages(1)}, Idempotency_Key="k").status_code == 202


def test_sweeper_dispatches_pages_after_a_crash_of_the_web_process(roomy: Member) -> None:
    with mock.patch.object(services, "dispatch_pages", side_effect=OperationalError):
        assert roomy.api.post("/v1/audits", {"pages": pages(2), "types": ["seo"]}).status_code == 503
    assert running_visits(roomy.organization.id) == 0
    sweep_audits()
    assert running_visits(roomy.organization.id) == 1


# Outages


def test_audit_is_refused_without_redis(home: Member) -> None:
    with mock.patch.object(overload, "redis_answers", return_value=False):
        response = home.api.post("/v1/audits", {"pages": pages(1)})
    assert (response.status_code, response.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
    assert response["Retry-After"]
    assert not Audit.objects.exists()


def test_emptied_redis_loses_no_page_of_an_audit(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(3), "types": ["seo"]})
    cache.clear()
    while visit(roomy):
        cache.clear()
    assert shown(roomy, audit)["status"] == "completed"


def test_sweeper_sends_messages_that_redis_refused(roomy: Member) -> None:
    with mock.patch("infrastructure.queue.current_app.send_task", side_effect=BrokerError):
        created(roomy, {"pages": pages(1), "types": ["seo"]})
    told: list[str] = []
    Scan.objects.update(enqueued_at=timezone.now() - timedelta(minutes=1))
    assert sweep_scans(lambda: 0, lambda scan_id, _: told.append(scan_id)) == 1
    assert told == [Scan.objects.get().id]


def test_database_outage_at_the_end_of_a_visit_loses_nothing(roomy: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    created(roomy, {"pages": pages(3), "types": ["seo"]})
    scan = Scan.objects.get()
    away: list[BaseException | None] = [OperationalError("away"), None]

    def finish(*args: Any, **options: Any) -> bool:
        if (failure := away.pop(0)) is not None:
            raise failure
        return finish_scan(*args, **options)

    monkeypatch.setattr(leases, "PAUSE_S", 0)
    monkeypatch.setattr(tasks, "_visit", lambda *_: (make_result(scan),))
    # Replace the connection with a mock: the real one holds the test's transaction and must not be closed.
    monkeypatch.setattr(tasks, "connection", mock.Mock())
    monkeypatch.setattr(leases, "connection", mock.Mock())
    monkeypatch.setattr(claims, "finish_scan", finish)
    with mock.patch.object(dispatch, "dispatch_pages", side_effect=OperationalError("away again")):
        tasks.run_scan(scan.id)
    scan.refresh_from_db()
    assert (scan.status, running_visits(roomy.organization.id)) == ("completed", 0)
    sweep_audits()
    assert running_visits(roomy.organization.id) == 2


def test_database_outage_at_the_end_of_a_discovery_loses_nothing(
    roomy: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mock.patch.object(services, "refuse_unreachable", return_value=None):
        audit = created(roomy, {"site": "https://example.com/", "types": ["seo"]})
    found = Discovery(pages=tuple(pages(2)), notes=("A note.",), is_complete=True, found=2)
    away: list[BaseException | None] = [OperationalError("away"), None]
    finish_discovery = services.finish_discovery

    def finish(*args: Any, **columns: Any) -> bool:
        if (failure := away.pop(0)) is not None:
            raise failure
        return finish_discovery(*args, **columns)

    monkeypatch.setattr(leases, "PAUSE_S", 0)
    monkeypatch.setattr(discovering, "_discover", lambda *_: found)
    monkeypatch.setattr(leases, "connection", mock.Mock())
    monkeypatch.setattr(services, "finish_discovery", finish)
    discovering.discover_pages(Worker("one", 8))
    assert (shown(roomy, audit)["status"], shown(roomy, audit)["notes"]) == ("running", ["A note."])


def test_site_that_is_blocked_during_discovery_fails_with_DOMAIN_BLOCKED(
    roomy: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mock.patch.object(services, "refuse_unreachable", return_value=None):
        audit = created(roomy, {"site": "https://example.com/", "types": ["seo"]})
    found = Discovery(pages=tuple(pages(2)), notes=(), is_complete=True, found=2)
    monkeypatch.setattr(discovering, "_discover", lambda *_: found)
    BlockedDomain.objects.create(domain="example.com")
    discovering.discover_pages(Worker("one", 8))
    ended = shown(roomy, audit)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "DOMAIN_BLOCKED")
    assert used(roomy) == 0


def test_interrupted_visit_is_refunded_and_the_audit_continues(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(2), "types": ["seo", "security"]})
    assert used(roomy) == 2
    for _ in range(3):
        waiting = Scan.objects.visits().get(status__in=("queued", "scanning"))
        assert claim_next(waiting.id, Worker("dies", 8))
        Scan.objects.filter(status="scanning").update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    sweep_scans(lambda: 0, lambda *_: None)
    assert set(Scan.objects.values_list("error_code", flat=True)) == {INTERRUPTED.code}
    assert used(roomy) == 0
    sweep_audits()
    assert used(roomy) == 2
    assert visit(roomy)
    ended = shown(roomy, audit)
    assert (ended["status"], ended["pages"]["done"], ended["pages"]["failed"], used(roomy)) == ("partial", 1, 1, 2)


# Changes during an audit


def test_each_page_counts_in_the_month_in_which_it_begins(roomy: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = mock.Mock(wraps=timezone, now=lambda: JANUARY)
    monkeypatch.setattr(dispatch, "timezone", clock)
    created(roomy, {"pages": pages(2), "types": ["seo"]})
    clock.now = lambda: JANUARY + timedelta(minutes=2)
    assert visit(roomy)
    months = dict(MonthlyUsage.objects.values_list("period", "used"))
    assert months == {month_of(JANUARY): 1, month_of(JANUARY + timedelta(minutes=2)): 1}


def test_lowered_tier_applies_to_pages_that_have_not_begun(roomy: Member) -> None:
    audit = created(roomy, {"pages": pages(8), "types": ["seo"]})
    assert visit(roomy)
    assert running_visits(roomy.organization.id) == 3
    Tier.objects.update(concurrent_scans=1, scans_per_month=6, pages_per_audit=1)
    for left in (2, 1, 1):
        assert visit(roomy)
        assert running_visits(roomy.organization.id) == left
    while visit(roomy):
        pass
    ended = shown(roomy, audit)
    assert (ended["status"], ended["error"]["code"], ended["pages"]["done"]) == ("partial", "QUOTA_EXCEEDED", 6)
    assert used(roomy) == 6


def test_running_visit_of_a_closed_organization_stores_nothing(roomy: Member) -> None:
    created(roomy, {"pages": pages(4), "types": ["seo", "security"]})
    waiting = Scan.objects.visits().get(status="queued")
    claim = claim_next(waiting.id, Worker("one", 8))
    assert claim
    close_organization(roomy.organization)
    scans = {ScanType(each.type): each for each in Scan.objects.all()}
    assert not finish_scan(claim, *(make_result(scans[each]) for each in claim.types))
    assert dispatch_pages(roomy.organization.id) == 0
    sweep_audits()
    assert (Audit.objects.get().status, Audit.objects.get().pages_planned) == ("cancelled", 1)
    assert not AuditPage.objects.filter(status="waiting").exists()


# Turns


def test_one_page_per_origin_is_dispatched_first(roomy: Member) -> None:
    named = [f"https://{host}.example.com/{number}" for host in ("a", "b") for number in range(3)]
    created(roomy, {"pages": named, "types": ["seo"]})
    ahead = AuditPage.objects.filter(status="released").order_by("position")
    assert [each.url for each in ahead] == [named[0], named[3]]
    assert visit(roomy)
    assert [each.url for each in ahead.all()] == [named[1], named[2], named[3]]


def test_audits_of_one_organization_take_turns(roomy: Member) -> None:
    first, second = (
        created(roomy, {"pages": [f"https://{host}.example.com/{n}" for n in range(6)], "types": ["seo"]})
        for host in ("a", "b")
    )
    done = []
    while scan := visit(roomy):
        done.append(scan.url[8])
        assert abs(done.count("a") - done.count("b")) <= 2
    for audit in (first, second):
        assert shown(roomy, audit)["status"] == "completed"


def test_single_scan_runs_before_waiting_pages_of_an_audit(roomy: Member, target: str) -> None:
    created(roomy, {"pages": pages(50), "types": ["seo"]})
    assert visit(roomy)
    answer = roomy.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert answer.status_code == 201
    some = Scan.objects.visits().filter(status="queued", is_background=True).first()
    assert some
    claim = claim_next(some.id, Worker("one", 8))
    assert claim
    assert claim.scan_id == answer.json()["id"]


def test_waiting_pages_of_audits_do_not_block_single_scans(roomy: Member, target: str, settings: Any) -> None:
    settings.SCAN_QUEUE_LIMIT = 1
    created(roomy, {"pages": pages(50), "types": ["seo"]})
    assert visit(roomy)
    assert Scan.objects.filter(status="queued", is_background=True).count() == 3
    assert roomy.api.post("/v1/scan", {"url": target, "type": "seo"}).status_code == 201


# The API of scans is unchanged


def test_list_of_scans_has_the_fields_of_the_contract(home: Member) -> None:
    """Compare byte for byte, with a scan of an audit and a single one."""
    Tier.objects.update(pages_per_audit=100)
    moment = datetime(2026, 11, 21, 7, 15, tzinfo=UTC)
    made = created(home, {"pages": pages(1), "types": ["seo"]})
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


def test_usage_counts_visits_and_their_scans(roomy: Member) -> None:
    finished_scan(roomy)
    created(roomy, {"pages": pages(3), "types": ["seo", "security"]})
    usage = roomy.api.get("/v1/usage").json()
    assert usage["concurrent"]["running"] == 1
    assert usage["quota"]["used"] == 2
    assert set(usage) == {"period", "quota", "concurrent", "rate_limit", "by_type", "by_status"}
