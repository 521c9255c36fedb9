"""Rows of tables about mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Self

from website_scan.messages import excerpt
from website_scan.places import Column, Identity, Place, as_written
from website_scan.security.dkim import DkimKey
from website_scan.security.dmarc import ReportAddress
from website_scan.security.mail_evidence import MailServer
from website_scan.security.spf_lookups import SpfLookup

MAX_ADDRESSES = 4


class SpfLookupRow(Place, frozen=True):
    """Look-up that receivers need for an SPF record, with the number of look-ups so far."""

    kind: ClassVar[str] = "spf-lookup"

    number: Annotated[int, Column("Look-up", "number")]
    term: Annotated[str, Column("Term", "code")]
    domain: Annotated[str, Column("In the record of", "mono")]
    level: Annotated[int, Column("Level", "number")]
    result: Annotated[str | None, Column("Result")] = None

    @classmethod
    def of(cls, lookups: Sequence[SpfLookup]) -> list[Self]:
        return [
            cls(number, excerpt(lookup.term, 200), excerpt(lookup.domain, 255), lookup.depth + 1, _result(lookup))
            for number, lookup in enumerate(lookups, 1)
        ]


def _result(lookup: SpfLookup) -> str | None:
    if lookup.is_beyond_limit:
        return "beyond the limit"
    if lookup.records is not None:
        return "SPF record" if lookup.records == 1 else f"{lookup.records or 'no'} SPF records"
    if lookup.hosts is not None:
        return "1 record" if lookup.hosts == 1 else f"{lookup.hosts or 'no'} records"
    return None


class MailServerRow(Place, frozen=True):
    """Mail server that an MX record names."""

    kind: ClassVar[str] = "mail-server"

    server: Annotated[str, Identity(as_written), Column("Mail server", "mono")]
    preference: Annotated[int, Column("Preference", "number")]
    addresses: Annotated[str | None, Column("Addresses", "mono")] = None
    alias: Annotated[str | None, Column("Alias of", "mono")] = None

    @classmethod
    def of(cls, servers: Sequence[MailServer]) -> list[Self]:
        return [
            cls(
                excerpt(server.name or ".", 255),
                server.preference,
                excerpt(", ".join((server.addresses or ())[:MAX_ADDRESSES]), 200) or None,
                excerpt(server.aliases[-1], 255) if server.aliases else None,
            )
            for server in servers
        ]


class DkimKeyRow(Place, frozen=True):
    """DKIM key of a selector."""

    kind: ClassVar[str] = "dkim-key"

    selector: Annotated[str, Identity(as_written), Column("Selector", "mono")]
    type: Annotated[str, Column("Type", "short")]
    bits: Annotated[int | None, Column("Bits", "number")] = None
    state: Annotated[str | None, Column("State")] = None

    @classmethod
    def of(cls, keys: Sequence[DkimKey]) -> list[Self]:
        return [cls(key.selector, excerpt(key.type, 40), key.bits or None, _state(key)) for key in keys]


def _state(key: DkimKey) -> str | None:
    if key.fault:
        return key.fault
    if key.is_revoked:
        return "revoked"
    if key.has_only_sha1:
        return "only for SHA-1"
    return "test mode" if key.is_testing else None


class ReportAddressRow(Place, frozen=True):
    """Address for DMARC reports, with the consent of its domain."""

    kind: ClassVar[str] = "report-address"

    address: Annotated[str, Identity(as_written), Column("Address", "mono")]
    tag: Annotated[str, Column("Tag", "short")]
    consent: Annotated[str | None, Column("Consent")] = None

    @classmethod
    def of(cls, addresses: Sequence[ReportAddress], consents: Mapping[str, bool | None]) -> list[Self]:
        texts = {True: "accepts reports", False: "does not accept reports", None: None}
        return [
            cls(excerpt(address.text, 255), address.tag, texts[consents.get(address.host)]) for address in addresses
        ]
