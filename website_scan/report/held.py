"""Sentence on what holds a score under a cap, and what the score is once the top-priority findings are fixed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from website_scan.findings import Severity
from website_scan.messages import agreeing
from website_scan.score_basis import Hold, Holders, hold
from website_scan.stored_data import StoredBasis

MOST_STEPS = 3
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
# In a sentence, findings of high severity are serious.
KINDS = {Severity.CRITICAL: "critical", Severity.HIGH: "serious", Severity.MEDIUM: "medium", Severity.LOW: "low"}


def held(stored: StoredBasis, reasons: Sequence[str], spared: Collection[str] = (), word: str = "muted") -> str:
    """Return the sentence for the basis of a score; empty if no cap lowers the score visibly.

    `reasons` are those of the caps that lowered it. Checks with IDs in `spared` stay as they are; `word` says how.
    """
    found = hold(stored, spared)
    if found is None:
        return ""
    if found.lasting is not None and not found.steps:
        return reasons[found.lasting]
    first = found.groups[0]
    subject = f"{_number(first.count).capitalize()} {_findings(first)}{_spared(found, word)}"
    steps = ", ".join(_steps(found))
    then = f"; fix {steps}" if steps else ""
    return f"{subject} {agreeing(first.count, 'holds', 'hold')} the score at {found.value}{then}."


def _findings(group: Holders) -> str:
    kind = f"{KINDS[group.severity]} " if group.severity else ""
    return kind + agreeing(group.count, "finding", "findings")


def _spared(found: Hold, word: str) -> str:
    count = found.groups[0].count
    if not found.spared:
        return ""
    if found.spared < count:
        return f", {_number(found.spared)} of them {word},"
    return f" ({word})" if count == 1 else f", {'both' if count == 2 else 'all'} {word},"


def _steps(found: Hold) -> Iterator[str]:
    """Yield how many to fix and the score that it leads to, such as `one: 69`."""
    told: Holders | None = None
    for step in found.steps[:MOST_STEPS]:
        group, fixed = _in_group(found.groups, step.fixed)
        if group is found.groups[0] and group.count == 1:
            label = "it"
        elif group is found.groups[0] or group is told:
            label = _part(fixed, group.count)
        else:
            label = f"and {_first_of(group, fixed)}"
        told = group
        yield f"{label}: {step.score}"


def _in_group(groups: Sequence[Holders], fixed: int) -> tuple[Holders, int]:
    """Return the group of the last one fixed, and how many of that group are."""
    for group in groups:
        if fixed <= group.count:
            return group, fixed
        fixed -= group.count
    raise ValueError("more are fixed than there are")


def _part(fixed: int, count: int) -> str:
    if fixed < count or count == 1:
        return _number(fixed)
    return "both" if count == 2 else f"all {_number(count)}"


def _first_of(group: Holders, fixed: int) -> str:
    """Return how many of a group are fixed, at its first mention."""
    kind = KINDS[group.severity] if group.severity else "other"
    if group.count == 1:
        return f"the {kind} one"
    if fixed == group.count:
        return f"{_part(fixed, group.count)} {kind} ones"
    return f"{_number(fixed)} of the {_number(group.count)} {kind} ones"


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)
