"""Fixtures for a webhook and a site with scripted results.

The webhook gets every event.
"""

from __future__ import annotations

import pytest

from accounts.models import Tier
from tests.factories import Member, member_of, register_webhook
from tests.sites.monitors.watching import EVENTS, HOOK, ScriptedSite


@pytest.fixture
def owner() -> Member:
    owner = member_of("Owner", "business")
    Tier.objects.update(scans_per_month=1_000_000, pages_per_audit=1_000)
    register_webhook(owner, HOOK, EVENTS)
    return owner


@pytest.fixture
def site() -> ScriptedSite:
    return ScriptedSite()
