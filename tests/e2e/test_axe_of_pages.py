"""Accessibility of every page in a real browser: axe-core in both themes, reflow (WCAG 1.4.10), keyboard access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.e2e.pages import PAGES, Rendering, Window, render_pages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages")]

# 320 pixels correspond to 400 % zoom on a screen of 1,280 pixels (WCAG 1.4.10).
WIDTHS = (320, 390, 768, 1440)
# With text of twice its size, also where media queries know nothing of it (WCAG 1.4.4).
WIDTHS_OF_LARGE_TEXT = (640, 1280)
Theme = Literal["light", "dark"]
LARGE_TEXT = "size => { document.documentElement.style.fontSize = size; }"
# No preload: axe-core would fetch style sheets again for the rule on orientation alone, which the pages' CSP forbids.
COMMON: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
ALL_RULES = COMMON | {"rules": {"target-size": {"enabled": True}}}
CONTRAST = COMMON | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
LAYOUT = COMMON | {"runOnly": {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]}}
# All rules once, then the rules whose results depend on the theme or on the width.
VIEWS: tuple[tuple[Theme, int, dict[str, Any]], ...] = (
    ("light", 1440, ALL_RULES),
    ("dark", 1440, CONTRAST),
    ("dark", 390, LAYOUT),
)
# The admin and the API's documentation have colour transitions; an inherited colour starts its transition when its
# parent's has ended. Scripts notice a new colour scheme with the next frame, and only then their transitions start.
SETTLED = """async () => {
  await new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)));
  for (let each; (each = document.getAnimations()[0]);) each.finish();
}"""
# IDs are random, and about one in a hundred is wide enough to overflow a narrow page. So all get the widest letters.
WIDEST_IDS = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const wide = text.data.replace(/\\b([a-z]+_)[0-9A-Za-z]{22}\\b/g, (_, prefix) => prefix + "W".repeat(22));
    if (wide !== text.data) text.data = wide;
  }
}"""
# A report with all kinds of pictures: all rules, at every width and twice in each theme.
PICTURED = "report-browser"
PICTURED_VIEWS: tuple[tuple[Theme, int], ...] = (("light", 320), ("light", 768), ("dark", 390), ("dark", 1440))
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
# Elements that a keyboard must reach: everything visible and interactive; of a radio group, the checked button.
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
MOST_STOPS = 500
# Reports like another one, whose test opens the findings.
LIKE_OTHERS = ("report-viewer", "report-of-audit")


@dataclass
class Stage:
    """Rendered pages and a browser to open them."""

    rendering: Rendering
    window: Window


@pytest.fixture(scope="module")
def kept() -> list[Rendering]:
    """Rendered pages: the first test, which has the database, renders them for all."""
    return []


@pytest.fixture
def stage(request: pytest.FixtureRequest, browser: Window, kept: list[Rendering]) -> Stage:
    if not kept:
        request.getfixturevalue("db")
        kept.append(render_pages())
    return Stage(kept[0], browser)


def violations(page: Page, options: dict[str, Any]) -> list[str]:
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    return [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:300]}" for each in found for node in each["nodes"]
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("name", PAGES)
def test_page_is_accessible_in_both_themes_without_horizontal_scrolling(stage: Stage, name: str) -> None:
    def look(page: Page) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if name not in LIKE_OTHERS:
            # Thumbnails stay closed, because an enlarged picture covers the content below it.
            page.evaluate(
                "document.querySelectorAll('details:not(.drop, .thumbnail)').forEach(each => each.open = true)"
            )
        page.evaluate(WIDEST_IDS)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.scrollingElement.scrollWidth")
            if wide > width:
                found[f"scrolls at {width}"] = wide
        page.evaluate(LARGE_TEXT, "200%")
        for width in WIDTHS_OF_LARGE_TEXT:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.scrollingElement.scrollWidth")
            if wide > width:
                found[f"scrolls at {width} with text of twice its size"] = wide
        page.evaluate(LARGE_TEXT, "")
        page.evaluate(AXE_SCRIPT)
        for theme, width, options in VIEWS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            page.evaluate(SETTLED)
            if broken := violations(page, options):
                found[f"axe, {theme} at {width}"] = broken
        return found

    assert stage.window.look(stage.rendering, name, look) == {}


@pytest.mark.django_db
def test_report_with_pictures_is_accessible_in_both_themes_at_every_width(stage: Stage) -> None:
    def look(page: Page) -> tuple[int, dict[str, list[str]]]:
        page.evaluate("document.querySelectorAll('details:not(.drop, .thumbnail)').forEach(each => each.open = true)")
        page.evaluate(AXE_SCRIPT)
        found = {}
        for theme, width in PICTURED_VIEWS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            page.evaluate(SETTLED)
            if broken := violations(page, ALL_RULES):
                found[f"{theme} at {width}"] = broken
        return page.locator(".thumbnail, .film img").count(), found

    pictures, found = stage.window.look(stage.rendering, PICTURED, look)
    assert pictures > 1
    assert found == {}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["landing", "overview", "webhook", "audit-site", "report-browser", "list", "list-snapshot", "list-adoption"]
)
def test_everything_is_visible_in_forced_colours(stage: Stage, name: str) -> None:
    def look(page: Page) -> dict[str, list[str]]:
        found = {}
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, forced_colors="active")
            page.evaluate(SETTLED)
            found[theme] = page.evaluate(UNSEEN)
        return found

    assert stage.window.look(stage.rendering, name, look, forced_colors="active") == {"light": [], "dark": []}


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["landing", "overview", "report-browser", "audit-site"])
def test_reduced_motion_disables_animations(stage: Stage, name: str) -> None:
    assert stage.window.look(stage.rendering, name, lambda page: page.evaluate(MOVING)) == []


@pytest.mark.django_db
def test_thumbnail_is_enlarged_and_reduced_by_keyboard(stage: Stage) -> None:
    def look(page: Page) -> list[float]:
        page.evaluate("document.querySelectorAll('details:not(.drop, .thumbnail)').forEach(each => each.open = true)")
        summary = page.locator(".thumbnail summary").first
        summary.focus()
        widths = []
        for _ in range(3):
            widths.append(summary.locator("svg").evaluate("each => each.getBoundingClientRect().width"))
            page.keyboard.press("Enter")
        return widths

    small, large, again = stage.window.look(stage.rendering, PICTURED, look)
    assert (small, large > 1.5 * small) == (again, True)


@pytest.mark.django_db
@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize(
    "name",
    ["login", "keys", "report-browser", "overview", "webhook", "scan-new-site", "audit-site", "list", "list-sharing"],
)
def test_keyboard_reaches_every_control_with_visible_focus(stage: Stage, name: str, width: int) -> None:
    def look(page: Page) -> list[dict[str, Any]]:
        reachable = page.evaluate(REACHABLE)
        stops: list[dict[str, Any]] = []
        for _ in range(MOST_STOPS):
            page.keyboard.press("Tab")
            stop = page.evaluate(FOCUSED)
            if stop is None or (stops and stop["number"] == stops[-1]["number"]):
                continue  # outside the page between the last and the first stop, or within a field of several parts
            if any(stop["number"] == each["number"] for each in stops):
                break  # back at an earlier stop
            stops.append(stop)
        else:
            raise AssertionError(f"never comes round: {stops[-3:]}")
        # A part of the overview renews itself, so there may be fewer by now.
        reachable = min(reachable, page.evaluate(REACHABLE))
        assert len(stops) >= reachable, f"{len(stops)} of {reachable}: {[each['name'] for each in stops]}"
        return stops

    stops = stage.window.look(stage.rendering, name, look, viewport={"width": width, "height": 900})
    assert [each["name"] for each in stops if not each["ringed"]] == []
    assert [each["name"] for each in stops if not each["shown"]] == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["landing", "login", "keys", "report", "report-shared"])
def test_first_tab_stop_skips_to_the_content(stage: Stage, name: str) -> None:
    def look(page: Page) -> tuple[str, bool]:
        page.evaluate("document.body.tabIndex = -1; document.body.focus()")  # reset an initial focus
        page.keyboard.press("Tab")
        first = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        return first, page.evaluate("document.activeElement.closest('main, footer') !== null")

    assert stage.window.look(stage.rendering, name, look) == ("Skip to the content", True)


@pytest.mark.django_db
def test_menus_open_and_close_by_keyboard(stage: Stage) -> None:
    def look(page: Page) -> list[bool]:
        menu = page.locator("#person-menu")
        page.get_by_role("button", name="Your account").focus()
        states = []
        for key in ("Enter", "Escape"):
            page.keyboard.press(key)
            states.append(menu.is_visible())
        return states

    assert stage.window.look(stage.rendering, "overview", look) == [True, False]
