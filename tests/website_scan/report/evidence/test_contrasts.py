"""axe-core's sentences about contrast become figures and colours. Other sentences stay as they are."""

from __future__ import annotations

import pytest
from website_scan.report.evidence.contrasts import Contrast, told

from website_scan.browser.axe import axe_source


def test_text() -> None:
    why = (
        "Element has insufficient color contrast of 2.64 (foreground color: #9aa0a6, background color: #ffffff, "
        "font size: 9.0pt (12px), font weight: bold). Expected contrast ratio of 4.5:1"
    )
    assert told({"selector": "#a", "why": why, "wcag": "1.4.3"}) == {
        "contrast": Contrast("2.64:1, needs 4.5:1 at 12px, bold", ("#9aa0a6", "#ffffff")),
        "selector": "#a",
        "wcag": "1.4.3",
    }


def test_links() -> None:
    why = (
        "The link has insufficient color contrast of 1.2:1 with the surrounding text. (Minimum contrast is 3:1, "
        "link text: #111111, surrounding text: #000000)"
    )
    assert told({"why": why}) == {"contrast": Contrast("1.2:1, needs 3:1", ("#111111", "#000000"))}


@pytest.mark.parametrize(
    "why",
    [
        "",
        "Element's background color could not be determined due to a background image",
        "insufficient color contrast of 2 (foreground color: red, background color: #fff). Expected ratio of 3",
    ],
)
def test_what_says_no_ratio_stays(why: str) -> None:
    assert told({"why": why}) == {"why": why}


def test_axe_core_still_says_it_so() -> None:
    source = axe_source()
    for words in (
        "insufficient color contrast of ${data.contrastRatio} (foreground color: ${data.fgColor}, background color: ",
        "Expected contrast ratio of ${data.expectedContrastRatio}",
        "insufficient color contrast of ${data.contrastRatio}:1 with the surrounding text. (Minimum contrast is ",
    ):
        assert words in source
