"""Parser of targets: converts a string into one canonical URL by WHATWG rules, or raises a named refusal.

No code after `parse_target` reads the original string, so no second parser can disagree about the host.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from ipaddress import ip_address

from website_scan.errors import Refusal
from website_scan.net.addresses import LOOPBACK, IPNetwork, is_exempt, is_loopback_name, own_addresses, refusal
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.urls import Url

logger = logging.getLogger(__name__)

MAX_LENGTH = 2048
# Percent-encoding turns one character into up to twelve.
MAX_CANONICAL_LENGTH = 8192
SCHEMES = frozenset({"http", "https"})

# Suffixes of names that are never public sites, regardless of DNS: RFC 2606, 6761, 6762, 7686, 8375, and common usage.
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

# Required beginning of the original string, because WHATWG also accepts http:/host and http:///host.
_PREFIX = re.compile(r"https?://[^/\\]", re.IGNORECASE)
# Valid host names. WHATWG accepts more, such as `a;b` or `a*b`, which no registry allows and some resolvers misparse.
_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class InvalidUrl(Refusal):
    """Refusal of a URL that is malformed, not http(s), has no usable host, or contains a forbidden part."""

    code = "INVALID_URL"
    status = 400


@dataclass(frozen=True, slots=True)
class Target:
    """http(s) URL without credentials and fragment that may be requested, judging by its text."""

    address: Url
    policy: Policy = field(compare=False, repr=False)

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
        """Return the host: ASCII, IPv6 without brackets."""
        return self.address.host

    @property
    def port(self) -> int:
        """Return the port: that of the URL, or the scheme's default."""
        return self.address.port or 0

    @property
    def path(self) -> str:
        """Return the path for a request line: with `?` and the query, even an empty one after a `?`."""
        return "/" + self.address.without_fragment.split("/", 3)[3]

    @property
    def origin(self) -> str:
        """Return `https://host[:port]`; with the port only if it is not the scheme's default."""
        return self.address.origin

    @property
    def is_https(self) -> bool:
        """Return True if the scheme is https."""
        return self.scheme == "https"

    def join(self, reference: str) -> Target:
        """Return the target of a reference on this page, after the same checks.

        Raises InvalidUrl (also for other schemes) or Blocked.
        """
        return _target(reference, self.policy, base=self.url)


def parse_target(value: object, policy: Policy) -> Target:
    """Return the target of a URL that a person or a program sent.

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
    target = _target(value, policy)
    if len(target.url) > MAX_CANONICAL_LENGTH:
        raise InvalidUrl(f"url is longer than {MAX_CANONICAL_LENGTH:,} characters when encoded.")
    return target


def _target(value: str, policy: Policy, base: str | None = None) -> Target:
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
    _judge_host(target.host)
    _judge_port(target.port, policy, is_exempted=_refuse_blocked(target.host, target.port, policy))
    return target


def _refuse_credentials(url: Url) -> None:
    if url.has_credentials:
        raise InvalidUrl("The address must not contain a user name or password.")


def _judge_port(port: int, policy: Policy, *, is_exempted: bool) -> None:
    if port == 0 or (port not in policy.allowed_ports and not is_exempted):
        raise InvalidUrl(f"Port {port} is not allowed here.")


def _judge_host(host: str) -> None:
    """Check the rules for host names that WHATWG omits: RFC 1123, section 2.1, with underscores."""
    if ":" not in host and (len(host) > 253 or not _NAME.fullmatch(host)):
        raise InvalidUrl("The address has no valid host name.")


def _refuse_blocked(host: str, port: int, policy: Policy) -> bool:
    """Raise Blocked if the host may not be contacted. Returns True if an exemption may apply to this port.

    The addresses of a name are not known here. If any networks are exempted, the network checks the port together with
    the addresses before it connects.
    """
    if not _blocked_domains(policy.blocked_domains).isdisjoint(_suffixes(host)):
        raise Blocked(f"{host} is on the blocklist of this service.")
    exempted = policy.exempted(host, port)
    try:
        address = ip_address(host)
    except ValueError:
        _refuse_reserved_name(host, exempted, policy)
        return bool(exempted)
    if reason := refusal(address, exempted, own_addresses(), policy.denied_networks):
        logger.info("a target is refused: %s", reason)
        # The message has only public facts about the address, not that it belongs to this machine or is denied here.
        public_reason = refusal(address, exempted)
        raise Blocked(f"The target is not publicly accessible{f': {public_reason}' if public_reason else ''}.")
    return is_exempt(address, exempted)


def _refuse_reserved_name(host: str, exempted: tuple[IPNetwork, ...], policy: Policy) -> None:
    is_loopback = is_loopback_name(host) if policy.typed_loopback else host == "localhost"
    if is_loopback and any(is_exempt(address, exempted) for address in LOOPBACK):
        return
    if "." not in host or not RESERVED_SUFFIXES.isdisjoint(_suffixes(host)):
        raise Blocked(f"{host} is a reserved name, not a public site.")


def _suffixes(host: str) -> Iterator[str]:
    """Yield the name itself and every parent domain."""
    yield host
    while host := host.partition(".")[2]:
        yield host


@functools.lru_cache(maxsize=8)
def _blocked_domains(entries: tuple[str, ...]) -> frozenset[str]:
    """Return the blocklist's entries in the canonical form of a target's host."""
    return frozenset(filter(None, map(_canonical_domain, entries)))


def _canonical_domain(entry: str) -> str:
    domain = entry.strip().lower().removeprefix("*.").strip(".")
    try:
        return Url.of(f"http://{f'[{domain}]' if ':' in domain else domain}/").host
    except ValueError:
        return domain
