"""Results of DNSSEC validation, as values without dnspython."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct


class Security(StrEnum):
    """Security status of data (RFC 4033, section 5).

    `UNKNOWN` is the RFC's "indeterminate": a query failed, or the name servers deliver no signatures.
    """

    SECURE = "secure"
    INSECURE = "insecure"
    BOGUS = "bogus"
    UNKNOWN = "unknown"


class SignatureFault(StrEnum):
    """Reason why validating resolvers reject signed data."""

    NO_KEYS = "no-keys"  # The parent has a DS record, but the zone has no DNSKEY record.
    DS_MISMATCH = "ds-mismatch"  # No DNSKEY matches a DS record of the parent.
    NO_SIGNATURE = "no-signature"
    EXPIRED = "expired"
    NOT_YET_VALID = "not-yet-valid"
    WRONG_SIGNATURE = "wrong-signature"
    NO_PROOF = "no-proof"  # No NSEC or NSEC3 record proves that the records do not exist.


class Key(Struct, frozen=True):
    """Public key of a zone (DNSKEY record). `bits` is 0 for keys of a fixed length."""

    tag: int
    algorithm: int
    bits: int
    is_entry_point: bool


class Delegation(Struct, frozen=True):
    """DS record at the parent zone."""

    tag: int
    algorithm: int
    digest_type: int


class Signature(Struct, frozen=True):
    """Verified signature of records (RRSIG record)."""

    name: str
    record_type: str
    algorithm: int
    tag: int
    inception: datetime
    expiration: datetime


class Nsec3(Struct, frozen=True):
    """Parameters of the NSEC3 records of a zone (RFC 5155)."""

    iterations: int
    salt_bytes: int
    opts_out: bool


class ZoneTrust(Struct, frozen=True):
    """Chain of trust from the root to a zone.

    `fault` is the reason for `BOGUS`, and `fault_zone` the zone in which it is. `is_zone` is False for a name inside
    of its parent's zone. `has_unsupported_algorithms`: the zone is insecure only because no DS record has an algorithm
    that is supported.
    """

    zone: str
    security: Security
    fault: SignatureFault | None = None
    fault_zone: str = ""
    is_zone: bool = True
    delegations: tuple[Delegation, ...] = ()
    keys: tuple[Key, ...] = ()
    signatures: tuple[Signature, ...] = ()
    has_unsupported_algorithms: bool = False


class SignedAnswer(Struct, frozen=True):
    """Answer of the name servers, with its validation.

    `code` is the response code, such as NOERROR or NXDOMAIN. `aliases` are the targets of CNAME records, in order, and
    `records` those at the last one. `is_complete`: the last alias is in the answer. `from_wildcard`: the signature
    proves that a wildcard created the records (RFC 4035, section 5.3.4).
    """

    name: str
    record_type: str
    code: str
    records: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    security: Security = Security.UNKNOWN
    fault: SignatureFault | None = None
    fault_zone: str = ""
    signatures: tuple[Signature, ...] = ()
    nsec3: Nsec3 | None = None
    from_wildcard: bool = False
