"""What the engine's tests share: targets without a network behind them."""

from __future__ import annotations

from scans.net.policy import Policy
from scans.targets import Target, parse_target

POLICY = Policy()


def target(url: str) -> Target:
    return parse_target(url, POLICY)
