"""Fixture that runs one service for all end-to-end tests."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import Struct

from tests.e2e.service import Service, free_port
from tests.operations.metrics.scraping import TOKEN
from tests.targets.sample import sample_site
from tests.targets.server import Site


class RunningService(Struct, frozen=True):
    """Running service with an API key and a site to scan."""

    service: Service
    site: Site
    base: str
    key: str


@pytest.fixture(scope="session")
def running() -> Iterator[RunningService]:
    """Start the service once for all tests of the xdist group `service`."""
    with running_service() as running:
        yield running


@contextmanager
def running_service(**env: str) -> Iterator[RunningService]:
    """Start a service with a site to scan, and stop it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="wss-e2e-"))
    folder.chmod(0o755)
    port = free_port()
    with sample_site() as site:
        service = Service(
            folder / "var",
            port,
            SCAN_ALLOWED_NETWORKS="127.0.0.0/8",
            SCAN_CA_BUNDLE=str(site.ca_file),
            ALLOWED_HOSTS="127.0.0.1,localhost",
            METRICS_TOKEN=TOKEN,
            TRUSTED_PROXIES="127.0.0.1",
            **env,
        )
        try:
            service.wait_for_health(90)
            service.wait_for_welcome()
            key = json.loads((folder / "var" / "demo.json").read_text())["api_key"]
            yield RunningService(service, site, f"http://127.0.0.1:{port}", key)
            service.stop(signal.SIGTERM)
        finally:
            service.kill()
            shutil.rmtree(folder, ignore_errors=True)
