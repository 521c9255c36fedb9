"""Tests for the script that converts times to the reader's time zone."""

from __future__ import annotations

import pytest
from django.conf import settings
from playwright.sync_api import Browser

from tests.e2e.pages import Window

SCRIPT = settings.BASE_DIR / "static" / "js" / "site.js"
PAGE = """
<table><tr><th>Created (UTC)</th></tr></table>
<time datetime="2026-07-01T02:05:00Z" title="2026-07-01 02:05 UTC">2026-07-01 02:05</time>
<time datetime="2026-07-01T02:05:09Z">2026-07-01 02:05:09</time>
<time datetime="2026-07-01 02:05Z">2026-07-01 02:05</time>
<time datetime="2026-07-01T02:05:00Z">1 July 2026, 02:05 UTC</time>
<time datetime="2026-07-01T02:05:09Z">1 July 2026, 02:05:09 UTC</time>
<time datetime="2026-07-01T02:05:00Z" title="2026-07-01 02:05 UTC">3 days ago</time>
<time datetime="2026-07-01">2026-07-01</time>
<time datetime="nonsense">2026-07-01 02:05</time>
"""


def times_and_heading(browser: Window, zone: str, chosen: str = "") -> tuple[list[tuple[str, str]], str]:
    """Return the text and tooltip of every time on the page.

    The heading of the column is included.
    """

    def read_page(chromium: Browser) -> tuple[list[tuple[str, str]], str]:
        with chromium.new_context(timezone_id=zone) as context:
            page = context.new_page()
            page.set_content(f"<!doctype html><html data-time-zone={chosen}>{PAGE}" if chosen else PAGE)
            page.add_script_tag(path=SCRIPT)
            times = page.locator("time").all()
            texts = [(time.inner_text(), time.get_attribute("title") or "") for time in times]
            return texts, page.locator("th").inner_text()

    return browser.do(read_page)


@pytest.mark.slow
def test_script_converts_times_to_reader_time_zone(browser: Window) -> None:
    times, heading = times_and_heading(browser, "America/New_York")
    assert times[:6] == [
        ("2026-06-30 22:05", "2026-07-01 02:05 UTC"),
        ("2026-06-30 22:05:09", "2026-07-01 02:05:09 UTC"),
        ("2026-06-30 22:05", "2026-07-01 02:05 UTC"),
        ("30 June 2026, 22:05 GMT-4", "1 July 2026, 02:05 UTC"),
        ("30 June 2026, 22:05:09 GMT-4", "1 July 2026, 02:05:09 UTC"),
        ("3 days ago", "2026-07-01 02:05 UTC"),
    ]
    assert times[6:] == [("2026-07-01", ""), ("2026-07-01 02:05", "")]
    assert heading in ("Created (GMT-4)", "Created (GMT-5)")


@pytest.mark.slow
def test_script_keeps_times_in_UTC(browser: Window) -> None:
    times, heading = times_and_heading(browser, "UTC")
    assert times[0] == ("2026-07-01 02:05", "2026-07-01 02:05 UTC")
    assert times[3][0] == "1 July 2026, 02:05 UTC"
    assert heading == "Created (UTC)"


@pytest.mark.slow
def test_script_prefers_the_chosen_time_zone(browser: Window) -> None:
    times, _ = times_and_heading(browser, "America/New_York", chosen="Asia/Tokyo")
    assert times[0] == ("2026-07-01 02:05", "2026-07-01 02:05 UTC"), "the server has converted times without a zone"
    assert times[3] == ("1 July 2026, 11:05 GMT+9", "1 July 2026, 02:05 UTC")
