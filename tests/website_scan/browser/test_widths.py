"""Tests for accessibility rules that run on the widths of a phone and of a desktop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY
from website_scan.browser import axe as axe_runner
from website_scan.browser.devices import DESKTOP, PHONE, Device
from website_scan.browser.evidence import AxeReport, BrowserLoad
from website_scan.browser.injected_scripts import read_script
from website_scan.browser.visit import Part, Visit
from website_scan.browser.warm import WarmBrowser
from website_scan.net.browser import find_browser, sandbox_problem
from website_scan.net.client import Network
from website_scan.net.proxy import BrowserProxy

TIME_LIMIT_S = 30.0
BOTH = None
STYLES = """
    body { background: #fff; color: #222; font-size: 16px; }
    @media (max-width: 700px) { .wide { display: none; } }
    @media (min-width: 701px) { .narrow { display: none; } }
"""
"""Styles that hide elements on a phone (`wide`) or on a desktop (`narrow`)."""


def page(body: str, styles: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tea shop</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLES}{styles}</style></head>'
        f"<body><main><h1>Tea</h1>{body}</main></body></html>"
    )


# Pages, with the rules that report elements and the widths of their elements.
PAGES: Mapping[str, tuple[str, Mapping[str, list[int | None]]]] = {
    "field-on-desktops": (page('<input class="wide" name="q">'), {"label": [DESKTOP.width]}),
    "button-on-phones": (page('<button class="narrow"></button>'), {"button-name": [PHONE.width]}),
    "image-on-both": (page('<img src="tea.png">'), {"image-alt": [BOTH]}),
    "one-of-each": (
        page('<img src="1.png" class="narrow"><img src="2.png"><img src="3.png" class="wide">'),
        {"image-alt": [PHONE.width, BOTH, DESKTOP.width]},
    ),
    "colours-of-desktops": (
        page('<p class="pale">Green tea from Uji', "@media (min-width: 701px) { .pale { color: #ccc; } }"),
        {"color-contrast": [DESKTOP.width]},
    ),
    "colours-of-both": (page('<p style="color: #ccc">Green tea from Uji'), {"color-contrast": [BOTH]}),
    "background-of-desktops": (
        page(
            '<div class="tile"></div><p class="over">Green tea from Uji',
            ".tile { height: 60px; background: #333; } @media (min-width: 701px) { .over { margin-top: -40px; } }",
        ),
        {"color-contrast": [DESKTOP.width]},
    ),
    "background-colour-of-desktops": (
        page(
            '<div class="tile"></div><p class="over">Green tea from Uji',
            ".tile { height: 60px } .over { margin-top: -40px } "
            "@media (min-width: 701px) { .tile { background: #333 } }",
        ),
        {"color-contrast": [DESKTOP.width]},
    ),
    "wrapped-text": (page(f"<p>{'Green tea from Uji. ' * 20}"), {}),
    "added-by-resize": (
        page(
            "<div id=menu></div><script>addEventListener('resize', () => setTimeout(() => {"
            "if (innerWidth > 700) menu.innerHTML = '<img src=1.png>'}, 50))</script>"
        ),
        {"image-alt": [DESKTOP.width]},
    ),
    "frame-on-desktops": (
        page('<iframe class="wide" title="Map" src="/image-on-both" width="300" height="300"></iframe>'),
        {"image-alt": [DESKTOP.width]},
    ),
    "never-quiet": (
        page("<img src=1.png><p id=clock><script>setInterval(() => { clock.textContent = Date.now() }, 10)</script>"),
        {"image-alt": [BOTH]},
    ),
    "custom-element": (
        page(
            "<tea-button></tea-button><img class=wide src=1.png><script>customElements.define('tea-button', class "
            "extends HTMLElement { constructor() { super(); const internals = this.attachInternals(); "
            "internals.role = 'button'; internals.ariaLabel = 'Order'; } })</script>"
        ),
        {"image-alt": [DESKTOP.width]},
    ),
    "same-access-key": (page('<a class="wide" accesskey="k" href="/a">A</a><a accesskey="k" href="/b">B</a>'), {}),
}
# Rules that the pages are not about.
OTHER_RULES = frozenset({"region", "target-size", "accesskeys", "landmark-unique"})


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {f"/{name}": Answer(markup) for name, (markup, _) in PAGES.items()}
    with Site(pages) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running


def load(browser: WarmBrowser, url: str, *devices: Device) -> BrowserLoad:
    with Network(POLICY, time_limit_s=TIME_LIMIT_S) as network, BrowserProxy(network) as proxy:
        visit = Visit(
            url,
            proxy,
            POLICY.user_agent,
            TIME_LIMIT_S,
            parts=frozenset({Part.AXE}),
            axe_time_limit_s=TIME_LIMIT_S,
            axe_devices=devices or (PHONE, DESKTOP),
        )
        return browser.load(visit)


def reported_widths(axe: AxeReport | None) -> dict[str, list[int | None]]:
    assert axe is not None
    return {
        name: [node.width for node in rule.nodes] for name, rule in axe.violations.items() if name not in OTHER_RULES
    }


@pytest.mark.parametrize("name", PAGES)
def test_fault_has_the_width_on_which_it_occurs(browser: WarmBrowser, site: Site, name: str) -> None:
    axe = load(browser, f"{site.url}/{name}").axe
    assert axe is not None
    assert axe.widths == (PHONE.width, DESKTOP.width)
    assert reported_widths(axe) == PAGES[name][1]


def test_page_is_judged_on_chosen_widths_only(browser: WarmBrowser, site: Site) -> None:
    desktop = load(browser, f"{site.url}/one-of-each", DESKTOP).axe
    phone = load(browser, f"{site.url}/one-of-each", PHONE).axe
    assert desktop is not None
    assert phone is not None
    assert (desktop.widths, phone.widths) == ((DESKTOP.width,), (PHONE.width,))
    assert reported_widths(desktop) == reported_widths(phone) == {"image-alt": [BOTH, BOTH]}
    assert [node.selector for node in desktop.violations["image-alt"].nodes] != [
        node.selector for node in phone.violations["image-alt"].nodes
    ]


def test_page_has_the_width_of_a_phone_afterwards(browser: WarmBrowser, site: Site) -> None:
    """The picture shows a phone, with the boxes of the elements that it shows."""
    picture = load(browser, f"{site.url}/one-of-each").page_picture
    assert picture is not None
    assert picture.width == PHONE.width
    assert len(picture.boxes) == 2


def test_rule_applies_if_one_width_has_its_elements(browser: WarmBrowser, site: Site) -> None:
    axe = load(browser, f"{site.url}/field-on-desktops").axe
    assert axe is not None
    assert "label" not in axe.inapplicable
    assert "select-name" in axe.inapplicable


# Pages on which scripts or style sheets change something between the widths that rules depend on.
CHANGING = {
    "heading-by-size": page(
        "<p class=big>Opening hours</p><p>Daily from nine to five, on Sundays from eleven. Closed on Mondays.",
        "@media (min-width: 701px) { .big { font-size: 40px; font-weight: bold } }",
    ),
    "label-by-attribute": page(
        '<input id=q aria-label="Tea"><script>'
        'addEventListener("resize", () => q.removeAttribute("aria-label"))</script>'
    ),
    "text-by-script": page(
        '<button id=b>Menu</button><script>addEventListener("resize", () => { b.firstChild.data = "" })</script>'
    ),
    "off-the-screen": page(
        '<div class=panel><a href="/a"></a></div>',
        ".panel { position: absolute; left: -9999px } @media (min-width: 701px) { .panel { left: 0 } }",
    ),
    "wide-table": page(
        "<table class=t><tr><td>Tea<td>Price<tr><td>Sencha<td>12<tr><td>Gyokuro<td>30</table>",
        "@media (min-width: 701px) { .t { width: 100%; border-collapse: collapse } .t td { border: 1px solid } }",
    ),
}
FRAME = """<iframe title="Prices" width="300" height="100" srcdoc="<!doctype html><html lang=en><title>Prices</title>
<style>@media (min-width: 701px) { .narrow { display: none } }</style><h3>Prices</h3>%s<img src=1.png>"></iframe>"""
# Pages with frames, and True if only some of the frames are different on the second width.
WITH_FRAMES: Mapping[str, tuple[str, bool]] = {
    "frames-without-change": (page(FRAME % ""), False),
    "page-changes": (page(f"<h2 class=narrow>Teas</h2>{FRAME % ''}<h4>Sencha</h4>"), True),
    "frame-changes": (
        page(
            FRAME.replace("<iframe", "<iframe style='width: 100%%'") % "<h4 class=narrow>Sencha</h4>" + "<h6>Uji</h6>"
        ),
        True,
    ),
    "frame-appears": (page(FRAME % "" + (FRAME % "<input>").replace("<iframe", "<iframe class=wide")), True),
    "frame-disappears": (page(FRAME % "" + (FRAME % "<input>").replace("<iframe", "<iframe class=narrow")), True),
}
FULL_RUN = ("const isSame = seen === seenBefore && !hasChanged;", "const isSame = false;")


@pytest.mark.parametrize("name", WITH_FRAMES)
def test_rules_are_skipped_if_no_frame_has_changed(
    browser: WarmBrowser, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rules that are left out run afterwards if another frame is different."""
    scripts: list[str] = []

    def record_script(script: str) -> str:
        scripts.append(script)
        return read_script(script)

    monkeypatch.setattr(axe_runner, "read_script", record_script)
    with Site({"/": Answer(WITH_FRAMES[name][0])}) as site:
        load(browser, f"{site.url}/")
    assert scripts.count("axe_run.js") >= 3
    assert ("axe_rest.js" in scripts) == WITH_FRAMES[name][1]


@pytest.mark.parametrize("name", [*CHANGING, *PAGES, *WITH_FRAMES])
def test_results_are_those_of_a_full_run_on_each_width(
    browser: WarmBrowser, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second width skips rules whose results cannot differ."""
    markup = CHANGING[name] if name in CHANGING else {**PAGES, **WITH_FRAMES}[name][0]
    with Site({"/": Answer(markup), "/image-on-both": Answer(PAGES["image-on-both"][0])}) as site:
        usual = load(browser, f"{site.url}/").axe

        def read_full(script: str) -> str:
            text = read_script(script)
            assert script != "axe_repeat.js" or FULL_RUN[0] in text
            return text.replace(*FULL_RUN)

        monkeypatch.setattr(axe_runner, "read_script", read_full)
        full = load(browser, f"{site.url}/").axe
        assert usual == full
