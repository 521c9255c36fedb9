"""Tests for the system check of the browser.

It reports which browser scans use, or why there is none.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.checks import CheckMessage
from pytest_django import Settings

from operations.health.system_checks import browser


def message_ids(messages: list[CheckMessage]) -> list[str | None]:
    return [message.id for message in messages]


def test_browser_check_names_browser_in_use(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCAN_BROWSER = "/bin/true"
    monkeypatch.setattr("operations.health.system_checks.sandbox_problem", lambda program: "")
    (message,) = browser()
    assert (message.id, message.msg) == ("scans.I001", "Scans use the browser /bin/true.")


def test_browser_check_warns_of_disabled_sandbox(settings: Settings) -> None:
    settings.SCAN_BROWSER = "/bin/true"
    settings.SCAN_BROWSER_SANDBOX = False
    assert message_ids(browser()) == ["scans.I001", "scans.W002"]


def test_browser_check_explains_missing_sandbox(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCAN_BROWSER = "/bin/true"
    monkeypatch.setattr(
        "operations.health.system_checks.sandbox_problem", lambda program: "user namespaces are forbidden here"
    )
    used, warning = browser()
    assert (used.id, warning.id) == ("scans.I001", "scans.W003")
    assert "user namespaces are forbidden here" in warning.msg


def test_browser_check_accepts_disabled_browser(settings: Settings) -> None:
    settings.SCAN_BROWSER = "off"
    assert message_ids(browser()) == ["scans.I002"]


def test_browser_check_warns_of_missing_chromium(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.SCAN_BROWSER = "auto"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    (message,) = browser()
    assert message.id == "scans.W001"
    assert "no Chromium was found" in message.msg
    assert "make browser" in (message.hint or "")


def test_browser_check_names_missing_packages(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCAN_BROWSER = "auto"
    monkeypatch.setattr("website_scan.net.browser.PACKAGES", ("playwright", "no_such_package"))
    (message,) = browser()
    assert message.id == "scans.W001"
    assert "no_such_package" in message.msg
    assert "playwright" not in message.msg
