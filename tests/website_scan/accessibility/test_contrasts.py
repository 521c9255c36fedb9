"""Tests for the parser of axe-core's contrast messages."""

from __future__ import annotations

import pytest
from lxml import html
from msgspec.structs import replace

from tests.jinja_templates import macro
from tests.results import stored_finding
from website_scan.accessibility.contrasts import ContrastElement
from website_scan.browser.axe import axe_source
from website_scan.places import StyledElement
from website_scan.report.cards import card_of
from website_scan.written_urls import split_url

PAGE = split_url("https://example.com/")
TEXT = (
    "Element has insufficient color contrast of 2.64 (foreground color: #9AA0A6, background color: #ffffff, "
    "font size: 9.0pt (12px), font weight: bold). Expected contrast ratio of 4.5:1"
)
LINK = (
    "The link has insufficient color contrast of 1.2:1 with the surrounding text. (Minimum contrast is 3:1, "
    "link text: #111111, surrounding text: #000000)"
)


def contrast_element(why: str) -> ContrastElement:
    return ContrastElement.from_axe_message(
        "#a", "<p>A</p>", why=why, wcag="1.4.3", level="AA", ancestry="html > body > p"
    )


def test_text_contrast_has_ratios_and_colours() -> None:
    assert contrast_element(TEXT).row() == {
        "selector": "#a",
        "snippet": "<p>A</p>",
        "wcag": "1.4.3",
        "level": "AA",
        "contrast": 2.64,
        "needs": 4.5,
        "text_colour": "#9AA0A6",
        "background": "#ffffff",
        "size": "12px, bold",
    }


def test_normal_font_weight_is_omitted() -> None:
    assert contrast_element(TEXT.replace("bold", "normal")).size == "12px"
    assert contrast_element(TEXT.replace(", font size: 9.0pt (12px), font weight: bold", "")).size is None


def test_link_contrast_includes_the_surrounding_text() -> None:
    element = contrast_element(LINK)
    assert (element.contrast, element.needs) == (1.2, 3)
    assert (element.text_colour, element.surrounding, element.background) == ("#111111", "#000000", None)


@pytest.mark.parametrize(
    "why",
    [
        "",
        "Element's background color could not be determined due to a background image",
        "insufficient color contrast of 2 (foreground color: red, background color: #fff). Expected ratio of 3",
    ],
)
def test_message_without_a_ratio_is_a_reason(why: str) -> None:
    element = contrast_element(why)
    assert (element.why, element.contrast, element.text_colour) == (why, None, None)


@pytest.mark.parametrize("why", [TEXT, LINK, "", "Element's background is #aaaaaa or an image"])
@pytest.mark.parametrize("snippet", ["<p>A</p>", '<a id="buy">A</a>', "<a>A</a>"])
def test_parsing_does_not_change_the_fingerprint(why: str, snippet: str) -> None:
    """Stored mutes and baselines contain fingerprints of the whole contrast message."""
    element = replace(contrast_element(why), snippet=snippet)
    sentence = StyledElement("#a", snippet, why=why, ancestry="html > body > p")
    assert element.normal(PAGE) == sentence.normal(PAGE)


def test_axe_core_still_has_the_parsed_messages() -> None:
    source = axe_source()
    for words in (
        "insufficient color contrast of ${data.contrastRatio} (foreground color: ${data.fgColor}, background color: ",
        "Expected contrast ratio of ${data.expectedContrastRatio}",
        "insufficient color contrast of ${data.contrastRatio}:1 with the surrounding text. (Minimum contrast is ",
    ):
        assert words in source


def test_report_card_shows_colour_swatches() -> None:
    finding = stored_finding("color-contrast", contrast_element(TEXT))
    card: html.HtmlElement = html.fromstring(macro("report/card.html", "card")(card_of(finding)))
    pairs = {row[0].text: row[1].text_content().strip() for row in card.xpath("//dl/div")}
    assert {name: pairs[name] for name in ("Contrast", "Needs", "Text size")} == {
        "Contrast": "2.64",
        "Needs": "4.5",
        "Text size": "12px, bold",
    }
    assert card.xpath("//rect/@fill") == ["#9AA0A6", "#ffffff"]
    assert card.xpath("//svg[@class='swatch']/@aria-hidden") == ["true", "true"]
    assert "What is wrong" not in pairs
