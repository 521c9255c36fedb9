"""Verification of signatures of DNS records (RFC 4035, section 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import dns.dnssec
import dns.exception
import dns.message
import dns.name
import dns.rdatatype
import dns.rrset
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.DS import DS
from dns.rdtypes.ANY.RRSIG import RRSIG
from msgspec import Struct

from website_scan.net.dnssec.answers import Delegation, Key, Signature, SignatureFault

# Algorithms that this scanner verifies: RSA/SHA-1 (5, 7), RSA/SHA-2 (8, 10), ECDSA (13, 14), EdDSA (15, 16).
SUPPORTED_ALGORITHMS = frozenset({5, 7, 8, 10, 13, 14, 15, 16})
SUPPORTED_DIGESTS = frozenset({1, 2, 4})  # SHA-1, SHA-256 and SHA-384.
ZONE_KEY = 0x0100
ENTRY_POINT = 0x0001
# Hostile zones have many keys with the same tag, and many signatures (CVE-2023-50387).
MAX_SIGNATURES = 8
MAX_KEYS_PER_TAG = 2
MAX_VERIFICATIONS = 200
MAX_KEYS = 40


class TooManyVerifications(Exception):
    """Raised when a domain needs more verifications of signatures than one scan makes."""


class Verification(Struct):
    """Verification of signatures at a point in time, with a limit for their number."""

    now: datetime
    remaining: int = MAX_VERIFICATIONS

    def verify(
        self, records: dns.rrset.RRset, signatures: Sequence[RRSIG], keys: Sequence[DNSKEY]
    ) -> Signature | SignatureFault:
        """Return the first valid signature by one of the keys, or why there is none."""
        fault = SignatureFault.NO_SIGNATURE
        usable = [signature for signature in signatures if int(signature.algorithm) in SUPPORTED_ALGORITHMS]
        for signature in usable[:MAX_SIGNATURES]:
            if period_fault := self._period_fault(signature):
                fault = period_fault
                continue
            candidates = [key for key in keys if _may_have_signed(key, signature)][:MAX_KEYS_PER_TAG]
            fault = SignatureFault.WRONG_SIGNATURE
            for key in candidates:
                if self._is_signed_by(records, signature, key):
                    return verified_signature(records, signature)
        return fault

    def _period_fault(self, signature: RRSIG) -> SignatureFault | None:
        now = self.now.timestamp()
        if signature.expiration < now:
            return SignatureFault.EXPIRED
        return SignatureFault.NOT_YET_VALID if signature.inception > now else None

    def _is_signed_by(self, records: dns.rrset.RRset, signature: RRSIG, key: DNSKEY) -> bool:
        if self.remaining <= 0:
            raise TooManyVerifications
        self.remaining -= 1
        key_rrset = dns.rrset.from_rdata(signature.signer, 0, key)
        try:
            dns.dnssec.validate_rrsig(
                records,
                signature,
                {signature.signer: key_rrset},
                now=self.now.timestamp(),
                policy=dns.dnssec.allow_all_policy,
            )
        except (dns.exception.DNSException, ValueError):
            return False
        return True


def verified_signature(records: dns.rrset.RRset, signature: RRSIG) -> Signature:
    return Signature(
        records.name.to_text(omit_final_dot=True),
        dns.rdatatype.to_text(records.rdtype),
        int(signature.algorithm),
        signature.key_tag,
        datetime.fromtimestamp(signature.inception, UTC),
        datetime.fromtimestamp(signature.expiration, UTC),
    )


def signatures_of(section: Iterable[dns.rrset.RRset], records: dns.rrset.RRset) -> list[RRSIG]:
    """Return the RRSIG records of a set of records in a section of a response."""
    return [
        signature
        for rrset in section
        if rrset.rdtype == dns.rdatatype.RRSIG and rrset.name == records.name and rrset.covers == records.rdtype
        for signature in rrset
        if isinstance(signature, RRSIG)
    ]


def zone_keys(records: Iterable[object]) -> list[DNSKEY]:
    """Return the keys that may sign records of a zone (RFC 4034, section 2.1.1)."""
    keys = [record for record in records if isinstance(record, DNSKEY)]
    return [key for key in keys[:MAX_KEYS] if key.flags & ZONE_KEY and key.protocol == 3]


def matches(delegation: DS, key: DNSKEY, zone: dns.name.Name) -> bool:
    """Return True if a DS record has the digest of a key."""
    if (delegation.key_tag, delegation.algorithm) != (dns.dnssec.key_id(key), key.algorithm):
        return False
    try:
        digest = dns.dnssec.make_ds(zone, key, delegation.digest_type, policy=dns.dnssec.allow_all_policy).digest
    except (dns.exception.DNSException, ValueError):
        return False
    return digest == delegation.digest


def is_supported(delegation: DS) -> bool:
    is_known_digest = int(delegation.digest_type) in SUPPORTED_DIGESTS
    return is_known_digest and int(delegation.algorithm) in SUPPORTED_ALGORITHMS


def describe_key(key: DNSKEY) -> Key:
    bits = 0
    if int(key.algorithm) in {5, 7, 8, 10}:
        bits = _rsa_bits(bytes(key.key))
    return Key(dns.dnssec.key_id(key), int(key.algorithm), bits, bool(key.flags & ENTRY_POINT))


def _rsa_bits(key: bytes) -> int:
    """Return the length of the modulus of an RSA key in a DNSKEY record (RFC 3110, section 2)."""
    exponent_bytes, start = (key[0], 1) if key[:1] > b"\0" else (int.from_bytes(key[1:3]), 3)
    return int.from_bytes(key[start + exponent_bytes :]).bit_length()


def describe_delegation(delegation: DS) -> Delegation:
    return Delegation(delegation.key_tag, int(delegation.algorithm), int(delegation.digest_type))


def _may_have_signed(key: DNSKEY, signature: RRSIG) -> bool:
    return (dns.dnssec.key_id(key), key.algorithm) == (signature.key_tag, signature.algorithm)
