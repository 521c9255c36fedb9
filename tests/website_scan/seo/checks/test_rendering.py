from __future__ import annotations

import pytest

from tests.website_scan.cast import body, document, head, message, outcome, page, rows, verdict
from tests.website_scan.seo.cast import judge, message_with_places
from website_scan.browser.evidence import Rendered, TapTarget
from website_scan.seo.checks import mobile
from website_scan.seo.checks import rendering as checks

WORDS = "<p>" + "word " * 300


def render(html: str) -> Rendered:
    """Return a rendered page with this HTML."""
    return Rendered(document(page(html)), {})


@pytest.mark.parametrize(
    ("raw", "rendered", "expected_text"),
    [
        (head(""), head(""), None),
        (head("<meta name=robots content='index,  follow'>"), head("<meta name=robots content='INDEX, follow'>"), None),
        # Search engines treat these rules as equal.
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
def test_rendered_metadata_check_verdict(raw: str, rendered: str, expected_text: str | None) -> None:
    html_page = page(raw)
    finding = judge(checks.rendered_metadata, html_page, render(rendered))
    assert outcome(finding) == ("pass" if expected_text is None else "changed")
    assert verdict(finding) == ("pass" if expected_text is None else "warn")
    assert (expected_text or "") in message_with_places(finding)


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
def test_raw_noindex_check_verdict(raw: str, rendered: str, expected: str) -> None:
    html_page = page(head(raw))
    assert outcome(judge(checks.raw_noindex, html_page, render(head(rendered)))) == expected


def test_scripts_cannot_remove_noindex_header() -> None:
    html_page = page(head(""), ("X-Robots-Tag", "noindex"))
    assert verdict(judge(checks.raw_noindex, html_page, render(head("")))) == "pass"


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
def test_rendered_content_check_verdict(raw: str, rendered: str, expected: str) -> None:
    html_page = page(body(raw))
    assert outcome(judge(checks.rendered_content, html_page, render(body(rendered)))) == expected


def test_rendered_content_message_counts_words() -> None:
    finding = judge(checks.rendered_content, page(body("<p>word")), render(body(WORDS)))
    assert message(finding) == "Only 1 of 300 words is in the HTML itself; scripts add the rest."
    finding = judge(checks.rendered_content, page(body(WORDS)), render(body(WORDS)))
    assert message(finding) == "300 words are in the HTML itself."


@pytest.mark.parametrize(
    ("letters", "expected"),
    [({16.0: 900, 10.0: 100}, "pass"), ({12.0: 60, 11.9: 40}, "pass"), ({16.0: 59, 9.0: 41}, "small"), ({}, "n/a")],
)
def test_font_legible_check_verdict(letters: dict[float, int], expected: str) -> None:
    assert outcome(mobile.font_legible(Rendered(document(page()), letters))) == expected


def test_legible_share_is_rounded_down() -> None:
    finding = mobile.font_legible(Rendered(document(page()), {16.0: 596, 9.0: 404}))
    assert message(finding) == "Only 59% of the text is set at 12 pixels or more; at least 60% should be."


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([TapTarget("a", 48, 48, is_crowded=True)], "pass"),
        ([TapTarget("a", 10, 10, is_crowded=False)], "pass"),  # A small tap target without neighbours passes.
        ([TapTarget("a", 100, 24, is_crowded=True)], "pass"),
        ([TapTarget("a", 100, 20, is_crowded=True), TapTarget("b", 48, 48, is_crowded=False)], "crowded"),
        ([], "n/a"),
    ],
)
def test_tap_targets_check_verdict(targets: list[TapTarget], expected: str) -> None:
    assert outcome(mobile.tap_targets(Rendered(document(page()), {}, tuple(targets)))) == expected


def test_tap_targets_finding_lists_sizes() -> None:
    targets = (TapTarget("nav > a", 100, 20, is_crowded=True), TapTarget("b", 48, 48, is_crowded=False))
    finding = mobile.tap_targets(Rendered(document(page()), {}, targets))
    assert message_with_places(finding) == "1 of 2 tap targets is smaller than 24 pixels and close to others: nav > a."
    (row,) = rows(finding)
    assert (row["selector"], row["width"], row["height"]) == ("nav > a", 100, 20)
