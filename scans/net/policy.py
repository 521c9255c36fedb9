"""What an installation lets scans and deliveries reach."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Policy:
    """`allowed_networks` exempts addresses from the guard (any port); reserved names stay refused.

    `denied_networks` refuses addresses whatever else is said of them. `name_servers` are asked instead of the system's.
    """

    allowed_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    denied_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    name_servers: tuple[str, ...] = ()
    allowed_ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    blocked_domains: tuple[str, ...] = ()  # with all their subdomains
    ca_bundle: Path | None = None  # trusted beside the system's and certifi's certificates
    user_agent: str = "WebsiteScanService/0.1 (+https://github.com/website-scan-service)"
