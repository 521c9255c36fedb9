from __future__ import annotations

import pytest

from tests.website_scan.cast import body, document, head, message, outcome, page, rows, severity_of, verdict
from tests.website_scan.performance.cast import HERE, OTHER, resource, resources_of, styles_of
from website_scan.findings import Severity
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import blocking as checks
from website_scan.performance.evidence import Resource, StyleImport
from website_scan.performance.render_blocking import count_unconditional_writes

Kind = ResourceKind


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (head(""), "pass"),
        (head("<script src=/a.js></script>"), "warn"),
        (head("<script src=/a.js></script><script src=/b.js></script>"), "warn"),
        (head("<script src=/a.js></script><script src=/a.js></script>"), "warn"),
        (head("".join(f"<script src=/{n}.js></script>" for n in range(3))), "fail"),
        (head("<script src=/a.js async></script>"), "pass"),
        (head("<script src=/a.js defer></script>"), "pass"),
        (head("<script src=/a.js type=module></script>"), "pass"),
        (head("<script src=/a.js nomodule></script>"), "pass"),
        (head("<script src=/a.js type=text/template></script>"), "pass"),
        (head("<script src=/a.js type=text/javascript></script>"), "warn"),
        (head("<script src='data:,a()'></script>"), "pass"),
        (head("<script src=''></script>"), "pass"),
        (head("<script>run()</script>"), "pass"),
        (head("<noscript><script src=/a.js></script></noscript>"), "pass"),
        (body("<script src=/a.js></script>"), "pass"),
    ],
)
def test_blocking_scripts_check_verdict(markup: str, expected: str) -> None:
    scanned_page = page(markup)
    finding = checks.blocking_scripts_in_head(document(scanned_page), resources_of())
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "synchronous")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        # Small scripts may be necessary, for example for the colour theme.
        ((resource(f"{HERE}/a.js", wire=1_300),), Severity.LOW),
        ((resource(f"{HERE}/a.js", wire=14_501),), Severity.HIGH),
        ((resource(f"{HERE}/a.js", status=404, wire=50),), Severity.LOW),
        ((resource(f"{HERE}/a.js", status=None, wire=0),), Severity.HIGH),  # The size of this script is unknown.
        ((), Severity.HIGH),
    ],
)
def test_severity_depends_on_script_size(items: tuple[Resource, ...], expected: Severity) -> None:
    scanned_page = page(head("<script src=/a.js></script>"))
    finding = checks.blocking_scripts_in_head(document(scanned_page), resources_of(*items))
    assert severity_of(checks.blocking_scripts_in_head, finding) is expected


def test_severity_depends_on_size_of_all_scripts() -> None:
    scanned_page = document(page(head("".join(f"<script src=/{n}.js></script>" for n in range(3)))))
    for wire, expected in ((4_833, Severity.MEDIUM), (4_834, Severity.HIGH)):
        items = resources_of(*(resource(f"{HERE}/{n}.js", wire=wire) for n in range(3)))
        finding = checks.blocking_scripts_in_head(scanned_page, items)
        assert severity_of(checks.blocking_scripts_in_head, finding) is expected


def test_message_states_script_weight() -> None:
    scanned_page = page(head("<script src=/a.js></script>"))
    assert message(checks.blocking_scripts_in_head(document(scanned_page), resources_of())) == (
        "1 script in the head (size unknown) has neither async nor defer."
    )
    item = resource(f"{HERE}/a.js", body=b"a" * 1500)
    finding = checks.blocking_scripts_in_head(document(scanned_page), resources_of(item))
    assert message(finding) == "1 script in the head (1.5 kB) has neither async nor defer."
    assert rows(finding) == [{"url": f"{HERE}/a.js", "wire_bytes": 1500}]
    two = page(head("<script src=/a.js></script><script src=/b.js></script>"))
    finding = checks.blocking_scripts_in_head(document(two), resources_of(item))
    assert message(finding) == "2 scripts in the head (at least 1.5 kB) have neither async nor defer."
    assert rows(finding) == [{"url": f"{HERE}/a.js", "wire_bytes": 1500}, {"url": f"{HERE}/b.js"}]


SHEET = "<link rel=stylesheet href=/{}.css>"


@pytest.mark.parametrize(
    ("markup", "size", "expected"),
    [
        (head(""), 0, "pass"),
        (head(SHEET.format(0)), 14_500, "pass"),
        (head(SHEET.format(0)), 14_501, "warn"),
        # All style sheets together fit into one round trip.
        (head("".join(SHEET.format(n) for n in range(3))), 4_833, "pass"),
        (head("".join(SHEET.format(n) for n in range(3))), 4_834, "warn"),
        (head("".join(SHEET.format(n) for n in (0, "unknown"))), 1, "warn"),
        (head("".join(SHEET.format(n) for n in range(6))), 2_416, "pass"),
        (head("".join(SHEET.format(n) for n in range(4))), 3_626, "fail"),
        (head("".join(SHEET.format(n) for n in range(7))), 1, "fail"),
        (head("<link rel=stylesheet media=print href=/0.css>"), 90_000, "pass"),
        # The media query excludes phones.
        (head("<link rel=stylesheet media='(min-width: 1000px)' href=/0.css>"), 90_000, "pass"),
        (head("<link rel=stylesheet media=' Screen ' href=/0.css>"), 90_000, "warn"),
        (head("<link rel=stylesheet disabled href=/0.css>"), 90_000, "pass"),
        (head("<link rel='alternate stylesheet' title=a href=/0.css>"), 90_000, "pass"),
        (head("<link rel=preload as=style href=/0.css>"), 90_000, "pass"),
        (head("<link rel=stylesheet type=text/less href=/0.css>"), 90_000, "pass"),
        (body(SHEET.format(0)), 90_000, "pass"),
    ],
)
def test_blocking_css_check_verdict(markup: str, size: int, expected: str) -> None:
    scanned_page = page(markup)
    items = resources_of(*(resource(f"{HERE}/{n}.css", Kind.STYLESHEET, b"a" * size) for n in range(7)))
    finding = checks.blocking_css(document(scanned_page), items)
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "too-much")


def test_css_message_states_limit() -> None:
    scanned_page = page(head(SHEET.format(0)))
    finding = checks.blocking_css(
        document(scanned_page), resources_of(resource(f"{HERE}/0.css", Kind.STYLESHEET, b"a" * 90_000))
    )
    assert message(finding) == (
        "The page waits for 1 style sheet in the head (90 kB; up to 6 with 14.5 kB in all are good)."
    )


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("p{}", "pass"),
        ("@import 'b.css';", "imported"),
        ("@charset 'utf-8'; @layer a, b; @layer c{} @import url(b.css) screen;", "imported"),
        ('/* first */ @IMPORT url( "b.css" );', "imported"),
        ("p{} @import 'b.css';", "pass"),  # Browsers ignore @import after other rules.
        ("@font-face{} @import 'b.css';", "pass"),
        ("@import 'b.css' print;", "pass"),
        ("/* @import 'b.css'; */", "pass"),
        ("p{content:\"@import 'b.css';\"}", "pass"),
        ("@import url(data:text/css,p{});", "pass"),
    ],
)
def test_css_import_check_verdict(css: str, expected: str) -> None:
    finding = checks.css_import(styles_of(css))
    assert outcome(finding) == expected
    if expected != "pass":
        assert verdict(finding) == "warn"
        assert message(finding) == "1 style sheet is imported by another one."
        assert rows(finding) == [{"style_sheet": f"{HERE}/css/a.css", "imports": f"{HERE}/css/b.css"}]


def test_imports_in_style_elements_count() -> None:
    assert styles_of("", "<style>@import '/b.css';</style>").imports == (
        StyleImport("https://site.example.com/shop/shoes", f"{HERE}/b.css"),
    )


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (head("<script src=/a.js></script>"), "pass"),
        (head("<script src=https://cdn.example.com/a.js></script>"), "pass"),  # The CDN belongs to the same site.
        (head(f"<script src={OTHER}/a.js></script>"), "warn"),
        (head(f"<script src={OTHER}/a.js></script><link rel=stylesheet href={OTHER}/b.css>"), "warn"),
        (head(f"<script src={OTHER}/a.js></script><link rel=stylesheet href=https://fonts.example.net/b>"), "fail"),
        (head(f"<script src={OTHER}/a.js async></script>"), "pass"),
        (head(f"<link rel=stylesheet media=print href={OTHER}/a.css>"), "pass"),
        (body(f"<script src={OTHER}/a.js></script>"), "pass"),
    ],
)
def test_third_party_spof_check_verdict(markup: str, expected: str) -> None:
    scanned_page = page(markup)
    finding = checks.third_party_spof(scanned_page, document(scanned_page))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "other-site")


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("document.write('a')", 1),
        ("a();document.write('<b>');window.document.writeln(1);\ndocument.write(x)", 3),
        ("var a = 'x'\ndocument.write(a)", 1),
        ("var r = /[(]/;document.write(a)", 1),
        ("window.jQuery || document.write('a')", 0),  # The script writes only if the CDN fails.
        ("window.jQuery ||\n document.write('a')", 0),
        ("if (x)\n document.write(1)", 0),
        ("if (x) { document.write(1) }", 0),
        ("function f(){ document.write(1) }", 0),
        ("(function(){document.write(1)})()", 0),
        ("w.document.write(1)", 0),  # The script writes into a new window for printing.
        ("// document.write(1)\n/*\ndocument.write(1)\n*/", 0),
        ("a = 'x;document.write(1)'", 0),
        ("a = `;document.write(1)`", 0),
        ("(a)/b;document.write(1)", 0),  # This slash may begin a regular expression, so the call may not be code.
        ("mydocument.write(1)", 0),
        ("document.write", 0),
    ],
)
def test_unconditional_document_write_is_counted(script: str, count: int) -> None:
    assert count_unconditional_writes(script) == count


@pytest.mark.parametrize(
    ("markup", "items", "expected"),
    [
        (body("<script>document.write(1)</script>"), (), "warn"),
        (body("<script>document.write(1)</script>" * 2), (), "warn"),
        (body("<script>document.write(1)</script>" * 3), (), "fail"),
        (body("<script src=/a.js></script>" * 3), (resource(f"{HERE}/a.js", body=b"document.write(1)"),), "warn"),
        (body("<script type=module>document.write(1)</script>"), (), "pass"),
        (body("<script type=text/template>document.write(1)</script>"), (), "pass"),
        # The attribute defer has no effect without src.
        (body("<script defer>document.write(1)</script>"), (), "warn"),
        (body("<script src=/a.js></script>"), (resource(f"{HERE}/a.js", body=b"document.write(1)"),), "warn"),
        (body("<script src=/a.js async></script>"), (resource(f"{HERE}/a.js", body=b"document.write(1)"),), "pass"),
        (body("<script src=/a.js></script>"), (), "pass"),
    ],
)
def test_document_write_check_verdict(markup: str, items: tuple[Resource, ...], expected: str) -> None:
    scanned_page = page(markup)
    finding = checks.document_write(document(scanned_page), resources_of(*items))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "called")


def test_writing_scripts_are_listed() -> None:
    scanned_page = page(body("<script>document.write(1)</script><script src=/a.js></script>"))
    items = resources_of(resource(f"{HERE}/a.js", body=b"document.write(1);document.write(2)"))
    finding = checks.document_write(document(scanned_page), items)
    assert message(finding) == "3 calls of document.write() run while the document is parsed."
    assert rows(finding) == [
        {"script": "a script in the document", "calls": 1},
        {"script": f"{HERE}/a.js", "calls": 2},
    ]
