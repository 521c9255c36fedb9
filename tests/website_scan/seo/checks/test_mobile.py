from __future__ import annotations

import pytest

from tests.website_scan.cast import head, page, verdict
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
        (meta("width=device-width initial-scale=1"), "pass", "pass"),  # white space separates, too
        (meta("width = device-width , initial-scale = 1"), "pass", "pass"),
        (meta("width=,initial-scale=1"), "pass", "pass"),
        (meta("initial-scale=1"), "pass", "pass"),  # as wide as the device, too
        (meta("initial-scale=0.5"), "pass", "warn"),
        (meta("initial-scale=10e-1"), "pass", "pass"),
        (meta("width=1024"), "pass", "warn"),
        (meta("width=320, initial-scale=1"), "pass", "warn"),
        (meta("user-scalable=yes"), "pass", "warn"),
        (meta("width=1024") + meta("width=device-width"), "pass", "pass"),  # the last one counts
        (meta(""), "fail", "n/a"),
        (meta("width device-width"), "fail", "n/a"),
        (meta("="), "fail", "n/a"),
        ("<!-- <meta name=viewport content=width=device-width> -->", "fail", "n/a"),
        ("<noscript><meta name=viewport content=width=device-width></noscript>", "fail", "n/a"),
        ("<meta name=' viewport ' content=width=device-width>", "fail", "n/a"),  # browsers ignore it
        ("", "fail", "n/a"),
    ],
)
def test_viewport(markup: str, present: str, wide: str) -> None:
    seen = page(head(markup))
    assert verdict(judge(checks.viewport, seen)) == present
    assert verdict(judge(checks.viewport_width, seen)) == wide
