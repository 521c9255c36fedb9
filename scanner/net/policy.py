"""What an installation lets scans and deliveries reach."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scanner.environment import Exemption
from scanner.net.addresses import IPNetwork

# By which robots.txt may speak of it (RFC 9309, section 2.2.1).
PRODUCT = "WebsiteScanService"
# Who runs the command is at their own machine: the project is all that it can name.
PROJECT = "https://github.com/website-scan-service"


def user_agent_at(address: str) -> str:
    """The User-Agent with the address of a page that says who asks, and how to be left alone."""
    return f"{PRODUCT}/0.1 (+{address})"


@dataclass(frozen=True, slots=True)
class Policy:
    """`allowed_networks` exempts addresses from the guard, on every port or on one; reserved names stay refused.

    `denied_networks` refuses addresses whatever else is said of them. `name_servers` are asked instead of the system's.
    """

    allowed_networks: tuple[Exemption, ...] = ()
    denied_networks: tuple[IPNetwork, ...] = ()
    name_servers: tuple[str, ...] = ()
    allowed_ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    blocked_domains: tuple[str, ...] = ()  # with all their subdomains
    ca_bundle: Path | None = None  # trusted beside the system's and certifi's certificates
    user_agent: str = user_agent_at(PROJECT)

    def exempted(self, port: int) -> tuple[IPNetwork, ...]:
        """The networks that are exempted on this port."""
        return tuple(
            each[0] if isinstance(each, tuple) else each
            for each in self.allowed_networks
            if not isinstance(each, tuple) or each[1] == port
        )
