"""Network policy of an installation.

It says which networks, ports and domains scans and deliveries may reach.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from website_scan.environment import Exemption
from website_scan.net.addresses import IPNetwork, loopback_addresses

# Name of the scanner in robots.txt (RFC 9309, section 2.2.1).
PRODUCT = "WebsiteScanService"
# The command runs on a user's machine, so its User-Agent has no link to a page about the scanner.
USER_AGENT = f"{PRODUCT}/1.0"


def user_agent_at(address: str) -> str:
    """Return a User-Agent that contains `address`.

    `address` is the URL of a page about the scanner.

    The page explains how to block the scanner.
    """
    return f"{USER_AGENT} (+{address})"


class RouteValidator(Struct, frozen=True):
    """The operator's validator of routes: Routinator's HTTP service at `url`.

    `origin_zone` is the DNS zone that has the origins of addresses, empty if there is none.
    """

    url: str
    origin_zone: str = ""

    @classmethod
    def of_settings(cls, url: str, origin_zone: str) -> RouteValidator | None:
        """Return the validator of the settings, None if its address is empty."""
        return cls(url, origin_zone) if url else None


class Policy(Struct, frozen=True):
    """Network policy.

    `allowed_networks` are exempt from the guard, on all ports or on one. Reserved names are never exempt.
    `typed_loopback` are exemptions only for hosts that are loopback regardless of DNS. Only the command sets them, for
    a URL that its user entered. `denied_networks` are refused even if they are exempted. `name_servers` replace the
    system's. `trust_anchors` are DS records of the root zone that replace those of IANA for DNSSEC.
    `contacts_mail_servers` allows connections to port 25 of the mail servers of scanned domains, which learn the
    scanner's name `mail_name`. `route_validator` is None if the operator has none.
    """

    allowed_networks: tuple[Exemption, ...] = ()
    typed_loopback: tuple[Exemption, ...] = ()
    denied_networks: tuple[IPNetwork, ...] = ()
    name_servers: tuple[str, ...] = ()
    trust_anchors: tuple[str, ...] = ()
    allowed_ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    blocked_domains: tuple[str, ...] = ()  # Subdomains are blocked as well.
    ca_bundle: Path | None = None  # These certificates are trusted in addition to those of the system and certifi.
    user_agent: str = USER_AGENT
    contacts_mail_servers: bool = False
    mail_name: str = ""
    route_validator: RouteValidator | None = None

    def exempted(self, host: str, port: int) -> tuple[IPNetwork, ...]:
        """Return the networks that are exempt from the guard for this host and port."""
        typed = self.typed_loopback if loopback_addresses(host) else ()
        return tuple(
            exemption[0] if isinstance(exemption, tuple) else exemption
            for exemption in (*self.allowed_networks, *typed)
            if not isinstance(exemption, tuple) or exemption[1] == port
        )
