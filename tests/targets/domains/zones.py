"""DNS zones, signed in right and wrong ways."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TypeVar

import dns.dnssec
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import dns.zone
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from dns.dnssectypes import Algorithm
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.RRSIG import RRSIG
from msgspec import Struct, field

TTL = 300
Record = TypeVar("Record", bound=dns.rdata.Rdata)
PrivateKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey | rsa.RSAPrivateKey


class Nsec3Chain(Struct, frozen=True):
    iterations: int = 0
    salt: str = ""
    opts_out: bool = False


class Signing(Struct, frozen=True):
    """Way in which a zone is signed.

    `validity` is the time from now to begin and end of the signatures. `unsigned` and `forged` are types of records
    whose signatures are missing or wrong. `ds` is what the parent has: "right", "none", "wrong", or "unsupported" for a
    digest type that nobody knows.
    """

    algorithm: Algorithm = Algorithm.ECDSAP256SHA256
    rsa_bits: int = 2048
    chain: Nsec3Chain | None = None
    validity: tuple[timedelta, timedelta] = (timedelta(days=-3), timedelta(days=11))
    ds: str = "right"
    ds_digest: str = "SHA256"
    unsigned: tuple[str, ...] = ()
    forged: tuple[str, ...] = ()
    has_proofs: bool = True
    has_keys: bool = True
    declared_algorithm: int | None = None  # Number of an algorithm in all records instead of the real one.


class Zone(Struct):
    """Zone with its signatures. Names are absolute."""

    origin: dns.name.Name
    signing: Signing | None
    now: datetime
    rrsets: dict[tuple[dns.name.Name, dns.rdatatype.RdataType], dns.rrset.RRset] = field(default_factory=dict)
    signatures: dict[tuple[dns.name.Name, dns.rdatatype.RdataType], dns.rrset.RRset] = field(default_factory=dict)
    proofs: list[tuple[dns.name.Name, dns.rrset.RRset]] = field(default_factory=list)
    key: tuple[PrivateKey, DNSKEY] | None = None

    @property
    def names(self) -> set[dns.name.Name]:
        return {name for name, _ in self.rrsets}

    def find(self, name: dns.name.Name, record_type: dns.rdatatype.RdataType) -> dns.rrset.RRset | None:
        return self.rrsets.get((name, record_type))

    def with_signature(self, rrset: dns.rrset.RRset, owner: dns.name.Name | None = None) -> list[dns.rrset.RRset]:
        """Return records with their signature, both at another owner if a wildcard creates them."""
        found = [rrset]
        if (signature := self.signatures.get((rrset.name, rrset.rdtype))) is not None:
            found.append(signature)
        return [_moved(part, owner) for part in found] if owner else found

    def delegation_above(self, name: dns.name.Name) -> dns.name.Name | None:
        """Return the name at or above `name` where another zone begins."""
        while name != self.origin and name.is_subdomain(self.origin):
            if self.find(name, dns.rdatatype.NS) is not None:
                return name
            name = name.parent()
        return None

    def exists(self, name: dns.name.Name) -> bool:
        """Return True if a name exists, perhaps as an empty non-terminal."""
        return any(owner.is_subdomain(name) for owner in self.names)

    def closest_encloser(self, name: dns.name.Name) -> dns.name.Name:
        while not self.exists(name):
            name = name.parent()
        return name

    def proofs_for(self, *names: dns.name.Name) -> list[dns.rrset.RRset]:
        """Return the signed NSEC or NSEC3 records that match or cover names."""
        if self.signing is None or not self.signing.has_proofs:
            return []
        chosen: dict[dns.name.Name, dns.rrset.RRset] = {}
        chain = self.signing.chain
        for name in names:
            if chain is None:
                earlier = [(owner, rrset) for owner, rrset in self.proofs if owner <= name]
                owner, rrset = max(earlier, key=lambda pair: pair[0])
            else:
                label = _hash(name, chain).lower().encode()
                hashed = [(pair[0].labels[0], pair) for pair in self.proofs]
                at_or_before = [(digest, pair) for digest, pair in hashed if digest <= label]
                owner, rrset = max(at_or_before or hashed, key=lambda item: item[0])[1]
            chosen[owner] = rrset
        return [part for rrset in chosen.values() for part in self.with_signature(rrset)]

    def ds_records(self) -> list[str]:
        """Return the texts of DS records for the parent zone."""
        if self.signing is None or self.key is None or self.signing.ds == "none":
            return []
        key = self.key[1] if self.signing.ds != "wrong" else new_key(self.signing)[1]
        ds = dns.dnssec.make_ds(self.origin, key, self.signing.ds_digest, policy=dns.dnssec.allow_all_policy)
        if self.signing.ds == "unsupported":
            ds = replaced(ds, digest_type=99)
        return [ds.to_text()]


def make_zone(origin: str, text: str, signing: Signing | None, now: datetime | None = None) -> Zone:
    """Return a zone with the records of a zone file, without signatures."""
    name = dns.name.from_text(origin)
    zone = Zone(name, signing, now or datetime.now(UTC))
    parsed = dns.zone.from_text(f"$TTL {TTL}\n{text}", name, relativize=False, check_origin=False)
    for owner, rdataset in parsed.iterate_rdatasets():
        zone.rrsets[owner, rdataset.rdtype] = dns.rrset.from_rdata_list(owner, TTL, list(rdataset))
    if signing is not None:
        zone.key = new_key(signing)
    return zone


def sign(zone: Zone) -> None:
    """Sign a zone as its `signing` says, after the DS records of the zones below it are in it."""
    signing = zone.signing
    if signing is None or zone.key is None:
        return
    if signing.has_keys:
        zone.rrsets[zone.origin, dns.rdatatype.DNSKEY] = dns.rrset.from_rdata(zone.origin, TTL, zone.key[1])
    proofs = _nsec3_records(zone, signing.chain) if signing.chain else _nsec_records(zone)
    zone.proofs = [(rrset.name, rrset) for rrset in proofs]
    for rrset in [*zone.rrsets.values(), *proofs]:
        text = dns.rdatatype.to_text(rrset.rdtype)
        delegation = zone.delegation_above(rrset.name)
        is_glue = delegation is not None and (rrset.name != delegation or rrset.rdtype == dns.rdatatype.NS)
        if not is_glue and text not in signing.unsigned:
            signature = _signature(zone, rrset, signing, is_forged=text in signing.forged)
            zone.signatures[rrset.name, rrset.rdtype] = dns.rrset.from_rdata(rrset.name, TTL, signature)
    if signing.chain is None:
        zone.rrsets |= {(rrset.name, rrset.rdtype): rrset for rrset in proofs}


def replaced(record: Record, **changes: object) -> Record:
    """Return a copy of a record with other values."""
    changed: Record = record.replace(**changes)  # type: ignore[assignment]  # the copy has the same class
    return changed


def new_key(signing: Signing) -> tuple[PrivateKey, DNSKEY]:
    private = _private_key(signing.algorithm, signing.rsa_bits)
    key = dns.dnssec.make_dnskey(private.public_key(), signing.algorithm, flags=257)
    if signing.declared_algorithm is not None:
        key = replaced(key, algorithm=signing.declared_algorithm)
    return private, key


def _private_key(algorithm: Algorithm, rsa_bits: int) -> PrivateKey:
    if algorithm in (Algorithm.ECDSAP256SHA256, Algorithm.ECDSAP384SHA384):
        return ec.generate_private_key(ec.SECP256R1() if algorithm == Algorithm.ECDSAP256SHA256 else ec.SECP384R1())
    if algorithm == Algorithm.ED25519:
        return ed25519.Ed25519PrivateKey.generate()
    if algorithm == Algorithm.ED448:
        return ed448.Ed448PrivateKey.generate()
    return _rsa_key(rsa_bits)


@cache
def _rsa_key(bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def _signature(zone: Zone, rrset: dns.rrset.RRset, signing: Signing, *, is_forged: bool) -> RRSIG:
    assert zone.key is not None
    private, key = zone.key
    # dnspython signs only with algorithms that it knows.
    usable = replaced(key, algorithm=signing.algorithm)
    begin, end = (zone.now + offset for offset in signing.validity)
    signature = dns.dnssec.sign(
        rrset, private, zone.origin, usable, inception=begin, expiration=end, policy=dns.dnssec.allow_all_policy
    )
    signature = replaced(signature, key_tag=dns.dnssec.key_id(key), algorithm=key.algorithm)
    if is_forged:
        content = bytearray(signature.signature)
        content[-1] ^= 1
        signature = replaced(signature, signature=bytes(content))
    return signature


def _nsec_records(zone: Zone) -> list[dns.rrset.RRset]:
    names = sorted(_owners(zone))
    records = []
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        types = [*_types(zone, name), dns.rdatatype.NSEC, dns.rdatatype.RRSIG]
        record = dns.rdata.from_text(
            dns.rdataclass.IN, dns.rdatatype.NSEC, f"{following} {' '.join(map(dns.rdatatype.to_text, types))}"
        )
        records.append(dns.rrset.from_rdata(name, TTL, record))
    return records


def _nsec3_records(zone: Zone, chain: Nsec3Chain) -> list[dns.rrset.RRset]:
    names: set[dns.name.Name] = set()
    for name in _owners(zone):
        types = _types(zone, name)
        if chain.opts_out and types == [dns.rdatatype.NS] and name != zone.origin:
            continue  # An unsigned delegation has no NSEC3 record of its own (RFC 5155, section 6).
        while name.is_subdomain(zone.origin):
            names.add(name)
            if name == zone.origin:
                break
            name = name.parent()
    by_hash = {_hash(name, chain): name for name in names}
    hashes = sorted(by_hash)
    records = []
    for digest, following in zip(hashes, [*hashes[1:], hashes[0]], strict=True):
        types = _types(zone, by_hash[digest])
        if types and types != [dns.rdatatype.NS]:
            types.append(dns.rdatatype.RRSIG)
        windows = " ".join(map(dns.rdatatype.to_text, types))
        text = f"1 {int(chain.opts_out)} {chain.iterations} {chain.salt or '-'} {following} {windows}"
        record = dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.NSEC3, text)
        owner = dns.name.Name([digest.lower().encode(), *zone.origin.labels])
        records.append(dns.rrset.from_rdata(owner, TTL, record))
    return records


def _owners(zone: Zone) -> Iterator[dns.name.Name]:
    """Yield the names of the zone without those below a delegation."""
    for name in zone.names:
        if zone.delegation_above(name) in (None, name):
            yield name


def _types(zone: Zone, name: dns.name.Name) -> list[dns.rdatatype.RdataType]:
    types = [rdtype for owner, rdtype in zone.rrsets if owner == name]
    if zone.delegation_above(name) == name:
        types = [rdtype for rdtype in types if rdtype in (dns.rdatatype.NS, dns.rdatatype.DS)]
    return sorted(types)


def _hash(name: dns.name.Name, chain: Nsec3Chain) -> str:
    return dns.dnssec.nsec3_hash(name, chain.salt or None, chain.iterations, 1)


def _moved(rrset: dns.rrset.RRset, owner: dns.name.Name) -> dns.rrset.RRset:
    return dns.rrset.from_rdata_list(owner, TTL, list(rrset))
