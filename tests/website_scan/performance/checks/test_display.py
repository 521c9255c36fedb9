"""Tests for checks of the doctype and of script errors."""

from __future__ import annotations

import pytest

from tests.website_scan.browser.loads import load, request, visit
from tests.website_scan.cast import document, message, outcome, page, rows
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import display as checks
from website_scan.written_urls import split_url

PAGE = split_url("https://site.example.com/")
THROWN = "TypeError: Cannot read properties of null (reading 'focus') at https://site.example.com/a.js:1:2"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<!doctype html><p>a", "pass"),
        ("<!-- generated --><!doctype html><p>a", "pass"),
        ("<p>a", "missing"),
        ("<p>a<!doctype html>", "missing"),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"><p>a', "quirks"),
        (
            '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
            "pass",
        ),
    ],
)
def test_doctype_check_verdict(markup: str, expected: str) -> None:
    assert outcome(checks.doctype(page(markup), document(page(markup)))) == expected


def test_xhtml_document_needs_no_doctype() -> None:
    xhtml = page("<html xmlns='http://www.w3.org/1999/xhtml'/>", ("Content-Type", "application/xhtml+xml"))
    assert outcome(checks.doctype(xhtml, document(xhtml))) == "n/a"


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ((), "pass"),
        ((THROWN,), "exceptions"),
        (("ReferenceError: $ is not defined",), "exceptions"),
        (("NotAllowedError: play() failed because the user didn't interact with the document first.",), "pass"),
        (("ResizeObserver loop completed with undelivered notifications.",), "pass"),
        (("TypeError: Failed to fetch",), "pass"),
        (("Error: WebGL is not supported",), "pass"),
        (("ChunkLoadError: Loading chunk 7 failed.",), "pass"),
    ],
)
def test_script_errors_check_verdict(errors: tuple[str, ...], expected: str) -> None:
    assert outcome(checks.script_errors(visit(exceptions=errors))) == expected


@pytest.mark.parametrize(("status", "expected"), [(None, "n/a"), (404, "exceptions"), (200, "exceptions")])
def test_script_without_response_prevents_verdict(status: int | None, expected: str) -> None:
    script = request("a.js", ResourceKind.SCRIPT, status=status)
    assert outcome(checks.script_errors(visit(load(script), exceptions=(THROWN,)))) == expected


def test_script_errors_message_counts_repeats() -> None:
    finding = checks.script_errors(visit(exceptions=(THROWN, THROWN)))
    assert message(finding) == "2 exceptions were not caught."
    assert [row["text"] for row in rows(finding)] == [THROWN, THROWN]


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (THROWN.replace("1:2", "9:9"), True),  # Line numbers change if the script changes above the error.
        (THROWN.replace("a.js", "a.3f2a91bc.js"), True),
        (THROWN.replace("focus", "blur"), False),
    ],
)
def test_script_error_is_recognized_without_position(other: str, is_same: bool) -> None:
    first, second = (checks.error_message(error, PAGE) for error in (THROWN, other))
    assert (first == second) is is_same
