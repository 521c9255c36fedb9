"""Tests for navigation in a report."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.test import Client
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from scans.visits.claims import claim_scan, finish_scan
from tests.e2e.pages import ORIGIN, RenderedPage, RenderedPages, Window
from tests.e2e.seen import VISIBLE_CONTENT_SCRIPT
from tests.e2e.test_axe_of_pages import ALL_RULES, CONTRAST, LAYOUT, violations
from tests.factories import browser_of, make_result, make_scan, member_of, person_of
from tests.long_report import Contrast
from tests.results import check_of
from website_scan import score_basis, scoring
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, ScanType, Severity
from website_scan.result import AppliedCap, CategoryResult, CheckResult, CheckStatus
from website_scan.scoring import Cap

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages"), pytest.mark.django_db]

# Forms submit empty fields, but links on the page omit them.
QUERIES = ("", "?q=&severity=&show=failed", "?q=hero+h1&severity=&show=", "?severity=low", "?q=nowhere")
VISIBLE = "[...document.querySelectorAll('.report .check')].filter(each => each.checkVisibility()).map(each => each.id)"
AT = "document.activeElement.closest('.check')?.id"
OPEN = "[...document.querySelectorAll('.check:not(.is-pass) > [open]')].map(each => each.parentElement.id)"
OPEN_ALL_SECTIONS = "document.querySelectorAll('details:not(.drop)').forEach(each => { each.open = true; })"
CONTENTS = "document.querySelector('.contents [popover]').showPopover()"
KEYS = "document.querySelector('.contents [popover]').hidePopover(); document.getElementById('keys').showModal()"
MAX_INITIAL_WORDS = 430
CAPS = (Cap(79, "Two or more critical checks failed.", severity=CRITICAL, count=2),)


def make_check(id: str, status: CheckStatus, severity: Severity, **columns: Any) -> CheckResult:
    finding_severity = None if status == "pass" else severity
    title = id.replace("-", " ").capitalize()
    fix = "" if status == "pass" else f"Fix {id}."
    return check_of(id, title, title, status, finding_severity, severity, f"Seen: {id}.", fix, **columns)


def categories() -> tuple[CategoryResult, ...]:
    """Return ten categories of about 25 checks.

    The contrast check is in the fourth category.
    """
    contrast = make_check(
        "color-contrast",
        "fail",
        HIGH,
        places=[Contrast("h1.hero", ratio=1.2), Contrast("p", ratio=4.3)],
    )
    names = "Names ARIA Forms Colour_and_layout Keyboard Structure Language Media Time Touch"
    results = []
    for n, name in enumerate(word.replace("_", " ") for word in names.split()):
        slug = name.split()[0].lower()
        checks = [make_check(f"{slug}-pass-{m}", "pass", MEDIUM) for m in range(22)]
        checks.append(make_check(f"{slug}-fail", "fail", CRITICAL if n < 2 else MEDIUM) if n < 6 else checks.pop())
        checks.append(make_check(f"{slug}-warn", "warn", LOW) if n < 6 else make_check(f"{slug}-fine", "pass", LOW))
        results.append(CategoryResult(slug, name, 10, (contrast, *checks) if n == 3 else tuple(checks)))
    return tuple(results)


@pytest.fixture
def rendering() -> RenderedPages:
    """Render a long report and its filtered versions for an owner."""
    home = member_of("Larkspur")
    scan = make_scan(home, type="accessibility")
    judged = categories()
    score = scoring.score(judged, CAPS)
    result = replace(
        make_result(scan),
        type=ScanType.ACCESSIBILITY,
        categories=score.categories,
        score=score.value,
        grade=score.grade,
        caps=tuple(AppliedCap(cap.limit, cap.reason) for cap in score.held),
        scoring=score_basis.basis(judged, CAPS),
    )
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, result)
    client = browser_of(person_of(home, "owner", "ada@people.test"))
    return RenderedPages({query: _render_report(client, f"/report/{scan.id}{query}") for query in QUERIES}, {})


def _render_report(client: Client, path: str) -> RenderedPage:
    response = client.get(path, SERVER_NAME="localhost")
    assert response.status_code == 200
    headers = {name: value for name, value in response.headers.items() if name != "Content-Length"}
    return RenderedPage(path, 200, headers, response.content)


def is_in_viewport(page: Page, selector: str) -> bool:
    """Return True if the top of the element is in the viewport."""
    return bool(
        page.locator(selector).evaluate(
            "each => { const { top } = each.getBoundingClientRect(); return top >= 0 && top + 24 <= innerHeight; }"
        )
    )


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_first_screen_shows_the_essentials(browser: Window, rendering: RenderedPages, width: int, height: int) -> None:
    def inspect_page(page: Page) -> list[str]:
        article = page.get_by_role("article")
        expect(article.locator(".score")).to_be_visible()
        expect(article.locator(".cap")).to_contain_text(
            "Two critical findings keep the score at 79. Fixing one raises it to 96."
        )
        expect(article.locator(".counts.severities")).to_contain_text("2 critical")
        expect(article.locator(".first li")).to_have_count(5)
        selectors = [".score", ".cap", ".counts", ".severities", ".first li:last-child"]
        return [selector for selector in selectors if not is_in_viewport(page, f".report {selector} >> nth=0")]

    viewport = {"width": width, "height": height}
    assert browser.run_on_page(rendering, "", inspect_page, viewport=viewport) == []


def test_two_steps_lead_to_the_contrast_finding(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        page.get_by_role("navigation", name="Contents").get_by_role("link", name="Colour and layout").click()
        page.keyboard.press("j")
        assert page.evaluate(AT) == "check-color-contrast"
        assert is_in_viewport(page, "#check-color-contrast")
        page.goto(page.url.partition("#")[0])
        page.keyboard.press("/")
        page.keyboard.insert_text("contrast")
        assert page.evaluate(VISIBLE) == ["check-color-contrast"]

    browser.run_on_page(rendering, "", inspect_page, viewport={"width": 1440, "height": 900})


def test_filters_apply_at_once(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        status = page.get_by_role("status").filter(has_text="shown")
        total = len(page.locator(".report .check").all())
        expect(status).to_have_text(f"{total} of {total} shown")
        expect(page.get_by_role("button", name="Apply")).to_be_hidden()
        page.get_by_label("Failed").check()
        expect(status).to_have_text(f"7 of {total} shown")
        assert page.url.endswith("?show=failed")
        assert all(element_id.endswith(("-fail", "-contrast")) for element_id in page.evaluate(VISIBLE))
        page.get_by_label("Severity", exact=True).select_option("critical")
        assert page.url.endswith("?show=failed&severity=critical")
        assert page.evaluate(VISIBLE) == ["check-names-fail", "check-aria-fail"]
        # Categories with only filtered-out findings are hidden as well.
        assert page.locator(".report .category:visible").count() == 2
        page.get_by_role("link", name="Show all").click()
        expect(status).to_have_text(f"{total} of {total} shown")
        assert "?" not in page.url
        page.get_by_role("searchbox").fill("HERO h1")
        assert page.evaluate(VISIBLE) == ["check-color-contrast"]
        assert page.url.endswith("?q=HERO+h1")
        # The search ignores texts that every finding has, such as its buttons.
        for words in ("copy", "how to fix", "selector", "nowhere"):
            page.get_by_role("searchbox").fill(words)
            assert page.evaluate(VISIBLE) == [], words
        expect(page.get_by_text("No finding matches.")).to_be_visible()
        # A link to a filtered-out finding shows it again.
        page.locator(".first a").first.click()
        assert is_in_viewport(page, "#check-names-fail")
        expect(status).to_have_text(f"{total} of {total} shown")
        # The counts in the result section are filter links.
        page.get_by_role("region", name="Result").get_by_role("link", name="6 low").click()
        assert len(page.evaluate(VISIBLE)) == 6
        assert page.url.endswith("?severity=low")

    browser.run_on_page(rendering, "", inspect_page)


def test_script_filters_like_the_server(browser: Window, rendering: RenderedPages) -> None:
    for name in QUERIES:
        served = browser.run_on_page(rendering, name, lambda page: page.evaluate(VISIBLE), java_script_enabled=True)
        refiltered = browser.run_on_page(
            rendering,
            name,
            lambda page: page.evaluate(f"() => {{ document.forms.findings.requestSubmit(); return {VISIBLE}; }}"),
        )
        if name:
            assert served == refiltered
        assert bool(served) is (name != "?q=nowhere")


def test_shortcuts_move_between_findings(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        def focused_check() -> str:
            return str(page.evaluate(AT))

        for expected in ("check-names-fail", "check-names-warn", "check-aria-fail"):
            page.keyboard.press("j")
            assert focused_check() == expected
            assert is_in_viewport(page, f"#{expected}")
        page.keyboard.press("k")
        assert focused_check() == "check-names-warn"
        page.keyboard.press("Control+j")
        page.keyboard.press("Alt+k")
        assert focused_check() == "check-names-warn"
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("jk/?")
        assert page.get_by_role("searchbox").input_value() == "jk/?"
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.get_by_role("searchbox").fill("")
        page.get_by_role("button", name="Keyboard shortcuts").click()
        dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Use these shortcuts").uncheck()
        page.keyboard.press("Escape")
        page.locator("#check-aria-fail summary").first.focus()
        page.keyboard.press("j")
        assert focused_check() == "check-aria-fail"
        page.reload()
        page.keyboard.press("?")
        expect(dialog).to_be_hidden()

    browser.run_on_page(rendering, "", inspect_page, viewport={"width": 1280, "height": 720})


def test_link_opens_a_folded_finding(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        passed = page.locator("#check-colour-pass-3")
        expect(passed).to_be_hidden()
        page.goto(f"{page.url}#check-colour-pass-3")
        expect(passed).to_be_visible()
        expect(page.locator("#check-time-fine")).to_be_hidden()
        page.evaluate("location.hash = 'check-time-fine'")
        assert is_in_viewport(page, "#check-time-fine")
        # On a narrow page, a button opens the table of contents.
        page.locator(".contents .button").click()
        page.get_by_role("navigation", name="Contents").get_by_role("link", name="Keyboard").click()
        expect(page.locator(".contents [popover]")).to_be_hidden()
        assert is_in_viewport(page, "#category-5")

    browser.run_on_page(rendering, "", inspect_page, viewport={"width": 390, "height": 844})


def test_only_findings_to_fix_first_are_open(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        first = page.locator(".first a").evaluate_all("all => all.map(each => each.hash.slice(1))")
        assert len(first) == 5
        assert sorted(page.evaluate(OPEN)) == sorted(first)
        findings = page.locator(".check:not(.is-pass)")
        folded = page.locator(".check:not(.is-pass) > details:not([open])")
        assert folded.count() == findings.count() - 5
        # The places of a finding are collapsed as well.
        expect(page.locator("#check-color-contrast > details > .told table")).to_be_hidden()
        page.get_by_role("button", name="Expand all").press("Enter")
        assert folded.count() == 0
        expect(page.locator("#check-color-contrast table")).to_be_visible()
        page.get_by_role("button", name="Collapse all").click()
        assert page.evaluate(OPEN) == []
        # A link opens its finding, even after the finding was collapsed.
        link = page.locator(".first a[href='#check-color-contrast']")
        for _ in range(2):
            link.click()
            expect(page.locator("#check-color-contrast > [open]")).to_have_count(1)
            assert page.evaluate(OPEN) == ["check-color-contrast"]
            page.locator("#check-color-contrast > details > summary").press("Enter")
            assert page.evaluate(OPEN) == []
        # A search opens the findings that match it.
        page.get_by_role("searchbox").fill("aria")
        page.get_by_label("Warnings").check()
        assert page.evaluate(OPEN) == page.evaluate(VISIBLE) != []
        page.get_by_role("link", name="Show all").click()
        assert sorted(page.evaluate(OPEN)) == sorted(first)

    browser.run_on_page(rendering, "", inspect_page)


def test_long_report_shows_few_words_at_first(browser: Window, rendering: RenderedPages) -> None:
    """The report has 250 checks and 13 findings.

    Five findings are open, and eight take one line each.
    """

    def inspect_page(page: Page) -> tuple[int, int]:
        words, _, _ = page.evaluate(VISIBLE_CONTENT_SCRIPT)
        page.get_by_role("button", name="Expand all").click()
        expanded, _, _ = page.evaluate(VISIBLE_CONTENT_SCRIPT)
        return words, expanded

    for width in (1440, 390):
        words, expanded = browser.run_on_page(rendering, "", inspect_page, viewport={"width": width, "height": 900})
        assert words <= MAX_INITIAL_WORDS < expanded


def test_filter_without_javascript_opens_findings(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        assert page.evaluate(OPEN) == ["check-color-contrast"]

    browser.run_on_page(rendering, "?q=hero+h1&severity=&show=", inspect_page, java_script_enabled=False)


def test_server_filters_without_javascript(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        page.get_by_label("Failed").check()
        page.get_by_role("button", name="Apply").click()
        assert page.url.endswith("?q=&severity=&show=failed#findings")
        expect(page.get_by_role("status")).to_contain_text("7 of ")
        expect(page.locator("#check-color-contrast")).to_be_visible()
        expect(page.locator("#check-names-warn")).to_be_hidden()
        expect(page.get_by_label("Failed")).to_be_checked()
        page.get_by_role("link", name="Show all").click()
        expect(page.locator("#check-names-warn")).to_be_visible()
        page.get_by_role("link", name="Colour and layout").click()
        assert is_in_viewport(page, "#category-4")
        page.goto(f"{page.url.partition('#')[0]}#check-colour-pass-3")
        expect(page.locator("#check-colour-pass-3")).to_be_visible()
        page.goto(page.url.partition("#")[0])
        # The search finds text in closed sections.
        page.get_by_role("searchbox", name="Search this report").fill("hero h1")
        page.get_by_role("button", name="Apply").click()
        assert page.url.endswith("?q=hero+h1&severity=&show=#findings")
        expect(page.get_by_role("status")).to_contain_text("1 of ")
        expect(page.locator("#check-color-contrast")).to_be_visible()
        expect(page.locator("#check-names-fail")).to_be_hidden()
        page.get_by_role("link", name="Show all").click()
        # Closed sections can be opened.
        passed = page.locator("#check-colour-pass-3")
        page.locator("details.passed", has=passed).locator("> summary").click()
        passed.locator("summary").click()
        expect(passed.locator(".references")).to_be_visible()
        folded = page.locator("#check-keyboard-warn")
        expect(folded.locator(".message")).to_be_hidden()
        folded.locator("summary").first.click()
        expect(folded.locator(".message")).to_be_visible()
        # A link leads to a finding that is open.
        page.goto(f"{page.url.partition('#')[0]}#check-structure-warn")
        expect(page.locator("#check-structure-warn .message")).to_be_visible()
        # Controls that need JavaScript are hidden.
        expect(page.get_by_role("button", name="Keyboard shortcuts")).to_be_hidden()
        expect(page.get_by_role("button", name="Expand all")).to_be_hidden()
        expect(page.get_by_role("button", name="Copy")).to_have_count(0)

    browser.run_on_page(rendering, "", inspect_page, java_script_enabled=False, viewport={"width": 1280, "height": 720})


def test_printed_report_has_no_controls(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> int:
        page.emulate_media(media="print")
        for selector in (".contents", ".finder", ".toolbar", ".anchor"):
            expect(page.locator(f".report {selector}").first).to_be_hidden()
        # The printed report has all sections open.
        expect(page.locator("#check-colour-pass-3 h4")).to_be_visible()
        expect(page.locator("#check-time-fine h4")).to_be_visible()
        page.emulate_media(media="screen")
        return len(page.pdf(prefer_css_page_size=True))

    assert browser.run_on_page(rendering, "", inspect_page) > 10_000


def test_printed_findings_are_complete(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        page.emulate_media(media="print")
        for finding in page.locator(".check:not(.is-pass)").all():
            for part in (".message", ".fix"):
                expect(finding.locator(part)).to_be_visible()
        expect(page.locator("#check-color-contrast table")).to_be_visible()
        expect(page.locator("#check-color-contrast .more > summary")).to_be_hidden()
        assert page.locator(".first a").first.evaluate("each => getComputedStyle(each).textDecorationLine") == "none"

    browser.run_on_page(rendering, "", inspect_page, java_script_enabled=False)


def test_printed_pictures_do_not_overlap_text(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> list[str]:
        thumbnail = "<details class='thumbnail'><summary><svg class='crop'></svg></summary></details>"
        page.locator(".seen").first.evaluate(
            "(seen, thumbnail) => seen.insertAdjacentHTML('afterbegin', thumbnail)", thumbnail
        )
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".thumbnail[open]").count() == 1
        page.emulate_media(media="print")
        positions: list[str] = page.locator(".thumbnail summary").evaluate_all(
            "all => all.map(each => getComputedStyle(each).position)"
        )
        return positions

    assert set(browser.run_on_page(rendering, "", inspect_page)) == {"static"}


def test_long_names_wrap_above_their_tags(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> dict[str, bool]:
        page.set_viewport_size({"width": 390, "height": 844})
        below = {}
        for name in ("Short", "Session cookies without the HttpOnly attribute"):
            place = page.locator("#check-names-warn summary").first
            place.locator("h4").evaluate("(each, name) => { each.textContent = name; }", name)
            written, tags = place.locator("h4").bounding_box(), place.locator(".tags").bounding_box()
            assert written is not None
            assert tags is not None
            below[name.split()[0]] = tags["y"] >= written["y"] + written["height"]
        return below

    assert browser.run_on_page(rendering, "", inspect_page) == {"Short": False, "Session": True}


def test_three_tags_leave_room_for_the_name(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> list[float]:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.locator(".first").evaluate("each => { each.style.width = '28.5rem'; }")
        first = page.locator(".first li").first
        expect(first.locator(".tag")).to_have_count(3)
        height = "(each, name) => { each.textContent = name; return each.getBoundingClientRect().height; }"
        return [first.locator("a").evaluate(height, name) for name in ("Git", "Git repository is public")]

    short_name_height, long_name_height = browser.run_on_page(rendering, "", inspect_page)
    assert long_name_height == short_name_height


def test_sections_are_separated_by_a_line(browser: Window, rendering: RenderedPages) -> None:
    """A hidden screenshot stands between two sections.

    The second section still needs its line.
    """

    def inspect_page(page: Page) -> list[str]:
        lined = page.locator(".exhibits > .exhibit")
        lined.last.evaluate("each => each.insertAdjacentHTML('beforebegin', '<svg class=sprite></svg>')")
        widths: list[str] = lined.evaluate_all("all => all.map(each => getComputedStyle(each).borderTopWidth)")
        return widths

    first, *others = browser.run_on_page(rendering, "", inspect_page)
    assert first == "0px"
    assert set(others) == {"1px"}


def test_printed_notes_hide_internal_links(browser: Window, rendering: RenderedPages) -> None:
    def inspect_page(page: Page) -> None:
        note = "<p class='callout'>Partial. <a href='#coverage'>What was not checked</a></p>"
        page.locator(".report").evaluate("(report, note) => report.insertAdjacentHTML('beforeend', note)", note)
        expect(page.get_by_text("What was not checked")).to_be_visible()
        page.emulate_media(media="print")
        expect(page.get_by_text("What was not checked")).to_be_hidden()

    browser.run_on_page(rendering, "", inspect_page)


def test_keyboard_copies_the_fix_of_a_finding(browser: Window, rendering: RenderedPages) -> None:
    outlined = """() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      const check = document.activeElement.closest(".check");
      return (outlineStyle !== "none" && outlineWidth !== "0px")
        || Boolean(check) && getComputedStyle(check).boxShadow !== "none";
    }"""

    def inspect_page(page: Page) -> str:
        names = page.locator(".first a").all_inner_texts()
        number = next(at for at, name in enumerate(names, 1) if "contrast" in name.lower())
        page.keyboard.press(str(number))
        expect(page.locator("#check-color-contrast > details > summary")).to_be_focused()
        assert is_in_viewport(page, "#check-color-contrast")
        assert page.evaluate(outlined)
        page.keyboard.press("c")
        expect(page.locator("#check-color-contrast .fix .copy")).to_have_text("Copied")
        for _ in range(6):
            page.keyboard.press("Tab")
            assert page.evaluate(outlined), page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        page.go_back()
        page.wait_for_function("scrollY === 0")
        return str(page.evaluate("navigator.clipboard.readText()"))

    permissions = ["clipboard-read", "clipboard-write"]
    viewport = {"width": 1440, "height": 900}
    assert (
        browser.run_on_page(rendering, "", inspect_page, permissions=permissions, viewport=viewport)
        == "Fix color-contrast."
    )


@pytest.mark.parametrize("name", ["", "?q=&severity=&show=failed", "?q=nowhere"])
def test_report_states_are_accessible(browser: Window, rendering: RenderedPages, name: str) -> None:
    def inspect_page(page: Page) -> dict[str, Any]:
        problems: dict[str, Any] = {}
        page.evaluate(AXE_SCRIPT)
        views = (
            ("", "light", ALL_RULES),
            (OPEN_ALL_SECTIONS, "dark", CONTRAST),
            (CONTENTS, "light", LAYOUT),
            (KEYS, "dark", LAYOUT),
        )
        for action, theme, rules in views:
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.evaluate(f"() => {{ {action} }}")
            for width in (320, 390, 768, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                if page.evaluate("document.scrollingElement.scrollWidth") > width:
                    problems[f"scrolls at {width} after {action}"] = True
            if action == CONTENTS:
                page.set_viewport_size({"width": 390, "height": 844})
            if broken := violations(page, rules):
                problems[f"axe, {theme}, {action}"] = broken
        return problems

    assert browser.run_on_page(rendering, name, inspect_page) == {}


def test_finding_links_point_to_the_report(browser: Window, rendering: RenderedPages) -> None:
    """Check that links also reach findings that the filter hides."""

    def inspect_page(page: Page) -> str:
        page.locator(".first a").first.click()
        return page.url

    path = rendering.pages[""].path
    assert browser.run_on_page(rendering, "?severity=low", inspect_page) == f"{ORIGIN}{path}#check-names-fail"
