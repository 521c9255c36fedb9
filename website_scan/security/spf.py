"""SPF parser, which judges a record together with those that it includes.

RFC 7208.

A receiver that finds an error in any of the records rejects the policy as a whole ("permerror"). What depends on the
sender is not evaluated: all look-ups are counted that mail of an unknown sender causes.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct, field

# Limits on look-ups, look-ups without an answer, and mail servers of a term (RFC 7208, section 4.6.4).
MAX_LOOKUPS = 10
MAX_VOID_LOOKUPS = 2
MAX_MX_HOSTS = 10
# The largest networks that organizations have are a /8 of IPv4 and a /16 of IPv6.
MIN_PREFIX_LENGTH, MIN_PREFIX_LENGTH_V6 = 8, 16
MAX_TERMS = 500  # A record of 4,096 characters may have more terms, but no receiver accepts so many.
MAX_CHARACTERS = 4096  # Longer records are incomplete in the evidence (website_scan/net/name_servers.py).
LOOKUP_MECHANISMS = frozenset({"include", "a", "mx", "ptr", "exists"})

VERSION = re.compile(r"v=spf1(?: |$)", re.IGNORECASE)
DIRECTIVE = re.compile(r"([-+?~]?)([A-Za-z0-9_.-]+)((?:[:/].*)?)", re.DOTALL)
MODIFIER = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
# The macro letters c, r and t are allowed only in explanations (RFC 7208, section 7.2).
MACRO = r"%\{[slodiphvSLODIPHV](?:0*[1-9][0-9]*)?[rR]?[-.+,/_=]*\}"
MACRO_STRING = re.compile(rf"(?:[!-$&-~]|%[%_-]|{MACRO.replace('vS', 'vcrtS').replace('HV', 'HVCRT')})*+")
DOMAIN_MACROS = re.compile(rf"(?:[!-$&-~]|%[%_-]|{MACRO})*+")
ENDS_WITH_MACRO = re.compile(rf"{MACRO}\Z")
TOP_LABEL = re.compile(r"(?=.*[A-Za-z-])[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?")
PREFIX_LENGTHS = re.compile(r"(?:/(0|[1-9]\d?))?(?://(0|[1-9]\d{0,2}))?")
WITHOUT_PREFIX_LENGTHS = re.compile(r"(?:/\d*)?(?://\d*)?\Z")


class SpfFault(StrEnum):
    """Reason why receivers reject a policy."""

    SYNTAX = "syntax"
    REPEATED = "repeated"
    MISSING = "missing"
    LOOKUPS = "lookups"
    VOID_LOOKUPS = "void-lookups"
    MX_HOSTS = "mx-hosts"


class SpfError(Exception):
    """Raised for an error in the policy.

    `domain` has the faulty record, `term` is the faulty term. Both may be empty.
    """

    def __init__(self, fault: SpfFault, domain: str, term: str = "") -> None:
        super().__init__(fault)
        self.fault = fault
        self.domain = domain
        self.term = term


class HostLookup(Struct, frozen=True):
    """DNS look-up of a name's addresses or mail servers.

    `type` is "MX", or "A", which stands for AAAA too.
    """

    type: str
    name: str


class SpfTerm(Struct, frozen=True):
    """Mechanism or modifier of an SPF record.

    The qualifier of a modifier is "=". `value` is a domain or a network.
    """

    text: str
    qualifier: str
    name: str
    value: str = ""
    prefix_length: int = 32
    prefix_length_v6: int = 128

    @property
    def needs_lookup(self) -> bool:
        """Return True if receivers query the DNS to evaluate the term."""
        return self.name in LOOKUP_MECHANISMS or self.name == "redirect"

    @property
    def names_domain(self) -> bool:
        """Return True if the term uses the policy of another domain.

        False if the domain's name contains a macro.
        """
        return (self.name == "include" or self.name == "redirect") and "%" not in self.value

    def host_lookup(self, domain: str) -> HostLookup | None:
        """Return the host look-up of a term, or None.

        The term is in a record of `domain`.

        Names with a macro are not looked up.
        """
        if self.name not in ("a", "mx", "exists") or self.qualifier == "=" or "%" in self.value:
            return None
        return HostLookup("MX" if self.name == "mx" else "A", (self.value or domain).lower().rstrip("."))


class SpfPolicy(Struct):
    """SPF record of a domain, including its included records.

    `default` is the qualifier for all other senders.
    """

    terms: Sequence[SpfTerm] = ()
    lookups: int = 0
    default: str = "?"
    is_open: bool = False  # True if a mechanism allows all IPv4 addresses or all IPv6 addresses.
    networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = field(default_factory=list)


def is_spf_record(text: str) -> bool:
    """Return True for a TXT record with the version `v=spf1`.

    RFC 7208, section 4.5.
    """
    return VERSION.match(text) is not None


def permits_nobody(record: str) -> bool:
    """Return True if a valid record permits no sender at all, as `v=spf1 -all` does."""
    try:
        terms = effective_terms(parse_spf("", record))
    except SpfError:
        return False
    return [(term.qualifier, term.name) for term in terms] == [("-", "all")]


def largest_network(policy: SpfPolicy) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the largest public network whose addresses may send, if an organization hardly has so many."""
    too_large = [
        network
        for network in _collapsed(policy.networks)
        if network.prefixlen < (MIN_PREFIX_LENGTH if network.version == 4 else MIN_PREFIX_LENGTH_V6)
    ]
    return min(too_large, key=lambda network: network.prefixlen, default=None)


class _Lookups(Struct):
    """DNS look-ups that a policy and its included policies have caused so far."""

    others: Mapping[str, Sequence[str]]
    host_counts: Mapping[HostLookup, int]
    count: int = 0
    void_count: int = 0

    def add(self, term: SpfTerm, domain: str) -> None:
        """Count the look-up of a term.

        Raises `SpfError` beyond the limits.
        """
        self.count += 1
        if self.count > MAX_LOOKUPS:
            raise SpfError(SpfFault.LOOKUPS, domain, term.text)
        lookup = term.host_lookup(domain)
        hosts = None if lookup is None else self.host_counts.get(lookup)
        if hosts is None or lookup is None:
            return
        if lookup.type == "MX" and hosts > MAX_MX_HOSTS:
            raise SpfError(SpfFault.MX_HOSTS, domain, term.text)
        self.void_count += hosts == 0
        if self.void_count > MAX_VOID_LOOKUPS:
            raise SpfError(SpfFault.VOID_LOOKUPS, domain, term.text)


def read_policy(
    domain: str,
    records: Sequence[str],
    others: Mapping[str, Sequence[str]],
    host_counts: Mapping[HostLookup, int] | None = None,
) -> SpfPolicy:
    """Return the policy of a domain with these SPF records.

    Raises `SpfError` if receivers reject it.

    `others` has the SPF records of further domains by their names, and `host_counts` how many hosts a look-up finds.
    Unknown ones are not judged.
    """
    return _read(domain, records, _Lookups(others, host_counts or {}))


def _read(domain: str, records: Sequence[str], lookups: _Lookups) -> SpfPolicy:
    if len(records) > 1:
        raise SpfError(SpfFault.REPEATED, domain)
    policy = SpfPolicy(effective_terms(parse_spf(domain, records[0])))
    for term in policy.terms:
        if term.needs_lookup:
            lookups.add(term, domain)
        other = _other_policy(term, domain, lookups)
        if term.name == "redirect":
            if other is not None:
                policy.default = other.default
                policy.is_open |= other.is_open
                policy.networks += other.networks
            else:
                # The redirect's policy was not scanned, so it is assumed to be strict.
                policy.default = "-"
        elif term.name == "all":
            policy.default = term.qualifier
        elif term.qualifier == "+":
            policy.is_open |= _lets_all_pass(term)
            policy.networks += _networks(term)
            if other is not None and term.name == "include":
                policy.is_open |= other.is_open or other.default == "+"
                policy.networks += other.networks
    policy.lookups = lookups.count
    policy.is_open |= any(network.prefixlen == 0 for network in _collapsed(policy.networks))
    return policy


def _other_policy(term: SpfTerm, domain: str, lookups: _Lookups) -> SpfPolicy | None:
    records = lookups.others.get(term.value.lower().rstrip(".")) if term.names_domain else None
    if records is None:
        return None
    if not records:
        raise SpfError(SpfFault.MISSING, domain, term.text)
    return _read(term.value, records, lookups)


def effective_terms(terms: Sequence[SpfTerm]) -> list[SpfTerm]:
    """Return the terms that receivers evaluate (RFC 7208, section 5.1).

    Terms after `all` are ignored, and so is `redirect` in a record with `all`.
    """
    names = [term.name for term in terms if term.qualifier != "="]
    mechanisms = [term for term in terms if term.qualifier != "="]
    if "all" in names:
        return mechanisms[: names.index("all") + 1]
    return mechanisms + [term for term in terms if term.name == "redirect" and term.qualifier == "="]


def parse_spf(domain: str, record: str) -> list[SpfTerm]:
    """Parse a record into its mechanisms and modifiers.

    Raises `SpfError` if any term has an error.
    """
    texts = [text for text in record.split(" ")[1:] if text]
    if len(texts) > MAX_TERMS:
        raise SpfError(SpfFault.SYNTAX, domain, texts[MAX_TERMS])
    terms: list[SpfTerm] = []
    for text in texts:
        term = _modifier(text) if MODIFIER.fullmatch(text) else _directive(text)
        is_repeated = term is not None and term.name in ("redirect", "exp") and term.qualifier == "="
        if term is None or (is_repeated and any((term.name, "=") == (each.name, each.qualifier) for each in terms)):
            raise SpfError(SpfFault.SYNTAX, domain, text)
        terms.append(term)
    return terms


def _modifier(text: str) -> SpfTerm | None:
    """Parse a modifier.

    Unknown ones are allowed, with any macro string (RFC 7208, section 6).
    """
    name, _, value = text.partition("=")
    is_valid = _is_domain_spec(value) if name.lower() in ("redirect", "exp") else MACRO_STRING.fullmatch(value)
    return SpfTerm(text, "=", name.lower(), value) if is_valid else None


def _directive(text: str) -> SpfTerm | None:
    match = DIRECTIVE.fullmatch(text)
    if match is None:
        return None
    qualifier, name, argument = match[1] or "+", match[2].lower(), match[3]
    match name:
        case "all":
            return SpfTerm(text, qualifier, name) if not argument else None
        case "include" | "exists":
            return SpfTerm(text, qualifier, name, argument[1:]) if _is_domain_argument(argument) else None
        case "ptr":
            is_valid = not argument or _is_domain_argument(argument)
            return SpfTerm(text, qualifier, name, argument[1:]) if is_valid else None
        case "a" | "mx":
            return _host_directive(text, qualifier, name, argument)
        case "ip4" | "ip6":
            return _network_directive(text, qualifier, name, argument)
    return None


def _host_directive(text: str, qualifier: str, name: str, argument: str) -> SpfTerm | None:
    """Parse `a` or `mx`.

    Both may have a domain and prefix lengths of IPv4 and IPv6.
    """
    lengths = WITHOUT_PREFIX_LENGTHS.search(argument)
    domain = argument[: lengths.start()] if lengths else argument
    match = PREFIX_LENGTHS.fullmatch(argument[len(domain) :])
    if match is None or (domain and not _is_domain_argument(domain)):
        return None
    length, length_v6 = int(match[1] or 32), int(match[2] or 128)
    if length > 32 or length_v6 > 128:
        return None
    return SpfTerm(text, qualifier, name, domain[1:], length, length_v6)


def _network_directive(text: str, qualifier: str, name: str, argument: str) -> SpfTerm | None:
    """Parse `ip4` or `ip6`, with an address and an optional prefix length."""
    address, slash, length = argument[1:].partition("/")
    if not argument.startswith(":") or "%" in address or (slash and not re.fullmatch(r"0|[1-9]\d{0,2}", length, re.A)):
        return None
    try:
        parsed = ipaddress.IPv4Address(address) if name == "ip4" else ipaddress.IPv6Address(address)
    except ValueError:
        return None
    prefix_length = int(length or parsed.max_prefixlen)
    return SpfTerm(text, qualifier, name, address, prefix_length) if prefix_length <= parsed.max_prefixlen else None


def _is_domain_argument(argument: str) -> bool:
    return argument.startswith(":") and _is_domain_spec(argument[1:])


def _is_domain_spec(text: str) -> bool:
    """Return True for a domain, which may contain macros.

    RFC 7208, section 7.1.
    """
    if not DOMAIN_MACROS.fullmatch(text):
        return False
    if ENDS_WITH_MACRO.search(text):
        return True
    _name, dot, top_label = text.removesuffix(".").rpartition(".")
    return bool(dot) and TOP_LABEL.fullmatch(top_label) is not None


def _lets_all_pass(term: SpfTerm) -> bool:
    return term.name in ("a", "mx") and (term.prefix_length == 0 or term.prefix_length_v6 == 0)


def _networks(term: SpfTerm) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    if term.name not in ("ip4", "ip6"):
        return []
    return [ipaddress.ip_network(f"{term.value}/{term.prefix_length}", strict=False)]


def _collapsed(
    networks: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network],
) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Merge adjacent networks.

    Two halves of the address space become one network.
    """
    joined: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
    joined += ipaddress.collapse_addresses(each for each in networks if isinstance(each, ipaddress.IPv4Network))
    joined += ipaddress.collapse_addresses(each for each in networks if isinstance(each, ipaddress.IPv6Network))
    return joined
