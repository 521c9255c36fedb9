"""Tests for the colours of grades."""

from __future__ import annotations

import colorsys
import re
from itertools import combinations

import pytest

from accounts.mailing.filters import SEVERITY_COLORS
from infrastructure.web.colours import GRADES, Colours, colours_of_grade
from sites.badges.drawing import LABEL, NEUTRAL
from website_scan.report.templating import STATIC

CSS = (STATIC / "css" / "site.css").read_text()
LIGHT, DARK = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", rules)) for rules in CSS.split("@media", 2)[:2])
TEXT_ON_SOFT_BACKGROUND = [(text, f"{text}-soft") for text in ("good", "warn", "bad", "accent")]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21.

    The colours are written as `#rrggbb`. WCAG 2.2 defines the ratio.
    """
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, from 0 to 1.

    WCAG 2.2 defines the luminance.
    """
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def hue(colour: str) -> float:
    """Return the hue (HSL) of a colour in degrees."""
    return colorsys.rgb_to_hls(*(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)))[0] * 360


@pytest.mark.parametrize("colours", [*GRADES.values(), LABEL, NEUTRAL])
def test_grade_fills_have_sufficient_contrast(colours: Colours) -> None:
    assert contrast(colours.fill, colours.text) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_theme_colours_have_sufficient_contrast(theme: dict[str, str]) -> None:
    for name in ("text", "muted", "accent", "good", "fine", "warn", "poor", "bad"):
        for ground in ("page", "card"):
            assert contrast(theme[name], theme[ground]) >= 4.5, (name, ground)
    for text, ground in TEXT_ON_SOFT_BACKGROUND:
        assert contrast(theme[text], theme[ground]) >= 4.5, text
    for letter in "abcdf":
        for ground in ("page", "card", "sunken"):
            assert contrast(theme[f"line-{letter}"], theme[ground]) >= 3, (letter, ground)


def test_grade_fills_in_site_css_match_GRADES() -> None:
    rules = re.findall(r"\.grade-(\w) \{.*--grade-fill: (#\w+); --on-grade: (#\w+); \}", CSS)
    assert {letter.upper(): Colours(fill, text) for letter, fill, text in rules} == GRADES
    assert colours_of_grade("A+") == colours_of_grade("A")


def test_grades_differ_in_hue() -> None:
    """Dark amber looks brown.

    Therefore the grade C has a bright fill with dark text.
    """
    assert 38 <= hue(GRADES["C"].fill) <= 52
    assert luminance(GRADES["C"].fill) > 0.5
    assert all(abs(hue(one.fill) - hue(other.fill)) >= 15 for one, other in combinations(GRADES.values(), 2))


@pytest.mark.parametrize("colour", SEVERITY_COLORS.values())
def test_severity_colours_have_sufficient_contrast(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 4.5
