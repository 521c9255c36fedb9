"""Navigation in a report: by mouse, by keyboard, without scripts, and in print."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.test import Client
from playwright.sync_api import Page, expect

from scans.visits.claims import claim_scan, finish_scan
from tests.e2e.pages import ORIGIN, Rendered, Rendering, Window
from tests.e2e.seen import SEEN
from tests.e2e.test_axe_of_pages import ALL_RULES, CONTRAST, LAYOUT, violations
from tests.factories import browser_of, make_result, make_scan, member_of, person_of
from tests.long_report import Contrast
from tests.results import check_of
from website_scan import score_basis, scoring
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, ScanType, Severity
from website_scan.result import AppliedCap, CategoryResult, CheckResult, CheckStatus
from website_scan.scoring import Cap

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages"), pytest.mark.django_db]

# Queries as a form submits them; the page itself omits empty fields.
QUERIES = ("", "?q=&severity=&show=failed", "?q=hero+h1&severity=&show=", "?severity=low", "?q=nowhere")
VISIBLE = "[...document.querySelectorAll('.report .check')].filter(each => each.checkVisibility()).map(each => each.id)"
AT = "document.activeElement.closest('.check')?.id"
OPEN = "[...document.querySelectorAll('.check:not(.is-pass) > [open]')].map(each => each.parentElement.id)"
OPEN_ALL = "document.querySelectorAll('details:not(.drop)').forEach(each => { each.open = true; })"
CONTENTS = "document.querySelector('.contents [popover]').showPopover()"
KEYS = "document.querySelector('.contents [popover]').hidePopover(); document.getElementById('keys').showModal()"
MOST_WORDS = 430
CAPS = (Cap(79, "Two or more critical checks failed.", severity=CRITICAL, count=2),)


def check(id: str, status: CheckStatus, severity: Severity, **columns: Any) -> CheckResult:
    found = None if status == "pass" else severity
    title = id.replace("-", " ").capitalize()
    fix = "" if status == "pass" else f"Fix {id}."
    return check_of(id, title, title, status, found, severity, f"Seen: {id}.", fix, **columns)


def categories() -> tuple[CategoryResult, ...]:
    """Return ten categories of 25 checks; the contrast check is far down in the fourth."""
    contrast = check(
        "color-contrast",
        "fail",
        HIGH,
        places=[Contrast("h1.hero", ratio=1.2), Contrast("p", ratio=4.3)],
    )
    names = "Names ARIA Forms Colour_and_layout Keyboard Structure Language Media Time Touch"
    found = []
    for n, name in enumerate(each.replace("_", " ") for each in names.split()):
        slug = name.split()[0].lower()
        checks = [check(f"{slug}-pass-{m}", "pass", MEDIUM) for m in range(22)]
        checks.append(check(f"{slug}-fail", "fail", CRITICAL if n < 2 else MEDIUM) if n < 6 else checks.pop())
        checks.append(check(f"{slug}-warn", "warn", LOW) if n < 6 else check(f"{slug}-fine", "pass", LOW))
        found.append(CategoryResult(slug, name, 10, (contrast, *checks) if n == 3 else tuple(checks)))
    return tuple(found)


@pytest.fixture
def rendering() -> Rendering:
    """Rendered long report for its owner, and its filtered versions."""
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
    return Rendering({query: _ask(client, f"/report/{scan.id}{query}") for query in QUERIES}, {})


def _ask(client: Client, path: str) -> Rendered:
    response = client.get(path, SERVER_NAME="localhost")
    assert response.status_code == 200
    headers = {name: value for name, value in response.headers.items() if name != "Content-Length"}
    return Rendered(path, 200, headers, response.content)


def in_view(page: Page, selector: str) -> bool:
    """Return True if the top of the element is in the viewport."""
    return bool(
        page.locator(selector).evaluate(
            "each => { const { top } = each.getBoundingClientRect(); return top >= 0 && top + 24 <= innerHeight; }"
        )
    )


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_first_screen_of_a_report_of_250_checks_has_the_essentials(
    browser: Window, rendering: Rendering, width: int, height: int
) -> None:
    def look(page: Page) -> list[str]:
        article = page.get_by_role("article")
        expect(article.locator(".score")).to_be_visible()
        expect(article.locator(".cap")).to_contain_text(
            "Two critical findings keep the score at 79. Fixing one raises it to 96."
        )
        expect(article.locator(".counts.severities")).to_contain_text("2 critical")
        expect(article.locator(".first li")).to_have_count(5)
        selectors = [".score", ".cap", ".counts", ".severities", ".first li:last-child"]
        return [each for each in selectors if not in_view(page, f".report {each} >> nth=0")]

    viewport = {"width": width, "height": height}
    assert browser.look(rendering, "", look, viewport=viewport) == []


def test_contrast_finding_is_two_clicks_from_the_first_screen(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        page.get_by_role("navigation", name="Contents").get_by_role("link", name="Colour and layout").click()
        page.keyboard.press("j")
        assert page.evaluate(AT) == "check-color-contrast"
        assert in_view(page, "#check-color-contrast")
        page.goto(page.url.partition("#")[0])
        page.keyboard.press("/")
        page.keyboard.insert_text("contrast")
        assert page.evaluate(VISIBLE) == ["check-color-contrast"]

    browser.look(rendering, "", look, viewport={"width": 1440, "height": 900})


def test_report_filters_apply_at_once_and_are_in_the_url(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        status = page.get_by_role("status")
        total = len(page.locator(".report .check").all())
        expect(status).to_have_text(f"{total} of {total} shown")
        expect(page.get_by_role("button", name="Apply")).to_be_hidden()
        page.get_by_label("Failed").check()
        expect(status).to_have_text(f"7 of {total} shown")
        assert page.url.endswith("?show=failed")
        assert all(each.endswith(("-fail", "-contrast")) for each in page.evaluate(VISIBLE))
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
        assert in_view(page, "#check-names-fail")
        expect(status).to_have_text(f"{total} of {total} shown")
        # The counts in the result section at the top filter as well.
        page.get_by_role("region", name="Result").get_by_role("link", name="6 low").click()
        assert len(page.evaluate(VISIBLE)) == 6
        assert page.url.endswith("?severity=low")

    browser.look(rendering, "", look)


def test_filters_by_script_and_by_server_show_the_same_checks(browser: Window, rendering: Rendering) -> None:
    for name in QUERIES:
        served = browser.look(rendering, name, lambda page: page.evaluate(VISIBLE), java_script_enabled=True)
        refiltered = browser.look(
            rendering,
            name,
            lambda page: page.evaluate(f"() => {{ document.forms.findings.requestSubmit(); return {VISIBLE}; }}"),
        )
        if name:
            assert served == refiltered
        assert bool(served) is (name != "?q=nowhere")


def test_shortcuts_move_between_findings_but_not_while_typing(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        def at() -> str:
            return str(page.evaluate(AT))

        for expected in ("check-names-fail", "check-names-warn", "check-aria-fail"):
            page.keyboard.press("j")
            assert at() == expected
            assert in_view(page, f"#{expected}")
        page.keyboard.press("k")
        assert at() == "check-names-warn"
        page.keyboard.press("Control+j")
        page.keyboard.press("Alt+k")
        assert at() == "check-names-warn"
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
        assert at() == "check-aria-fail"
        page.reload()
        page.keyboard.press("?")
        expect(dialog).to_be_hidden()

    browser.look(rendering, "", look, viewport={"width": 1280, "height": 720})


def test_link_to_a_folded_finding_opens_the_finding(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        passed = page.locator("#check-colour-pass-3")
        expect(passed).to_be_hidden()
        page.goto(f"{page.url}#check-colour-pass-3")
        expect(passed).to_be_visible()
        expect(page.locator("#check-time-fine")).to_be_hidden()
        page.evaluate("location.hash = 'check-time-fine'")
        assert in_view(page, "#check-time-fine")
        # On a narrow page, a button opens the table of contents.
        page.locator(".contents .button").click()
        page.get_by_role("navigation", name="Contents").get_by_role("link", name="Keyboard").click()
        expect(page.locator(".contents [popover]")).to_be_hidden()
        assert in_view(page, "#category-5")

    browser.look(rendering, "", look, viewport={"width": 390, "height": 844})


def test_only_findings_to_fix_first_are_open(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        first = page.locator(".first a").evaluate_all("all => all.map(each => each.hash.slice(1))")
        assert len(first) == 5
        assert sorted(page.evaluate(OPEN)) == sorted(first)
        findings = page.locator(".check:not(.is-pass)")
        folded = page.locator(".check:not(.is-pass) > details:not([open])")
        assert folded.count() == findings.count() - 5
        # The places of a finding are a line, too.
        expect(page.locator("#check-color-contrast > details > .told table")).to_be_hidden()
        page.get_by_role("button", name="Expand all").press("Enter")
        assert folded.count() == 0
        expect(page.locator("#check-color-contrast table")).to_be_visible()
        page.get_by_role("button", name="Collapse all").click()
        assert page.evaluate(OPEN) == []
        # A link opens its finding, once more after it has been folded.
        link = page.locator(".first a[href='#check-color-contrast']")
        for _ in range(2):
            link.click()
            expect(page.locator("#check-color-contrast > [open]")).to_have_count(1)
            assert page.evaluate(OPEN) == ["check-color-contrast"]
            page.locator("#check-color-contrast > details > summary").press("Enter")
            assert page.evaluate(OPEN) == []
        # A search opens what it finds; without it, what to fix first is open again.
        page.get_by_role("searchbox").fill("aria")
        page.get_by_label("Warnings").check()
        assert page.evaluate(OPEN) == page.evaluate(VISIBLE) != []
        page.get_by_role("link", name="Show all").click()
        assert sorted(page.evaluate(OPEN)) == sorted(first)

    browser.look(rendering, "", look)


def test_long_report_begins_with_few_words(browser: Window, rendering: Rendering) -> None:
    """13 findings of 250 checks: five are open, and no other adds more than a line."""

    def look(page: Page) -> tuple[int, int]:
        words, _, _ = page.evaluate(SEEN)
        page.get_by_role("button", name="Expand all").click()
        expanded, _, _ = page.evaluate(SEEN)
        return words, expanded

    for width in (1440, 390):
        words, expanded = browser.look(rendering, "", look, viewport={"width": width, "height": 900})
        assert words <= MOST_WORDS < expanded


def test_filtered_report_is_served_with_open_findings(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        assert page.evaluate(OPEN) == ["check-color-contrast"]

    browser.look(rendering, "?q=hero+h1&severity=&show=", look, java_script_enabled=False)


def test_server_filters_the_report_without_javascript(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
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
        assert in_view(page, "#category-4")
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
        # Functions that need scripts are not offered.
        expect(page.get_by_role("button", name="Keyboard shortcuts")).to_be_hidden()
        expect(page.get_by_role("button", name="Expand all")).to_be_hidden()
        expect(page.get_by_role("button", name="Copy")).to_have_count(0)

    browser.look(rendering, "", look, java_script_enabled=False, viewport={"width": 1280, "height": 720})


def test_printed_report_has_everything_except_controls(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> int:
        page.emulate_media(media="print")
        for each in (".contents", ".finder", ".toolbar", ".anchor"):
            expect(page.locator(f".report {each}").first).to_be_hidden()
        # All sections are open.
        expect(page.locator("#check-colour-pass-3 h4")).to_be_visible()
        expect(page.locator("#check-time-fine h4")).to_be_visible()
        page.emulate_media(media="screen")
        return len(page.pdf(prefer_css_page_size=True))

    assert browser.look(rendering, "", look) > 10_000


def test_printed_findings_are_complete_with_links_as_text(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        page.emulate_media(media="print")
        for finding in page.locator(".check:not(.is-pass)").all():
            for part in (".message", ".fix"):
                expect(finding.locator(part)).to_be_visible()
        expect(page.locator("#check-color-contrast table")).to_be_visible()
        expect(page.locator("#check-color-contrast .more > summary")).to_be_hidden()
        assert page.locator(".first a").first.evaluate("each => getComputedStyle(each).textDecorationLine") == "none"

    browser.look(rendering, "", look, java_script_enabled=False)


def test_printed_pictures_do_not_overlap_text(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> list[str]:
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

    assert set(browser.look(rendering, "", look)) == {"static"}


def test_long_names_wrap_above_their_tags_on_a_phone(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> dict[str, bool]:
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

    assert browser.look(rendering, "", look) == {"Short": False, "Session": True}


def test_three_tags_do_not_squeeze_the_name(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> list[float]:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.locator(".first").evaluate("each => { each.style.width = '28.5rem'; }")
        first = page.locator(".first li").first
        expect(first.locator(".tag")).to_have_count(3)
        height = "(each, name) => { each.textContent = name; return each.getBoundingClientRect().height; }"
        return [first.locator("a").evaluate(height, name) for name in ("Git", "Git repository is public")]

    one_line, name = browser.look(rendering, "", look)
    assert name == one_line


def test_sections_after_the_findings_are_separated_by_a_line(browser: Window, rendering: Rendering) -> None:
    """The whole picture of the page, which crops refer to, stands between two of them and is not shown."""

    def look(page: Page) -> list[str]:
        lined = page.locator(".exhibits > .exhibit")
        lined.last.evaluate("each => each.insertAdjacentHTML('beforebegin', '<svg class=sprite></svg>')")
        widths: list[str] = lined.evaluate_all("all => all.map(each => getComputedStyle(each).borderTopWidth)")
        return widths

    first, *others = browser.look(rendering, "", look)
    assert first == "0px"
    assert set(others) == {"1px"}


def test_printed_notes_have_no_links_of_the_page(browser: Window, rendering: Rendering) -> None:
    def look(page: Page) -> None:
        note = "<p class='callout'>Partial. <a href='#coverage'>What was not checked</a></p>"
        page.locator(".report").evaluate("(report, note) => report.insertAdjacentHTML('beforeend', note)", note)
        expect(page.get_by_text("What was not checked")).to_be_visible()
        page.emulate_media(media="print")
        expect(page.get_by_text("What was not checked")).to_be_hidden()

    browser.look(rendering, "", look)


def test_keyboard_reaches_a_finding_its_fix_and_back(browser: Window, rendering: Rendering) -> None:
    outlined = """() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      const check = document.activeElement.closest(".check");
      return (outlineStyle !== "none" && outlineWidth !== "0px")
        || Boolean(check) && getComputedStyle(check).boxShadow !== "none";
    }"""

    def look(page: Page) -> str:
        names = page.locator(".first a").all_inner_texts()
        number = next(at for at, name in enumerate(names, 1) if "contrast" in name.lower())
        page.keyboard.press(str(number))
        expect(page.locator("#check-color-contrast > details > summary")).to_be_focused()
        assert in_view(page, "#check-color-contrast")
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
    assert browser.look(rendering, "", look, permissions=permissions, viewport=viewport) == "Fix color-contrast."


@pytest.mark.parametrize("name", ["", "?q=&severity=&show=failed", "?q=nowhere"])
def test_every_report_state_is_accessible_in_both_themes_at_every_width(
    browser: Window, rendering: Rendering, name: str
) -> None:
    def look(page: Page) -> dict[str, Any]:
        found: dict[str, Any] = {}
        page.evaluate(AXE_SCRIPT)
        views = (
            ("", "light", ALL_RULES),
            (OPEN_ALL, "dark", CONTRAST),
            (CONTENTS, "light", LAYOUT),
            (KEYS, "dark", LAYOUT),
        )
        for action, theme, rules in views:
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            page.evaluate(f"() => {{ {action} }}")
            for width in (320, 390, 768, 1440):
                page.set_viewport_size({"width": width, "height": 900})
                if page.evaluate("document.scrollingElement.scrollWidth") > width:
                    found[f"scrolls at {width} after {action}"] = True
            if action == CONTENTS:
                page.set_viewport_size({"width": 390, "height": 844})
            if broken := violations(page, rules):
                found[f"axe, {theme}, {action}"] = broken
        return found

    assert browser.look(rendering, name, look) == {}


def test_links_to_findings_point_to_the_report_page(browser: Window, rendering: Rendering) -> None:
    """Links on a filtered page must also reach findings that the filter hides."""

    def look(page: Page) -> str:
        page.locator(".first a").first.click()
        return page.url

    path = rendering.pages[""].path
    assert browser.look(rendering, "?severity=low", look) == f"{ORIGIN}{path}#check-names-fail"
