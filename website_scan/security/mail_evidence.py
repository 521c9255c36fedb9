"""Evidence classes for the mail of a domain, besides its MX, SPF and DMARC records."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from website_scan.net.http.response import Response


class MailServer(Struct, frozen=True):
    """Mail server that an MX record names. `name` is empty for the null MX (RFC 7505).

    `aliases` are the targets of its CNAME records. `addresses` is None if they are not known.
    """

    preference: int
    name: str
    aliases: tuple[str, ...] = ()
    addresses: tuple[str, ...] | None = None


class MailServers(Struct, frozen=True):
    """Mail servers of the domain, those with the best preference first.

    `has_address` says whether a domain without MX records has an address, to which senders then deliver mail (RFC 5321,
    section 5.1); None if that is not known. `domain` is None if the site owner does not control the domain.
    """

    domain: str | None
    servers: tuple[MailServer, ...] = ()
    has_address: bool | None = None


class DkimKeys(Struct, frozen=True):
    """DKIM keys of the domain.

    `code` is the response code for the name `_domainkey`, empty without an answer. `records` has the TXT records of
    usual selectors that exist. `has_wildcard`: unused names of the domain exist, too, so the code proves nothing.
    """

    domain: str | None
    code: str = ""
    records: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    has_wildcard: bool = False


class DmarcReports(Struct, frozen=True):
    """Domains elsewhere to which the DMARC record sends reports, with their consent; None if it is not known.

    RFC 9990, section 4.
    """

    domain: str | None
    consents: Mapping[str, bool | None] = field(default_factory=dict)


class MtaSts(Struct, frozen=True):
    """MTA-STS record and policy of the domain (RFC 8461).

    `records` is None if they were not looked up. The policy was requested only if there is one record.
    """

    domain: str | None
    records: tuple[str, ...] | None = None
    policy: Response | None = None
    error: str = ""


class TlsReporting(Struct, frozen=True):
    """TLS-RPT records of the domain (RFC 8460). `records` is None if they were not looked up."""

    domain: str | None
    records: tuple[str, ...] | None = None


class Bimi(Struct, frozen=True):
    """BIMI record of the domain, and the response for its logo.

    `records` is None if they were not looked up.
    """

    domain: str | None
    records: tuple[str, ...] | None = None
    logo: Response | None = None
    error: str = ""
