from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.website_scan.cast import body, document, head, message, outcome, page, rows, verdict
from website_scan.accessibility.checks import document as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.outcomes import Fail, Verdict
from website_scan.page.evidence import Document


def document_check_verdict(check: Callable[[Document], Verdict], html: str) -> str:
    return verdict(check(document(page(html))))


def element_check_verdict(check: Callable[[AccessibleDocument], Verdict], markup: str) -> str:
    return verdict(check(AccessibleDocument(document(page(body(markup))))))


def refresh_verdict(html: str, *headers: tuple[str, str]) -> str:
    served_page = page(html, *headers)
    return verdict(checks.meta_refresh(served_page, document(served_page)))


@pytest.mark.parametrize(
    ("root", "has_lang", "mismatch"),
    [
        ("<html lang=en>", "pass", "n/a"),
        ("<html lang=''>", "fail", "n/a"),
        ("<html lang=' '>", "fail", "n/a"),
        ("<html>", "fail", "n/a"),
        ("<html xml:lang=en>", "fail", "n/a"),
        ("<html lang=en xml:lang=en>", "pass", "pass"),
        ("<html lang=en-US xml:lang=EN-gb>", "pass", "pass"),  # Both language tags have the same primary language.
        ("<html lang=en xml:lang=de>", "pass", "fail"),
        ("<html lang=en xml:lang=''>", "pass", "n/a"),
        # The language code is unknown, which the check html-lang-valid reports.
        ("<html lang=us xml:lang=de>", "pass", "n/a"),
        ("<html lang=us xml:lang=us>", "pass", "n/a"),
    ],
)
def test_html_language_verdicts(root: str, has_lang: str, mismatch: str) -> None:
    html = f"<!doctype html>{root}<p>Text"
    assert document_check_verdict(checks.html_has_lang, html) == has_lang
    assert document_check_verdict(checks.html_xml_lang_mismatch, html) == mismatch


ROOTS = [
    ("", "n/a"),
    ("lang=''", "n/a"),  # The lang attribute is missing, which the check html-has-lang reports.
    ("lang=' '", "fail"),
    ("lang=en", "pass"),
    ("lang=EN", "pass"),
    ("lang=' en '", "pass"),
    ("lang=en-US", "pass"),
    ("lang=en-US-x-twain", "pass"),
    ("lang=en-nonsense", "pass"),  # Only the primary language subtag counts.
    ("lang=zh-min-nan", "pass"),
    ("lang=cmn-Hans-CN", "pass"),
    ("lang=en_US", "fail"),
    ("lang=us", "fail"),
    ("lang=eng", "fail"),  # English is registered with a two-letter code only.
    ("lang=tgl", "fail"),
    ("lang=fil", "pass"),
    ("lang=gsw", "pass"),
    ("lang=iw", "pass"),  # The code iw is deprecated, but still registered.
    ("lang=tok", "pass"),  # The code tok (Toki Pona) was registered in 2022.
    ("lang=drh", "pass"),
    ("lang=english", "fail"),
    ("lang=xyzzy", "fail"),
    ("lang=x-klingon", "fail"),
    ("lang=i-klingon", "fail"),
    ("lang=qab", "fail"),
    ("lang=mul", "pass"),
    ("lang=und", "pass"),
    ("lang={{lang}}", "fail"),
    ("lang=en xml:lang=en", "pass"),
    ("lang=en xml:lang=us", "fail"),
    ("lang='' xml:lang=us", "fail"),
    ("xml:lang=en", "pass"),
    ("xml:lang=us", "fail"),
]
PARTS = [
    ("<p>None", "n/a"),
    ("<p lang=fr>Oui", "pass"),
    ("<p lang=fr-CA>Oui", "pass"),
    ("<p lang=us>Oui", "fail"),
    ("<p lang=''>Oui", "pass"),  # An empty lang attribute means an unknown language.
    ("<p lang=' '>Oui", "fail"),
    ("<p xml:lang=us>Oui", "fail"),
    ("<p lang=us>", "pass"),  # The empty paragraph has no text to pronounce.
    ("<p lang=us> &nbsp; ", "pass"),
    ("<p lang=us hidden>Oui", "n/a"),
    ("<p lang=us aria-hidden=true>Oui", "n/a"),
    ("<p lang=us class=d-none>Oui", "warn"),
    ("<p lang=us><b>Oui</b>", "fail"),
    ("<p lang=us><b hidden>Oui</b>", "pass"),
    ("<p lang=us><b lang=fr>Oui</b>", "pass"),
    ("<p lang=us><b lang=fr>Oui</b> non", "fail"),
    ("<p lang=us><img src=a alt=Oui>", "fail"),
    ("<p lang=us><img src=a alt=''>", "pass"),
    ("<p lang=us><script>1</script>", "pass"),
    ("<a href=/de hreflang=us>Deutsch</a>", "n/a"),
    ("<p lang=fr>Oui<p lang=us>Oui", "fail"),
    ("<div lang=us><p lang=fr>Oui</div>", "pass"),
    ("<svg><text xml:lang=us>Oui</text></svg>", "fail"),
]
CASES = {
    "html-lang-valid": [
        (f"<!doctype html><html {root}><title>A page</title><p>Text", expected) for root, expected in ROOTS
    ],
    "valid-lang": PARTS,
}


@pytest.mark.parametrize(("html", "expected"), CASES["html-lang-valid"])
def test_html_lang_valid_verdict(html: str, expected: str) -> None:
    assert document_check_verdict(checks.html_lang_valid, html) == expected


@pytest.mark.parametrize(("markup", "expected"), PARTS)
def test_valid_lang_verdict(markup: str, expected: str) -> None:
    assert element_check_verdict(checks.valid_lang, markup) == expected


def test_invalid_language_is_quoted() -> None:
    served_page = page("<!doctype html><html lang=en_US><p>Text")
    finding = checks.html_lang_valid(document(served_page))
    assert message(finding) == 'The page declares an invalid language: the html element has lang="en_US".'


@pytest.mark.parametrize("markup", ["<p lang=us>" + "<b>" * 5_000 + "Oui", f"<p lang={'a' * 100_000}>Oui"])
def test_expensive_language_parts_get_a_verdict(markup: str) -> None:
    assert element_check_verdict(checks.valid_lang, markup) in ("pass", "fail")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<title>Shoes</title>", "pass"),
        ("<title> </title>", "empty"),
        ("<p>Text", "missing"),
        ("<p><svg><title>Logo</title></svg>", "missing"),
        ("<title></title><title>Second</title>", "empty"),  # Browsers show the first title, which is empty.
    ],
)
def test_document_title_verdict(html: str, expected: str) -> None:
    finding = checks.document_title(document(page(html)))
    assert outcome(finding) == expected
    assert verdict(finding) == ("pass" if expected == "pass" else "fail")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("30", "fail"),
        ("1; url=/next", "fail"),
        ("72000", "fail"),
        ("72001", "pass"),
        ("0; url=/next", "pass"),
        ("0", "pass"),
        ("soon", "pass"),
        ("5x", "pass"),
        ("", "pass"),
    ],
)
def test_meta_refresh_verdict(content: str, expected: str) -> None:
    html = head(f"<meta http-equiv=refresh content='{content}'>")
    assert refresh_verdict(html) == expected


def test_refresh_with_white_space_is_ignored() -> None:
    assert refresh_verdict(head("<meta http-equiv=' refresh' content=30>")) == "n/a"
    assert refresh_verdict(head("<meta http-equiv='REFRESH' content=30>")) == "fail"


def test_meta_refresh_in_the_body_is_judged() -> None:
    assert refresh_verdict(head("", "<meta http-equiv=refresh content=30>")) == "fail"
    assert refresh_verdict(head("", "<noscript><meta http-equiv=refresh content=30></noscript>")) == "n/a"


def test_page_without_refresh_is_not_applicable() -> None:
    assert refresh_verdict(head("")) == "n/a"


def test_refresh_header_is_judged() -> None:
    served_page = page(head(""), ("Refresh", "30"))
    finding = checks.meta_refresh(served_page, document(served_page))
    assert verdict(finding) == "fail"
    assert message(finding) == "The page reloads after 30 seconds."
    assert rows(finding) == [{"seconds": 30, "wcag": "2.2.1", "level": "A"}]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("1; url=/next", "The page goes to https://site.example.com/next after 1 second."),
        ("0; url=/next", "The page goes to https://site.example.com/next at once, so nobody is interrupted."),
        ("72001", "The page reloads only after 72,001 seconds, so nobody is interrupted."),
    ],
)
def test_refresh_summary_names_the_destination(content: str, text: str) -> None:
    served_page = page(head(f"<meta http-equiv=refresh content='{content}'>"))
    assert message(checks.meta_refresh(served_page, document(served_page))) == text


@pytest.mark.parametrize(
    ("content", "zoom", "far"),
    [
        ("width=device-width, initial-scale=1", "pass", "pass"),
        ("width=device-width; initial-scale=1; user-scalable=no", "fail", "pass"),
        ("user-scalable=0", "fail", "pass"),
        ("user-scalable=0.5", "fail", "pass"),
        ("user-scalable=yes", "pass", "pass"),
        ("user-scalable=1", "pass", "pass"),
        ("user-scalable=-1", "pass", "pass"),
        ("USER-SCALABLE = NO", "fail", "pass"),
        ("maximum-scale=1", "fail", "pass"),
        ("maximum-scale=1.99", "fail", "pass"),
        ("maximum-scale=2", "pass", "fail"),
        ("maximum-scale=4.9", "pass", "fail"),
        ("maximum-scale=5", "pass", "pass"),
        ("maximum-scale=-1", "pass", "pass"),
        ("maximum-scale=device-height", "pass", "pass"),
        ("maximum-scale=yes", "fail", "pass"),
        ("maximum-scale=big", "fail", "pass"),
        ("maximum-scale=no", "fail", "pass"),
        ("maximum-scale=", "pass", "pass"),
        # If a viewport property is repeated, the last value counts.
        ("maximum-scale=1, maximum-scale=-1", "pass", "pass"),
        ("maximum-scale=1, maximum-scale=5", "pass", "pass"),
        ("user-scalable=invalid", "fail", "pass"),
        ("user-scalable=no, maximum-scale=3", "fail", "fail"),
        # Browsers accept spaces instead of commas as separators.
        ("width=device-width initial-scale=1 maximum-scale=1", "fail", "pass"),
        ("user-scalable=yes initial-scale=1", "pass", "pass"),
        ("user-scalable=no initial-scale=1", "fail", "pass"),
        ("user-scalable=true", "fail", "pass"),
        ("user-scalable=device-width", "pass", "pass"),
        ("maximum-scale=3px", "pass", "fail"),
        ("maximum-scale=1e1", "pass", "pass"),
        ("maximum-scale=30e-1", "pass", "fail"),
        ("maximum-scale=1e999", "pass", "pass"),
        ("maximum-scale=1em", "fail", "pass"),
        ("", "pass", "pass"),
    ],
)
def test_viewport_that_limits_zooming_fails(content: str, zoom: str, far: str) -> None:
    html = head(f"<meta name=Viewport content='{content}'>")
    assert document_check_verdict(checks.meta_viewport, html) == zoom
    assert document_check_verdict(checks.meta_viewport_large, html) == far


def test_viewport_that_limits_zooming_is_listed() -> None:
    finding = checks.meta_viewport(document(page(head("<meta name=viewport content=user-scalable=no>"))))
    assert isinstance(finding, Fail)
    assert message(finding) == "The viewport keeps people from zooming to 200% (user-scalable=no)."
    assert [item["snippet"] for item in rows(finding)] == ['<meta name="viewport" content="user-scalable=no">']
    assert [item["wcag"] for item in rows(finding)] == ["1.4.4"]


def test_page_without_viewport_is_not_applicable() -> None:
    assert document_check_verdict(checks.meta_viewport, head("")) == "n/a"


@pytest.mark.parametrize("tag", ["blink", "marquee"])
def test_blinking_text_fails_unless_hidden(tag: str) -> None:
    check = getattr(checks, tag)
    assert element_check_verdict(check, f"<{tag}>News</{tag}>") == "fail"
    assert element_check_verdict(check, f"<{tag} style='display:none'>News</{tag}>") == "pass"
    assert element_check_verdict(check, f"<div hidden><{tag}>News</{tag}></div>") == "pass"
    # Sighted people still see text with aria-hidden.
    assert element_check_verdict(check, f"<{tag} aria-hidden=true>News</{tag}>") == "fail"
    assert element_check_verdict(check, f"<{tag} class=modal>News</{tag}>") == "warn"
    assert element_check_verdict(check, f"<{tag}><img src=a></{tag}>") == "fail"
    assert element_check_verdict(check, "<p>News") == "n/a"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<marquee hidden>News</marquee>", "fail"),  # Browsers show <marquee> despite the attribute hidden.
        ("<marquee></marquee>", "pass"),  # An empty marquee has no size.
        ("<marquee> </marquee>", "pass"),
        ("<blink hidden>News</blink>", "pass"),
        ("<blink></blink>", "fail"),  # axe-core reports an empty blink element, too.
    ],
)
def test_invisible_marquee_or_blink_passes(markup: str, expected: str) -> None:
    check = checks.marquee if "marquee" in markup else checks.blink
    assert element_check_verdict(check, markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>None", "n/a"),
        ("<video src=a></video>", "warn"),
        ("<video src=a><track kind=captions src=c></video>", "pass"),
        ("<video src=a><track kind=Captions src=c></video>", "pass"),
        ("<video src=a><track src=c></video>", "warn"),  # Subtitles do not replace captions for deaf people.
        ("<video src=a><track kind=' captions' src=c></video>", "warn"),
        ("<video src=a><div><track kind=captions src=c></div></video>", "pass"),
        ("<video src=a muted></video>", "n/a"),
        ("<video src=a hidden></video>", "n/a"),
    ],
)
def test_video_caption_verdict(markup: str, expected: str) -> None:
    assert element_check_verdict(checks.video_caption, markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<audio src=a controls></audio>", "n/a"),
        ("<audio src=a autoplay></audio>", "warn"),
        ("<audio src=a autoplay controls></audio>", "pass"),
        ("<video autoplay><source src=a></video>", "warn"),
        ("<video autoplay muted loop><source src=a></video>", "n/a"),  # A muted background video needs no captions.
        ("<audio autoplay></audio>", "n/a"),
        ("<audio autoplay><source></audio>", "n/a"),
        ("<audio src=a autoplay paused></audio>", "n/a"),
        ("<audio src=a autoplay hidden></audio>", "warn"),  # Hidden audio is still audible.
        ("<div aria-hidden=true><audio src=a autoplay></audio></div>", "warn"),
    ],
)
def test_no_autoplay_audio_verdict(markup: str, expected: str) -> None:
    assert element_check_verdict(checks.no_autoplay_audio, markup) == expected
