"""Browser verdicts on pages like those of the W3C's rules (ACT) on which axe-core alone was wrong.

Each page is a rule, a name and a body. The rule must find nothing in the good pages, and something in the bad ones.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.website_scan.accessibility.in_chromium import axe_reports
from tests.website_scan.cast import verdict
from website_scan.accessibility.axe import axe_verdict
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import checks
from website_scan.findings import ScanType

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("differential")]

TEXT = "A parcel that nobody had asked for stood in the hall until the end of the summer."
NARROW = "max-width: 200px"
SPACING = "avoid-inline-spacing"
FRAME = "frame-focusable-content"
SCROLLING = "scrollable-region-focusable"
NAME = "label-content-name-mismatch"
BOX = "height: 100px; width: 500px; overflow: scroll"


def spaced(name: str, enough: str, little: str) -> dict[str, str]:
    return {
        "wide": f"<p style='{name}: {enough} !important'>{TEXT}</p>",
        "last-wins": f"<p style='{name}: {little} !important; {name}: {enough} !important'>{TEXT}</p>",
        "important-wins": f"<p style='{name}: {enough} !important; {name}: {little}'>{TEXT}</p>",
        "not-important": f"<p style='{name}: {little}'>{TEXT}</p>",
        "by-sheet": f"<style>p{{{name}: {little} !important}}</style><p style='{name}: {enough}'>{TEXT}</p>",
        "inherited": f"<p style='{name}: {little}'><span style='{name}: inherit !important'>{TEXT}</span></p>",
        "hidden": f"<p style='display: none; {name}: {little} !important'>{TEXT}</p>",
        "away": f"<p style='position: absolute; top: -999em; {name}: {little} !important'>{TEXT}</p>",
        "empty": f"<p style='height: 20px; {name}: {little} !important'></p>",
        "of-a-picture": f"<p style='{name}: {little} !important'><svg width=20 height=20 aria-hidden=true></svg></p>",
        "overridden": f"<div style='{name}: {little} !important'><p style='{name}: {enough}'>{TEXT}</p></div>",
        "only-hidden-text": f"<div style='{name}: {little} !important'><p hidden>{TEXT}</p></div>",
    }


def framed(content: str, attributes: str = "tabindex=-1") -> str:
    return f'<iframe title=Frame {attributes} srcdoc="{content}"></iframe>'


LINK = "<a href='/'>Home</a>"
ALT = "image-alt"
VIEWPORT = "meta-viewport"
CELLS = "th-has-data-cells"
CAPTION = "table-fake-caption"
# A frame and an image without alternative text, and the dialogs before them.
BEHIND = f"<main>{framed('<img src=a.png>', '')}<img src=b.png></main>"
DIALOG = "<dialog id=d aria-label=News{}><p>Text</p></dialog>"
SHOWN = "<script>d.showModal()</script>"
TOP = "<tr><th>Name<th>Age<th>City"
HEAD = f"<thead>{TOP}</thead>"
ROWS = "<tbody><tr><td>Ann<td>31<td>Rome<tr><td>Bob<td>32<td>Bonn"


def viewport(content: str) -> str:
    return f"<meta name=viewport content='{content}'>"


GOOD: dict[tuple[str, str], str] = {
    **{(SPACING, f"letter-{name}"): body for name, body in spaced("letter-spacing", "0.15em", "0.1em").items()},
    **{(SPACING, f"word-{name}"): body for name, body in spaced("word-spacing", "0.2em", "0.1em").items()},
    **{
        (SPACING, f"line-{name}"): f"<div style='{NARROW}'>{body}</div>"
        for name, body in spaced("line-height", "2em", "1.3").items()
    },
    (SPACING, "line-single"): "<p style='line-height: 1em !important'>Short</p>",
    (FRAME, "no-tab-stop"): framed("<a href='/' tabindex='-1'>Home</a>"),
    (FRAME, "in-order"): framed(LINK, "tabindex=0"),
    (FRAME, "no-control"): framed("<h1>Hello</h1>"),
    (FRAME, "hidden"): framed(LINK, "tabindex=-1 hidden"),
    (FRAME, "tiny"): framed(LINK, "tabindex=-1 width=1 height=1"),
    (FRAME, "away"): framed(LINK, "tabindex=-1 style='position: absolute; left: -9999px'"),
    (FRAME, "hidden-control"): framed("<a href='/' style='visibility: hidden'>Home</a><button disabled>Go</button>"),
    (FRAME, "control-away"): framed("<a href='/' style='position: absolute; left: -9999px'>Home</a>"),
    (FRAME, "clear-control"): framed("<a href='/' style='opacity: 0'>Home</a>"),
    (SCROLLING, "tab-stop"): f"<section tabindex=0 style='{BOX}'><p>{TEXT * 9}</p></section>",
    (SCROLLING, "link"): f"<section style='{BOX}'><a href='/'>Home</a><p>{TEXT * 9}</p></section>",
    (SCROLLING, "inert"): f"<section inert style='{BOX}'><p>{TEXT * 9}</p></section>",
    (SCROLLING, "cut"): f"<section style='height: 95px; overflow: hidden'><p>{TEXT * 9}</p></section>",
    (SCROLLING, "spilling"): f"<section style='height: 95px'><p>{TEXT * 9}</p></section>",
    (
        SCROLLING,
        "empty",
    ): "<section style='height: 20px; overflow-x: scroll'><div style='width: 999px'></div></section>",
    (NAME, "same"): "<a href='/' aria-label='WCAG'>WCAG</a>",
    (NAME, "longer"): "<button aria-label='Next page in the list'>Next page</button>",
    (NAME, "abbreviated"): "<button aria-label='the full text'>The full…</button>",
    (NAME, "symbol"): "<button aria-label='close'>X</button>",
    (ALT, "behind-modal"): f"{BEHIND}{DIALOG.format('')}{SHOWN}",
    (ALT, "inert"): f"<div inert>{BEHIND}</div>",
    (VIEWPORT, "spaces"): viewport("width=device-width initial-scale=1 user-scalable=yes"),
    (VIEWPORT, "last-wins"): viewport("maximum-scale=1, maximum-scale=5"),
    (VIEWPORT, "negative"): viewport("user-scalable=-1, maximum-scale=-1"),
    (VIEWPORT, "device"): viewport("user-scalable=device-width; maximum-scale=device-height"),
    (CAPTION, "real"): f"<table><caption>A</caption><tr><td colspan=3>2025{TOP}{ROWS}</table>",
    (CAPTION, "calendar"): f"<table><tr><td colspan=3>May <a href='/june'>June</a>{TOP}{ROWS}</table>",
    (NAME, "digits"): "<a href='tel:123456' aria-label='1 2 3. 4 5 6'>123.456</a>",
}
BAD: dict[tuple[str, str], str] = {
    (SPACING, "letter"): f"<p style='letter-spacing: 0.1em !important'>{TEXT}</p>",
    (SPACING, "word"): f"<p style='word-spacing: 0.1em !important'>{TEXT}</p>",
    (SPACING, "line"): f"<p style='{NARROW}; line-height: 1.3 !important'>{TEXT}</p>",
    (SPACING, "of-a-child"): f"<div style='letter-spacing: 0.1em !important'><p>{TEXT}</p></div>",
    (SPACING, "partly"): f"<p style='word-spacing: 0 !important'><b style='word-spacing: 1em'>No</b> {TEXT}</p>",
    (FRAME, "link"): framed(LINK),
    (FRAME, "second-link"): framed(f"<a href='/' hidden>Home</a><p>{LINK}</p>"),
    (SCROLLING, "text"): f"<section style='{BOX}'><p>{TEXT * 9}</p></section>",
    (ALT, "beside-dialog"): f"{BEHIND}{DIALOG.format(' open')}",
    (ALT, "in-modal"): f"{DIALOG.format('').replace('<p>', framed('<img src=a.png>', '') + '<p>')}{SHOWN}",
    (VIEWPORT, "unknown-word"): viewport("user-scalable=invalid"),
    (VIEWPORT, "unknown-limit"): viewport("maximum-scale=invalid"),
    (VIEWPORT, "spaces"): viewport("width=device-width maximum-scale=1"),
    (VIEWPORT, "no"): viewport("width=device-width, user-scalable=no"),
    (CAPTION, "cells"): f"<table><tr><td colspan=3>People{TOP}{ROWS}</table>",
    (NAME, "other"): "<button aria-label='Proceed to payment'>Buy these shoes now</button>",
}
# Experimental rules of axe-core only warn.
UNCERTAIN = frozenset({NAME, CAPTION})
FOOTERS = {
    "repeated": f"<table>{HEAD}{ROWS}<tfoot><tr><th>Name<th>Age<th>City</table>",
    "totals": f"<table>{HEAD}{ROWS}<tfoot><tr><th>Total<th>63<th></table>",
}
MOST_FALSE_ALARMS = 0.01


def markup(body: str) -> str:
    return f"<!doctype html><html lang=en><head><title>Example</title></head><body>{body}</body></html>"


@pytest.fixture(scope="module")
def reports() -> Mapping[str, AxeReport]:
    footers = {(CELLS, name): table for name, table in FOOTERS.items()}
    pages = {"good": GOOD, "bad": BAD, "review": footers}
    return axe_reports({"/".join((kind, *key)): markup(each[key]) for kind, each in pages.items() for key in each}, {})


def judged(report: AxeReport, rule: str) -> str:
    check = next(each for each in checks(ScanType.ACCESSIBILITY) if each.id == rule)
    finding = axe_verdict(check, report)
    assert finding is not None
    return verdict(finding)


def test_good_pages_do_not_fail(reports: Mapping[str, AxeReport]) -> None:
    alarms = {key for key in GOOD if judged(reports["/".join(("good", *key))], key[0]) == "fail"}
    assert len(alarms) / len(GOOD) <= MOST_FALSE_ALARMS, alarms


def test_bad_pages_are_found(reports: Mapping[str, AxeReport]) -> None:
    found = {key: judged(reports["/".join(("bad", *key))], key[0]) for key in BAD}
    assert found == {key: "warn" if key[0] in UNCERTAIN else "fail" for key in BAD}


def test_good_pages_do_not_warn_where_a_rule_can_only_warn(reports: Mapping[str, AxeReport]) -> None:
    found = {key: judged(reports["/".join(("good", *key))], key[0]) for key in GOOD if key[0] == CAPTION}
    assert set(found.values()) <= {"pass", "n/a"}, found


def test_headers_that_a_footer_repeats_need_no_review(reports: Mapping[str, AxeReport]) -> None:
    assert judged(reports[f"review/{CELLS}/repeated"], CELLS) == "n/a"
    assert judged(reports[f"review/{CELLS}/totals"], CELLS) == "warn"
