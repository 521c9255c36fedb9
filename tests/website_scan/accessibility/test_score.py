"""Tests for accessibility scores with few applicable checks."""

from __future__ import annotations

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.browser.evidence import AxeNode, AxeReport, AxeRule, BrowserLoad, Load
from website_scan.browser.visit import Visit
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.result import Budget
from website_scan.run import scan

TEXT = "<main><h1>Bread</h1><p>We bake every morning.</main>"
LINKS = "<a href=/x></a><a href=/y></a><a href=/z></a>"
FORM = "<form><label>Name <input name=n autocomplete=name></label><button>Send</button></form>"
IMAGE = "<img src=/a.png alt=Rolls>"


def lost_points(check: str, body: str) -> float:
    page = head("<meta name=viewport content=width=device-width>", body)
    with Site({"/": Answer(page)}) as site, Network(POLICY) as network:
        (result,) = scan(target(f"{site.url}/"), [ScanType.ACCESSIBILITY], network, Budget())
    (check_result,) = (check_result for check_result in result.checks if check_result.id == check)
    assert check_result.status == "fail"
    return check_result.points


@pytest.mark.parametrize("body", [TEXT, TEXT + FORM, TEXT + IMAGE, TEXT + FORM + IMAGE])
def test_three_nameless_links_do_not_cost_a_category(body: str) -> None:
    assert 2 < lost_points("link-name", body + LINKS) < 12


# axe-core rules that apply to a page with only text and links.
APPLICABLE_RULES = {
    *("link-name", "label-content-name-mismatch", "color-contrast", "target-size", "css-orientation-lock", "bypass"),
    *("empty-heading", "heading-order", "page-has-heading-one", "landmark-one-main", "region", "aria-hidden-body"),
    *("html-has-lang", "html-lang-valid", "document-title", "meta-viewport", "meta-viewport-large"),
}


class FakeBrowser:
    """Fake browser in which some axe-core rules are violated.

    The other applicable rules pass.
    """

    def __init__(self, *broken: str) -> None:
        self.broken = broken

    def start(self, limit_s: float) -> None: ...

    def load(self, visit: Visit) -> BrowserLoad:
        node = AxeNode("a", "html > body > a", "<a>", "Why.")
        violations = {id: AxeRule(id, "serious", ("wcag2a",), "Help.", 3, (node,)) for id in self.broken}
        inapplicable = {check.id for check in checks(ScanType.ACCESSIBILITY)} - APPLICABLE_RULES
        axe = AxeReport("4.11", violations, {}, frozenset(APPLICABLE_RULES - set(self.broken)), frozenset(inapplicable))
        return BrowserLoad("Chromium 150", Load(None, None, (), None, 0.0, 0.0, ()), axe=axe)


def test_label_mismatch_costs_less_than_nameless_links() -> None:
    page = Answer(head("<meta name=viewport content=width=device-width>", TEXT + LINKS))
    with Site({"/": page}) as site, Network(POLICY) as network:
        browser = FakeBrowser("link-name", "label-content-name-mismatch")
        (result,) = scan(target(f"{site.url}/"), [ScanType.ACCESSIBILITY], network, Budget(), browser=browser)
    points = {check_result.id: check_result.points for check_result in result.checks if check_result.points}
    assert points.keys() == {"link-name", "label-content-name-mismatch"}
    assert points["label-content-name-mismatch"] < points["link-name"] < 15
    assert points["label-content-name-mismatch"] < 8
