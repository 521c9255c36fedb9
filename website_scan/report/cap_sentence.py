"""Sentence on the findings that keep a score under a cap, and on the score after fixing the first of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from website_scan.findings import Severity
from website_scan.messages import agreeing
from website_scan.score_basis import CappingFailures, Hold, hold
from website_scan.stored_data import StoredBasis

MOST_STEPS = 3
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# Adjectives for findings by severity. Findings of high severity are "serious".
KINDS = {Severity.CRITICAL: "critical", Severity.HIGH: "serious", Severity.MEDIUM: "medium", Severity.LOW: "low"}


def score_cap_sentence(
    stored: StoredBasis, reasons: Sequence[str], unfixed: Collection[str] = (), word: str = "muted"
) -> str:
    """Return the sentence for the basis of a score; empty if no cap lowers the score visibly.

    `reasons` are the reasons of the caps that lowered the score. Findings of the checks `unfixed` will not be fixed,
    because they are muted or accepted: `word` is "muted" or "accepted".
    """
    cap = hold(stored, unfixed)
    if cap is None:
        return ""
    if cap.lasting is not None and not cap.steps:
        return reasons[cap.lasting]
    first = cap.groups[0]
    subject = f"{_number(first.count).capitalize()} {_findings(first)}{_unfixed_words(cap, word)}"
    steps = ", ".join(_steps(cap))
    sentence = f"{subject} {agreeing(first.count, 'keeps', 'keep')} the score at {cap.value}."
    return f"{sentence} Fixing {steps}." if steps else sentence


def _findings(group: CappingFailures) -> str:
    kind = f"{KINDS[group.severity]} " if group.severity else ""
    return kind + agreeing(group.count, "finding", "findings")


def _unfixed_words(cap: Hold, word: str) -> str:
    count = cap.groups[0].count
    if not cap.spared:
        return ""
    if cap.spared < count:
        return f", {_number(cap.spared)} of them {word},"
    return f" ({word})" if count == 1 else f", {'both' if count == 2 else 'all'} {word},"


def _steps(cap: Hold) -> Iterator[str]:
    """Yield the number of findings to fix and the resulting score: "one raises it to 69", then "two to 79"."""
    last_group: CappingFailures | None = None
    for step in cap.steps[:MOST_STEPS]:
        group, fixed = _in_group(cap.groups, step.fixed)
        if group is cap.groups[0] and group.count == 1:
            label = "it"
        elif group is cap.groups[0] or group is last_group:
            label = _fixed_part(fixed, group.count)
        else:
            label = f"and {_first_mention(group, fixed)}"
        verb = f" raises {'the score' if label == 'it' else 'it'}" if last_group is None else ""
        last_group = group
        yield f"{label}{verb} to {step.score}"


def _in_group(groups: Sequence[CappingFailures], fixed: int) -> tuple[CappingFailures, int]:
    """Return the group of the last fixed finding, and how many findings of that group are fixed."""
    for group in groups:
        if fixed <= group.count:
            return group, fixed
        fixed -= group.count
    raise ValueError("more are fixed than there are")


def _fixed_part(fixed: int, count: int) -> str:
    if fixed < count or count == 1:
        return _number(fixed)
    return "both" if count == 2 else f"all {_number(count)}"


def _first_mention(group: CappingFailures, fixed: int) -> str:
    """Return in words how many findings of a group are fixed, where the sentence first mentions the group."""
    kind = KINDS[group.severity] if group.severity else "other"
    if group.count == 1:
        return f"the {kind} one"
    if fixed == group.count:
        return f"{_fixed_part(fixed, group.count)} {kind} ones"
    return f"{_number(fixed)} of the {_number(group.count)} {kind} ones"


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)
