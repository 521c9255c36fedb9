"""Test excerpts of real pages that caused false positives.

Similar pages that have the fault are tested, too.

Static rules and axe-core must agree on them.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.website_scan.accessibility.in_chromium import axe_reports
from tests.website_scan.accessibility.static import labels, static_findings
from tests.website_scan.cast import message, rows
from website_scan.accessibility.axe import axe_verdict
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import checks
from website_scan.findings import MEDIUM, ScanType
from website_scan.outcomes import Fail, Fault, Verdict, Warn

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("differential")]

# Sphinx writes navigation bars above and below the text.
NAVIGATION_BAR = (
    "<div role=navigation aria-label='related navigation'>"
    "<a href=#>Manual</a> <a href=/index>index</a> <a href={}>next</a></div>"
)
SEARCH = "<div role=search><form action=/search><input name=q aria-label=Search></form></div>"
# DocBook writes a navigation table at the head of chapters.
CHAPTER = (
    "<table summary='Navigation header'><tr><th colspan=3>Getting started</th></tr>"
    "<tr><td><a href=/a>Prev</a></td><th>&nbsp;</th><td><a href=/b>Next</a></td></tr>{}</table>"
)
TABS = "<ul role=tablist><li{}><a href=#a role=tab>Home</a></li><li{}><a href=#b role=tab>Profile</a></li></ul>"
TABLE_ROW = "<tr><td>Spotify<td>$2,500<td>working<td><button>Edit</button>"
ORDER = "heading-order"
TEXT = "<p style='color: #000'>Text</p>"
GREY = "background: #fff; color: #ccc"

RIGHT: Mapping[tuple[str, str], str] = {
    ("accesskeys", "docbook"): "<a href=next accesskey=n>Next</a><p>Text</p><a href=next accesskey=n>Next</a>",
    ("landmark-unique", "sphinx"): NAVIGATION_BAR.format("/two") + "<p>Text</p>" + NAVIGATION_BAR.format("/two"),
    ("landmark-unique", "python"): f"<main>Text</main>{SEARCH}<p>Text</p>{SEARCH}",
    (ORDER, "docbook"): "<h1>FAQ</h1><h3 class=author></h3>",
    (ORDER, "sphinx"): "<h1>Manual</h1><div role=navigation><h3>Contents</h3><h4>Next topic</h4></div>",
    (ORDER, "django"): "<h1>Manual</h1><div class=yui-b id=sidebar><h3>Browse</h3></div>",
    (ORDER, "footer"): "<h1>Shop</h1><h2>News</h2><footer><h4>Location</h4></footer>",
    (ORDER, "after-sidebar"): "<h1>Shop</h1><h2>News</h2><aside><h2>More</h2></aside><h3>Old news</h3>",
    ("table-fake-caption", "docbook"): CHAPTER.format(""),
    (
        "td-has-header",
        "empty-header",
    ): f"<table><thead><tr><th>Project<th>Budget<th>Status<th></thead>{TABLE_ROW * 3}</table>",
    ("listitem", "bootstrap"): TABS.format("", ""),
    ("aria-required-parent", "bootstrap"): TABS.format("", ""),
    ("aria-required-children", "bootstrap"): TABS.format(" role=none", " role=presentation"),
    ("label-title-only", "placeholder"): "<input type=email aria-describedby=help placeholder='Enter e-mail'>",
}
WRONG: Mapping[tuple[str, str], str] = {
    (ORDER, "after-sidebar"): "<h1>Shop</h1><h2>News</h2><aside><h2>More</h2></aside><h4>Old news</h4>",
    ("accesskeys", "other-page"): "<a href=next accesskey=n>Next</a><p>Text</p><a href=news accesskey=n>News</a>",
    ("accesskeys", "button"): "<a href=next accesskey=n>Next</a><button accesskey=n>New</button>",
    ("landmark-unique", "other-links"): NAVIGATION_BAR.format("/two") + "<p>Text</p>" + NAVIGATION_BAR.format("/three"),
    ("landmark-unique", "no-links"): "<nav>Home</nav><p>Text</p><nav>Home</nav>",
    ("landmark-unique", "placeholders"): "<nav><a href=#>Home</a></nav><p>Text</p><nav><a href=#>Imprint</a></nav>",
    (ORDER, "content"): "<h1>Shop</h1><h3>News</h3>",
    (ORDER, "in-sidebar"): "<h1>Shop</h1><aside><h2>More</h2><h4>Old news</h4></aside>",
    ("table-fake-caption", "data"): CHAPTER.format("<tr><td>1<td>2<td>3"),
    ("td-has-header", "no-header"): f"<table><caption>Projects</caption>{TABLE_ROW * 4}</table>",
    ("listitem", "div"): "<div><li>Home</li></div>",
    ("aria-required-parent", "div"): "<div><a href=#a role=tab>Home</a></div>",
    ("aria-required-children", "link"): "<ul role=tablist><a href=#a>Home</a><li><a href=#b role=tab>Profile</a></ul>",
    ("label-title-only", "title"): "<input type=email title='Your e-mail'>",
}
# Pages with a fault of medium severity.
MILD: Mapping[tuple[str, str], str] = {
    ("aria-required-attr", "sphinx"): "<p role=heading>User guides</p>",
    ("aria-required-children", "bootstrap"): TABS.format("", ""),
    ("aria-roles", "nav"): "<nav role=navigation-demo><a href=/>Home</a></nav>",
}
SEVERE: Mapping[tuple[str, str], str] = {
    (
        "aria-required-attr",
        "checkbox",
    ): "<p role=heading>User guides</p><div role=checkbox aria-label=News tabindex=0></div>",
    ("aria-required-children", "listbox"): "<div role=listbox aria-label=Photos><img src=/a alt=A></div>",
    (
        "aria-required-children",
        "menu",
    ): "<ul role=menu aria-label=Shop><li><a href=/a>Shoes</a><li><a href=/b>Hats</a></ul>",
    ("aria-roles", "div"): "<div role=navigation-demo><a href=/>Home</a></div>",
}
# Only axe-core judges this markup, not the static rules.
VALID_MARKUP_IN_BROWSER: Mapping[tuple[str, str], str] = {
    ("color-contrast", "bootstrap"): f"<button class='btn disabled' style='{GREY}; pointer-events: none'>Send</button>",
    ("color-contrast", "separators"): f"<div style='{GREY}'><a href=/ style='color: #000'>Home</a> | {TEXT}</div>",
    ("label-content-name-mismatch", "ligature"): (
        "<button aria-label=Close><span aria-hidden=true><i class=material-icons>clear</i></span></button>"
    ),
    ("label-content-name-mismatch", "symbol"): "<h2>Usage <a href=#usage aria-label='Link to this section'>#</a></h2>",
}
FAULTY_MARKUP_IN_BROWSER: Mapping[tuple[str, str], str] = {
    ("color-contrast", "only-a-class"): f"<button class=disabled style='{GREY}'>Send</button>",
    ("color-contrast", "text"): f"<div style='{GREY}'><a href=/ style='color: #000'>Home</a> or {TEXT}</div>",
    ("label-content-name-mismatch", "word"): "<button aria-label='Toggle navigation'>Menu <i class=icon></i></button>",
    # The page itself has no main landmark. The content of a frame does not count.
    ("landmark-one-main", "frame"): "<p>Text</p><iframe title=Map srcdoc='<p>Map</p>'></iframe>",
    ("page-has-heading-one", "frame"): "<main>Text</main><iframe title=Map srcdoc='<p>Map</p>'></iframe>",
}
GROUPS = {
    "right": RIGHT,
    "wrong": WRONG,
    "mild": MILD,
    "severe": SEVERE,
    "seen-right": VALID_MARKUP_IN_BROWSER,
    "seen-wrong": FAULTY_MARKUP_IN_BROWSER,
}


def markup(body: str) -> str:
    return f"<!doctype html><html lang=en><head><title>Example</title></head><body>{body}</body></html>"


@pytest.fixture(scope="module")
def reports() -> Mapping[str, AxeReport]:
    return axe_reports(
        {"/".join((group, *key)): markup(body) for group, pages in GROUPS.items() for key, body in pages.items()}, {}
    )


def axe_finding(reports: Mapping[str, AxeReport], group: str, key: tuple[str, str]) -> Verdict | None:
    check = next(check for check in checks(ScanType.ACCESSIBILITY) if check.id == key[0])
    return axe_verdict(check, reports["/".join((group, *key))])


def static_and_axe_findings(reports: Mapping[str, AxeReport], group: str, key: tuple[str, str]) -> list[Verdict | None]:
    return [static_findings(markup(GROUPS[group][key]))[key[0]], axe_finding(reports, group, key)]


def is_fault(finding: Verdict | None) -> bool:
    return isinstance(finding, Warn | Fail)


@pytest.mark.parametrize("key", RIGHT, ids="/".join)
def test_harmless_real_markup_has_no_fault(reports: Mapping[str, AxeReport], key: tuple[str, str]) -> None:
    assert [is_fault(finding) for finding in static_and_axe_findings(reports, "right", key)] == [False, False]


@pytest.mark.parametrize("key", WRONG, ids="/".join)
def test_similar_markup_with_the_fault_is_found(reports: Mapping[str, AxeReport], key: tuple[str, str]) -> None:
    assert [is_fault(finding) for finding in static_and_axe_findings(reports, "wrong", key)] == [True, True]


@pytest.mark.parametrize(("group", "key"), [*(("mild", key) for key in MILD), *(("severe", key) for key in SEVERE)])
def test_mild_fault_has_medium_severity(reports: Mapping[str, AxeReport], group: str, key: tuple[str, str]) -> None:
    findings = static_and_axe_findings(reports, group, key)
    assert all(map(is_fault, findings))
    assert [isinstance(finding, Warn | Fail) and finding.severity is MEDIUM for finding in findings] == [
        group == "mild"
    ] * 2


@pytest.mark.parametrize("key", VALID_MARKUP_IN_BROWSER, ids="/".join)
def test_axe_finds_no_fault_in_harmless_markup(reports: Mapping[str, AxeReport], key: tuple[str, str]) -> None:
    assert not is_fault(axe_finding(reports, "seen-right", key))


@pytest.mark.parametrize("key", FAULTY_MARKUP_IN_BROWSER, ids="/".join)
def test_axe_finds_similar_markup_with_the_fault(reports: Mapping[str, AxeReport], key: tuple[str, str]) -> None:
    assert is_fault(axe_finding(reports, "seen-wrong", key))


@pytest.mark.parametrize("rule", ["landmark-one-main", "page-has-heading-one"])
def test_landmark_rules_judge_only_the_page(reports: Mapping[str, AxeReport], rule: str) -> None:
    finding = axe_finding(reports, "seen-wrong", (rule, "frame"))
    assert isinstance(finding, Fail)
    assert [row["selector"] for row in rows(finding)] == ["html"]


def test_symbol_may_differ_from_its_accessible_name(reports: Mapping[str, AxeReport]) -> None:
    key = ("label-content-name-mismatch", "symbol")
    assert not isinstance(axe_finding(reports, "seen-right", key), Fault)


def test_missing_main_landmark_lists_the_html_tag(reports: Mapping[str, AxeReport]) -> None:
    finding = axe_finding(reports, "seen-wrong", ("landmark-one-main", "frame"))
    assert isinstance(finding, Fail)
    assert message(finding) == "The page has no main landmark."
    assert labels(finding) == [""]
    assert [row["snippet"] for row in rows(finding)] == ['<html lang="en">']
