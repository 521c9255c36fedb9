"""Tests for classifying empty screens.

`tests/website_scan/test_unshown_pages.py` tests whole pages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.website_scan.browser.loads import load, request, visit
from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from website_scan.accessibility.checks.display import accessibility_blank_page
from website_scan.browser.evidence import Screen, VisibleElement
from website_scan.browser.shown_content import MissingContent, ShownContent
from website_scan.browser.unshown import Cause, classify_screen, judge_screen, judge_shown_content
from website_scan.findings import CRITICAL
from website_scan.outcomes import Fail, Verdict
from website_scan.page.references import ResourceKind
from website_scan.page.stand_ins import challenge_line, error_line, is_consent_dialog, is_placeholder
from website_scan.performance.checks.display import blank_page
from website_scan.seo.checks.display import seo_blank_page

CONSENT_TEXT = "We value your privacy. We store cookies. Accept all"


def screen(content: str = "", *, frame: str = "", dialog: str = "", **fields: Any) -> Screen:
    values: dict[str, Any] = {"at_s": 1.0, "title": "Acme", "has_scripts": True, "waited_s": 6.0} | fields
    return Screen(texts={"content": content, "frame": frame, "dialog": dialog}, **values)


def element(tag: str, share: float = 0.02, region: str = "content", *, is_spinning: bool = False) -> VisibleElement:
    return VisibleElement(tag, region, share, is_spinning)


SPINNER = element("svg", is_spinning=True)
ROOT = ("#root",)
HEADER = "Acme Shoes Boots"


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (screen("Hello"), None),
        (screen("Hello", is_plain=True), MissingContent.BLANK),
        (screen("Loading…"), MissingContent.LOADING),
        (screen("Loading 45 %"), MissingContent.LOADING),
        (screen("Loading…", has_scripts=False), None),  # The page has no scripts, so no content can follow.
        (screen("Acme Loading…", loading_indicators=(".spinner",)), MissingContent.LOADING),
        (screen("Acme Loading…"), None),
        (screen("How loading works"), None),
        (screen("Loading…", elements=(SPINNER,)), MissingContent.LOADING),
        # The canvas may contain a drawing, such as a game.
        (screen("Loading…", elements=(element("canvas", 0.9),)), None),
        (screen(elements=(SPINNER,), loading_indicators=(".spinner",)), MissingContent.LOADING),
        (screen(elements=(SPINNER,), loading_indicators=(".spinner",), has_scripts=False), None),
        # An animated drawing is content.
        (screen(elements=(element("svg", 0.8, is_spinning=True),), loading_indicators=("svg",)), None),
        (screen(elements=(element("img"),)), None),
        (screen(elements=(element("input"),), fields=1), None),
        (screen(frame=HEADER, empty_roots=ROOT), MissingContent.FRAME),
        (screen(frame=HEADER, empty_roots=ROOT, has_scripts=False), None),
        (screen(frame=HEADER), None),  # The page may have no content except for its header.
        (screen(frame=HEADER, empty_roots=ROOT, fields=1), None),  # The page is a search form without results.
        (screen(frame=HEADER, loading_indicators=(".skeleton",)), MissingContent.LOADING),
        (screen(dialog="Chat with us", empty_roots=ROOT), MissingContent.FRAME),
        (screen(dialog=CONSENT_TEXT, empty_roots=ROOT), MissingContent.CONSENT),
        (screen("Loading…", dialog=CONSENT_TEXT), MissingContent.CONSENT),
        (screen("Shoes", dialog=CONSENT_TEXT), None),
        (screen(CONSENT_TEXT, empty_roots=ROOT), MissingContent.CONSENT),
        (screen(CONSENT_TEXT), None),  # The page is an article about cookies.
        (screen(dialog="Log in", elements=(element("input", region="dialog"),), fields=1, empty_roots=ROOT), None),
        (screen("502 Bad Gateway nginx"), MissingContent.ERROR),
        # The page is a picture gallery with little text.
        (screen("502 Bad Gateway", elements=(element("img", 0.5),)), None),
        (screen("Checking your browser before accessing the site."), MissingContent.CHALLENGE),
        (screen("Log in. Verify you are human", fields=2), None),
        (screen(), MissingContent.UNCERTAIN),
    ],
)
def test_screen_is_classified_by_its_visible_content(visible: Screen, expected: MissingContent | None) -> None:
    assert classify_screen(visible, has_failed=False) is expected


def test_empty_screen_after_a_failed_script_is_blank() -> None:
    assert classify_screen(screen(), has_failed=True) is MissingContent.BLANK
    # The painted content may be in a closed shadow tree.
    assert classify_screen(screen(has_contentful_paint=True), has_failed=True) is None
    searching = screen(frame=HEADER, empty_roots=ROOT, fields=1)
    assert classify_screen(searching, has_failed=True) is MissingContent.FRAME


THROWN = "TypeError: x is undefined at https://site.example.com/app.js:1:7"


def test_finding_lists_all_causes() -> None:
    failed = request("app.js", ResourceKind.SCRIPT, status=404)
    api_request = request("api", ResourceKind.OTHER, status=500, is_sent_by_script=True)
    browser_load = visit(load(failed, api_request), exceptions=(THROWN,), console_errors=(THROWN,))
    content = judge_screen(browser_load, screen(is_plain=True))
    assert content.message == (
        "After 6 s in a browser, the page shows nothing. An exception stopped a script: TypeError: x is undefined."
    )
    assert content.causes == (
        Cause(exception=THROWN),
        Cause(url=failed.url, error="status 404"),
        Cause(url=api_request.url, error="status 500"),
    )
    finding = judge_shown_content(content)
    assert message(finding) == content.message
    assert rows(finding)[1] == {"url": failed.url, "error": "status 404"}
    assert isinstance(finding, Fail)
    assert not finding.places, "causes are details: they describe the whole page"


AFTER = "After 6 s in a browser, "
MISSING = request("app.js", ResourceKind.SCRIPT, status=404)
REFUSAL = "Refused to execute script from 'app.js' because its MIME type ('text/html') is not executable."


@pytest.mark.parametrize(
    ("visible", "fields", "name", "words"),
    [
        (screen(is_plain=True), {}, "blank", f"{AFTER}the page shows nothing."),
        (
            screen("{text}", is_plain=True),
            {},
            "blank",
            f"{AFTER}the page is one plain colour: none of its text can be seen.",
        ),
        (
            screen(is_plain=True),
            {"requests": (MISSING,)},
            "blank",
            f"{AFTER}the page shows nothing. Its script {MISSING.url} failed: status 404.",
        ),
        (
            screen(is_plain=True),
            {"console_errors": (REFUSAL,)},
            "blank",
            f"{AFTER}the page shows nothing. The browser refused a script: {REFUSAL}",
        ),
        (screen("Loading…"), {}, "loading", f"{AFTER}the page still shows only “Loading…”."),
        (
            screen(elements=(SPINNER,), loading_indicators=("#root > .spinner",)),
            {},
            "loading",
            f"{AFTER}the page still shows only that it is loading (#root > .spinner).",
        ),
        (
            screen(frame=HEADER, empty_roots=ROOT),
            {},
            "empty-main",
            f"{AFTER}#root is still empty, between header and footer.",
        ),
        (
            screen("502 Bad Gateway nginx."),
            {},
            "error",
            "Instead of its content, the page says: “502 Bad Gateway nginx”.",
        ),
    ],
)
@pytest.mark.parametrize("check", [accessibility_blank_page, blank_page, seo_blank_page])
def test_page_without_content_fails(
    check: Callable[[ShownContent], Verdict], visible: Screen, fields: dict[str, Any], name: str, words: str
) -> None:
    requests = fields.get("requests", ())
    finding = check(judge_screen(visit(load(*requests), console_errors=fields.get("console_errors", ())), visible))
    assert outcome(finding) == name
    assert verdict(finding) == "fail"
    assert message(finding) == words
    assert severity_of(check, finding) is CRITICAL
    assert isinstance(finding, Fail)
    assert (finding.fix is not None) is (name == "error")


def test_visible_content_passes() -> None:
    assert outcome(judge_shown_content(ShownContent())) == "pass"
    assert outcome(judge_shown_content(judge_screen(visit(load()), screen("Verify you are human")))) == "n/a"


@pytest.mark.parametrize(
    ("visible", "fields", "word"),
    [
        (screen(is_plain=True), {"exceptions": ("Error: Error creating WebGL context.",)}, "WebGL"),
        (screen(is_plain=True), {"exceptions": ("TypeError: null (reading 'clearColor')",)}, "WebGL"),
        (screen(is_plain=True, elements=(element("canvas", 0.9),)), {}, "draws or plays"),
        (screen(is_plain=True, elements=(element("iframe", 0.9),)), {}, "draws or plays"),
        (screen(is_plain=True, had_enough_time=False), {}, "ran out"),
        (screen(is_plain=True), {"load_s": None}, "ran out"),
        (screen(dialog=CONSENT_TEXT, empty_roots=ROOT), {}, "consent"),
        (screen("Verify you are human"), {}, "bot protection"),
        (screen(), {}, "painted"),
    ],
)
def test_missing_content_may_be_caused_by_the_scanner(visible: Screen, fields: dict[str, Any], word: str) -> None:
    exceptions = fields.pop("exceptions", ())
    content = judge_screen(visit(load(**fields), exceptions=exceptions), visible)
    assert not content.is_fault
    assert word in content.reason


@pytest.mark.parametrize(
    ("title", "text", "line"),
    [
        ("502 Bad Gateway", "502 Bad Gateway nginx", "502 Bad Gateway nginx"),
        ("", "Error 503 Backend fetch failed Guru Meditation: XID: 1", "Error 503 Backend fetch failed"),
        ("", "HTTP Status 500 \u2013 Internal Server Error", "HTTP Status 500"),
        ("", "500 | Server Error", "500 | Server Error"),
        ("", "Server Error (500)", "Server Error (500)"),
        ("", "Server Error in '/' Application. Runtime Error", "Server Error in '/' Application"),
        ("", "We\u2019re sorry, but something went wrong. If you are the owner …", "We're sorry"),
        ("", "Acme Application error: a server-side exception has occurred", "Application error"),
        ("", "Fatal error: Uncaught Error: Call to undefined function a()", "Fatal error"),
        ("", "Cannot GET /", "Cannot GET /"),
        ("", "Something went wrong. Please try again.", "Something went wrong"),
        ("", "Account Suspended Contact your hosting provider.", "Account Suspended"),
        ("Errors", "We will be back soon. Our shop is down for maintenance.", ""),
        ("", "Something went wrong with my bike, so I fixed it.", ""),
        ("", "500 Miles: a song", ""),
        ("", "404 shoes found", ""),
        ("", "Error handling in Python: a course", ""),
        ("502 Bad Gateway", "A proxy got no answer. " * 40, ""),
    ],
)
def test_error_page_is_recognized_by_its_text(title: str, text: str, line: str) -> None:
    excerpt = error_line(title, text)
    assert excerpt.startswith(line)
    assert bool(excerpt) == bool(line)


@pytest.mark.parametrize(
    ("title", "text", "is_challenge"),
    [
        ("Just a moment...", "shop.example.com", True),
        ("", "Verify you are human by completing the action below.", True),
        ("", "Making sure you\u2019re not a bot!", True),
        ("", "Enable JavaScript and cookies to continue", True),
        ("Human rights", "You are human.", False),
        ("", "Checking your browser is easy. " * 30, False),
    ],
)
def test_bot_protection_is_recognized_by_its_text(title: str, text: str, is_challenge: bool) -> None:
    assert bool(challenge_line(title, text)) is is_challenge


def test_placeholder_and_consent_texts_are_recognized() -> None:
    assert is_placeholder(" Loading … ")
    assert is_placeholder("Laden...")
    assert not is_placeholder("Loading dock")
    assert is_consent_dialog("Wir verwenden Cookies. Alle akzeptieren")
    assert not is_consent_dialog("We bake cookies every day.")
    assert not is_consent_dialog("Accept all our greetings.")
