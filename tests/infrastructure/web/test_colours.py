"""Colours of grades: enough contrast in both themes, and the same on pages, in badges and in e-mails."""

from __future__ import annotations

import colorsys
import re
from itertools import combinations

import pytest

from accounts.mailing.filters import SEVERITY_COLORS
from infrastructure.web.colours import GRADES, Colours, of_grade
from sites.badges.drawing import LABEL, NEUTRAL
from website_scan.report.templating import STATIC

CSS = (STATIC / "css" / "site.css").read_text()
LIGHT, DARK = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", each)) for each in CSS.split("@media", 2)[:2])
ON_SOFT = [(text, f"{text}-soft") for text in ("good", "warn", "bad", "accent")]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio (WCAG 2.2) of two colours as `#rrggbb`, from 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance (WCAG 2.2)."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def hue(colour: str) -> float:
    """Return the hue (HSL) in degrees."""
    return colorsys.rgb_to_hls(*(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)))[0] * 360


@pytest.mark.parametrize("colours", [*GRADES.values(), LABEL, NEUTRAL])
def test_text_can_be_read_on_every_fill(colours: Colours) -> None:
    assert contrast(colours.fill, colours.text) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_and_lines_stand_out_in_both_themes(theme: dict[str, str]) -> None:
    for name in ("text", "muted", "accent", "good", "fine", "warn", "poor", "bad"):
        for ground in ("page", "card"):
            assert contrast(theme[name], theme[ground]) >= 4.5, (name, ground)
    for text, ground in ON_SOFT:
        assert contrast(theme[text], theme[ground]) >= 4.5, text
    for letter in "abcdf":
        for ground in ("page", "card", "sunken"):
            assert contrast(theme[f"line-{letter}"], theme[ground]) >= 3, (letter, ground)


def test_style_sheet_badges_and_e_mails_have_the_same_fills() -> None:
    found = re.findall(r"\.grade-(\w) \{.*--grade-fill: (#\w+); --on-grade: (#\w+); \}", CSS)
    assert {letter.upper(): Colours(fill, text) for letter, fill, text in found} == GRADES
    assert of_grade("A+") == of_grade("A")


def test_c_is_amber_and_no_two_grades_look_alike() -> None:
    """Dark amber looks brown, so C has a bright fill with dark text."""
    assert 38 <= hue(GRADES["C"].fill) <= 52
    assert luminance(GRADES["C"].fill) > 0.5
    assert all(abs(hue(one.fill) - hue(other.fill)) >= 15 for one, other in combinations(GRADES.values(), 2))


@pytest.mark.parametrize("colour", SEVERITY_COLORS.values())
def test_white_text_can_be_read_on_severities_of_e_mails(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 4.5
