"""Fix findings in the order of the report page, and compare the score with what the page promises.

A fix turns the results of a check into a pass, and the score is computed anew.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from website_scan.findings import Severity
from website_scan.report.cap_sentence import KINDS, NUMBERS
from website_scan.report.cards import CheckCard, points_text
from website_scan.report.mute_matching import NO_MUTES
from website_scan.report.muting import Muting
from website_scan.report.report_page import ReportPage, report_page
from website_scan.report.serialization import export_json
from website_scan.result import CategoryResult, ScanResult
from website_scan.scoring import Cap, evaluate, score
from website_scan.stored_data import StoredBasis

NOW = datetime(2026, 11, 21, 7, 15, tzinfo=UTC)
NEXT_CAP = re.compile(r"Then (\w+) (?:(\w+) )?findings? keeps? the score at (\d+)\.")
LASTING_CAP = re.compile(r"Then the score stays at (\d+), whatever else is fixed\.")
CAPPED = re.compile(r"(\w+) (?:\w+ )?findings? keeps? the score at (\d+)\.(?: Fixing (.+)\.)?")
STEP = re.compile(r"(and )?(.+?)(?: raises (?:it|the score))? to (\d+)")


def page_of(result: ScanResult) -> ReportPage:
    """Return the report page of a scan's result."""
    export = export_json(result, scan_id="scan_1", report_id="rpt_1", created_at=NOW, completed_at=NOW)
    return report_page(export, result.facts, muting=Muting(NO_MUTES, result.scoring, shows_rules=False, mute_url=""))


def assert_promises_come_true(result: ScanResult) -> None:
    """Fix all findings in the order of the page, and compare each score with the page's points and sentences."""
    assert result.scoring is not None
    page, caps = page_of(result), caps_of(result.scoring)
    cards = [card for category in page.categories for card in (*category.failed, *category.warned)]
    cards.sort(key=lambda card: card.priority)
    first = [card.id for card in page.first]
    assert first == [card.id for card in cards if card.is_first] == [card.id for card in cards[: len(first)]]
    scores = assert_steps_come_true(result.categories, caps, cards)
    assert scores[0] == result.score
    assert page.held in {"", *(cap.reason for cap in result.caps)} or CAPPED.fullmatch(page.held), page.held
    assert_raises_come_true(page.held, scores)
    if page.first_raise:
        *_, promised = page.first_raise.rstrip(".").split()
        assert int(promised) == scores[len(page.first)] > scores[0]
    else:
        assert scores[len(page.first)] == scores[0]


def assert_steps_come_true(
    categories: Sequence[CategoryResult], caps: Sequence[Cap], cards: Sequence[CheckCard]
) -> list[int]:
    """Compare the score after each fix with the points and the sentence of its card.

    Returns the scores, beginning with the score before the first fix.
    """
    exact, scores = evaluate(categories, caps).exact, [score(categories, caps).value]
    for card in cards:
        categories = fix(categories, card.id)
        before, exact = exact, evaluate(categories, caps).exact
        assert card.win == points_text(round(round(exact, 1) - round(before, 1), 1)), card.id
        scores.append(score(categories, caps).value)
        assert_next_cap_is_true(card.next_cap, categories, caps)
    return scores


def assert_next_cap_is_true(sentence: str, categories: Sequence[CategoryResult], caps: Sequence[Cap]) -> None:
    """Compare the sentence on the next cap with the caps of the score."""
    if not sentence:
        return
    scored = score(categories, caps)
    lowest = scored.held[0]
    assert score(categories, ()).value > scored.value == lowest.limit
    if lasting := LASTING_CAP.fullmatch(sentence):
        assert int(lasting[1]) == scored.value
        ids = [check.id for category in categories for check in category.checks]
        assert score(functools.reduce(fix, ids, categories), caps).value == scored.value
        return
    matched = NEXT_CAP.fullmatch(sentence)
    assert matched is not None, sentence
    number, kind, limit = matched.groups()
    counted = {
        check.id: check.severity
        for cap in scored.held
        if cap.limit == lowest.limit
        for check in cap.counted([check for category in categories for check in category.checks])
    }
    assert len(counted) == number_of(number)
    severities = {severity for severity in counted.values() if severity is not None}
    assert kind == (KINDS[severities.pop()] if len(severities) == 1 else None)
    assert int(limit) == scored.value


def assert_raises_come_true(sentence: str, scores: Sequence[int]) -> None:
    """Compare the sentence on the caps with the scores after fixing the findings one after the other."""
    matched = CAPPED.fullmatch(sentence)
    if matched is None:
        return
    number, limit, raises = matched.groups()
    count = number_of(number.lower())
    assert int(limit) == scores[0]
    before = fixed = 0
    for words in raises.split(", ") if raises else ():
        step = STEP.fullmatch(words)
        assert step is not None, sentence
        if step[1]:
            before, count = count, number_of(of[1]) if (of := re.search(r"of the (\w+)", step[2])) else 0
        label = re.sub(r"^the \w+ one$", "one", step[2]).split()
        whole = {"it": 1, "both": 2, "all": number_of(label[1]) if label[0] == "all" else 0}
        fixed = before + (whole[label[0]] if label[0] in whole else number_of(label[0]))
        assert scores[fixed] == int(step[3]), (sentence, scores)


def number_of(word: str) -> int:
    return NUMBERS.index(word) if word in NUMBERS else int(word)


def fix(categories: Sequence[CategoryResult], id: str) -> Sequence[CategoryResult]:
    """Return the categories after the check has passed."""
    return [
        replace(
            category,
            checks=tuple(
                replace(check, status="pass", severity=None, credit=None) if check.id == id else check
                for check in category.checks
            ),
        )
        for category in categories
    ]


def caps_of(stored: StoredBasis) -> list[Cap]:
    """Return the caps of a stored basis without their reasons."""
    return [
        Cap(limit, "", count, Severity(severity) if severity else None, frozenset(checks))
        for limit, count, severity, checks in stored["caps"]
    ]
