"""Rows of tables about DNS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from website_scan.findings import NotApplicable
from website_scan.messages import excerpt
from website_scan.net.dnssec.answers import Signature, ZoneTrust
from website_scan.places import Column, Identity, Place, as_host, as_written
from website_scan.security.caa import CaaProperty
from website_scan.security.dnssec_algorithms import algorithm_name
from website_scan.security.domain_evidence import Alias, NameServer, ServerAddress

NO_OWN_DOMAIN = NotApplicable("The host is an IP address, or its DNS belongs to a hosting service.")


class DnsRecord(Place, frozen=True):
    """DNS record of the domain."""

    kind: ClassVar[str] = "dns-record"

    type: Annotated[str, Column("Type", "short")]
    record: Annotated[str, Column("Record", "code")]

    @classmethod
    def from_records(cls, type: str, records: Sequence[str]) -> list[Self]:
        return [cls(type, excerpt(record, 300)) for record in records]


class CaaRow(Place, frozen=True):
    """CAA record with what it permits."""

    kind: ClassVar[str] = "caa-record"

    record: Annotated[str, Column("Record", "code")]
    authority: Annotated[str | None, Column("Certificate authority")] = None
    account: Annotated[str | None, Column("Account", "mono")] = None
    methods: Annotated[str | None, Column("Validation methods", "mono")] = None

    @classmethod
    def of(cls, records: Sequence[CaaProperty]) -> list[Self]:
        return [
            cls(
                excerpt(record.text, 300),
                excerpt(record.issuer, 100) or None,
                excerpt(", ".join(record.accounts), 200) or None,
                excerpt(", ".join(record.methods), 100) or None,
            )
            for record in records
        ]


class NameServerRow(Place, frozen=True):
    """Address of a name server."""

    kind: ClassVar[str] = "name-server"

    server: Annotated[str, Identity(as_written), Column("Name server", "mono")]
    address: Annotated[str | None, Column("Address", "mono")] = None
    state: Annotated[str | None, Column("State")] = None

    @classmethod
    def of(cls, servers: Sequence[NameServer]) -> list[Self]:
        rows = []
        for server in servers:
            name = excerpt(server.name, 255)
            if not server.addresses:
                rows.append(cls(name, state="has no address" if server.is_resolved else "not tested"))
            rows += [cls(name, address.address, state_of(address)) for address in server.addresses]
        return rows


def state_of(address: ServerAddress) -> str:
    """Return the state of a name server's address as text."""
    return f"{address.state} ({address.code})" if address.code and address.code != "NOERROR" else str(address.state)


class SignatureRow(Place, frozen=True):
    """Signature of DNS records."""

    kind: ClassVar[str] = "dnssec-signature"

    name: Annotated[str, Column("Name", "mono")]
    type: Annotated[str, Column("Type", "short")]
    algorithm: Annotated[str, Column("Algorithm")]
    expires: Annotated[str, Column("Valid until", "moment")]

    @classmethod
    def of(cls, signatures: Sequence[Signature]) -> list[Self]:
        unique = dict.fromkeys(signatures)
        return [
            cls(
                excerpt(signature.name or ".", 255),
                signature.record_type,
                algorithm_name(signature.algorithm),
                signature.expiration.isoformat(),
            )
            for signature in unique
        ]


class KeyRow(Place, frozen=True):
    """Public key of a zone, or the digest of one at the parent zone."""

    kind: ClassVar[str] = "dnssec-key"

    record: Annotated[str, Column("Record", "short")]
    tag: Annotated[int, Column("Key tag", "number")]
    algorithm: Annotated[str, Column("Algorithm")]
    bits: Annotated[int | None, Column("Bits", "number")] = None

    @classmethod
    def of(cls, trust: ZoneTrust) -> list[Self]:
        delegations = [cls("DS", ds.tag, algorithm_name(ds.algorithm)) for ds in trust.delegations]
        return delegations + [
            cls("DNSKEY", key.tag, algorithm_name(key.algorithm), key.bits or None) for key in trust.keys
        ]


class AliasRow(Place, frozen=True):
    """Name that is an alias of another name."""

    kind: ClassVar[str] = "dns-alias"

    name: Annotated[str, Identity(as_host), Column("Name", "mono")]
    target: Annotated[str, Column("Alias of", "mono")]
    service: Annotated[str | None, Column("Service")] = None

    @classmethod
    def of(cls, aliases: Sequence[Alias]) -> list[Self]:
        return [
            cls(excerpt(alias.name, 255), excerpt(alias.targets[-1], 255), alias.service or None) for alias in aliases
        ]
