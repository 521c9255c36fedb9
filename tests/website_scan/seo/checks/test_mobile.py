from __future__ import annotations

import pytest

from tests.website_scan.cast import head, outcome, page, verdict
from tests.website_scan.seo.cast import judge
from website_scan.seo.checks import mobile as checks


def meta(content: str) -> str:
    return f'<meta name="viewport" content="{content}">'


@pytest.mark.parametrize(
    ("markup", "present", "wide"),
    [
        (meta("width=device-width, initial-scale=1"), "pass", "pass"),
        (meta("WIDTH=Device-Width;initial-scale=1.0"), "pass", "pass"),
        ("<META NAME=Viewport CONTENT=width=device-width>", "pass", "pass"),
        (meta("width=device-width initial-scale=1"), "pass", "pass"),  # White space also separates viewport properties.
        (meta("width = device-width , initial-scale = 1"), "pass", "pass"),
        (meta("width=,initial-scale=1"), "pass", "pass"),
        (meta("initial-scale=1"), "pass", "pass"),  # The default width is that of the device.
        (meta("initial-scale=0.5"), "pass", "other-width"),
        (meta("initial-scale=10e-1"), "pass", "pass"),
        (meta("width=1024"), "pass", "other-width"),
        (meta("width=320, initial-scale=1"), "pass", "other-width"),
        (meta("user-scalable=yes"), "pass", "other-width"),
        # The last of several viewport elements counts.
        (meta("width=1024") + meta("width=device-width"), "pass", "pass"),
        (meta(""), "missing", "n/a"),
        (meta("width device-width"), "missing", "n/a"),
        (meta("="), "missing", "n/a"),
        ("<!-- <meta name=viewport content=width=device-width> -->", "missing", "n/a"),
        ("<noscript><meta name=viewport content=width=device-width></noscript>", "missing", "n/a"),
        # Browsers ignore a name attribute with spaces.
        ("<meta name=' viewport ' content=width=device-width>", "missing", "n/a"),
        ("", "missing", "n/a"),
    ],
)
def test_viewport_check_verdict(markup: str, present: str, wide: str) -> None:
    html_page = page(head(markup))
    assert outcome(judge(checks.viewport, html_page)) == present
    assert outcome(judge(checks.viewport_width, html_page)) == wide


def test_missing_viewport_fails() -> None:
    assert verdict(judge(checks.viewport, page(head("")))) == "fail"
    assert verdict(judge(checks.viewport_width, page(head(meta("width=1024"))))) == "warn"
