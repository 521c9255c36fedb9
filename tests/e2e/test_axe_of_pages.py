"""Tests that every page is accessible in a real browser.

The tests run axe-core in both themes, and check reflow (WCAG 1.4.10) and keyboard access.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from msgspec import Struct
from playwright.sync_api import Page

from tests.e2e.pages import PAGES, RenderedPages, Window, render_pages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages")]

# A screen of 1,280 pixels at 400 % zoom has 320 pixels (WCAG 1.4.10).
WIDTHS = (320, 390, 768, 1440)
# Text enlarged to 200 % must fit at these widths (WCAG 1.4.4).
LARGE_TEXT_WIDTHS = (640, 1280)
Theme = Literal["light", "dark"]
SET_TEXT_SIZE = "size => { document.documentElement.style.fontSize = size; }"
# axe-core's orientation rule would fetch style sheets, which the CSP forbids.
COMMON: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
ALL_RULES = COMMON | {"rules": {"target-size": {"enabled": True}}}
CONTRAST = COMMON | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
LAYOUT = COMMON | {"runOnly": {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]}}
# Only the first view runs rules that depend neither on theme nor on width.
VIEWS: tuple[tuple[Theme, int, dict[str, Any]], ...] = (
    ("light", 1440, ALL_RULES),
    ("dark", 1440, CONTRAST),
    ("dark", 390, LAYOUT),
)
# Colours of the admin and the API documentation change over several frames.
SETTLED = """async () => {
  await new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)));
  for (let each; (each = document.getAnimations()[0]);) each.finish();
}"""
# About 1 % of random IDs overflow a narrow page, so all IDs are that wide.
WIDEN_IDS = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const wide = text.data.replace(/\\b([a-z]+_)[0-9A-Za-z]{22}\\b/g, (_, prefix) => prefix + "W".repeat(22));
    if (wide !== text.data) text.data = wide;
  }
}"""
# All rules run on the report with pictures, at every width and in both themes.
PICTURED = "report-browser"
PICTURE_REPORT_VIEWS: tuple[tuple[Theme, int], ...] = (("light", 320), ("light", 768), ("dark", 390), ("dark", 1440))
# With forced colours, text and graphics must differ from their background.
UNSEEN = """() => {
  const solid = colour => !/^rgba\\(.*, 0\\)$|^transparent$/.test(colour);
  const under = each => {
    for (let at = each; at; at = at.parentElement) {
      const behind = getComputedStyle(at).backgroundColor;
      if (at instanceof HTMLElement && solid(behind)) return behind;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const each of document.querySelectorAll("main *, header *, footer *")) {
    if (!each.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    const style = getComputedStyle(each);
    const writes = [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const drawn = each.matches("svg.icon") ? style.stroke : writes ? style[each.closest("svg") ? "fill" : "color"] : "";
    if (drawn && drawn === under(each)) found.push(`${each.outerHTML.slice(0, 120)}: ${drawn}`);
  }
  return found;
}"""
MOVING = """() => [...document.querySelectorAll("*")].flatMap(each => [null, "::before", "::after"].map(part => {
  const style = getComputedStyle(each, part);
  const fades = style.transitionDuration.split(",").some(duration => parseFloat(duration) > 0);
  const moves = fades || style.animationName !== "none";
  return moves || style.scrollBehavior === "smooth" ? each.outerHTML.slice(0, 120) : "";
})).filter(Boolean)"""
# Visible controls that must be reachable by keyboard.
REACHABLE = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter(each => each.checkVisibility({visibilityProperty: true}) && !each.disabled && each.type !== "hidden")
  .filter(each => each.type !== "radio" || each.checked)
  .filter(each => !each.closest("[popover]:not(:popover-open)") && each.tabIndex >= 0).length"""
FOCUSED = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  window.seen = window.seen || new Map();
  if (!window.seen.has(at)) window.seen.set(at, window.seen.size);
  const style = getComputedStyle(at), box = at.getBoundingClientRect();
  const label = at.type === "checkbox" || at.type === "radio" ? getComputedStyle(at.closest("label") || at) : style;
  const drawn = each => each.outlineStyle !== "none" && parseFloat(each.outlineWidth) >= 2;
  return {
    number: window.seen.get(at),
    name: at.tagName + " " + (at.textContent || at.name || at.id).trim().slice(0, 40),
    ringed: drawn(style) || drawn(label),
    shown: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight
      && box.right > 0 && box.left < innerWidth,
  };
}"""
MAX_TAB_STOPS = 500
# Other reports with the same findings are tested with open findings.
SIMILAR_REPORTS = ("report-viewer", "report-of-audit")


class PageBrowser(Struct):
    """Rendered pages and a browser to open them."""

    rendering: RenderedPages
    window: Window


@pytest.fixture(scope="module")
def rendered_pages() -> list[RenderedPages]:
    """Return a list that caches the rendered pages.

    The first test fills it.
    """
    return []


@pytest.fixture
def page_browser(request: pytest.FixtureRequest, browser: Window, rendered_pages: list[RenderedPages]) -> PageBrowser:
    if not rendered_pages:
        request.getfixturevalue("db")
        rendered_pages.append(render_pages())
    return PageBrowser(rendered_pages[0], browser)


def violations(page: Page, options: dict[str, Any]) -> list[str]:
    axe_violations = page.evaluate("options => axe.run(options)", options)["violations"]
    return [
        f"{violation['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for violation in axe_violations
        for node in violation["nodes"]
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible_in_both_themes(page_browser: PageBrowser, name: str) -> None:
    def inspect_page(page: Page) -> dict[str, Any]:
        problems: dict[str, Any] = {}
        if name not in SIMILAR_REPORTS:
            # An enlarged picture would cover the content below it.
            page.evaluate(
                "document.querySelectorAll('details:not(.drop, .thumbnail)').forEach(each => each.open = true)"
            )
        page.evaluate(WIDEN_IDS)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.scrollingElement.scrollWidth")
            if wide > width:
                problems[f"scrolls at {width}"] = wide
        page.evaluate(SET_TEXT_SIZE, "200%")
        for width in LARGE_TEXT_WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.scrollingElement.scrollWidth")
            if wide > width:
                problems[f"scrolls at {width} with text of twice its size"] = wide
        page.evaluate(SET_TEXT_SIZE, "")
        page.evaluate(AXE_SCRIPT)
        for theme, width, options in VIEWS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            page.evaluate(SETTLED)
            if broken := violations(page, options):
                problems[f"axe, {theme} at {width}"] = broken
        return problems

    assert page_browser.window.run_on_page(page_browser.rendering, name, inspect_page) == {}


@pytest.mark.django_db
def test_report_with_pictures_is_accessible(page_browser: PageBrowser) -> None:
    def inspect_page(page: Page) -> tuple[int, dict[str, list[str]]]:
        page.evaluate("document.querySelectorAll('details:not(.drop, .thumbnail)').forEach(each => each.open = true)")
        page.evaluate(AXE_SCRIPT)
        problems = {}
        for theme, width in PICTURE_REPORT_VIEWS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            page.evaluate(SETTLED)
            if broken := violations(page, ALL_RULES):
                problems[f"{theme} at {width}"] = broken
        return page.locator(".thumbnail, .film img").count(), problems

    pictures, problems = page_browser.window.run_on_page(page_browser.rendering, PICTURED, inspect_page)
    assert pictures > 1
    assert problems == {}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        *("landing", "overview", "webhook", "audit-site", "report-browser", "report-conformance"),
        *("list", "list-snapshot", "list-adoption", "assessment", "assessment-criterion", "assessment-report"),
        *("journey-run", "journey-unproven"),
    ],
)
def test_forced_colours_show_text_and_icons(page_browser: PageBrowser, name: str) -> None:
    def inspect_page(page: Page) -> dict[str, list[str]]:
        invisible_elements = {}
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, forced_colors="active")
            page.evaluate(SETTLED)
            invisible_elements[theme] = page.evaluate(UNSEEN)
        return invisible_elements

    assert page_browser.window.run_on_page(page_browser.rendering, name, inspect_page, forced_colors="active") == {
        "light": [],
        "dark": [],
    }


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["landing", "overview", "report-browser", "audit-site"])
def test_reduced_motion_disables_animations(page_browser: PageBrowser, name: str) -> None:
    assert page_browser.window.run_on_page(page_browser.rendering, name, lambda page: page.evaluate(MOVING)) == []


@pytest.mark.django_db
def test_thumbnail_is_enlarged_by_keyboard(page_browser: PageBrowser) -> None:
    def inspect_page(page: Page) -> list[float]:
        page.evaluate("document.querySelectorAll('details:not(.drop, .thumbnail)').forEach(each => each.open = true)")
        summary = page.locator(".thumbnail summary").first
        summary.focus()
        widths = []
        for _ in range(3):
            widths.append(summary.locator("svg").evaluate("each => each.getBoundingClientRect().width"))
            page.keyboard.press("Enter")
        return widths

    small, large, again = page_browser.window.run_on_page(page_browser.rendering, PICTURED, inspect_page)
    assert (small, large > 1.5 * small) == (again, True)


@pytest.mark.django_db
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    "name",
    [
        *("login", "keys", "report-browser", "report-conformance-filtered", "overview", "webhook", "scan-new-site"),
        *("audit-site", "list", "list-sharing", "assessment-criterion", "assessment-sample"),
        *("journey-new", "journey-preview", "journey-unproven", "journey-run-steps", "monitor-journey-new"),
    ],
)
def test_keyboard_reaches_every_control(page_browser: PageBrowser, name: str, width: int) -> None:
    def inspect_page(page: Page) -> list[dict[str, Any]]:
        reachable = page.evaluate(REACHABLE)
        stops: list[dict[str, Any]] = []
        for _ in range(MAX_TAB_STOPS):
            page.keyboard.press("Tab")
            stop = page.evaluate(FOCUSED)
            if stop is None or (stops and stop["number"] == stops[-1]["number"]):
                continue  # The focus is outside the page, after its last stop, or in the same field.
            if any(stop["number"] == earlier_stop["number"] for earlier_stop in stops):
                break  # The loop ends when the focus returns to an earlier stop.
            stops.append(stop)
        else:
            raise AssertionError(f"never comes round: {stops[-3:]}")
        # The updated overview may have fewer controls.
        reachable = min(reachable, page.evaluate(REACHABLE))
        assert len(stops) >= reachable, f"{len(stops)} of {reachable}: {[stop['name'] for stop in stops]}"
        return stops

    stops = page_browser.window.run_on_page(
        page_browser.rendering, name, inspect_page, viewport={"width": width, "height": 900}
    )
    assert [stop["name"] for stop in stops if not stop["ringed"]] == []
    assert [stop["name"] for stop in stops if not stop["shown"]] == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["landing", "login", "keys", "report", "report-shared"])
def test_first_tab_stop_skips_to_the_content(page_browser: PageBrowser, name: str) -> None:
    def inspect_page(page: Page) -> tuple[str, bool]:
        page.evaluate("document.body.tabIndex = -1; document.body.focus()")  # Some pages focus a field when they open.
        page.keyboard.press("Tab")
        first = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        return first, page.evaluate("document.activeElement.closest('main, footer') !== null")

    assert page_browser.window.run_on_page(page_browser.rendering, name, inspect_page) == ("Skip to the content", True)


@pytest.mark.django_db
def test_menus_open_and_close_by_keyboard(page_browser: PageBrowser) -> None:
    def inspect_page(page: Page) -> list[bool]:
        menu = page.locator("#person-menu")
        page.get_by_role("button", name="Your account").focus()
        states = []
        for key in ("Enter", "Escape"):
            page.keyboard.press(key)
            states.append(menu.is_visible())
        return states

    assert page_browser.window.run_on_page(page_browser.rendering, "overview", inspect_page) == [True, False]
