"""Proofs that DNS records do not exist: NSEC (RFC 4034) and NSEC3 (RFC 5155)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from enum import Enum

import dns.dnssec
import dns.name
import dns.rdatatype
import dns.rrset
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3
from msgspec import Struct

from website_scan.net.dnssec.answers import Nsec3

# Validating resolvers do not compute more (RFC 9276, section 3.2). Each name needs this many hashes and one more.
MAX_ITERATIONS = 500
MAX_LABELS = 30
OPT_OUT = 0x01
# Base32 with extended hexadecimal alphabet (RFC 4648, section 7), in which owner names of NSEC3 records are written.
TO_STANDARD_ALPHABET = str.maketrans("0123456789ABCDEFGHIJKLMNOPQRSTUV", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")


class Denial(Enum):
    """What NSEC or NSEC3 records prove about a name and type."""

    NO_RECORDS = "the name exists, without records of the type"
    DELEGATION = "the name is a delegation without DS records"
    NO_NAME = "the name does not exist"
    OPTED_OUT = "the name may be a delegation without DS records"
    NOTHING = "the records prove nothing about the name"
    NOT_COMPUTED = "the records have too many iterations"


class _Hashes(Struct, frozen=True):
    """NSEC3 records by their owners' hashes, with the parameters of the first."""

    zone: dns.name.Name
    records: tuple[tuple[bytes, NSEC3], ...]
    iterations: int
    salt: bytes | None
    algorithm: int

    def of(self, name: dns.name.Name) -> bytes:
        return _decode(dns.dnssec.nsec3_hash(name, self.salt, self.iterations, self.algorithm))

    def matching(self, name: dns.name.Name) -> NSEC3 | None:
        digest = self.of(name)
        return next((record for owner, record in self.records if owner == digest), None)

    def covering(self, name: dns.name.Name) -> NSEC3 | None:
        digest = self.of(name)
        return next((record for owner, record in self.records if _is_between(owner, digest, record.next)), None)


def denial_of(
    name: dns.name.Name, record_type: dns.rdatatype.RdataType, zone: dns.name.Name, proofs: Sequence[dns.rrset.RRset]
) -> Denial:
    """Return what verified NSEC or NSEC3 records of a zone prove about a name and type."""
    ordered = [(rrset.name, record) for rrset in proofs for record in rrset if isinstance(record, NSEC)]
    if ordered:
        return _denial_by_nsec(name, record_type, zone, ordered)
    hashes = _nsec3_hashes(zone, proofs)
    if hashes is None or len(name) > MAX_LABELS:
        return Denial.NOTHING
    if hashes.iterations > MAX_ITERATIONS:
        return Denial.NOT_COMPUTED
    return _denial_by_nsec3(name, record_type, hashes)


def nsec3_parameters(proofs: Iterable[dns.rrset.RRset]) -> Nsec3 | None:
    """Return the parameters of the NSEC3 records of a response, None without such records."""
    records = [record for rrset in proofs for record in rrset if isinstance(record, NSEC3)]
    if not records:
        return None
    opts_out = any(record.flags & OPT_OUT for record in records)
    return Nsec3(
        max(record.iterations for record in records), max(len(record.salt or b"") for record in records), opts_out
    )


def _denial_by_nsec(
    name: dns.name.Name,
    record_type: dns.rdatatype.RdataType,
    zone: dns.name.Name,
    records: Sequence[tuple[dns.name.Name, NSEC]],
) -> Denial:
    for owner, record in records:
        if owner == name:
            return _denial_by_types(_types(record), record_type)
    for owner, record in records:
        if _is_name_between(owner, name, record.next, zone):
            # An empty non-terminal exists, because names below it do (RFC 8020).
            return Denial.NO_RECORDS if record.next.is_subdomain(name) else Denial.NO_NAME
    return Denial.NOTHING


def _denial_by_nsec3(name: dns.name.Name, record_type: dns.rdatatype.RdataType, hashes: _Hashes) -> Denial:
    if (record := hashes.matching(name)) is not None:
        return _denial_by_types(_types(record), record_type)
    # RFC 5155, sections 8.4 to 8.6: the closest encloser exists, and the name that is one label longer does not.
    next_closer = name
    while next_closer != hashes.zone and next_closer != dns.name.root:
        encloser = next_closer.parent()
        if hashes.matching(encloser) is not None or encloser == hashes.zone:
            covering = hashes.covering(next_closer)
            if covering is None:
                return Denial.NOTHING
            return Denial.OPTED_OUT if covering.flags & OPT_OUT else Denial.NO_NAME
        next_closer = encloser
    return Denial.NOTHING


def _denial_by_types(types: frozenset[int], record_type: dns.rdatatype.RdataType) -> Denial:
    if record_type in types or dns.rdatatype.CNAME in types:
        return Denial.NOTHING
    is_delegation = dns.rdatatype.NS in types and dns.rdatatype.SOA not in types
    if is_delegation and record_type == dns.rdatatype.DS:
        return Denial.DELEGATION
    return Denial.NO_RECORDS


def _nsec3_hashes(zone: dns.name.Name, proofs: Sequence[dns.rrset.RRset]) -> _Hashes | None:
    records = [(rrset.name, record) for rrset in proofs for record in rrset if isinstance(record, NSEC3)]
    if not records:
        return None
    first = records[0][1]
    parameters = (first.iterations, first.salt, first.algorithm)
    same = tuple(
        (_decode(owner.labels[0].decode("ascii", "replace")), record)
        for owner, record in records
        if (record.iterations, record.salt, record.algorithm) == parameters and int(record.algorithm) == 1
    )
    return _Hashes(zone, same, first.iterations, first.salt, int(first.algorithm)) if same else None


def _types(record: NSEC | NSEC3) -> frozenset[int]:
    """Return the types in the bitmap of an NSEC or NSEC3 record."""
    return frozenset(
        window * 256 + position * 8 + bit
        for window, bitmap in record.windows
        for position, byte in enumerate(bitmap)
        for bit in range(8)
        if byte & (0x80 >> bit)
    )


def _decode(text: str) -> bytes:
    """Return a hash that is written in base32 with extended hexadecimal alphabet; empty if it is malformed."""
    try:
        return base64.b32decode(text.upper().translate(TO_STANDARD_ALPHABET))
    except ValueError:
        return b""


def _is_between(owner: bytes, digest: bytes, following: bytes) -> bool:
    if owner < following:
        return owner < digest < following
    return digest > owner or digest < following  # The last record of the chain leads to the first.


def _is_name_between(owner: dns.name.Name, name: dns.name.Name, following: dns.name.Name, zone: dns.name.Name) -> bool:
    return bool(owner < name and (name < following or following == zone))
