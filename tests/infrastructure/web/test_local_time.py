"""Local times: pages contain times in UTC, and a script shows them in the reader's zone, with UTC in the tooltip."""

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


def shown(browser: Window, zone: str) -> tuple[list[tuple[str, str]], str]:
    """Return text and tooltip of the page's times in a zone, and the heading of the column."""

    def look(chromium: Browser) -> tuple[list[tuple[str, str]], str]:
        with chromium.new_context(timezone_id=zone) as context:
            page = context.new_page()
            page.set_content(PAGE)
            page.add_script_tag(path=SCRIPT)
            times = page.locator("time").all()
            found = [(each.inner_text(), each.get_attribute("title") or "") for each in times]
            return found, page.locator("th").inner_text()

    return browser.do(look)


@pytest.mark.slow
def test_moments_are_shown_in_the_zone_of_the_reader(browser: Window) -> None:
    times, heading = shown(browser, "America/New_York")
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
def test_in_utc_nothing_changes(browser: Window) -> None:
    times, heading = shown(browser, "UTC")
    assert times[0] == ("2026-07-01 02:05", "2026-07-01 02:05 UTC")
    assert times[3][0] == "1 July 2026, 02:05 UTC"
    assert heading == "Created (UTC)"
