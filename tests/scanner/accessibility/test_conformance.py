"""Browser verdicts on pages like those of the W3C's rules (ACT) on which axe-core alone was wrong.

Each page is a rule, a name and a body. The rule must find nothing in the good pages, and something in the bad ones.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from scanner.accessibility.axe import axe_verdict
from scanner.browser.evidence import AxeReport
from scanner.catalogue import checks
from scanner.findings import ScanType
from tests.scanner.accessibility.in_chromium import axe_reports
from tests.scanner.cast import verdict

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
    (NAME, "other"): "<button aria-label='Proceed to payment'>Buy these shoes now</button>",
}
MOST_FALSE_ALARMS = 0.01


def markup(body: str) -> str:
    return f"<!doctype html><html lang=en><head><title>Example</title></head><body>{body}</body></html>"


@pytest.fixture(scope="module")
def reports() -> Mapping[str, AxeReport]:
    return axe_reports({"/".join(key): markup(body) for key, body in (GOOD | BAD).items()}, {})


def judged(report: AxeReport, rule: str) -> str:
    check = next(each for each in checks(ScanType.ACCESSIBILITY) if each.id == rule)
    finding = axe_verdict(check, report)
    assert finding is not None
    return verdict(finding)


def test_good_pages_do_not_fail(reports: Mapping[str, AxeReport]) -> None:
    alarms = {key for key in GOOD if judged(reports["/".join(key)], key[0]) == "fail"}
    assert len(alarms) / len(GOOD) <= MOST_FALSE_ALARMS, alarms


def test_bad_pages_are_found(reports: Mapping[str, AxeReport]) -> None:
    found = {key: judged(reports["/".join(key)], key[0]) for key in BAD}
    assert found == {key: "warn" if key[0] == NAME else "fail" for key in BAD}
