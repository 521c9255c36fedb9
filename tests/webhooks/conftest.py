"""Fixture of webhook tests: a webhook receiver on the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from pytest_django import Settings

from tests.targets.server import Answer, Site

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Site]:
    """Receiver that answers 200 at /hook, in a network that deliveries may reach. Tests change answers by `routes`."""
    settings.SCAN_ALLOWED_NETWORKS = LOOPBACK
    with Site({"/hook": Answer("ok")}) as site:
        yield site
