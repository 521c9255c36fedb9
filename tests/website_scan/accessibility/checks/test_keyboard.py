from __future__ import annotations

import pytest

from tests.website_scan.accessibility.static import labels
from tests.website_scan.cast import VERDICTS, body, document, message, page, rows, severity_of, title_of, verdict
from website_scan.accessibility.checks import keyboard as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.findings import LOW
from website_scan.outcomes import Fail, Review, Verdict, Warn

TABINDEX = [
    ("<p>None", "n/a"),
    ("<p tabindex=0>a", "pass"),
    ("<p tabindex=-1>a", "pass"),
    ("<p tabindex=1>a", "fail"),
    ("<input tabindex=+5>", "fail"),
    ("<p tabindex=' 2'>a", "fail"),
    ("<p tabindex=1.5>a", "fail"),
    ("<p tabindex=3x>a", "fail"),
    ("<p tabindex>a", "pass"),
    ("<p tabindex=x1>a", "pass"),
    ("<p tabindex=99999999999999999999>a", "fail"),
    ("<p tabindex=00>a", "pass"),
    ("<p tabindex=1 hidden>a", "n/a"),
    ("<p tabindex=1 aria-hidden=true>a", "n/a"),
    ("<p tabindex=1 class=modal>a", "warn"),
    ("<p tabindex=0>a<p tabindex=1>b", "fail"),
]
ACCESSKEYS = [
    ("<p>None", "n/a"),
    ("<a href=/ accesskey=s>a</a>", "pass"),
    ("<a href=/a accesskey=s>a</a><a href=/b accesskey=t>b</a>", "pass"),
    ("<a href=/a accesskey=s>a</a><a href=/b accesskey=s>b</a>", "fail"),
    ("<a href=/a accesskey=s>a</a><a href=/b accesskey=S>b</a>", "fail"),
    ("<a href=/a accesskey=s>a</a><a href=/b accesskey='s '>b</a>", "pass"),
    ("<a href=/a accesskey=s>a</a><a href=/b accesskey=s hidden>b</a>", "pass"),
    ("<a href=/a accesskey=s>a</a><a href=/b accesskey=s aria-hidden=true>b</a>", "fail"),
    ("<a href=/a accesskey=s>a</a><a href=/b accesskey=s class=d-none>b</a>", "warn"),
    ("<a href=/ accesskey>a</a><a href=/ accesskey>b</a>", "n/a"),
    ("<a href=/ accesskey=s hidden>a</a>", "n/a"),
    ("<a href=/a accesskey=s>a</a><a href=/a accesskey=s>a</a>", "pass"),  # Both links have the same destination.
    ("<a accesskey=s>a</a><a accesskey=s>b</a>", "fail"),
    ("<a href=/a accesskey=s>a</a><button accesskey=s>a</button>", "fail"),
]
BYPASS = [
    ("<p>None", "n/a"),
    ("<main><a href=/>a</a></main>", "pass"),
    ("<div role=main></div><a href=/>a</a>", "pass"),
    ("<h2>a</h2><a href=/>a</a>", "pass"),
    ("<div role=heading>a</div><a href=/>a</a>", "pass"),
    ("<h2 role=tab>a</h2><a href=/>a</a>", "warn"),
    ("<a href=/>a</a>", "warn"),
    ("<a href=/ hidden>a</a>b", "warn"),
    ("<a href=#a>a</a>", "pass"),
    ("<a href=#a hidden>a</a>b", "pass"),
    ("<a href=#>a</a>", "warn"),
    ("<a href=#/a>a</a><a href=#!a>a</a>", "warn"),
    ("<a href=/#a>a</a>", "warn"),
    ("<main hidden>a</main><a href=/>a</a>", "warn"),
    ("<h1 hidden>a</h1><a href=/>a</a>", "warn"),
    ("<a>a</a>", "n/a"),
]
OFF_SCREEN_STYLE = "style='position:absolute;left:-9999px'"
OFF_SCREEN_CSS = "position:absolute;top:-999em"
SKIP_LINKS = [
    ("<p>None", "n/a"),
    ("<a href=/>Home</a>", "n/a"),
    (f"<a {OFF_SCREEN_STYLE} href=#m>To content</a><main id=m>a</main>", "pass"),
    (f"<a {OFF_SCREEN_STYLE} href=#m>To content</a><main><a name=m></a></main>", "pass"),
    (f"<a {OFF_SCREEN_STYLE} href=#gone>To content</a><main id=m>a</main>", "warn"),
    (f"<a {OFF_SCREEN_STYLE} href=#m>To content</a><main id=m hidden>a</main>", "warn"),
    (f"<a {OFF_SCREEN_STYLE} href=#%C3%BC>To content</a><main id=ü>a</main>", "pass"),
    (f"<a {OFF_SCREEN_STYLE} href=/#m>To content</a><main id=m>a</main>", "pass"),
    (f"<a {OFF_SCREEN_STYLE} href=/#gone>To content</a>", "warn"),
    (
        f"<a href=/>Home</a><a {OFF_SCREEN_STYLE} href=#gone>To content</a>",
        "n/a",
    ),  # The skip link follows the first link to another page.
    (f"<a href='javascript:go()'>Go</a><a {OFF_SCREEN_STYLE} href=#gone>To content</a>", "warn"),
    (f"<a href=#>Top</a><a {OFF_SCREEN_STYLE} href=#gone>To content</a>", "n/a"),
    (f"<a href=#!/a>A</a><a {OFF_SCREEN_STYLE} href=#gone>To content</a>", "n/a"),
    (f"<a {OFF_SCREEN_STYLE} href=#!/gone>To content</a>", "n/a"),
    (f"<a {OFF_SCREEN_STYLE} href=#gone hidden>To content</a>", "n/a"),
    (f"<a {OFF_SCREEN_STYLE} href='/shop/shoes#gone'>To content</a>", "n/a"),
    ("<a href=#menu>Menu</a>", "n/a"),  # Scripts may open the menu.
    (f"<style>.go{{{OFF_SCREEN_CSS}}}</style><a class=go href=#gone>To content</a>", "warn"),
    (f"<style>b, a.go{{{OFF_SCREEN_CSS}}}.go:focus{{top:0}}</style><a class=go href=#gone>To content</a>", "warn"),
    (f"<style>.go{{{OFF_SCREEN_CSS}}}</style><a class=go href=#m>To content</a><main id=m>a</main>", "pass"),
    ("<style>.go{position:absolute;top:-1px}</style><a class=go href=#gone>Content</a>", "n/a"),
    ("<style>.go{position:relative;top:9px}</style><a class=go href=#gone>Content</a>", "n/a"),
    (f"<style>.go:focus{{{OFF_SCREEN_CSS}}}</style><a class=go href=#gone>Content</a>", "n/a"),
    (f"<style>@media print{{.go{{{OFF_SCREEN_CSS}}}}}</style><a class=go href=#gone>Content</a>", "n/a"),
    (f"<style>.menu .go{{{OFF_SCREEN_CSS}}}</style><a class=go href=#gone>Content</a>", "n/a"),
]
# Here, axe-core's verdict depends on style sheets, but the static rule's on classes and text.
SKIP_LINKS_BY_CLASS_OR_TEXT = [
    ("<a class=skip-link href=#gone>Zum Inhalt</a>", "warn"),
    ("<ul class=skip-links><li><a href=#gone>Zum Inhalt</a></ul>", "warn"),
    ("<div class=skip><p><b><i><a href=#gone>Zum Inhalt</a></i></b></p></div>", "n/a"),
    ("<p class=sr-only><a href=#gone>Zum Inhalt</a></p>", "warn"),
    ("<a href=#gone>Skip to content</a>", "warn"),
    ("<a href=#gone>Jump to content</a>", "warn"),
    ("<a href=#gone>Skipper</a>", "n/a"),
    ("<a href=#top>Skip to the top</a>", "pass"),
    ("<a class='skip-link' href=#m>Zum Inhalt</a><main id=m class=tab-pane>a</main>", "pass"),
    ("<a class='skip-link d-none' href=#gone>Zum Inhalt</a>", "pass"),
]
NESTED_CONTROLS = [
    ("<p>None", "n/a"),
    ("<button>a</button>", "pass"),
    ("<button><span>a</span></button>", "pass"),
    ("<button><a href=/>a</a></button>", "warn"),
    ("<button><a>a</a></button>", "pass"),
    ("<div role=button><a href=/>a</a></div>", "warn"),
    ("<div role=button><span><i><input></i></span></div>", "warn"),
    ("<div role=button><input type=hidden></div>", "pass"),
    ("<div role=button><input disabled></div>", "pass"),
    ("<div role=button><input hidden></div>", "pass"),
    ("<div role=button><input class=d-none></div>", "pass"),
    ("<div role=button><a href=/ aria-hidden=true tabindex=-1>a</a></div>", "warn"),
    ("<div role=button><span tabindex=0>a</span></div>", "pass"),  # A focusable span without a role is not a widget.
    # The span is not focusable, because it has no tabindex.
    ("<div role=button><span role=link>a</span></div>", "pass"),
    ("<div role=button><span role=link tabindex=0>a</span></div>", "warn"),
    ("<div role=button><span role=link tabindex=-1>a</span></div>", "warn"),
    ("<div role=button><select><option>a</select></div>", "warn"),
    ("<div role=button><fieldset disabled><input></fieldset></div>", "pass"),
    ("<div role=checkbox><div role=checkbox tabindex=0>a</div></div>", "warn"),
    ("<details><summary><a href=/>a</a></summary></details>", "warn"),
    ("<details><summary>a</summary><a href=/>a</a></details>", "pass"),
    # HTML, the summary element: only the first one in a details element is a control.
    ("<section><summary><h4>a <a href='#a'>#</a></h4></summary></section>", "pass"),
    ("<details><summary>a</summary><summary><a href=/>a</a></summary></details>", "pass"),
    ("<ul role=tablist><li role=tab><a href=/>a</a></ul>", "warn"),
    ("<svg role=img><a href=/><text>a</text></a></svg>", "warn"),
    ("<div role=img><button>a</button></div>", "warn"),
    ("<a href=/><img src=a alt=a></a>", "pass"),
    # HTML, the a element: it must not contain interactive content.
    ("<a href=/ role=link><button>a</button></a>", "fail"),
    ("<a href=/><div><h2>a</h2><span><button>b</button></span></div></a>", "fail"),
    ("<a href=/><button tabindex=-1>a</button></a>", "fail"),
    ("<a href=/>a<input></a>", "fail"),
    ("<a href=/>a<select><option>b</select></a>", "fail"),
    ("<a href=/>a<textarea></textarea></a>", "fail"),
    ("<a href=/>a<span tabindex=0>b</span></a>", "fail"),
    ("<a href=/>a<video controls></video></a>", "fail"),
    ("<a href=/>a<iframe src=b></iframe></a>", "fail"),
    ("<a href=/>a<details><summary>b</summary></details></a>", "fail"),
    ("<a href=/>a<span contenteditable>b</span></a>", "fail"),
    ("<span role=link tabindex=0>a<button>b</button></span>", "fail"),
    ("<a href=/>a<span contenteditable=false>b</span></a>", "pass"),
    ("<a href=/><section><summary>b</summary></section></a>", "pass"),
    ("<span role=link>a<button>b</button></span>", "pass"),
    ("<a href=/>a<video></video></a>", "pass"),
    ("<a href=/>a<input type=hidden></a>", "pass"),
    ("<a href=/>a<button disabled>b</button></a>", "pass"),
    ("<a href=/>a<button hidden>b</button></a>", "pass"),
    ("<a href=/>a<button class=d-none>b</button></a>", "pass"),
    ("<a href=/><div tabindex=-1>a</div></a>", "pass"),
    ("<a><button>a</button></a>", "pass"),
    ("<p><a href=/>a</a><button>b</button></p>", "pass"),
    ("<label><input> a</label>", "n/a"),
    ("<div role='shiny button'><a href=/>a</a></div>", "pass"),
    ("<div role=button hidden><a href=/>a</a></div>", "n/a"),
    ("<div role=button class=modal><a href=/>a</a></div>", "pass"),
    ("<div role=option><a href=/>a</a></div>", "warn"),
    ("<div role=menuitem><a href=/>a</a></div>", "pass"),
]
CASES = {
    "tabindex": TABINDEX,
    "accesskeys": ACCESSKEYS,
    "bypass": BYPASS,
    "skip-link": SKIP_LINKS,
    "nested-interactive": NESTED_CONTROLS,
}
FUNCTIONS = {
    function.__check__.id: function
    for function in vars(checks).values()
    if hasattr(function, "__check__") and "axe" not in function.__annotations__
}


def judge(rule: str, markup: str) -> Verdict:
    finding: Verdict = FUNCTIONS[rule](AccessibleDocument(document(page(body(markup)))))
    return finding


@pytest.mark.parametrize(("rule", "markup", "expected"), [(rule, *row) for rule, rows in CASES.items() for row in rows])
def test_keyboard_check_verdict_equals_axe_core(rule: str, markup: str, expected: str) -> None:
    assert verdict(judge(rule, markup)) == expected


@pytest.mark.parametrize(("markup", "expected"), SKIP_LINKS_BY_CLASS_OR_TEXT)
def test_skip_links_are_recognized(markup: str, expected: str) -> None:
    assert verdict(judge("skip-link", markup)) == expected


def test_bypass_ignores_pages_without_text() -> None:
    assert verdict(judge("bypass", "<div id=root><a href=/><img src=logo alt=Home></a></div>")) == "n/a"


def test_elements_with_the_same_access_key_are_listed() -> None:
    finding = judge("accesskeys", "<i id=a accesskey=s></i><i id=b accesskey=t></i><i id=c accesskey=S></i>")
    assert isinstance(finding, Fail)
    assert [item["selector"] for item in rows(finding)] == ["#a", "#c"]


def test_element_with_a_nested_control_is_listed() -> None:
    finding = judge("nested-interactive", "<div role=button id=a><div role=button id=b><a href=/>c</a></div></div>")
    assert isinstance(finding, Warn)
    assert [(item["selector"], item["wcag"], item["level"]) for item in rows(finding)] == [("#b", "4.1.2", "A")]


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize(
    "markup",
    [
        "<div role=button>" * 3_000 + "<a href=/>a</a>",
        "<div role=button tabindex=0>" * 400 + "<a href=/>a</a>" * 2_000,
        "<div role=button><a href=#x class='" + "skip " * 5_000 + "'>a</a></div>" * 300,
        "<a href=#m style='" + "left" * 20_000 + "'>a</a>",
        "<a href=#m accesskey=s tabindex=1>a</a>" * 5_000,
        "<a href=#%FF%%%>a</a><a href='http://[::1'>b</a>",
    ],
)
def test_expensive_markup_gets_a_verdict(rule: str, markup: str) -> None:
    assert verdict(judge(rule, markup)) in VERDICTS.values()


def test_access_key_conflict_lists_the_start_tag() -> None:
    finding = judge("accesskeys", "<button accesskey=s>A</button><button accesskey=s>B</button>")
    assert labels(finding)[0].startswith('<button accesskey="s"> at ')


def test_page_without_skip_link_needs_a_review() -> None:
    finding = judge("bypass", "<a href=/>Home</a><p>Text")
    assert isinstance(finding, Review)
    assert title_of(checks.bypass, finding) == "Check by hand: Repeated content can be bypassed"
    assert severity_of(checks.bypass, finding) is LOW
    assert "no main landmark, no heading and no link within it" in message(finding)
    assert rows(finding) == [{"wcag": "2.4.1", "level": "A"}]
    assert not finding.places
