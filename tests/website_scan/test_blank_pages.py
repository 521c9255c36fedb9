"""Test that blank pages get a limited grade without a browser."""

from __future__ import annotations

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, target
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

HEAD = (
    "<title>Acme: shoes, boots and sandals</title><meta name=viewport content='width=device-width, initial-scale=1'>"
    "<meta name=description content='Shoes, boots and sandals for every weather, made by hand in small workshops.'>"
    "<meta property=og:title content=Acme><meta name=twitter:card content=summary>"
)
SCRIPT = "<script type=module src=/app.js></script>"


def page(body: str, head: str = HEAD) -> str:
    return f"<!doctype html><html lang=en><head>{head}</head>{body}</html>"


SHELLS = {
    "react": page(f"<body><noscript>Enable JavaScript to run this app.</noscript><div id=root></div>{SCRIPT}"),
    "vue": page(f"<body><div id=app></div>{SCRIPT}"),
    "loading": page(f"<body><app-root>Loading…</app-root>{SCRIPT}"),
    "spinner": page(f"<body><div id=app><svg class=spinner><circle r=5 /></svg><p>Please wait...</p></div>{SCRIPT}"),
    "sprite": page(f"<body><svg style=display:none><symbol id=a><path /></symbol></svg><div id=root></div>{SCRIPT}"),
    "sprite of no size": page(f"<body><svg width=0 height=0><defs /></svg><div id=root></div>{SCRIPT}"),
    "sprite out of the way": page(
        f"<body><svg style='position:absolute;width:0;height:0'><path /></svg><div id=root></div>{SCRIPT}"
    ),
    "pixel": page(
        f"<body><img src=/p.gif width=1 height=1 alt=''><iframe src=/t width=0 height=0 title=T></iframe>{SCRIPT}"
    ),
    "hidden": page(
        f"<body><div hidden>Menu</div><div style='display:none'>Dialog</div><div id=root>&nbsp;</div>{SCRIPT}"
    ),
    "invisible characters": page(f"<body><div id=root>&#8203;&#xfeff;</div>{SCRIPT}"),
    "hidden fields": page(f"<body><form><input type=hidden name=t value=x></form><div id=root></div>{SCRIPT}"),
    "no body": page("", HEAD + SCRIPT),
    "nothing at all": "",
    "a comment": "<!-- built -->",
}
# Blank pages with markup faults, by the check that reports the fault.
FAULTY = {
    "list": page("<body><ul><div></div></ul>"),
    "aria-valid-attr-value": page("<body><div role=textbox aria-required=undefined aria-label=Name></div>"),
    "no-autoplay-audio": page("<body><audio autoplay src=/a.mp3></audio>"),
    "empty-heading": page("<body><h1></h1>"),
    "aria-required-attr": page("<body><div role=slider tabindex=0 aria-label=Volume></div>"),
    "frame-title": page(f"<body><iframe src=/t width=0 height=0></iframe><div id=root></div>{SCRIPT}"),
    "aria-roles": page(f"<body><div id=root role=rooot></div>{SCRIPT}"),
}
# Scripts complete these pages later, so missing parts are not yet faults.
INCOMPLETE = {
    "a heading for a script": page(f"<body><h1 id=title></h1><div id=root></div>{SCRIPT}"),
    "a table for a script": page(f"<body><table><thead><tr><th></th></tr></thead><tbody></table>{SCRIPT}"),
    "widgets for a script": page(f"<body><div role=slider aria-label=Volume></div><div role=switch></div>{SCRIPT}"),
    "a hidden template": page(f"<body><div hidden><a class=download>Download</a></div><div id=root></div>{SCRIPT}"),
    "a menu that is loading": page(f"<body><nav hidden><a href=/>A</a></nav><p>Loading…</p>{SCRIPT}"),
}
BUILT = {name: markup for name, markup in (SHELLS | INCOMPLETE).items() if "<script" in markup}
HONEST = {
    "a sentence": page("<body><p>We are moving. Come back on Monday."),
    "one word": page("<body><p>Hello"),
    "a gallery": page("<body><img src=/a.jpg alt='A red shoe'><img src=/b.jpg alt='A boot'>"),
    "a gallery with scripts": page(f"<body><div id=app><img src=/a.jpg alt='A red shoe'></div>{SCRIPT}"),
    "an image": page("<body><img src=/a.jpg>"),
    "a drawing": page("<body><svg viewBox='0 0 9 9'><path d='M0 0h9' /></svg>"),
    "a video": page("<body><video src=/a.mp4></video>"),
    "a canvas": page(f"<body><canvas></canvas>{SCRIPT}"),
    "a frame": page("<body><iframe src=/map title=Map></iframe>"),
    "a frame set": page("<frameset cols='1,2'><frame src=/a><frame src=/b></frameset>"),
    "a control": page("<body><form><input name=q></form>"),
    "an object": page("<body><object data=/a.pdf></object>"),
    "a text about loading": page("<body><h1>Loading</h1><p>How to load a truck.</p>"),
    "a page below a thousand empty elements": page("<body>" + "<div></div>" * 2000 + "<p>Text"),
    "an image of a style sheet": page("<body><div role=img aria-label='A shoe'></div>"),
    "a link": page(f"<body><a href=/next></a>{SCRIPT}"),
}


def scan_markup(scan_type: ScanType, markup: str) -> ScanResult:
    with Site({"/": Answer(markup, headers={"Content-Type": "text/html"})}) as site, Network(POLICY) as network:
        return scan(target(site.url), [scan_type], network, Budget())[0]


@pytest.mark.parametrize("scan_type", [ScanType.ACCESSIBILITY, ScanType.SEO])
@pytest.mark.parametrize("markup", SHELLS.values(), ids=SHELLS)
def test_blank_page_gets_at_most_grade_C(scan_type: ScanType, markup: str) -> None:
    result = scan_markup(scan_type, markup)
    assert result.status == "partial"
    assert result.score is not None
    assert result.score <= 79
    assert "shows no content" in str(result.facts["notice"])
    assert all("shows no content" in skipped.reason for skipped in result.skipped_checks)
    skipped = {skipped.id for skipped in result.skipped_checks}
    judged = {check.id for check in result.checks}
    content_checks = (
        {"image-alt", "link-name", "list"} if scan_type is ScanType.ACCESSIBILITY else {"link-text", "soft-404"}
    )
    head_checks = {"document-title"} if scan_type is ScanType.ACCESSIBILITY else {"title", "http-status"}
    assert content_checks <= skipped
    assert head_checks <= judged


@pytest.mark.parametrize(("check", "markup"), FAULTY.items(), ids=FAULTY)
def test_blank_page_faults_are_reported(check: str, markup: str) -> None:
    result = scan_markup(ScanType.ACCESSIBILITY, markup)
    assert "shows no content" in str(result.facts["notice"])
    assert check in {check.id for check in result.checks if check.status != "pass"}


@pytest.mark.parametrize("scan_type", [ScanType.ACCESSIBILITY, ScanType.SEO])
@pytest.mark.parametrize("markup", BUILT.values(), ids=BUILT)
def test_blank_page_content_is_not_judged(scan_type: ScanType, markup: str) -> None:
    result = scan_markup(scan_type, markup)
    assert "shows no content" in str(result.facts["notice"])
    content = {check.id for check in checks(scan_type) if check.content}
    assert not [check for check in result.checks if check.id in content]


@pytest.mark.parametrize("scan_type", [ScanType.ACCESSIBILITY, ScanType.SEO])
def test_blank_page_report_lists_its_cap(scan_type: ScanType) -> None:
    (cap,) = (cap for cap in scan_markup(scan_type, SHELLS["react"]).caps if cap.limit == 79)
    assert "content" in cap.reason


@pytest.mark.parametrize("scan_type", [ScanType.ACCESSIBILITY, ScanType.SEO])
@pytest.mark.parametrize("markup", HONEST.values(), ids=HONEST)
def test_small_page_is_judged(scan_type: ScanType, markup: str) -> None:
    result = scan_markup(scan_type, markup)
    assert result.status == "completed"
    assert "notice" not in result.facts
    assert not [cap for cap in result.caps if "content" in cap.reason]
