"""Evidence classes for the names and addresses of a domain."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from website_scan.net.dnssec.answers import SignedAnswer, ZoneTrust
from website_scan.net.http.response import Response


class CaaRecords(Struct, frozen=True):
    """CAA records in effect for the host.

    They belong to the host itself or its nearest parent that has any.

    `name` is the name that has the records. `domain` is None, and the other fields are empty, if the site owner does
    not control the domain (IP address, shared hosting).
    """

    domain: str | None
    name: str = ""
    records: tuple[str, ...] = ()


class UnusedName(Struct, frozen=True):
    """Answer for a random name in the domain, which only a wildcard can have.

    `answer` is None if no name server answered. `domain` is None if the site owner does not control the domain.
    """

    domain: str | None
    answer: SignedAnswer | None = None


class DnssecRecords(Struct, frozen=True):
    """Chain of trust to the domain, and validated answers for names in it.

    `is_authenticated` is True if the installation's name servers have validated an answer that this scanner rejects.
    `has_keys`: the domain has DNSKEY records, although its parent has no DS record. `is_parent_signed` is False if the
    zone above is not signed either.
    """

    domain: str | None
    trust: ZoneTrust | None = None
    answers: tuple[SignedAnswer, ...] = ()
    is_authenticated: bool = False
    has_keys: bool = False
    is_parent_signed: bool = True


class ServerState(StrEnum):
    """State of one address of a name server. `LAME`: it answers, but not for this domain (RFC 9499, section 7)."""

    ANSWERS = "answers"
    LAME = "does not serve the domain"
    SILENT = "does not answer"
    REFUSED = "may not be contacted"  # The guard or a budget of this installation refuses the connection.
    NOT_TESTED = "not tested"


class ServerAddress(Struct, frozen=True):
    """Address of a name server with its state. `code` is the response code of a lame server."""

    address: str
    state: ServerState
    code: str = ""

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.address


class NameServer(Struct, frozen=True):
    """Name server of the domain.

    `is_resolved` is False if its addresses could not be looked up. `transfers` is None if the transfer of the zone was
    not tested.
    """

    name: str
    addresses: tuple[ServerAddress, ...] = ()
    is_resolved: bool = True
    transfers: bool | None = None


class NameServers(Struct, frozen=True):
    """Name servers of the domain, of which `servers` are the first. `total` is the number of all."""

    domain: str | None
    servers: tuple[NameServer, ...] = ()
    total: int = 0

    @property
    def addresses(self) -> tuple[ServerAddress, ...]:
        return tuple(address for server in self.servers for address in server.addresses)


class SiteRecords(Struct, frozen=True):
    """DNS records of the page's host: addresses, and HTTPS records (RFC 9460) of its origin.

    Each is None if no name server answered.
    """

    domain: str | None
    host: str = ""
    ipv4: SignedAnswer | None = None
    ipv6: SignedAnswer | None = None
    https: SignedAnswer | None = None


class Ipv6Site(Struct, frozen=True):
    """Response of the page over IPv6, and over IPv4 if the first response differs from the page.

    `is_tested` is False if the host has no IPv6 address or the installation has no IPv6.
    """

    is_tested: bool
    over_ipv6: Response | None = None
    over_ipv4: Response | None = None
    error: str = ""
    has_ipv6: bool = True


class TlsaRecords(Struct, frozen=True):
    """TLSA records of the site's HTTPS server (RFC 6698). `answer` is None if they were not looked up."""

    domain: str | None
    answer: SignedAnswer | None = None


class Alias(Struct, frozen=True):
    """Name of the domain that is an alias of a name elsewhere.

    `service` is the hosting service of the last target, empty if unknown. `is_target_missing`: the last target does
    not exist. `free_domain` is the registrable domain of a target that nobody has registered. `says_unused`: the
    service answers that nobody uses the name.
    """

    name: str
    targets: tuple[str, ...]
    service: str = ""
    is_target_missing: bool = False
    free_domain: str = ""
    says_unused: bool = False


class Aliases(Struct, frozen=True):
    """Names of the domain that are aliases, among the host, the domain, www and the names that the page uses."""

    domain: str | None
    aliases: tuple[Alias, ...] = field(default_factory=tuple)
    names: int = 0
