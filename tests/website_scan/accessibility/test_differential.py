"""Compare the static rules with axe-core on all corpus pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.targets.server import Answer
from tests.website_scan.accessibility.corpus import FILES, PAGES
from tests.website_scan.accessibility.in_chromium import axe_reports
from tests.website_scan.accessibility.static import axe_checks, static_findings
from tests.website_scan.cast import verdict
from website_scan.browser.evidence import AxeReport
from website_scan.outcomes import Verdict, Warn

# One pytest worker runs all tests, because the axe-core reports take about 15 seconds.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("differential")]

MIN_AGREEMENT = 0.97
RESULTS_WITHOUT_FAULT = frozenset({"pass", "n/a", "inapplicable"})
# axe-core results that agree with a static verdict.
AGREEING_RESULTS = {
    "fail": {"violation"},
    "warn": {"violation", "incomplete"},
    "pass": {"pass", "inapplicable", "incomplete"},
    "n/a": {"pass", "inapplicable", "incomplete"},
}

FRAMES = "What is in a frame is another document, which only a browser gets."
SHELL = "A page without any text is built by scripts, so that nothing can be missed in it yet."
REASON_RESPONSIVE_LAYOUT = (
    "A rule in @media hides it at some widths, such as that of the screen here; at others it is seen."
)
COVERING = "axe-core takes what covers the screen for a dialog; by its markup it is none."
REASON_HIDDEN_BY_CLASS = "Its class speaks of a style sheet that hides it; here none does."
REASON_HIDING_CLASS = (
    "Its class and text are those of a link that is out of sight, as axe-core wants it; here it is seen."
)
LETTERS = "axe-core tells Refresh from refresh; browsers do not, and go to the other page."
# Complete list of known disagreements: (page, rule) → (static verdict, axe-core result, reason).
DISAGREEMENTS: dict[tuple[str, str], tuple[str, str, str]] = {
    ("dialogs/behind-tab-order", "landmark-one-main"): ("warn", "pass", COVERING),
    ("dialogs/behind-tab-order", "page-has-heading-one"): ("warn", "pass", COVERING),
    ("dialogs/behind-tab-order", "region"): ("n/a", "violation", REASON_HIDDEN_BY_CLASS),
    ("docs/wiki-jump", "skip-link"): ("warn", "inapplicable", REASON_HIDING_CLASS),
    ("docs/wiki-neglected", "skip-link"): ("warn", "inapplicable", REASON_HIDING_CLASS),
    ("layouts/responsive", "image-alt"): ("warn", "pass", REASON_RESPONSIVE_LAYOUT),
    ("layouts/responsive", "link-name"): ("warn", "pass", REASON_RESPONSIVE_LAYOUT),
    ("layouts/shell", "landmark-one-main"): ("n/a", "violation", SHELL),
    ("layouts/shell", "page-has-heading-one"): ("n/a", "violation", SHELL),
    ("legacy/bureau", "meta-refresh"): ("fail", "inapplicable", LETTERS),
    ("legacy/frameset", "landmark-one-main"): ("n/a", "violation", FRAMES),
    ("legacy/frameset", "page-has-heading-one"): ("n/a", "violation", FRAMES),
    ("media/video-page-in-frame", "image-alt"): ("n/a", "violation", FRAMES),
    ("navigation/drawer-focus-inside", "aria-hidden-focus"): ("pass", "violation", REASON_HIDDEN_BY_CLASS),
}

# These results are incomplete, because an element like a dialog covers the screen.
FALSE_DIALOG_RESULTS = {
    ("dialogs/behind-tab-order", "aria-hidden-focus"),
    ("dialogs/behind-tabbable-with-dialog", "aria-hidden-focus"),
}
# Rules that axe-core never reports as violated, only as incomplete.
REVIEW_ONLY_RULES = frozenset(
    {"aria-braille-equivalent", "bypass", "duplicate-id-aria", "form-field-multiple-labels"}
    | {"identical-links-same-purpose", "no-autoplay-audio"}
    | {"server-side-image-map", "th-has-data-cells", "video-caption"}
)
# Rules of `REVIEW_ONLY_RULES` that axe-core never reports as passed.
NEVER_PASSED_RULES = frozenset({"server-side-image-map"})


@pytest.fixture(scope="module")
def reports() -> dict[str, AxeReport]:
    files = {path: Answer(content, headers={"Content-Type": kind}) for path, (kind, content) in FILES.items()}
    return axe_reports(PAGES, files)


@cache
def findings(name: str) -> Mapping[str, Verdict]:
    return static_findings(PAGES[name])


def static_verdicts(name: str) -> Mapping[str, str]:
    """Return the static verdicts of a page by rule ID."""
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


def verdict_pairs(reports: Mapping[str, AxeReport]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the static verdict and the axe-core result of every rule."""
    for name, report in reports.items():
        for rule, static in static_verdicts(name).items():
            yield name, rule, static, axe_verdict(report, rule)


def test_corpus_has_at_least_150_different_pages() -> None:
    assert len(PAGES) >= 150
    assert len(set(PAGES.values())) == len(PAGES)


def test_static_rules_agree_with_axe(reports: Mapping[str, AxeReport]) -> None:
    disagreements: dict[tuple[str, str], tuple[str, str]] = {}
    total = judged = 0
    for name, rule, static, axe in verdict_pairs(reports):
        total += 1
        # If neither result is a fault, their agreement is trivial.
        judged += not {static, axe} <= RESULTS_WITHOUT_FAULT
        if axe not in AGREEING_RESULTS[static]:
            disagreements[name, rule] = (static, axe)
    agreement, overall_agreement = 1 - len(disagreements) / judged, 1 - len(disagreements) / total
    figures = f"{agreement:.2%} of {judged} pairs in which one finds something, {overall_agreement:.3%} of all {total}"
    listed = {pair: (static, axe) for pair, (static, axe, _) in DISAGREEMENTS.items()}
    assert disagreements == listed, (
        f"{figures}; new: {disagreements.items() - listed.items()}; gone: {listed.items() - disagreements.items()}"
    )
    assert agreement >= MIN_AGREEMENT, figures


def test_incomplete_axe_result_has_no_static_warning(reports: Mapping[str, AxeReport]) -> None:
    warnings = {
        (name, rule)
        for name, report in reports.items()
        for rule in report.incomplete
        if isinstance(findings(name).get(rule), Warn)
    }
    assert warnings == FALSE_DIALOG_RESULTS


def test_corpus_covers_every_static_rule(reports: Mapping[str, AxeReport]) -> None:
    results_by_rule: dict[str, set[str]] = {}
    for _, rule, _, axe in verdict_pairs(reports):
        results_by_rule.setdefault(rule, set()).add(axe)
    assert {rule for rule in results_by_rule if "violation" not in results_by_rule[rule]} == REVIEW_ONLY_RULES
    assert {rule for rule in REVIEW_ONLY_RULES if "incomplete" not in results_by_rule[rule]} == set()
    assert {rule for rule in results_by_rule if "pass" not in results_by_rule[rule]} == NEVER_PASSED_RULES


def test_catalogue_has_exactly_the_rules_of_axe(reports: Mapping[str, AxeReport]) -> None:
    catalogue_ids = {check.id for check in axe_checks()}
    for name, report in reports.items():
        reported = report.violations.keys() | report.incomplete.keys() | report.passes | report.inapplicable
        assert reported == catalogue_ids, name


def test_axe_judged_all_pages_with_all_frames(reports: Mapping[str, AxeReport]) -> None:
    assert reports.keys() == PAGES.keys()
    assert {report.version for report in reports.values()} == {"4.12.1"}
    assert {name: report.untested_frames for name, report in reports.items() if report.untested_frames} == {}
