"""Tests for `website-scan --server`, which scans with a service."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.command_line import run
from tests.e2e.conftest import RunningService

pytestmark = pytest.mark.xdist_group("service")


def run_website_scan(
    running: RunningService, *arguments: str, key: str | None = None
) -> subprocess.CompletedProcess[str]:
    url = f"{running.site.url_as('localhost')}/"
    return run("scan", url, "--server", running.base, *arguments, WEBSITE_SCAN_KEY=running.key if key is None else key)


def test_command_applies_mutes_of_the_service(running: RunningService, tmp_path: Path) -> None:
    gated = ("--type", "seo", "--format", "full", "--fail-on", "low")
    ran = run_website_scan(running, *gated)
    assert ran.returncode == 1, ran.stderr
    assert "Gate failed: seo of" in ran.stderr
    report: dict[str, Any] = json.loads(ran.stdout)
    failed = [check["id"] for part in report["categories"] for check in part["checks"] if check["status"] == "fail"]
    authorization = {"Authorization": f"Bearer {running.key}"}
    stored = requests.get(f"{running.base}/v1/report/{report['id']}/export", headers=authorization, timeout=30)
    assert report.pop("gate")["passed"] is False
    assert report == stored.json()

    host = report["url"].split("/")[2]
    mute_ids = []
    for check in failed:
        body = {"check": check, "host": host, "reason": "Known, and left for the relaunch"}
        answer = requests.post(f"{running.base}/v1/mutes", json=body, headers=authorization, timeout=30)
        assert answer.status_code == 201, answer.text
        mute_ids.append(answer.json()["id"])
    try:
        ran = run_website_scan(running, *gated)
        assert (ran.returncode, ran.stderr) == (0, "Gate passed: 1 report of 1 page.\n")
        again = json.loads(ran.stdout)
        assert again["accepted"] == dict.fromkeys(failed, "muted: Known, and left for the relaunch")
        assert again["accepted_score"] > again["score"]
    finally:
        for mute_id in mute_ids:
            requests.delete(f"{running.base}/v1/mutes/{mute_id}", headers=authorization, timeout=30)


def test_command_fails_if_a_page_cannot_be_scanned(running: RunningService) -> None:
    ran = run_website_scan(
        running, f"{running.site.url_as('localhost')}/nothing-here", "--type", "security", "--format", "json"
    )
    assert ran.returncode == 3, ran.stderr
    reports = json.loads(ran.stdout)["reports"]
    assert [report["score"] is None for report in reports] == [False, True]
    assert reports[1]["error"]["code"]


def test_wrong_key_is_refused_with_a_message(running: RunningService) -> None:
    ran = run_website_scan(running, "--type", "seo", key="wss_wrong")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "UNAUTHORIZED" in ran.stderr or "INVALID" in ran.stderr
    ran = run_website_scan(running, "--type", "seo", key="")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "WEBSITE_SCAN_KEY" in ran.stderr
