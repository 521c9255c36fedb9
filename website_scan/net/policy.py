"""Policy of an installation: networks, ports and domains that scans and deliveries may reach."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from website_scan.environment import Exemption
from website_scan.net.addresses import IPNetwork, loopback_addresses

# The product token for robots.txt (RFC 9309, section 2.2.1).
PRODUCT = "WebsiteScanService"
# User-Agent of the command, which runs on a user's machine, so there is no page about the scanner to link to.
USER_AGENT = f"{PRODUCT}/1.0"


def user_agent_at(address: str) -> str:
    """Return the User-Agent with the URL of a page on who sends the requests and how to stop them."""
    return f"{USER_AGENT} (+{address})"


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for connections. `allowed_networks` are exempt from the guard, on all ports or one; reserved names are not.

    `typed_loopback` are exemptions only for hosts that are loopback regardless of DNS. Only the command sets them, for
    a URL that its user entered. `denied_networks` are refused even if they are exempted. `name_servers` replace the
    system's.
    """

    allowed_networks: tuple[Exemption, ...] = ()
    typed_loopback: tuple[Exemption, ...] = ()
    denied_networks: tuple[IPNetwork, ...] = ()
    name_servers: tuple[str, ...] = ()
    allowed_ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    blocked_domains: tuple[str, ...] = ()  # and all their subdomains
    ca_bundle: Path | None = None  # trusted in addition to the system's and certifi's certificates
    user_agent: str = USER_AGENT

    def exempted(self, host: str, port: int) -> tuple[IPNetwork, ...]:
        """Return the networks that are exempted for this host on this port."""
        typed = self.typed_loopback if loopback_addresses(host) else ()
        return tuple(
            exemption[0] if isinstance(exemption, tuple) else exemption
            for exemption in (*self.allowed_networks, *typed)
            if not isinstance(exemption, tuple) or exemption[1] == port
        )
