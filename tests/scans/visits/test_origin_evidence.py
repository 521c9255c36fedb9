"""Evidence cache of an audit in Redis: visits share an origin's evidence, complete or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

import pytest
from django.core.cache import cache
from django.test import override_settings
from redis import RedisError

from scans.visits import origin_evidence
from scans.visits.origin_evidence import OriginEvidence
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY
from website_scan.catalogue import Probe, probes
from website_scan.findings import ScanType
from website_scan.kept_evidence import Kept
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dns_records import DnsAnswer
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

PATIENCE_S = 60.0
ORIGIN = "https://example.com:443"
OF_ORIGIN = tuple(each for each in probes().values() if each.is_of_origin)

pytestmark = pytest.mark.usefixtures("db")  # for an empty Redis


@dataclass
class Noted:
    """Wrapper of the real cache that records what visits store."""

    inner: OriginEvidence
    kept: dict[tuple[str, str], object]

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self.inner.find(origin, probe)

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self.kept[(probe.name, origin)] = evidence
        self.inner.keep(origin, probe, evidence)


class NoRecords:
    """Name server that knows the name but has no records for it."""

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        return DnsAnswer()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as site:
        yield site


def visit(site: Site, shared: Noted, path: str = "/", policy: Policy | None = None) -> dict[ScanType, ScanResult]:
    policy = policy or replace(POLICY, ca_bundle=site.ca_file)
    with Network(policy, lookup=NoRecords(), time_limit_s=PATIENCE_S) as network:
        target = parse_target(site.url_as("localhost") + path, policy)
        results = scan(target, tuple(ScanType), network, Budget(PATIENCE_S), shared=shared)
    return {each.type: each for each in results}


def probe_named(name: str) -> Probe:
    return next(each for each in OF_ORIGIN if each.name == name)


def test_the_evidence_of_every_probe_of_an_origin_comes_back_as_it_was(site: Site) -> None:
    shared = Noted(OriginEvidence("aud_1"), {})
    first = visit(site, shared)
    assert {name for name, _ in shared.kept} == {each.name for each in OF_ORIGIN}
    for (name, origin), evidence in shared.kept.items():
        found = OriginEvidence("aud_1").find(origin, probe_named(name))
        assert found is not None, name
        assert found.evidence == evidence, name
    shared.kept.clear()
    second = visit(site, shared)
    assert shared.kept == {}, "the second visit asks for nothing of it again"
    for each in ScanType:
        assert second[each].status == first[each].status == "completed"
    security = second[ScanType.SECURITY]
    assert [each.status for each in security.checks] == [each.status for each in first[ScanType.SECURITY].checks]
    assert "site_evidence_at" in security.facts


def test_what_is_of_the_target_is_not_kept_for_the_page_that_it_leads_to(site: Site) -> None:
    with sample_site() as other:
        site.routes["/away"] = Answer("", status=302, headers=[("Location", other.url_as("localhost") + "/")])
        policy = replace(POLICY, ca_bundle=site.ca_file)
        shared = Noted(OriginEvidence("aud_1"), {})
        visit(site, shared, "/away", policy)
    origins = dict(list(shared.kept))
    asked = parse_target(site.url_as("localhost"), policy).origin
    assert {origins["caa_records"], origins["mail_records"], origins["dnssec_records"]} == {asked}
    assert asked not in {origin for name, origin in shared.kept if name == "robots_file"}


def test_audits_and_origins_are_kept_apart() -> None:
    robots = probe_named("robots_file")
    OriginEvidence("aud_1").keep(ORIGIN, robots, "mine")
    assert OriginEvidence("aud_2").find(ORIGIN, robots) is None
    assert OriginEvidence("aud_1").find("https://example.com:8443", robots) is None
    assert OriginEvidence("aud_1").find(ORIGIN, probe_named("tls_peer")) is None
    found = OriginEvidence("aud_1").find(ORIGIN, robots)
    assert found is not None
    assert found.evidence == "mine"


def test_the_first_who_kept_it_is_believed() -> None:
    robots = probe_named("robots_file")
    for evidence in ("first", "second"):
        OriginEvidence("aud_1").keep(ORIGIN, robots, evidence)
    found = OriginEvidence("aud_1").find(ORIGIN, robots)
    assert found is not None
    assert found.evidence == "first"


class Trap:
    """Object that executes code when it is unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return setattr, (Trap, "sprung", True)


def values_in_redis() -> list[str]:
    client = cache._cache.get_client(None)  # type: ignore[attr-defined]  # there is no public way to list keys
    return [key.decode() for key in client.keys("*robots_file*")]


def test_what_nobody_of_us_has_written_is_not_unpickled() -> None:
    robots = probe_named("robots_file")
    OriginEvidence("aud_1").keep(ORIGIN, robots, Trap())
    (key,) = values_in_redis()
    name = key.split(":", 2)[2]
    text = cache.get(name)
    for forged in (text[:-8] + "AAAAAAA=", "0" * 64 + text[64:], "", ":", "x", 5, None):
        cache.set(name, forged)
        assert OriginEvidence("aud_1").find(ORIGIN, robots) is None
    cache.set(name, text)
    with override_settings(SECRET_KEY="another one, of at least thirty-two characters"):
        assert OriginEvidence("aud_1").find(ORIGIN, robots) is None
    assert not Trap.sprung
    # An entry that a process of the service has written for another audit is not unpickled either.
    cache.set(name.replace("aud_1", "aud_2"), text)
    assert OriginEvidence("aud_2").find(ORIGIN, robots) is None
    assert not Trap.sprung


def test_what_cannot_be_kept_is_gathered_again(caplog: pytest.LogCaptureFixture) -> None:
    robots = probe_named("robots_file")
    OriginEvidence("aud_1").keep(ORIGIN, robots, lambda: "nobody can pickle this")
    assert OriginEvidence("aud_1").find(ORIGIN, robots) is None
    assert re.search(r"robots_file:\w+ could not be kept", caplog.text)


def test_a_site_does_not_fill_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    robots = probe_named("robots_file")
    monkeypatch.setattr(origin_evidence, "MAX_BYTES", 1000)
    monkeypatch.setattr(origin_evidence, "MAX_AUDIT_BYTES", 2500)
    noise = [Random(number).randbytes(700) for number in range(4)]
    shared = OriginEvidence("aud_1")
    shared.keep("https://big.example.com:443", robots, b"".join(noise))
    assert shared.find("https://big.example.com:443", robots) is None
    kept = []
    for number, evidence in enumerate(noise):
        shared.keep(f"https://{number}.example.com:443", robots, evidence)
        kept.append(shared.find(f"https://{number}.example.com:443", robots) is not None)
    assert kept[0]
    assert not kept[-1]


def test_a_host_with_a_long_name_has_a_short_key() -> None:
    robots = probe_named("robots_file")
    origin = f"https://{'.'.join(['a' * 60] * 4)}.com:443"
    OriginEvidence("aud_1").keep(origin, robots, "kept")
    assert OriginEvidence("aud_1").find(origin, robots) is not None


def test_without_redis_nothing_is_kept_and_nothing_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = OriginEvidence("aud_1")

    def down(*_: object) -> None:
        raise RedisError

    for name in ("get", "add", "touch", "incr"):
        monkeypatch.setattr(shared._store._cache, name, down)
    robots = probe_named("robots_file")
    shared.keep(ORIGIN, robots, "kept")
    assert shared.find(ORIGIN, robots) is None
