"""URL parser for scan and delivery targets.

A string is converted to a canonical URL by the WHATWG rules, or refused. No code after `parse_target` reads the
original string, so no second parser can disagree about the host.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterator
from ipaddress import ip_address

from msgspec import Struct
from msgspec.structs import replace

from website_scan.errors import Refusal
from website_scan.net.addresses import LOOPBACK, IPNetwork, is_exempted, is_loopback_name, own_addresses, refusal
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.urls import Url

logger = logging.getLogger(__name__)

MAX_LENGTH = 2048
# Percent-encoding converts one character to up to twelve characters.
MAX_CANONICAL_LENGTH = 8192
SCHEMES = frozenset({"http", "https"})

# Names with these suffixes are never public sites (RFC 2606, 6761, 6762, 7686, 8375).
RESERVED_SUFFIXES = frozenset(
    {
        "localhost",
        "local",
        "internal",
        "test",
        "example",
        "invalid",
        "onion",
        "home.arpa",
        "lan",
    }
)

# The WHATWG rules also accept http:/host and http:///host.
_PREFIX = re.compile(r"https?://[^/\\]", re.IGNORECASE)
# The WHATWG rules also accept host names such as `a;b`, which some resolvers misparse.
_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class InvalidUrl(Refusal):
    """Raised for an invalid URL.

    It is malformed, not http(s), without a valid host, or has a forbidden part.
    """

    code = "INVALID_URL"
    status = 400


class Target(Struct, frozen=True):
    """Canonical http(s) URL that `parse_target` has checked.

    It has no credentials and no fragment.
    """

    address: Url
    policy: Policy

    def __eq__(self, other: object) -> bool:
        return type(other) is Target and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)

    @property
    def url(self) -> str:
        """Return the canonical URL."""
        return self.address.href

    @property
    def scheme(self) -> str:
        """Return "http" or "https"."""
        return self.address.scheme

    @property
    def host(self) -> str:
        """Return the host in ASCII, IPv6 addresses without brackets."""
        return self.address.host

    @property
    def port(self) -> int:
        """Return the port of the URL or the default port of its scheme."""
        return self.address.port or 0

    @property
    def path(self) -> str:
        """Return path and query for a request line.

        An empty query keeps its `?`.
        """
        return "/" + self.address.without_fragment.split("/", 3)[3]

    @property
    def origin(self) -> str:
        """Return the origin `https://host[:port]`.

        The port is omitted if it is the scheme's default.
        """
        return self.address.origin

    @property
    def is_https(self) -> bool:
        """Return True for an https URL."""
        return self.scheme == "https"

    def join(self, reference: str) -> Target:
        """Resolve a reference on this page to a target.

        The checks are those of `parse_target`.

        Raises InvalidUrl (also for other schemes) or Blocked.
        """
        return _parse_target(reference, self.policy, base=self.url)


def parse_target(value: object, policy: Policy) -> Target:
    """Parse and check a URL from outside, such as a user's input.

    Raises InvalidUrl, or Blocked for names and address literals that are not public; the blocklist is checked before
    the port. The addresses of a name are checked when it is resolved.
    """
    if not isinstance(value, str) or not value:
        raise InvalidUrl("url must be a string that starts with https:// or http://.")
    if len(value) > MAX_LENGTH:
        raise InvalidUrl(f"url may have at most {MAX_LENGTH:,} characters.")
    if _CONTROL.search(value):
        raise InvalidUrl("url must not contain control characters.")
    if not _PREFIX.match(value):
        raise InvalidUrl("url must start with https:// or http://, followed by a host name.")
    target = _parse_target(value, policy)
    if len(target.url) > MAX_CANONICAL_LENGTH:
        raise InvalidUrl(f"url is longer than {MAX_CANONICAL_LENGTH:,} characters when encoded.")
    return target


def _parse_target(value: str, policy: Policy, base: str | None = None) -> Target:
    try:
        url = Url.of(value, base)
        if url.host.endswith("."):
            url = url.with_host(url.host[:-1])
    except ValueError:
        raise InvalidUrl("The address can't be understood.") from None
    if url.scheme not in SCHEMES:
        raise InvalidUrl("Only https:// and http:// addresses can be scanned.")
    _refuse_credentials(url)
    target = Target(replace(url, href=url.without_fragment, fragment=""), policy)
    _check_host(target.host)
    _check_port(target.port, policy, is_exempted=_refuse_blocked(target.host, target.port, policy))
    return target


def _refuse_credentials(url: Url) -> None:
    if url.has_credentials:
        raise InvalidUrl("The address must not contain a user name or password.")


def _check_port(port: int, policy: Policy, *, is_exempted: bool) -> None:
    if port == 0 or (port not in policy.allowed_ports and not is_exempted):
        raise InvalidUrl(f"Port {port} is not allowed here.")


def _check_host(host: str) -> None:
    """Raise InvalidUrl for host names that violate RFC 1123, section 2.1.

    The WHATWG rules accept some of them.
    """
    if ":" not in host and (len(host) > 253 or not _NAME.fullmatch(host)):
        raise InvalidUrl("The address has no valid host name.")


def _refuse_blocked(host: str, port: int, policy: Policy) -> bool:
    """Raise Blocked if the policy refuses the host.

    Returns True if an exemption may apply to this port.

    The addresses of a name are not known here. If any networks are exempted, the network checks the port together with
    the addresses before it connects.
    """
    refuse_blocklisted(host, policy)
    exempted = policy.exempted(host, port)
    try:
        address = ip_address(host)
    except ValueError:
        _refuse_reserved_name(host, exempted)
        return bool(exempted)
    if reason := refusal(address, exempted, own_addresses(), policy.denied_networks):
        logger.info("a target is refused: %s", reason)
        # Users do not learn that an address belongs to this machine or is denied by the operator.
        public_reason = refusal(address, exempted)
        raise Blocked(f"The target is not publicly accessible{f': {public_reason}' if public_reason else ''}.")
    return is_exempted(address, exempted)


def refuse_blocklisted(host: str, policy: Policy) -> None:
    """Raise Blocked if a name or one of its parents is on the operator's blocklist."""
    if not _blocked_domains(policy.blocked_domains).isdisjoint(_parent_domains(host)):
        raise Blocked(f"{host} is on the blocklist of this service.")


def _refuse_reserved_name(host: str, exempted: tuple[IPNetwork, ...]) -> None:
    if is_loopback_name(host):
        if any(is_exempted(address, exempted) for address in LOOPBACK):
            return
        raise Blocked(
            f"{host} is this machine, not a public site. To scan a site on your own machine, use the command "
            "website-scan. An operator can allow it with SCAN_ALLOWED_NETWORKS=127.0.0.0/8."
        )
    if "." not in host or not RESERVED_SUFFIXES.isdisjoint(_parent_domains(host)):
        raise Blocked(f"{host} is a reserved name, not a public site.")


def _parent_domains(host: str) -> Iterator[str]:
    """Yield a host name, then its parent domains."""
    yield host
    while host := host.partition(".")[2]:
        yield host


@functools.lru_cache(maxsize=8)
def _blocked_domains(entries: tuple[str, ...]) -> frozenset[str]:
    """Return the domains of the blocklist in canonical form."""
    return frozenset(filter(None, map(_canonical_domain, entries)))


def _canonical_domain(entry: str) -> str:
    domain = entry.strip().lower().removeprefix("*.").strip(".")
    try:
        return Url.of(f"http://{f'[{domain}]' if ':' in domain else domain}/").host
    except ValueError:
        return domain
