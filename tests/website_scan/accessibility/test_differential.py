"""The static rules compared with axe-core: both judge each page of the corpus. All disagreements are listed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.targets.server import Answer
from tests.website_scan.accessibility.corpus import FILES, PAGES
from tests.website_scan.accessibility.in_chromium import axe_reports
from tests.website_scan.accessibility.static import static_findings
from tests.website_scan.cast import verdict
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.outcomes import Verdict, Warn

# One worker runs all of these tests, because the reports are made once: in about 15 seconds, more under load.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("differential")]

LEAST_AGREEMENT = 0.97
NOTHING = frozenset({"pass", "n/a", "inapplicable"})
# For each verdict of the static rule: the results of axe-core that agree with it.
AGREEING = {
    "fail": {"violation"},
    "warn": {"violation", "incomplete"},
    "pass": {"pass", "inapplicable", "incomplete"},
    "n/a": {"pass", "inapplicable", "incomplete"},
}

FRAMES = "What is in a frame is another document, which only a browser gets."
SHELL = "A page without any text is built by scripts, so that nothing can be missed in it yet."
AT_SOME_WIDTHS = "A rule in @media hides it at some widths, such as that of the screen here; at others it is seen."
COVERING = "axe-core takes what covers the screen for a dialog; by its markup it is none."
BY_CLASS = "Its class speaks of a style sheet that hides it; here none does."
HIDING_CLASS = "Its class and text are those of a link that is out of sight, as axe-core wants it; here it is seen."
LETTERS = "axe-core tells Refresh from refresh; browsers do not, and go to the other page."
# (page, rule) → (static, axe-core, reason). The list is exact.
DISAGREEMENTS: dict[tuple[str, str], tuple[str, str, str]] = {
    ("dialogs/behind-tab-order", "landmark-one-main"): ("warn", "pass", COVERING),
    ("dialogs/behind-tab-order", "page-has-heading-one"): ("warn", "pass", COVERING),
    ("dialogs/behind-tab-order", "region"): ("n/a", "violation", BY_CLASS),
    ("docs/wiki-jump", "skip-link"): ("warn", "inapplicable", HIDING_CLASS),
    ("docs/wiki-neglected", "skip-link"): ("warn", "inapplicable", HIDING_CLASS),
    ("layouts/responsive", "image-alt"): ("warn", "pass", AT_SOME_WIDTHS),
    ("layouts/responsive", "link-name"): ("warn", "pass", AT_SOME_WIDTHS),
    ("layouts/shell", "landmark-one-main"): ("n/a", "violation", SHELL),
    ("layouts/shell", "page-has-heading-one"): ("n/a", "violation", SHELL),
    ("legacy/bureau", "meta-refresh"): ("fail", "inapplicable", LETTERS),
    ("legacy/frameset", "landmark-one-main"): ("n/a", "violation", FRAMES),
    ("legacy/frameset", "page-has-heading-one"): ("n/a", "violation", FRAMES),
    ("media/video-page-in-frame", "image-alt"): ("n/a", "violation", FRAMES),
    ("navigation/drawer-focus-inside", "aria-hidden-focus"): ("pass", "violation", BY_CLASS),
}

# Pages where axe-core asks a person because an element that only looks like a dialog covers the screen.
UNSEEN_DIALOGS = {
    ("dialogs/behind-tab-order", "aria-hidden-focus"),
    ("dialogs/behind-tabbable-with-dialog", "aria-hidden-focus"),
}
# Rules that never fail in axe-core, because it asks a person to look.
ONLY_FOR_REVIEW = frozenset(
    {"aria-braille-equivalent", "bypass", "duplicate-id-aria", "form-field-multiple-labels"}
    | {"identical-links-same-purpose", "no-autoplay-audio"}
    | {"server-side-image-map", "th-has-data-cells", "video-caption"}
)
# Of these, the rule that is either for review or inapplicable.
NEVER_PASSED = frozenset({"server-side-image-map"})


@pytest.fixture(scope="module")
def reports() -> dict[str, AxeReport]:
    others = {path: Answer(content, headers={"Content-Type": kind}) for path, (kind, content) in FILES.items()}
    return axe_reports(PAGES, others)


@cache
def findings(name: str) -> Mapping[str, Verdict]:
    return static_findings(PAGES[name])


def static_verdicts(name: str) -> Mapping[str, str]:
    """Return rule → pass, warn, fail or n/a, from the markup alone."""
    return {rule: verdict(finding) for rule, finding in findings(name).items()}


def axe_verdict(report: AxeReport, rule: str) -> str:
    if rule in report.violations:
        return "violation"
    if rule in report.incomplete:
        return "incomplete"
    if rule in report.passes:
        return "pass"
    assert rule in report.inapplicable, f"axe-core does not speak of {rule}"
    return "inapplicable"


def pairs(reports: Mapping[str, AxeReport]) -> Iterator[tuple[str, str, str, str]]:
    """Yield page, rule, the static rule's verdict and axe-core's."""
    for name, report in reports.items():
        for rule, static in static_verdicts(name).items():
            yield name, rule, static, axe_verdict(report, rule)


def test_the_corpus_is_large_and_its_pages_differ() -> None:
    assert len(PAGES) >= 150
    assert len(set(PAGES.values())) == len(PAGES)


def test_static_rules_and_axe_agree_but_for_what_is_listed(reports: Mapping[str, AxeReport]) -> None:
    found: dict[tuple[str, str], tuple[str, str]] = {}
    total = judged = 0
    for name, rule, static, axe in pairs(reports):
        total += 1
        # Agreement where neither finds anything is trivial.
        judged += not {static, axe} <= NOTHING
        if axe not in AGREEING[static]:
            found[name, rule] = (static, axe)
    agreement, plain = 1 - len(found) / judged, 1 - len(found) / total
    figures = f"{agreement:.2%} of {judged} pairs in which one finds something, {plain:.3%} of all {total}"
    listed = {pair: (static, axe) for pair, (static, axe, _) in DISAGREEMENTS.items()}
    assert found == listed, f"{figures}; new: {found.items() - listed.items()}; gone: {listed.items() - found.items()}"
    assert agreement >= LEAST_AGREEMENT, figures


def test_what_axe_leaves_to_people_weighs_nothing_without_a_browser_either(reports: Mapping[str, AxeReport]) -> None:
    heavy = {
        (name, rule)
        for name, report in reports.items()
        for rule in report.incomplete
        if isinstance(findings(name).get(rule), Warn)
    }
    assert heavy == UNSEEN_DIALOGS


def test_every_static_rule_is_broken_and_kept_somewhere(reports: Mapping[str, AxeReport]) -> None:
    seen: dict[str, set[str]] = {}
    for _, rule, _, axe in pairs(reports):
        seen.setdefault(rule, set()).add(axe)
    assert {rule for rule in seen if "violation" not in seen[rule]} == ONLY_FOR_REVIEW
    assert {rule for rule in ONLY_FOR_REVIEW if "incomplete" not in seen[rule]} == set()
    assert {rule for rule in seen if "pass" not in seen[rule]} == NEVER_PASSED


def test_the_catalogue_has_every_rule_of_axe_and_no_other(reports: Mapping[str, AxeReport]) -> None:
    ours = {each.id for each in checks(ScanType.ACCESSIBILITY)} - {"accessibility-blank-page"}  # axe-core judges none
    for name, report in reports.items():
        told = report.violations.keys() | report.incomplete.keys() | report.passes | report.inapplicable
        assert told == ours, name


def test_all_of_each_page_was_judged(reports: Mapping[str, AxeReport]) -> None:
    assert reports.keys() == PAGES.keys()
    assert {report.version for report in reports.values()} == {"4.12.1"}
    assert {name: report.frames_left_out for name, report in reports.items() if report.frames_left_out} == {}
