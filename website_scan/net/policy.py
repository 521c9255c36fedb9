"""Policy of an installation: networks, ports and domains that scans and deliveries may reach."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from website_scan.environment import Exemption
from website_scan.net.addresses import IPNetwork, loopback_addresses

# The product token for robots.txt (RFC 9309, section 2.2.1).
PRODUCT = "WebsiteScanService"
# The command runs on somebody's own machine, which has no page about it.
USER_AGENT = f"{PRODUCT}/1.0"


def user_agent_at(address: str) -> str:
    """Return the User-Agent with the address of a page that says who sends the requests and how to stop them."""
    return f"{USER_AGENT} (+{address})"


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules for connections. `allowed_networks` are exempt from the guard, on all ports or one; reserved names are not.

    `typed_loopback` are exempt only for hosts that are loopback whatever DNS says. Only the command sets it, for a page
    that somebody typed. `denied_networks` refuses addresses even if they are exempted. `name_servers` replace the
    system's.
    """

    allowed_networks: tuple[Exemption, ...] = ()
    typed_loopback: tuple[Exemption, ...] = ()
    denied_networks: tuple[IPNetwork, ...] = ()
    name_servers: tuple[str, ...] = ()
    allowed_ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    blocked_domains: tuple[str, ...] = ()  # with all their subdomains
    ca_bundle: Path | None = None  # trusted in addition to the system's and certifi's certificates
    user_agent: str = USER_AGENT

    def exempted(self, host: str, port: int) -> tuple[IPNetwork, ...]:
        """Return the networks that are exempted for this host on this port."""
        typed = self.typed_loopback if loopback_addresses(host) else ()
        return tuple(
            each[0] if isinstance(each, tuple) else each
            for each in (*self.allowed_networks, *typed)
            if not isinstance(each, tuple) or each[1] == port
        )
