"""Tests that alert rules and the dashboard use existing metrics.

docs/metrics.md explains each alert.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from prometheus_client.metrics_core import Metric

from infrastructure.periodic import beat
from infrastructure.telemetry import counters
from infrastructure.telemetry.counters import PREFIX, counted, observed
from infrastructure.telemetry.process_metrics import COUNTERS, HISTOGRAMS, PROCESS_METRICS
from operations.metrics import endpoint as views
from operations.metrics import servers
from operations.metrics.rows import ROW_METRICS
from operations.metrics.servers import SERVER_METRICS
from scans.models import EndedScan

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "deploy" / "prometheus" / "alerts.yaml"
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboard.json"
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")

SELECTOR = re.compile(rf"({PREFIX}[a-z_]+)(?:\{{([^}}]*)\}})?")


@pytest.fixture
def samples(db: None, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, set[str]]:
    """Labels by sample name, after all metrics were counted once."""
    monkeypatch.setattr(servers, "queues_of_workers", lambda: {"worker@here": ["scans"]})
    counters.counters.reset()
    for counter in COUNTERS:
        counters.counters.add([counted(counter, *("x" for _ in counter.labels))])
    for histogram in HISTOGRAMS:
        counters.counters.add([*observed(histogram, 1.0, *("x" for _ in histogram.labels))])
    EndedScan.objects.create(
        type="seo", status="failed", error_code="TIMEOUT", is_background=False, waited_ms=1, duration_ms=1, cpu_ms=1
    )
    beat()
    labels: dict[str, set[str]] = {}
    for sample in (sample for family in families() for sample in family.samples):
        labels.setdefault(sample.name, set()).update(sample.labels)
    return labels


def families() -> list[Metric]:
    views._latest.forget()
    metrics = views._latest.get()
    assert metrics is not None
    return metrics


def expressions() -> Iterator[str]:
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


def test_alert_rules_use_existing_metrics(samples: Mapping[str, set[str]]) -> None:
    selectors = 0
    for expression in expressions():
        for name, labels in SELECTOR.findall(expression):
            assert name in samples, expression
            used = set(re.findall(r"(\w+)(?==|!)", labels))
            assert used <= samples[name], expression
            selectors += 1
        for names in re.findall(r"\bby \(([^)]*)\)", expression):
            everywhere = set().union(*(samples[name] for name, _ in SELECTOR.findall(expression)))
            assert set(re.split(r",\s*", names)) <= everywhere, expression
    assert selectors > 40


def test_metrics_endpoint_has_every_metric(samples: Mapping[str, set[str]]) -> None:
    """The definitions must be right, because docs/metrics.md lists them."""
    labels = {family.name: set().union(*(sample.labels for sample in family.samples)) - {"le"} for family in families()}
    definitions = (*ROW_METRICS, *SERVER_METRICS, *PROCESS_METRICS)
    assert labels == {definition.name: {*definition.labels} for definition in definitions}


def test_alerts_have_a_runbook_section() -> None:
    headings = set(re.findall(r"^### (\w+)$", PAGE, re.MULTILINE))
    alerts = set()
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        for rule in group["rules"]:
            assert rule["annotations"]["runbook_url"] == f"docs/metrics.md#{rule['alert'].lower()}"
            assert rule["labels"]["severity"] in ("page", "ticket")
            alerts.add(rule["alert"])
    assert headings == alerts


def test_dashboard_panels_do_not_overlap() -> None:
    occupied: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]:
        grid = panel["gridPos"]
        columns, rows = range(grid["x"], grid["x"] + grid["w"]), range(grid["y"], grid["y"] + grid["h"])
        cells = {(x, y) for x in columns for y in rows}
        assert not cells & occupied, panel["title"]
        assert max(x for x, _ in cells) < 24
        occupied |= cells


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's package prometheus has promtool")
def test_promtool_accepts_alert_rules() -> None:
    process = subprocess.run(["promtool", "check", "rules", RULES], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Debian's package prometheus has promtool")
def test_promtool_accepts_dashboard_queries(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "1m")}
        for number, expression in enumerate(expressions())
    ]
    path = tmp_path / "panels.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    process = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
