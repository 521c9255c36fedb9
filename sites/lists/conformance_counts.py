"""Counts of the sites of a list's run on which each success criterion fails or needs review.

They are added up while results are counted, so that a page need not read the results of all sites.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from msgspec import Struct

from sites.models.site_list import ConformanceCounts, CriterionCounts, empty_criterion_counts
from website_scan.accessibility.standards import LEVELS, Standard, required_criteria, success_criteria
from website_scan.report.conformance import criteria_of, references_by_check

# Maximum number of results that are stored for a criterion, as examples.
MAX_SITES = 5


class SiteConformance(Struct, frozen=True):
    """Numbers of the success criteria that fail on a site or need review, and the lowest failed level by standard."""

    failed: frozenset[str]
    to_review: frozenset[str]
    lowest_levels: Mapping[Standard, str]

    @classmethod
    def of_statuses(cls, statuses: Mapping[str, str]) -> SiteConformance:
        """Return the criteria of a site by the statuses of its checks. A criterion that fails needs no review."""
        failed = _criteria(check for check, status in statuses.items() if status == "fail")
        to_review = _criteria(check for check, status in statuses.items() if status == "warn") - failed
        lowest_levels = {}
        for standard in Standard:
            levels = [level for number in failed if (level := _levels(standard).get(number)) is not None]
            if levels:
                lowest_levels[standard] = min(levels, key=LEVELS.index)
        return cls(failed, to_review, lowest_levels)


def add_site(counts: ConformanceCounts, result_id: int, site: SiteConformance) -> None:
    """Add a site to the counts. `result_id` is its result in the run."""
    for number in site.failed:
        row = _row(counts, number)
        row["failed"] += 1
        if len(row["first_failed"]) < MAX_SITES:
            row["first_failed"].append(result_id)
    for number in site.to_review:
        row = _row(counts, number)
        row["to_review"] += 1
        if len(row["first_to_review"]) < MAX_SITES:
            row["first_to_review"].append(result_id)
    for standard, level in site.lowest_levels.items():
        levels = counts["failed_sites"].setdefault(standard.value, {})
        levels[level] = levels.get(level, 0) + 1


def _row(counts: ConformanceCounts, number: str) -> CriterionCounts:
    return counts["criteria"].setdefault(number, empty_criterion_counts())


def _criteria(checks: Iterable[str]) -> frozenset[str]:
    return frozenset(number for check in checks for number in criteria_by_check().get(check, ()))


@cache
def criteria_by_check() -> Mapping[str, frozenset[str]]:
    """Return the numbers of the success criteria of each accessibility check, by its ID."""
    known = success_criteria()
    return {
        check: frozenset(number for number in criteria_of(references) if number in known)
        for check, references in references_by_check().items()
    }


@cache
def _levels(standard: Standard) -> Mapping[str, str]:
    return {one.number: one.level for one in required_criteria(standard, standard.highest_level)}
