"""Tests for the sentence about findings that cap a score."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.results import check_of
from website_scan.catalogue import caps
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, ScanType, Severity
from website_scan.report.cap_sentence import score_cap_sentence
from website_scan.result import CategoryResult, CheckResult
from website_scan.score_basis import basis
from website_scan.scoring import Cap, score

SECURITY, PERFORMANCE, ACCESSIBILITY, SEO = (
    [cap for cap in caps(scan_type) if not (cap.is_static or cap.is_unseen or cap.is_unjudged)]
    for scan_type in ScanType
)
STATIC = Cap(96, "Judged without a browser, so at most an A.", count=0)
UNSEEN = Cap(79, "The page's content was not judged, so at most a C.", count=0)


def failed_check(*severities: Severity, ids: Sequence[str] = ()) -> list[CheckResult]:
    names = ids or [f"{severity}-{n}" for n, severity in enumerate(severities)]
    return [
        check_of(id, id, id, "fail", severity, severity, "Seen.")
        for id, severity in zip(names, severities, strict=True)
    ]


def category_with(checks: Sequence[CheckResult], passed: int) -> list[CategoryResult]:
    """Return a category with `checks`.

    It also has a number of passed critical checks.
    """
    passes = [check_of(f"p{n}", "P", "P", "pass", None, CRITICAL, "Fine.") for n in range(passed)]
    return [CategoryResult("c", "C", 1, (*checks, *passes))]


def cap_sentence(
    checks: Sequence[CheckResult],
    limits: Sequence[Cap],
    passed: int = 60,
    spared: Sequence[str] = (),
    word: str = "muted",
) -> str:
    categories = category_with(checks, passed)
    reasons = [cap.reason for cap in score(categories, limits).held]
    return score_cap_sentence(basis(categories, limits), reasons, spared, word)


@pytest.mark.parametrize(
    ("severities", "limits", "passed", "sentence"),
    [
        (
            [HIGH] * 4,
            SECURITY,
            60,
            "Four serious findings keep the score at 59. Fixing one raises it to 69, two to 79, three to 89.",
        ),
        # Without caps, the score would be 65, then 71, then 77.
        (
            [HIGH] * 4 + [MEDIUM] * 3,
            SECURITY,
            6,
            "Four serious findings keep the score at 59. Fixing one raises it to 69, two to 77.",
        ),
        (
            [HIGH] * 6,
            SECURITY,
            60,
            "Six serious findings keep the score at 59. Fixing three raises it to 69, four to 79, five to 89.",
        ),
        ([HIGH], SECURITY, 60, "One serious finding keeps the score at 89. Fixing it raises the score to 100."),
        (
            [HIGH] * 2,
            SECURITY,
            60,
            "Two serious findings keep the score at 79. Fixing one raises it to 89, both to 100.",
        ),
        ([CRITICAL], SECURITY, 60, "One critical finding keeps the score at 49. Fixing it raises the score to 100."),
        ([CRITICAL] * 2, SECURITY, 60, "Two critical findings keep the score at 49. Fixing both raises it to 100."),
        ([CRITICAL] * 12, SECURITY, 60, "12 critical findings keep the score at 49. Fixing all 12 raises it to 100."),
        (
            [CRITICAL, HIGH],
            SECURITY,
            60,
            "One critical finding keeps the score at 49. Fixing it raises the score to 89, and the serious one to 100.",
        ),
        (
            [CRITICAL] * 2 + [HIGH] * 4,
            SECURITY,
            60,
            "Two critical findings keep the score at 49. Fixing both raises it to 59, and one of the four serious ones"
            " to 69, two to 79.",
        ),
        (
            [CRITICAL] + [HIGH] * 2,
            PERFORMANCE,
            60,
            "One critical finding keeps the score at 79. Fixing it raises the score to 89, and one of the two serious"
            " ones to 99.",
        ),
        (
            [CRITICAL],
            ACCESSIBILITY,
            60,
            "One critical finding keeps the score at 89. Fixing it raises the score to 100.",
        ),
        (
            [CRITICAL] * 3,
            ACCESSIBILITY,
            60,
            "Three critical findings keep the score at 79. Fixing one raises it to 89, all three to 100.",
        ),
        # These caps cannot be removed, so the sentence ends at their limit or reason.
        ([LOW], [STATIC], 60, "Judged without a browser, so at most an A."),
        (
            [CRITICAL],
            [*ACCESSIBILITY, STATIC],
            60,
            "One critical finding keeps the score at 89. Fixing it raises the score to 96.",
        ),
        ([CRITICAL], [*ACCESSIBILITY, UNSEEN], 60, "The page's content was not judged, so at most a C."),
        ([CRITICAL] * 3, [*ACCESSIBILITY, UNSEEN], 60, "The page's content was not judged, so at most a C."),
        # Without caps, the score is below the limits.
        ([MEDIUM] * 4, SECURITY, 60, ""),
        ([CRITICAL] * 2, SECURITY, 1, ""),
    ],
)
def test_sentence_states_scores_after_fixes(
    severities: list[Severity], limits: list[Cap], passed: int, sentence: str
) -> None:
    assert cap_sentence(failed_check(*severities), limits, passed) == sentence


def test_is_indexable_cap_counts_only_its_finding() -> None:
    checks = failed_check(CRITICAL, HIGH, ids=("is-indexable", "title"))
    assert cap_sentence(checks, SEO) == "One critical finding keeps the score at 40. Fixing it raises the score to 99."


def test_ineffective_cap_has_no_sentence() -> None:
    checks = failed_check(*[HIGH] * 4)
    free = score(category_with(checks, 4), ())
    limit = Cap(free.value, "Four.", severity=HIGH, count=4)
    # The cap lowers the score of 62.5 by half a point, as rounding does.
    assert [cap.limit for cap in score(category_with(checks, 4), [limit]).held] == [free.value] == [62]
    assert cap_sentence(checks, [limit], 4) == ""


@pytest.mark.parametrize(
    ("severities", "spared", "sentence"),
    [
        (
            [HIGH] * 4,
            1,
            "Four serious findings, one of them muted, keep the score at 59. Fixing one raises it to 69, two to 79,"
            " three to 89.",
        ),
        (
            [HIGH] * 4,
            3,
            "Four serious findings, three of them muted, keep the score at 59. Fixing one raises it to 69.",
        ),
        ([HIGH] * 4, 4, "Four serious findings, all muted, keep the score at 59."),
        ([CRITICAL] * 2, 2, "Two critical findings, both muted, keep the score at 49."),
        ([CRITICAL] * 2, 1, "Two critical findings, one of them muted, keep the score at 49."),
        ([CRITICAL], 1, "One critical finding (muted) keeps the score at 49."),
        ([CRITICAL, HIGH, HIGH], 1, "One critical finding (muted) keeps the score at 49."),
    ],
)
def test_sentence_mentions_muted_findings(severities: list[Severity], spared: int, sentence: str) -> None:
    checks = failed_check(*severities)
    assert cap_sentence(checks, SECURITY, spared=[check.id for check in checks[:spared]]) == sentence


def test_baseline_sentence_says_accepted() -> None:
    assert cap_sentence(failed_check(CRITICAL), SECURITY, spared=["critical-0"], word="accepted") == (
        "One critical finding (accepted) keeps the score at 49."
    )


@given(
    st.lists(st.sampled_from(Severity), max_size=12),
    st.integers(0, 60),
    st.sampled_from((SECURITY, PERFORMANCE, ACCESSIBILITY)),
    st.sampled_from(((), (STATIC,), (UNSEEN,), (UNSEEN, STATIC))),
)
def test_sentence_appears_if_a_cap_lowers_score(
    severities: list[Severity], passed: int, limits: list[Cap], more: tuple[Cap, ...]
) -> None:
    categories = category_with(failed_check(*severities), passed)
    scored = score(categories, (*limits, *more))
    stored = basis(categories, (*limits, *more))
    sentence = score_cap_sentence(stored, [cap.reason for cap in scored.held])
    assert bool(sentence) is (scored.value < score(categories, ()).value)
