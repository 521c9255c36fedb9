from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.targets.sample import sample_site
from tests.targets.server import Answer, Site
from tests.website_scan.command.composite import Action, RunResult

# Error messages of pip and uv without a registry.
NO_REGISTRY_ERRORS = (
    *("No matching distribution found", "NewConnectionError", "Connection refused", "Read timed out"),
    *("Failed to fetch", "error sending request"),
)


@pytest.fixture(scope="session")
def action(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Action:
    """Install the action once for all tests."""
    action = Action(repository, tmp_path_factory.mktemp("runner"))
    ran: RunResult = action.run(until="install", browser="false")
    skip_without_registry(ran.status, ran.log)
    assert ran.status == 0, ran.log
    return action


def skip_without_registry(status: int, log: str) -> None:
    """Skip the test if the package registry was unreachable."""
    if status and any(error in log for error in NO_REGISTRY_ERRORS):
        pytest.skip(f"no registry of packages: {log.strip().splitlines()[-1]}")


@pytest.fixture(scope="session")
def shop() -> Iterator[Site]:
    """Sample site with the additional page /shop."""
    with sample_site() as running:
        running.routes["/shop"] = Answer(
            "<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>", headers={"Content-Type": "text/html"}
        )
        yield running
