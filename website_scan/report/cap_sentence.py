"""Sentence in reports about findings whose caps lower the score.

It also gives the score after fixing them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from website_scan.findings import Severity
from website_scan.messages import agreeing
from website_scan.score_basis import CappedScore, CappingFailures, FixStep, RemainingCap, hold
from website_scan.stored_data import StoredBasis

MAX_FIX_STEPS = 3
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# A finding of severity high is called "serious".
KINDS = {Severity.CRITICAL: "critical", Severity.HIGH: "serious", Severity.MEDIUM: "medium", Severity.LOW: "low"}


def score_cap_sentence(
    stored: StoredBasis, reasons: Sequence[str], unfixed: Collection[str] = (), word: str = "muted"
) -> str:
    """Return a sentence about findings whose caps lower the score.

    Empty if no cap lowers the rounded score.

    `reasons` are the reasons of the caps that lowered the score. Findings of the checks `unfixed` will not be fixed,
    because they are muted or accepted: `word` is "muted" or "accepted".
    """
    cap = hold(stored, unfixed)
    if cap is None:
        return ""
    if cap.lasting is not None and not cap.steps:
        return reasons[cap.lasting]
    first = cap.groups[0]
    subject = f"{_number_word(first.count).capitalize()} {_findings(first)}"
    subject += _unfixed_phrase(first.count, cap.spared, word)
    steps = ", ".join(_step_phrases(cap))
    sentence = f"{subject} {agreeing(first.count, 'keeps', 'keep')} the score at {cap.value}."
    return f"{sentence} Fixing {steps}." if steps else sentence


def next_cap_sentence(cap: RemainingCap, word: str = "muted") -> str:
    """Return a sentence about the cap that lowers the score after a fix.

    `word` is as in `score_cap_sentence`.
    """
    if cap.failures is None:
        return f"Then the score stays at {cap.value}, whatever else is fixed."
    count = cap.failures.count
    subject = f"{_number_word(count)} {_findings(cap.failures)}{_unfixed_phrase(count, cap.unfixed, word)}"
    return f"Then {subject} {agreeing(count, 'keeps', 'keep')} the score at {cap.value}."


def raise_sentence(score: int | None, steps: Sequence[FixStep]) -> str:
    """Return a sentence with the score after the first fixes, such as "Fixing both raises the score to 57."

    Empty if they do not raise it.
    """
    if score is None or not steps or steps[-1].score <= score:
        return ""
    fixed = "it" if len(steps) == 1 else _fixed_count_words(len(steps), len(steps))
    return f"Fixing {fixed} raises the score to {steps[-1].score}."


def _findings(group: CappingFailures) -> str:
    kind = f"{KINDS[group.severity]} " if group.severity else ""
    return kind + agreeing(group.count, "finding", "findings")


def _unfixed_phrase(count: int, unfixed: int, word: str) -> str:
    if not unfixed:
        return ""
    if unfixed < count:
        return f", {_number_word(unfixed)} of them {word},"
    return f" ({word})" if count == 1 else f", {'both' if count == 2 else 'all'} {word},"


def _step_phrases(cap: CappedScore) -> Iterator[str]:
    """Yield phrases about the score after each fix.

    Examples are "one raises it to 69" and then "two to 79".
    """
    last_group: CappingFailures | None = None
    for step in cap.steps[:MAX_FIX_STEPS]:
        group, fixed = _group_of_last_fix(cap.groups, step.fixed)
        if group is cap.groups[0] and group.count == 1:
            label = "it"
        elif group is cap.groups[0] or group is last_group:
            label = _fixed_count_words(fixed, group.count)
        else:
            label = f"and {_first_mention_of_group(group, fixed)}"
        verb = f" raises {'the score' if label == 'it' else 'it'}" if last_group is None else ""
        last_group = group
        yield f"{label}{verb} to {step.score}"


def _group_of_last_fix(groups: Sequence[CappingFailures], fixed: int) -> tuple[CappingFailures, int]:
    """Return the group of the last fixed finding.

    The second value is the number of fixed findings in the group.
    """
    for group in groups:
        if fixed <= group.count:
            return group, fixed
        fixed -= group.count
    raise ValueError("more are fixed than there are")


def _fixed_count_words(fixed: int, count: int) -> str:
    if fixed < count or count == 1:
        return _number_word(fixed)
    return "both" if count == 2 else f"all {_number_word(count)}"


def _first_mention_of_group(group: CappingFailures, fixed: int) -> str:
    """Return words for a group's fixed findings at its first mention."""
    kind = KINDS[group.severity] if group.severity else "other"
    if group.count == 1:
        return f"the {kind} one"
    if fixed == group.count:
        return f"{_fixed_count_words(fixed, group.count)} {kind} ones"
    return f"{_number_word(fixed)} of the {_number_word(group.count)} {kind} ones"


def _number_word(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)
