"""Tests for the Redis cache of an origin's evidence.

An audit's visits share this cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest
from django.test import override_settings
from msgspec import Struct
from msgspec.structs import replace
from redis import RedisError

from infrastructure import redis_client
from scans.visits import origin_evidence
from scans.visits.audit_store import SIGNATURE_BYTES
from scans.visits.origin_evidence import OriginEvidence
from tests.redis_commands import counted_redis_commands
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY
from tests.website_scan.net.seams import UnsignedLookup
from website_scan.catalogue import Probe, probes
from website_scan.evidence_cache import Kept
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dns_records import DnsAnswer
from website_scan.net.policy import Policy, RouteValidator
from website_scan.net.targets import parse_target
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

VISIT_TIME_LIMIT_S = 60.0
ORIGIN = "https://example.com:443"
ORIGIN_PROBES = tuple(probe for probe in probes().values() if probe.applies_to_whole_origin)

# The fixture `db` also empties Redis.
pytestmark = pytest.mark.usefixtures("db")


class RecordingCache(Struct):
    """Wrapper of the real cache that records which evidence visits store."""

    inner: OriginEvidence
    stored: dict[tuple[str, str], object]

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self.inner.find(origin, probe)

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self.stored[(probe.name, origin)] = evidence
        self.inner.keep(origin, probe, evidence)


class NoRecords(UnsignedLookup):
    """Fake name server without any records for the name."""

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        return DnsAnswer()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as site:
        yield site


def visit(
    site: Site, shared: RecordingCache, path: str = "/", policy: Policy | None = None
) -> dict[ScanType, ScanResult]:
    policy = policy or replace(POLICY, ca_bundle=site.ca_file)
    with Network(policy, lookup=NoRecords(), time_limit_s=VISIT_TIME_LIMIT_S) as network:
        target = parse_target(site.url_as("localhost") + path, policy)
        results = scan(target, tuple(ScanType), network, Budget(VISIT_TIME_LIMIT_S), shared=shared)
    return {result.type: result for result in results}


def find_probe(name: str) -> Probe:
    return next(probe for probe in ORIGIN_PROBES if probe.name == name)


def test_evidence_of_every_origin_probe_is_cached(site: Site) -> None:
    shared = RecordingCache(OriginEvidence("aud_1"), {})
    # The routes of a name such as localhost are not looked up, so the validator need not run.
    policy = replace(POLICY, ca_bundle=site.ca_file, route_validator=RouteValidator("http://127.0.0.1:1"))
    first = visit(site, shared, policy=policy)
    assert {name for name, _ in shared.stored} == {probe.name for probe in ORIGIN_PROBES}
    for (name, origin), evidence in shared.stored.items():
        cached = OriginEvidence("aud_1").find(origin, find_probe(name))
        assert cached is not None, name
        assert cached.evidence == evidence, name
    shared.stored.clear()
    second = visit(site, shared, policy=policy)
    assert shared.stored == {}, "the second visit gathers no evidence of the origin again"
    for scan_type in ScanType:
        assert second[scan_type].status == first[scan_type].status == "completed"
    security = second[ScanType.SECURITY]
    assert [check.status for check in security.checks] == [check.status for check in first[ScanType.SECURITY].checks]
    assert "site_evidence_at" in security.facts


def test_redirect_target_gets_no_host_evidence(site: Site) -> None:
    with sample_site() as other:
        site.routes["/away"] = Answer("", status=302, headers=[("Location", other.url_as("localhost") + "/")])
        policy = replace(POLICY, ca_bundle=site.ca_file)
        shared = RecordingCache(OriginEvidence("aud_1"), {})
        visit(site, shared, "/away", policy)
    origins = dict(list(shared.stored))
    scanned_origin = parse_target(site.url_as("localhost"), policy).origin
    assert {origins["caa_records"], origins["mail_records"], origins["dnssec_records"]} == {scanned_origin}
    assert scanned_origin not in {origin for name, origin in shared.stored if name == "robots_file"}


def test_evidence_has_a_separate_cache_entry() -> None:
    robots = find_probe("robots_file")
    OriginEvidence("aud_1").keep(ORIGIN, robots, "mine")
    assert OriginEvidence("aud_2").find(ORIGIN, robots) is None
    assert OriginEvidence("aud_1").find("https://example.com:8443", robots) is None
    assert OriginEvidence("aud_1").find(ORIGIN, find_probe("tls_peer")) is None
    cached = OriginEvidence("aud_1").find(ORIGIN, robots)
    assert cached is not None
    assert cached.evidence == "mine"


def test_stored_evidence_is_not_overwritten() -> None:
    robots = find_probe("robots_file")
    for evidence in ("first", "second"):
        OriginEvidence("aud_1").keep(ORIGIN, robots, evidence)
    cached = OriginEvidence("aud_1").find(ORIGIN, robots)
    assert cached is not None
    assert cached.evidence == "first"


class Trap:
    """Object that executes code when it is unpickled."""

    executed = False

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return setattr, (Trap, "executed", True)


def group_keys() -> list[str]:
    return [key.decode() for key in redis_client.client.scan_iter("audit:*:evidence:*") if b":bytes" not in key]


def test_forged_cache_entries_are_not_unpickled() -> None:
    robots, name = find_probe("robots_file"), "robots_file"
    OriginEvidence("aud_1").keep(ORIGIN, robots, Trap())
    (key,) = group_keys()
    data = redis_client.client.hget(key, name)
    assert isinstance(data, bytes)
    for forged in (data[:-8] + b"AAAAAAA=", b"\0" * SIGNATURE_BYTES + data[SIGNATURE_BYTES:], b"", b"x"):
        redis_client.client.hset(key, name, forged)
        assert OriginEvidence("aud_1").find(ORIGIN, robots) is None
    redis_client.client.hset(key, name, data)
    with override_settings(SECRET_KEY="another one, of at least thirty-two characters"):
        assert OriginEvidence("aud_1").find(ORIGIN, robots) is None
    # Entries are signed for one probe and one audit, and must not be unpickled for others.
    redis_client.client.hset(key, "tls_peer", data)
    assert OriginEvidence("aud_1").find(ORIGIN, find_probe("tls_peer")) is None
    redis_client.client.hset(key.replace("aud_1", "aud_2"), name, data)
    assert OriginEvidence("aud_2").find(ORIGIN, robots) is None
    redis_client.client.set(key.replace("aud_1", "aud_3"), "a text instead of a hash")
    assert OriginEvidence("aud_3").find(ORIGIN, robots) is None
    assert not Trap.executed


def test_unpicklable_evidence_is_not_cached(caplog: pytest.LogCaptureFixture) -> None:
    robots = find_probe("robots_file")
    OriginEvidence("aud_1").keep(ORIGIN, robots, lambda: "nobody can pickle this")
    assert OriginEvidence("aud_1").find(ORIGIN, robots) is None
    assert re.search(r"\w+:robots_file could not be stored", caplog.text)


def test_large_evidence_cannot_fill_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    robots = find_probe("robots_file")
    monkeypatch.setattr(origin_evidence, "MAX_PROBE_BYTES", 1000)
    monkeypatch.setattr(origin_evidence, "MAX_BYTES_PER_AUDIT", 2500)
    random_bytes = [Random(number).randbytes(700) for number in range(4)]
    shared = OriginEvidence("aud_large")
    shared.keep("https://big.example.com:443", robots, b"".join(random_bytes))
    assert shared.find("https://big.example.com:443", robots) is None
    is_cached = []
    for number, evidence in enumerate(random_bytes):
        shared.keep(f"https://{number}.example.com:443", robots, evidence)
        is_cached.append(shared.find(f"https://{number}.example.com:443", robots) is not None)
    assert is_cached[0]
    assert not is_cached[-1]


def test_long_host_name_can_be_cached() -> None:
    robots = find_probe("robots_file")
    origin = f"https://{'.'.join(['a' * 60] * 4)}.com:443"
    OriginEvidence("aud_1").keep(origin, robots, "kept")
    assert OriginEvidence("aud_1").find(origin, robots) is not None


def test_redis_outage_disables_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = OriginEvidence("aud_1")

    def raise_error(*_: object, **__: object) -> None:
        raise RedisError

    monkeypatch.setattr(redis_client.client.connection_pool, "get_connection", raise_error)
    robots = find_probe("robots_file")
    shared.keep(ORIGIN, robots, "kept")
    assert shared.find(ORIGIN, robots) is None


def test_visit_reads_the_evidence_of_an_origin_at_once() -> None:
    for probe in ORIGIN_PROBES:
        OriginEvidence("aud_1").keep(ORIGIN, probe, "kept")
    shared = OriginEvidence("aud_1")
    with counted_redis_commands() as commands:
        assert all(shared.find(ORIGIN, probe) for probe in ORIGIN_PROBES)
    assert commands == {"HGETALL": 1, "EXPIRE": 2}


def test_visit_finds_evidence_that_a_concurrent_visit_stores() -> None:
    robots, tls_peer = find_probe("robots_file"), find_probe("tls_peer")
    first, second = OriginEvidence("aud_1"), OriginEvidence("aud_1")
    assert first.find(ORIGIN, robots) is None
    second.keep(ORIGIN, tls_peer, "kept")
    cached = first.find(ORIGIN, tls_peer)
    assert cached is not None
    assert cached.evidence == "kept"


def test_reading_restarts_the_lifetime_of_evidence() -> None:
    OriginEvidence("aud_1").keep(ORIGIN, find_probe("robots_file"), "kept")
    (key,) = group_keys()
    redis_client.client.expire(key, 60)
    OriginEvidence("aud_1").find(ORIGIN, find_probe("robots_file"))
    assert 60 < redis_client.client.ttl(key) <= origin_evidence.EVIDENCE_LIFETIME_S
