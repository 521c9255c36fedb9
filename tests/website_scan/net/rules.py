"""Helpers that test an attack with and without a guard rule."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.targets.server import Site
from tests.website_scan.net.loopback import NETWORKS
from tests.website_scan.net.seams import Names
from website_scan.errors import Refusal
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy

HUGE = 10**9
# Small limits that tests can exceed quickly. Raising a limit here removes its rule.
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


class Rule(Struct, frozen=True):
    """Rule of the network guard.

    `harm` attempts an attack and returns True on success. `remove` disables the rule.

    A test with the rule fails if the guard loses the rule, and cannot pass for another reason.
    """

    name: str
    remove: Remove
    harm: Callable[[], bool]

    def holds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Assert that only the rule prevents the attack."""
        assert not self.harm(), "harm was done with the rule"
        self.remove(monkeypatch)
        assert self.harm(), "the rule is not what prevents the harm"


def replaced(owner: object, name: str, value: object) -> Remove:
    """Return a function that disables a rule by replacing an attribute."""
    return lambda patch: patch.setattr(owner, name, value)


def lifted(**limits: Any) -> Remove:
    """Return a function that disables a rule by raising its limit."""
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
    """Yield a network that may connect to this machine.

    Its limits are LIMITS.
    """
    policy = Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file if site else None)
    with Network(policy, limits=replace(LIMITS, **limits), time_limit_s=time_limit_s) as network:
        yield network


@contextlib.contextmanager
def guarding(names: dict[str, Any], dial: Any, policy: Policy | None = None) -> Iterator[Network]:
    """Yield a network with all rules of the guard.

    Its names and connections are fake.
    """
    with Network(policy or Policy(), resolver=Names(names), dialer=dial, limits=LIMITS) as network:
        yield network
