"""Sentences of axe-core on contrast become figures and colours. Other sentences stay as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lxml import html

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


def element_of(why: str) -> ContrastElement:
    return ContrastElement.of("#a", "<p>A</p>", why=why, wcag="1.4.3", level="AA", ancestry="html > body > p")


def test_text_with_too_little_contrast_has_ratios_colours_and_size() -> None:
    assert element_of(TEXT).row() == {
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


def test_text_of_normal_weight_has_its_size_alone() -> None:
    assert element_of(TEXT.replace("bold", "normal")).size == "12px"
    assert element_of(TEXT.replace(", font size: 9.0pt (12px), font weight: bold", "")).size is None


def test_a_link_has_the_colour_of_the_surrounding_text() -> None:
    found = element_of(LINK)
    assert (found.contrast, found.needs) == (1.2, 3)
    assert (found.text_colour, found.surrounding, found.background) == ("#111111", "#000000", None)


@pytest.mark.parametrize(
    "why",
    [
        "",
        "Element's background color could not be determined due to a background image",
        "insufficient color contrast of 2 (foreground color: red, background color: #fff). Expected ratio of 3",
    ],
)
def test_a_sentence_without_a_ratio_stays(why: str) -> None:
    found = element_of(why)
    assert (found.why, found.contrast, found.text_colour) == (why, None, None)


@pytest.mark.parametrize("why", [TEXT, LINK, "", "Element's background is #aaaaaa or an image"])
@pytest.mark.parametrize("snippet", ["<p>A</p>", '<a id="buy">A</a>', "<a>A</a>"])
def test_figures_do_not_change_the_fingerprint_of_a_place(why: str, snippet: str) -> None:
    """Mutes and baselines name places by fingerprints that were made from axe-core's sentence."""
    found = replace(element_of(why), snippet=snippet)
    sentence = StyledElement("#a", snippet, why=why, ancestry="html > body > p")
    assert found.normal(PAGE) == sentence.normal(PAGE)


def test_axe_core_still_has_these_sentences() -> None:
    source = axe_source()
    for words in (
        "insufficient color contrast of ${data.contrastRatio} (foreground color: ${data.fgColor}, background color: ",
        "Expected contrast ratio of ${data.expectedContrastRatio}",
        "insufficient color contrast of ${data.contrastRatio}:1 with the surrounding text. (Minimum contrast is ",
    ):
        assert words in source


def test_a_card_shows_the_figures_and_the_colours() -> None:
    finding = stored_finding("color-contrast", element_of(TEXT))
    shown: html.HtmlElement = html.fromstring(macro("report/card.html", "card")(card_of(finding)))
    pairs = {each[0].text: each[1].text_content().strip() for each in shown.xpath("//dl/div")}
    assert {name: pairs[name] for name in ("Contrast", "Needs", "Text size")} == {
        "Contrast": "2.64",
        "Needs": "4.5",
        "Text size": "12px, bold",
    }
    assert shown.xpath("//rect/@fill") == ["#9AA0A6", "#ffffff"]
    assert shown.xpath("//svg[@class='swatch']/@aria-hidden") == ["true", "true"]
    assert "What is wrong" not in pairs
