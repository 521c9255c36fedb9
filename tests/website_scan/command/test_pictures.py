"""Tests for pictures of pages, which the browser takes only for outputs that show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct, field

from tests.command_line import run_here
from tests.targets.server import Answer, Site
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.visit import BrowserFailed, Visit
from website_scan.command import local

PAGE = Answer("<!doctype html><html lang=en><title>Tea</title><h1>Tea</h1>", headers={"Content-Type": "text/html"})


class RecordingBrowser(Struct):
    """Browser that records its visits and loads no page."""

    visits: list[Visit] = field(default_factory=list)

    def start(self, limit_s: float) -> None:
        pass

    def load(self, visit: Visit) -> BrowserLoad:
        self.visits.append(visit)
        raise BrowserFailed("This browser loads no page.")


@pytest.mark.parametrize(
    ("formats", "has_pictures"),
    [
        ((), False),
        (("text", "json"), False),
        (("sarif",), False),
        (("full",), False),
        (("html",), True),
        (("json", "html"), True),
    ],
)
def test_browser_takes_pictures_only_for_html(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, formats: tuple[str, ...], *, has_pictures: bool
) -> None:
    browser = RecordingBrowser()
    monkeypatch.setattr(local, "browser", lambda: browser)
    outputs = [word for name in formats for word in ("--format", name, "--output", str(tmp_path / name))]
    with Site({"/": PAGE}) as site:
        ran = run_here("scan", f"{site.url}/", "--type", "accessibility", "--allow-network", "127.0.0.0/8", *outputs)
    assert ran.returncode == 0, ran.stderr
    assert [visit.has_pictures for visit in browser.visits] == [has_pictures]
