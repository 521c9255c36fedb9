"""Test that own requirements judge what a browser shows and loads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, target
from website_scan.browser import probe
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser, sandbox_problem
from website_scan.net.client import Network
from website_scan.requirements.building import extension_of
from website_scan.requirements.reading import read_requirements
from website_scan.result import Budget
from website_scan.run import scan

MAX_WAIT_S = 60.0
SCRIPT = """
document.querySelector("main").innerHTML =
  "<h1>Tea from the hills</h1><p>All prices include VAT.</p><a href=/imprint>Imprint</a>";
document.querySelector("aside").remove();
fetch("/data.json");
"""
ROUTES = {
    "/": Answer(
        "<!doctype html><html lang=en><title>Shop</title><main></main><aside>Old text of the page</aside>"
        "<script src=/app.js></script>",
        headers={"Content-Type": "text/html"},
    ),
    "/app.js": Answer(SCRIPT, headers={"Content-Type": "text/javascript"}),
    "/data.json": Answer("{}", headers={"Content-Type": "application/json"}),
}
RULES = [
    {"name": "Text of a script", "text": "prices include VAT"},
    {"name": "Removed text", "text": "Old text", "absent": True},
    {"name": "Link of a script", "link": "/imprint"},
    {"name": "Element of a script", "element": "main > h1"},
    {"name": "Missing text", "text": "Free delivery"},
    {"name": "Three requests", "requests": "total", "at_most": 3},
    {"name": "Two requests", "requests": "total", "at_most": 2},
    {"name": "Request of a script", "requests": "other", "at_most": 0},
    {"name": "Small script", "bytes": "script", "at_most": 100},
    {"name": "Slow metric", "metric": "largest-contentful-paint", "at_most": 0},
    {"name": "Fast metric", "metric": "largest-contentful-paint", "at_most": 600_000},
    {"name": "Elements", "metric": "dom-elements", "at_most": 5},
]


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert isinstance(program, Path)
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as warm_browser:
        yield warm_browser


def test_rules_judge_the_rendered_page_and_its_requests(browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "FURTHER_LOADS", 0)
    extension = extension_of(read_requirements({"rules": RULES}))
    types = (ScanType.PERFORMANCE, ScanType.SEO)
    with Site(ROUTES) as site, Network(POLICY, time_limit_s=MAX_WAIT_S) as network:
        results = scan(target(site.url), types, network, Budget(MAX_WAIT_S), browser=browser, extension=extension)
    own = {check.name: check.status for result in results for check in result.checks if check.id.startswith("own-")}
    assert own == {
        "Text of a script": "pass",
        "Removed text": "pass",
        "Link of a script": "pass",
        "Element of a script": "pass",
        "Missing text": "fail",
        "Three requests": "pass",
        "Two requests": "fail",
        "Request of a script": "fail",
        "Small script": "fail",
        "Slow metric": "fail",
        "Fast metric": "pass",
        "Elements": "pass",
    }
