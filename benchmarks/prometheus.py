"""Prometheus server, if installed (Debian's package `prometheus`), and the queries of the alert rules and panels."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml

from benchmarks.installation import BASE_DIR
from tests.e2e.service import free_port

RULES = BASE_DIR / "deploy" / "prometheus" / "alerts.yaml"
DASHBOARD = BASE_DIR / "deploy" / "grafana" / "dashboard.json"
SCRAPE_EVERY_S = 10
# Grafana sets $__rate_interval to at least four times the scrape interval.
RATE_INTERVAL = "1m"
START_S = 60.0


class Prometheus:
    """HTTP API of a running Prometheus server."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._began = time.time()

    def is_ready(self) -> bool:
        try:
            return requests.get(f"{self._base}/-/ready", timeout=5).ok
        except requests.ConnectionError:
            return False

    def has_data(self, expression: str) -> bool:
        """Return True if the expression had a value at any time since the start. Raises ValueError if it is invalid."""
        span = {"query": expression, "start": self._began, "end": time.time(), "step": SCRAPE_EVERY_S}
        series = self._ask("query_range", span)["result"]
        return any(not math.isnan(float(value)) for each in series for _, value in each["values"])

    def unhealthy_rules(self) -> list[str]:
        """Return the names of rules that Prometheus could not evaluate."""
        groups = self._ask("rules", {})["groups"]
        return [rule["name"] for group in groups for rule in group["rules"] if rule["health"] != "ok"]

    def _ask(self, what: str, parameters: dict[str, Any]) -> dict[str, Any]:
        answer = requests.get(f"{self._base}/api/v1/{what}", parameters, timeout=60).json()
        if answer["status"] != "success":
            raise ValueError(f"{parameters.get('query', what)}: {answer['error']}")
        found: dict[str, Any] = answer["data"]
        return found


@contextmanager
def scraping(folder: Path, target: str, token: str) -> Iterator[Prometheus | None]:
    """Run a server that scrapes the target and evaluates the alert rules; yields None if it is not installed."""
    program = shutil.which("prometheus")
    if program is None:
        yield None
        return
    config = {
        "global": {"scrape_interval": f"{SCRAPE_EVERY_S}s", "evaluation_interval": f"{SCRAPE_EVERY_S}s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {
                "job_name": "website-scan",
                "authorization": {"credentials": token},
                "static_configs": [{"targets": [target]}],
            }
        ],
    }
    path = folder / "prometheus.yaml"
    path.write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    options = [f"--config.file={path}", f"--storage.tsdb.path={folder / 'prometheus'}"]
    options += [f"--web.listen-address={address}", "--log.level=warn"]
    process = subprocess.Popen([program, *options], stdin=subprocess.DEVNULL)
    try:
        server = Prometheus(f"http://{address}")
        deadline = time.monotonic() + START_S
        while not server.is_ready():
            assert time.monotonic() < deadline, "prometheus does not start"
            time.sleep(0.2)
        yield server
    finally:
        process.terminate()
        process.wait()


def panels() -> Iterator[tuple[str, str]]:
    """Yield each panel's title with each of its expressions, with variables filled in."""
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"].replace("$__rate_interval", RATE_INTERVAL)


def alerts() -> Iterator[tuple[str, str]]:
    """Yield each alert's name with its expression."""
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        yield from ((rule["alert"], rule["expr"]) for rule in group["rules"])
