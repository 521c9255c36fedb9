"""Tests for how steps find elements."""

from __future__ import annotations

import pytest

from tests.targets.server import Site
from tests.website_scan.browser.journey.walks import by, css, named, page, require_done, walk, walk_page
from website_scan.browser.warm import WarmBrowser
from website_scan.journeys.journey import (
    Click,
    ElementTarget,
    Selector,
    SelectorKind,
    SelectorPart,
    WaitForElement,
)

# Each button writes its own ID to the title of the page.
BODY = """
<style>.gone { display: none }</style>
<button id="plain" class="first">Buy tea</button>
<button id="hidden" class="gone">Pay</button> <button id="shown">Pay</button>
<p id="text">Green <b>tea</b> from Uji</p>
<a href="#link" id="link" aria-label="Open the basket">x</a>
<div id="host"><template shadowrootmode="open"><button id="open">In an open tree</button></template></div>
<div id="closed"><template shadowrootmode="closed"><button id="inner">In a closed tree</button></template></div>
<tea-card><template shadowrootmode="open"><tea-cup><template shadowrootmode="open"><button id="deep">Cup</button>
</template></tea-cup></template></tea-card>
<script>addEventListener('click', (event) => {
  const [node] = event.composedPath(); event.preventDefault();
  document.title = (node.closest('[id]') || node).id;
})</script>
"""


def parts(*pairs: tuple[SelectorKind, str]) -> ElementTarget:
    return ElementTarget((Selector(tuple(SelectorPart(kind, text) for kind, text in pairs)),))


CASES = {
    "css": (css("button.first"), "plain"),
    "name": (named("Buy tea"), "plain"),
    "name and role": (named("Open the basket", "link"), "link"),
    "role only": (named("", "link"), "link"),
    "name in an open shadow tree": (named("In an open tree"), "open"),
    # Events of a closed shadow tree have the host as their target.
    "name in a closed shadow tree": (named("In a closed tree"), "closed"),
    "visible element rather than a hidden one": (css("#hidden, #shown"), "shown"),
    "text across elements": (by(SelectorKind.TEXT, "Green tea from"), "text"),
    "text in a shadow tree": (by(SelectorKind.TEXT, "In an open tree"), "open"),
    "pierce": (by(SelectorKind.PIERCE, "#deep"), "deep"),
    "xpath": (by(SelectorKind.XPATH, "//button[contains(., 'Buy')]"), "plain"),
    "css in nested shadow trees": (by(SelectorKind.CSS, "tea-card", "tea-cup", "#deep"), "deep"),
    "name in the tree of a css selector": (
        parts((SelectorKind.CSS, "#host"), (SelectorKind.ARIA, "In an open tree")),
        "open",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_selector_finds_its_element(browser: WarmBrowser, case: str) -> None:
    target, id = CASES[case]
    result = walk_page(
        browser,
        BODY,
        Click(target=target, timeout_s=3.0),
        WaitForElement(target=css("title"), properties=(("text", id),), timeout_s=3.0),
    )
    require_done(result)


def test_alternatives_are_tried_in_order(browser: WarmBrowser) -> None:
    selectors = css("#none").selectors + css("#shown").selectors + css("#plain").selectors
    is_shown = WaitForElement(target=css("title"), properties=(("text", "shown"),))
    require_done(walk_page(browser, BODY, Click(target=ElementTarget(selectors)), is_shown))


def test_element_in_nested_frames_is_clicked(browser: WarmBrowser) -> None:
    with Site() as site, Site() as other:
        site.routes = {
            "/": page(
                "<div style='height: 3000px'></div><iframe></iframe>"
                f"<iframe src='{other.url_as('localhost')}/mid'></iframe>"
            ),
        }
        other.routes = {"/mid": page(f"<iframe style='margin: 40px' src='{site.url}/inner'></iframe>")}
        site.routes["/inner"] = page("<button onclick='this.textContent = \"Thanks\"'>Agree</button>")
        result = walk(
            browser,
            f"{site.url}/",
            Click(target=named("Agree", "button", 1, 0)),
            WaitForElement(target=named("Thanks", "button", 1, 0)),
        )
    require_done(result)


def test_unreadable_selector_is_a_failure(browser: WarmBrowser) -> None:
    result = walk_page(browser, BODY, Click(target=css("button[")))
    assert result.steps[1].problem.startswith("Step 2: the browser cannot read the selector `button[`: ")
    assert result.steps[1].duration_s < 5.0
