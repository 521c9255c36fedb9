"""Fixtures for webhook tests, such as a receiver.

It listens on the loopback interface.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from pytest_django import Settings

from tests.targets.server import Answer, Site

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Site]:
    """Start a receiver that answers 200 at /hook.

    Tests may replace its `routes`.
    """
    settings.SCAN_ALLOWED_NETWORKS = LOOPBACK
    with Site({"/hook": Answer("ok")}) as site:
        yield site
