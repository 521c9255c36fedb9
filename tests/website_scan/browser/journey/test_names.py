"""Tests for how the short form finds elements by names that people write."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.website_scan.browser.journey.walks import by, css, require_done, walk_page
from website_scan.browser.journey.names import folded
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import Click, ElementTarget, Selector, SelectorKind, SelectorPart, WaitForElement
from website_scan.journeys.short_form import steps_of_line
from website_scan.journeys.targets import check_box, choice, clickable, content, field, written_name

# A click writes the ID of the element to the title of the page, and a change does, too.
LOG = """<script>
for (const name of ['click', 'change']) addEventListener(name, (event) => {
  event.preventDefault();
  document.title = (event.target.closest('[id]') || event.target).id;
})</script>"""

# Content of the page, the step, and the ID of the element on which the step acts.
FOUND = {
    "exact name beside a longer one": ("<a href=# id=b>Loans</a> <a href=# id=a>Loan</a>", "click “Loan”", "a"),
    "longer name alone": ("<a href=# id=a>Loans</a>", "click “Loan”", "a"),
    "longer name alone, with a role": ("<a href=# id=a>Loans</a>", "click link “Loan”", "a"),
    "other case": ("<button id=a>LOAN</button>", "click “Loan”", "a"),
    "other case beside a longer name": ("<a href=# id=b>Loans</a> <a href=# id=a>loan</a>", "click “Loan”", "a"),
    "white space": ("<button id=a>New\n   <b>loan</b></button>", "click “New  loan”", "a"),
    "exact button rather than an exact heading": ("<h2 id=b>Loan</h2> <button id=a>Loan</button>", "click “Loan”", "a"),
    "exact heading rather than a longer link": ("<h2 id=a>Loan</h2> <a href=# id=b>Loans</a>", "click “Loan”", "a"),
    "longer link rather than a longer heading": ("<h2 id=b>Loans</h2> <a href=# id=a>Loans</a>", "click “Loan”", "a"),
    "longer accessible name": ("<button id=a aria-label='Loan details'>i</button>", "click “Loan”", "a"),
    "part in the middle": ("<button id=a>My loan terms</button>", "click “Loan”", "a"),
    "exact text without a role": ("<div id=b>Loans</div> <div id=a>Loan</div>", "click “Loan”", "a"),
    "longer text without a role": ("<div id=a>Loans</div>", "click “Loan”", "a"),
    "hidden element with a longer name": (
        "<a href=# id=b hidden>Loan terms</a> <a href=# id=a>Loans</a>",
        "click “Loan”",
        "a",
    ),
    "two elements with the exact name": ("<a href=# id=a>Loan</a> <a href=# id=b>Loan</a>", "click “Loan”", "a"),
    "hidden and visible exact name": (
        "<a href=# id=b hidden>Loan</a> <a href=# id=a>Loan</a>",
        "click “Loan”",
        "a",
    ),
    "part of a field's label": ("<label>E-mail address <input id=a></label>", "fill “E-mail” with x", "a"),
    "field's placeholder": ("<input id=a placeholder='E-mail address'>", "fill “E-mail” with x", "a"),
    "exact label beside a longer one": (
        "<label>E-mail again <input id=b></label> <label>E-mail <input id=a></label>",
        "fill “e-mail” with x",
        "a",
    ),
    "part of a list's label": (
        "<label>Country of birth <select id=a><option>Chad<option>Peru</select></label>",
        "choose “Peru” in “Country”",
        "a",
    ),
    "part of a check box's label": ("<label><input type=checkbox id=a> I agree to all</label>", "check “I agree”", "a"),
}
# Content of the page, the step, and the problem with the near matches.
AMBIGUOUS = {
    "two longer names": (
        "<a href=#>Loans</a> <a href=#>Loan terms</a>",
        "click “Loan”",
        "nothing is named exactly “Loan”, and 2 elements have names that contain it.",
        ("link “Loans”", "link “Loan terms”"),
    ),
    "a longer button and a longer link": (
        "<button>Loans</button> <a href=#>Loans</a>",
        "click “Loan”",
        "nothing is named exactly “Loan”, and 2 elements have names that contain it.",
        ("button “Loans”", "link “Loans”"),
    ),
    "longer texts without a role": (
        "<div>Loans</div> <div>Loan terms</div>",
        "click “Loan”",
        "nothing is named exactly “Loan”, and 2 elements have names that contain it.",
        ("text “Loans”", "text “Loan terms”"),
    ),
    "two longer texts to scroll to": (
        "<p>Loans for tea</p> <h2>A <i>small</i> loan</h2>",
        "scroll to “Loan”",
        "nothing is named exactly “Loan”, and 2 elements have names that contain it.",
        ("text “Loans for tea”", "text “A small loan”"),
    ),
    "two longer headings to scroll to": (
        "<h2>Loans</h2> <h2>Loan terms</h2> <a href=#>Loan</a>",
        "scroll to heading “Loan”",
        "nothing is named exactly “Loan”, and 2 elements have names that contain it.",
        ("heading “Loans”", "heading “Loan terms”"),
    ),
    "two longer labels": (
        "<label>E-mail address <input></label> <label>E-mail again <input></label>",
        "fill “E-mail” with x",
        "nothing is named exactly “E-mail”, and 2 elements have names that contain it.",
        ("textbox “E-mail address”", "textbox “E-mail again”"),
    ),
    "two longer names of pictures to scroll to": (
        "<p role=img aria-label='Loan terms'>%</p> <p role=img aria-label='Loans'>%</p>",
        "scroll to “Loan”",
        "nothing is named exactly “Loan”, and 2 elements have names that contain it.",
        ("image “Loan terms”", "image “Loans”"),
    ),
    "longer name with another role": (
        "<a href=#>Loans</a>",
        "click button “Loan”",
        "no button is named “Loan”.",
        ("link “Loans”",),
    ),
}
# Content of the page, and the step, which scrolls to the element with the ID `a`.
SCROLLED_TO = {
    "exact text beside a longer one": ("<p>Loans</p> <p id=a>Loan</p>", "scroll to “Loan”"),
    "exact text in other case": ("<p>Loans</p> <p id=a>LOAN</p>", "scroll to “Loan”"),
    "longer text alone": ("<p id=a>All <b>loans</b> at once</p>", "scroll to “loans at”"),
    "longer name of a picture alone": ("<p id=a role=img aria-label='Loan terms'>%</p>", "scroll to “Loan”"),
    "longer text rather than a longer name": (
        "<p role=img aria-label='Loan terms'>%</p> <p id=a>Loans</p>",
        "scroll to “Loan”",
    ),
    "hidden longer text": ("<p hidden>Loan terms</p> <p id=a>Loans</p>", "scroll to “Loan”"),
    "heading with a link in it": ("<h2><a href=# id=a>Loan terms</a></h2>", "scroll to “Loan”"),
}
FAR_BELOW = "<style>.far { height: 4000px }</style><div class=far></div>{body}<div class=far></div>"


@pytest.mark.parametrize("case", SCROLLED_TO)
def test_scroll_to_written_name_finds_its_element(browser: WarmBrowser, case: str) -> None:
    body, line = SCROLLED_TO[case]
    observer = """<script>new IntersectionObserver(([{isIntersecting}]) => { document.title = `${isIntersecting}` })
      .observe(document.getElementById('a'))</script>"""
    is_shown = WaitForElement(target=css("title"), properties=(("text", "true"),), timeout_s=3.0)
    page = FAR_BELOW.replace("{body}", body.replace("<p id=a", "<div class=far></div><p id=a")) + observer
    require_done(walk_page(browser, page, *steps_of_line(line), is_shown))


def test_wait_accepts_several_elements_with_the_name(browser: WarmBrowser) -> None:
    waits = [steps_of_line(line)[0] for line in ("wait for “Loan”", "wait for link “Loans”")]
    require_done(walk_page(browser, "<a href=#>Loans</a> <a href=#>Loans</a> <p>Loan terms</p>", *waits))


def test_wait_for_a_role_needs_the_exact_name(browser: WarmBrowser) -> None:
    (wait,) = steps_of_line("wait for link “Loan” up to 1 seconds")
    result = walk_page(browser, "<a href=#>Loans</a>", wait)
    assert result.steps[1].problem == "Step 2: no link is named “Loan”."
    assert result.steps[1].near_matches == ("link “Loans”",)


@pytest.mark.parametrize("case", FOUND)
def test_written_name_finds_its_element(browser: WarmBrowser, case: str) -> None:
    body, line, id = FOUND[case]
    has_id = WaitForElement(target=css("title"), properties=(("text", id),), timeout_s=3.0)
    leaving_field = steps_of_line("press Tab")
    require_done(walk_page(browser, LOG + body, *steps_of_line(line), *leaving_field, has_id))


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_name_that_does_not_decide_is_a_failure(browser: WarmBrowser, case: str) -> None:
    body, line, problem, near_matches = AMBIGUOUS[case]
    (step,) = steps_of_line(line)
    result = walk_page(browser, body, replace(step, timeout_s=1.5))
    assert result.steps[1].problem == f"Step 2: {problem}"
    assert result.steps[1].near_matches == near_matches


def test_element_that_appears_later_with_the_exact_name_is_preferred(browser: WarmBrowser) -> None:
    body = """<a href=# id=b>Loans</a><script>setTimeout(() => document.querySelector('main').insertAdjacentHTML(
      'beforeend', '<a href=# id=a>Loan</a>'), 500)</script>"""
    has_id = WaitForElement(target=css("title"), properties=(("text", "a"),), timeout_s=3.0)
    require_done(walk_page(browser, LOG + body, *steps_of_line("click “Loan”"), has_id))


def test_selectors_of_recordings_match_exact_names_only(browser: WarmBrowser) -> None:
    selectors = (SelectorPart(SelectorKind.ARIA, "Loan"), SelectorPart(SelectorKind.CSS, "#none"))
    target = ElementTarget(tuple(Selector((part,)) for part in selectors))
    result = walk_page(browser, "<a href=#>Loans</a>", Click(target=target, timeout_s=1.5))
    assert result.steps[1].problem == "Step 2: nothing is named “Loan”."


@pytest.mark.parametrize("make", [clickable, field, choice, check_box, content])
def test_targets_of_the_short_form_have_a_written_name(
    make: Callable[[str, str], ElementTarget],
) -> None:
    assert {written_name(make("Loan", role)) for role in ("", "link")} == {"Loan"}


def test_css_and_other_selectors_of_recordings_have_no_written_name() -> None:
    recorded = (css("#loan"), by(SelectorKind.TEXT, "Loan"), by(SelectorKind.PIERCE, "#loan"))
    assert {written_name(target) for target in recorded} == {""}


def test_names_are_folded() -> None:
    assert folded(" New\n\u00a0LOAN ") == folded("new loan")
