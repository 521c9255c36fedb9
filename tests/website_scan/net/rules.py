"""Helpers for tests of the guard's rules: a rule, ways to remove it, and networks to try it on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.targets.server import Site
from tests.website_scan.net.loopback import NETWORKS
from tests.website_scan.net.seams import Names
from website_scan.errors import Refusal
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy

HUGE = 10**9
# Small limits, so that exceeding them takes little. A row about a limit lifts it here.
LIMITS = Limits(
    connect_s=5.0,
    first_byte_s=5.0,
    total_s=5.0,
    header_bytes=2000,
    body_bytes=3000,
    decoded_bytes=4000,
    requests=4,
    requests_per_host=3,
    total_bytes=50_000,
    redirects=2,
)

Remove = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Rule:
    """A rule of the guard. `harm` tries what the rule forbids and returns True on success; `remove` removes exactly it.

    A row fails if its rule is lost, and cannot pass for another reason.
    """

    name: str
    remove: Remove
    harm: Callable[[], bool]

    def holds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Fail unless the harm succeeds without the rule and not with it."""
        assert not self.harm(), "harm was done with the rule"
        self.remove(monkeypatch)
        assert self.harm(), "the rule is not what prevents the harm"


def replaced(owner: object, name: str, value: object) -> Remove:
    """Remove a rule by replacing the attribute that implements it."""
    return lambda patch: patch.setattr(owner, name, value)


def lifted(**limits: Any) -> Remove:
    """Remove a rule that is a limit."""
    return replaced(sys.modules[__name__], "LIMITS", replace(LIMITS, **limits))


def done(attempt: Callable[[], object]) -> bool:
    """Return True if the attempt was not refused."""
    try:
        attempt()
    except Refusal:
        return False
    return True


@contextlib.contextmanager
def exempting(site: Site | None = None, *, time_limit_s: float = 60.0, **limits: Any) -> Iterator[Network]:
    """Yield a network that may reach this machine, within LIMITS."""
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file if site else None)
    with Network(policy, limits=replace(LIMITS, **limits), time_limit_s=time_limit_s) as network:
        yield network


@contextlib.contextmanager
def guarding(names: dict[str, Any], dial: Any, policy: Policy | None = None) -> Iterator[Network]:
    """Yield a network with the whole guard, with made-up names and connections."""
    with Network(policy or Policy(), resolver=Names(names), dialer=dial, limits=LIMITS) as network:
        yield network
