from __future__ import annotations

import pytest

from tests.website_scan.cast import body, document, head, message, outcome, page, rows, verdict
from tests.website_scan.seo.cast import judge, told
from website_scan.browser.evidence import Rendered, TapTarget
from website_scan.seo.checks import mobile
from website_scan.seo.checks import rendering as checks

WORDS = "<p>" + "word " * 300


def after(html: str) -> Rendered:
    """Return the page after its scripts have run."""
    return Rendered(document(page(html)), {})


@pytest.mark.parametrize(
    ("raw", "rendered", "said"),
    [
        (head(""), head(""), None),
        (head("<meta name=robots content='index,  follow'>"), head("<meta name=robots content='INDEX, follow'>"), None),
        # Search engines read these as the same.
        (head("<meta name=robots content='index,follow'>"), head("<meta name=robots content='follow, index'>"), None),
        (head(""), head("<meta name=robots content='index, follow'>"), None),
        (
            head("<meta name=robots content='nofollow,NOINDEX'>"),
            head("<meta name=robots content='noindex, nofollow'>"),
            None,
        ),
        (head(""), head("").replace("A page", "Another"), "title from “A page” to “Another”"),
        (head(""), head('<link rel=canonical href="/other">'), "the canonical URL from nothing to"),
        (head("<meta name=robots content=noindex>"), head(""), "the robots rules from “noindex” to nothing"),
    ],
)
def test_rendered_metadata(raw: str, rendered: str, said: str | None) -> None:
    seen = page(raw)
    finding = judge(checks.rendered_metadata, seen, after(rendered))
    assert outcome(finding) == ("pass" if said is None else "changed")
    assert verdict(finding) == ("pass" if said is None else "warn")
    assert (said or "") in told(finding)


@pytest.mark.parametrize(
    ("raw", "rendered", "expected"),
    [
        ("", "", "pass"),
        ("", "<meta name=robots content=noindex>", "pass"),
        ("<meta name=robots content=noindex>", "<meta name=robots content=noindex>", "pass"),
        ("<meta name=bingbot content=noindex>", "", "pass"),
        ("<meta name=robots content=noindex>", "", "removed"),
        ("<meta name=googlebot content=none>", "<meta name=googlebot content=index>", "removed"),
    ],
)
def test_raw_noindex(raw: str, rendered: str, expected: str) -> None:
    seen = page(head(raw))
    assert outcome(judge(checks.raw_noindex, seen, after(head(rendered)))) == expected


def test_a_header_that_says_noindex_stays_whatever_scripts_do() -> None:
    seen = page(head(""), ("X-Robots-Tag", "noindex"))
    assert verdict(judge(checks.raw_noindex, seen, after(head("")))) == "pass"


@pytest.mark.parametrize(
    ("raw", "rendered", "expected"),
    [
        (WORDS, WORDS, "pass"),
        (WORDS, WORDS + "<p>and some more", "pass"),
        ("<div id=app></div>", WORDS, "added-by-scripts"),
        ("<noscript>" + WORDS + "</noscript>", WORDS, "added-by-scripts"),
        ("<p>word</p>", "<p>few words", "n/a"),
    ],
)
def test_rendered_content(raw: str, rendered: str, expected: str) -> None:
    seen = page(body(raw))
    assert outcome(judge(checks.rendered_content, seen, after(body(rendered)))) == expected


def test_the_words_of_the_html_are_counted() -> None:
    finding = judge(checks.rendered_content, page(body("<p>word")), after(body(WORDS)))
    assert message(finding) == "Only 1 of 300 words is in the HTML itself; scripts add the rest."
    finding = judge(checks.rendered_content, page(body(WORDS)), after(body(WORDS)))
    assert message(finding) == "300 words are in the HTML itself."


@pytest.mark.parametrize(
    ("letters", "expected"),
    [({16.0: 900, 10.0: 100}, "pass"), ({12.0: 60, 11.9: 40}, "pass"), ({16.0: 59, 9.0: 41}, "small"), ({}, "n/a")],
)
def test_font_legible(letters: dict[float, int], expected: str) -> None:
    assert outcome(mobile.font_legible(Rendered(document(page()), letters))) == expected


def test_the_share_of_legible_text_is_rounded_down() -> None:
    finding = mobile.font_legible(Rendered(document(page()), {16.0: 596, 9.0: 404}))
    assert message(finding) == "Only 59% of the text is set at 12 pixels or more; at least 60% should be."


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([TapTarget("a", 48, 48, is_crowded=True)], "pass"),
        ([TapTarget("a", 10, 10, is_crowded=False)], "pass"),  # nothing else is near
        ([TapTarget("a", 100, 24, is_crowded=True)], "pass"),
        ([TapTarget("a", 100, 20, is_crowded=True), TapTarget("b", 48, 48, is_crowded=False)], "crowded"),
        ([], "n/a"),
    ],
)
def test_tap_targets(targets: list[TapTarget], expected: str) -> None:
    assert outcome(mobile.tap_targets(Rendered(document(page()), {}, tuple(targets)))) == expected


def test_a_crowded_tap_target_is_named_with_its_size() -> None:
    targets = (TapTarget("nav > a", 100, 20, is_crowded=True), TapTarget("b", 48, 48, is_crowded=False))
    finding = mobile.tap_targets(Rendered(document(page()), {}, targets))
    assert told(finding) == "1 of 2 tap targets is smaller than 24 pixels and close to others: nav > a."
    (row,) = rows(finding)
    assert (row["selector"], row["width"], row["height"]) == ("nav > a", 100, 20)
