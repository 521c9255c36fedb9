"""A network that may connect to loopback."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Iterator
from pathlib import Path

from website_scan.net.client import Network
from website_scan.net.policy import Policy

NETWORKS = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


@contextlib.contextmanager
def loopback_network(ca_bundle: Path | None = None) -> Iterator[Network]:
    with Network(Policy(allowed_networks=NETWORKS, ca_bundle=ca_bundle)) as network:
        yield network
