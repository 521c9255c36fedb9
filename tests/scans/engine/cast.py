"""What the engine's tests share: targets without a network behind them."""

from __future__ import annotations

from scans.net.policy import Policy
from scans.targets import Target, parse_target
from tests.scans.net.loopback import NETWORKS

POLICY = Policy(allowed_networks=NETWORKS)


def target(url: str) -> Target:
    return parse_target(url, POLICY)
