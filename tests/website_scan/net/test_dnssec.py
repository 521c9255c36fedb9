"""Tests for the validation of signatures: attacks on the validator, and its caches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import dns.dnssec
import dns.name
import dns.rdatatype
import dns.rrset
import pytest
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.RRSIG import RRSIG
from dns.rrset import RRset

from tests.targets.domains.servers import Dns, NameServers, running_name_servers, zone_file
from tests.targets.domains.zones import Nsec3Chain, Signing, Zone, make_zone
from website_scan.net.client import Network
from website_scan.net.dnssec.anchors import anchor_records, root_anchors
from website_scan.net.dnssec.answers import Security, SignatureFault
from website_scan.net.dnssec.signatures import MAX_VERIFICATIONS, TooManyVerifications, Verification
from website_scan.net.policy import Policy

NOW = datetime.now(UTC)
name = dns.name.from_text
SERVERS = ("a.root.",)


def world(records: str = "", signing: Signing | None = None) -> Dns:
    """Return the root, com and shop.com, all signed."""
    shop = f"shop.com. A 93.184.215.14\nwww.shop.com. A 93.184.215.14\n{records}"
    return Dns(
        [
            make_zone(".", zone_file(".", "com. NS a.root.\n", SERVERS), Signing(), NOW),
            make_zone("com.", zone_file("com.", "shop.com. NS a.root.\n", SERVERS), Signing(), NOW),
            make_zone("shop.com.", zone_file("shop.com.", shop, SERVERS), signing or Signing(), NOW),
        ]
    )


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServers]:
    with running_name_servers(world(), {}, monkeypatch) as running:
        yield running


def network(zones: Dns) -> Network:
    return Network(Policy(trust_anchors=zones.trust_anchors))


def test_anchors_of_the_root_are_those_of_iana() -> None:
    assert [record.key_tag for record in anchor_records(())] == [20326, 38696]
    assert all(int(record.digest_type) == 2 and int(record.algorithm) == 8 for record in anchor_records(()))
    assert len(root_anchors()) == 2


def test_other_root_is_not_trusted(servers: NameServers) -> None:
    with Network(Policy()) as net:
        assert net.dns.trust("shop.com", NOW).security is Security.UNKNOWN
        assert net.dns.signed_records("shop.com", "A", "shop.com", NOW).security is Security.UNKNOWN


def test_wrong_clock_blames_nobody(servers: NameServers) -> None:
    with network(servers.dns) as net:
        assert net.dns.trust("shop.com", NOW + timedelta(days=400)).security is Security.UNKNOWN


def test_keys_of_top_zones_are_asked_once_in_a_process(servers: NameServers) -> None:
    for _ in range(2):
        servers.queries.clear()
        with network(servers.dns) as net:
            assert net.dns.trust("shop.com", NOW).security is Security.SECURE
    assert servers.queries == ["shop.com. DS", "shop.com. DNSKEY"]


def test_subdomain_without_a_zone_of_its_own_belongs_to_its_domain(servers: NameServers) -> None:
    with network(servers.dns) as net:
        trust = net.dns.trust("www.shop.com", NOW)
    assert (trust.zone, trust.is_zone, trust.security) == ("shop.com", False, Security.SECURE)


def test_alias_is_no_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    zones = world("blog.shop.com. CNAME www.shop.com.\n")
    with running_name_servers(zones, {}, monkeypatch), network(zones) as net:
        assert not net.dns.trust("blog.shop.com", NOW).is_zone
        answer = net.dns.signed_records("blog.shop.com", "A", "shop.com", NOW)
        assert (answer.security, answer.aliases) == (Security.SECURE, ("www.shop.com",))


def test_alias_by_dname_needs_no_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server makes the CNAME record from the signed DNAME record (RFC 6672, section 5.3.1)."""
    zones = world("old.shop.com. DNAME new.shop.com.\nx.new.shop.com. A 93.184.215.14\n")
    zone = zones.zones[name("shop.com.")]
    alias = dns.rrset.from_text("x.old.shop.com.", 300, "IN", "CNAME", "x.new.shop.com.")
    zone.rrsets[alias.name, alias.rdtype] = alias
    original = Zone.with_signature

    def with_dname(self: Zone, rrset: RRset, owner: dns.name.Name | None = None) -> list[RRset]:
        found = original(self, rrset, owner)
        dname = zone.rrsets[name("old.shop.com."), dns.rdatatype.DNAME]
        return [*original(zone, dname), *found] if rrset is alias else found

    monkeypatch.setattr(Zone, "with_signature", with_dname)
    with running_name_servers(zones, {}, monkeypatch), network(zones) as net:
        answer = net.dns.signed_records("x.old.shop.com", "A", "shop.com", NOW)
    assert (answer.security, answer.records) == (Security.SECURE, ("93.184.215.14",))


def test_signature_of_another_domain_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attacker signs records of the domain with the keys of a domain of his own."""
    zones = world(signing=Signing(unsigned=("A",)))
    other = make_zone("evil.com.", zone_file("evil.com.", "", SERVERS), Signing(), NOW)
    victim = zones.zones[name("shop.com.")]
    records = victim.rrsets[name("shop.com."), dns.rdatatype.A]
    victim.signatures[records.name, records.rdtype] = _signed_by(other, records)
    with running_name_servers(zones, {}, monkeypatch), network(zones) as net:
        answer = net.dns.signed_records("shop.com", "A", "shop.com", NOW)
    assert (answer.security, answer.fault) == (Security.BOGUS, SignatureFault.WRONG_SIGNATURE)


def _signed_by(zone: Zone, records: RRset) -> RRset:
    assert zone.key is not None
    private, key = zone.key
    signature = dns.dnssec.sign(
        records, private, zone.origin, key, inception=NOW - timedelta(days=1), expiration=NOW + timedelta(days=1)
    )
    return dns.rrset.from_rdata(records.name, 300, signature)


def test_key_trap_is_limited() -> None:
    """CVE-2023-50387: many keys with the same tag, and many signatures."""
    zone = make_zone("shop.com.", zone_file("shop.com.", "shop.com. A 93.184.215.14\n", SERVERS), Signing(), NOW)
    assert zone.key is not None
    records = zone.rrsets[name("shop.com."), dns.rdatatype.A]
    (signature,) = _signed_by(zone, records)
    assert isinstance(signature, RRSIG)
    forged = signature.replace(signature=bytes(64))
    assert isinstance(forged, RRSIG)
    verification = Verification(NOW)
    keys: list[DNSKEY] = [zone.key[1]] * 1_000
    begin = time.process_time()
    assert verification.verify(records, [forged] * 1_000, keys) is SignatureFault.WRONG_SIGNATURE
    assert verification.remaining == MAX_VERIFICATIONS - 16
    while verification.remaining >= 16:
        verification.verify(records, [forged] * 1_000, keys)
    with pytest.raises(TooManyVerifications):
        verification.verify(records, [forged] * 1_000, keys)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("iterations", [501, 65_535])
def test_expensive_nsec3_hashes_are_not_computed(iterations: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = Nsec3Chain(iterations, "ab" * 100)
    zones = world(signing=Signing(chain=chain))
    with running_name_servers(zones, {}, monkeypatch), network(zones) as net:
        begin = time.thread_time()
        answer = net.dns.signed_records("gone.shop.com", "A", "shop.com", NOW)
        assert time.thread_time() - begin < 0.1
    assert answer.security is Security.INSECURE
    assert answer.nsec3 is not None
    assert answer.nsec3.iterations == iterations


def test_removed_delegation_proof_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attacker removes the DS record, so that forged answers need no signature (RFC 4035, section 5.2)."""
    zones = world(signing=Signing(ds="right"))
    del zones.zones[name("com.")].rrsets[name("shop.com."), dns.rdatatype.DS]
    with running_name_servers(zones, {}, monkeypatch), network(zones) as net:
        trust = net.dns.trust("shop.com", NOW)
    assert (trust.security, trust.fault) == (Security.BOGUS, SignatureFault.NO_PROOF)


def test_deep_names_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = ".".join("abcdefghijklmnop")
    zones = world(f"{deep}.shop.com. A 93.184.215.14\n", Signing(unsigned=("A",)))
    with running_name_servers(zones, {}, monkeypatch) as running, network(zones) as net:
        answer = net.dns.signed_records(f"{deep}.shop.com", "A", "shop.com", NOW)
        assert answer.security is Security.UNKNOWN
        assert len(running.queries) < 20
