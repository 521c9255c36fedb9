"""Results of a list's snapshot by success criterion: the number of sites on which each criterion fails.

The letters of `ListResult.statuses` say on which checks a site fails or warns, so no report is read again.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from sites.lists.snapshots import CheckFigures, check_statistics
from sites.models import ListCount, ListResult, ListRun
from sites.models.stored_json import RunId
from website_scan.accessibility.standards import LEVELS, Standard, SuccessCriterion, required_criteria
from website_scan.json_types import Count, component
from website_scan.messages import agreeing, counted
from website_scan.report.conformance import Result, criteria_of, references_by_check
from website_scan.report.spreadsheets import cell

TYPE = "accessibility"
# Maximum numbers of checks and sites of a criterion.
MAX_CHECKS = MAX_SITES = 5
CHUNK_ROWS = 2_000


@component("ListConformanceSite")
class SiteOfCriterion(TypedDict):
    """Site on which a criterion fails or needs review. `entry_id` or `audit_id` is null if it has been deleted."""

    url: str
    entry_id: str | None
    audit_id: str | None


@component("ListConformanceCriterion")
class ListCriterion(TypedDict):
    """Result of a success criterion on all sites of a snapshot.

    `sites_failed` and `sites_to_review` are numbers of sites; a site that fails the criterion is only in the first.
    """

    number: str
    name: str
    level: str
    clause: str
    url: str
    result: str
    sites_failed: Count
    sites_to_review: Count
    checks: list[CheckFigures]
    sites: list[SiteOfCriterion]


@component("ListConformance")
class ListConformance(TypedDict):
    """Results of all criteria that a standard requires at a level, on all sites of a snapshot.

    `sites` is the number of sites that were judged. `failed_sites` has the sites that fail a criterion, by the lowest
    level that they fail.
    """

    run_id: RunId
    standard: str
    standard_name: str
    level: str
    tag: str
    sites: Count
    statement: str
    failed_sites: dict[str, Count]
    criteria: list[ListCriterion]


class _Tally:
    """Numbers of sites that fail each criterion or need review, and the first of these sites.

    The results of a site are two bit masks, in which the bit of a criterion is its index. Sites with equal masks are
    counted together, so that the criteria of thousands of sites are not visited one by one.
    """

    def __init__(self, run: ListRun, criteria: Sequence[SuccessCriterion]) -> None:
        bits = {one.number: 1 << index for index, one in enumerate(criteria)}
        references = references_by_check()
        # The bits in a set are distinct, so their sum is their union.
        self._masks = [
            sum({bits.get(number, 0) for number in criteria_of(references.get(check, ()))}) for check in run.checks
        ]
        self.failed, self.review = _Sites(len(criteria)), _Sites(len(criteria))
        self.total = 0

    def add(self, result_id: int, statuses: str) -> None:
        """Add a site by the letters of its checks."""
        failed = self._mask(statuses, "f")
        self.failed.add(result_id, failed)
        # A criterion that fails needs no review.
        self.review.add(result_id, self._mask(statuses, "w") & ~failed)
        self.total += 1

    def _mask(self, statuses: str, letter: str) -> int:
        mask, position = 0, statuses.find(letter)
        while position >= 0:
            mask |= self._masks[position]
            position = statuses.find(letter, position + 1)
        return mask


class _Sites:
    """Numbers of sites with a result by mask of criteria. `first` has IDs of list results for each criterion."""

    def __init__(self, number_of_criteria: int) -> None:
        self.by_mask: Counter[int] = Counter()
        self.first: list[list[int]] = [[] for _ in range(number_of_criteria)]
        # Criteria with fewer than MAX_SITES sites.
        self._incomplete = (1 << number_of_criteria) - 1

    def add(self, result_id: int, mask: int) -> None:
        self.by_mask[mask] += 1
        for index in _indexes(mask & self._incomplete):
            self.first[index].append(result_id)
            if len(self.first[index]) == MAX_SITES:
                self._incomplete ^= 1 << index

    def numbers(self) -> list[int]:
        """Return the number of sites for each criterion."""
        numbers = [0] * len(self.first)
        for mask, number in self.by_mask.items():
            for index in _indexes(mask):
                numbers[index] += number
        return numbers

    def by_lowest_level(self, masks_of_levels: Mapping[str, int]) -> dict[str, int]:
        """Return the numbers of sites by the lowest level of their criteria. `masks_of_levels` begins with level A."""
        numbers: Counter[str] = Counter()
        for mask, number in self.by_mask.items():
            lowest = next((level for level, criteria in masks_of_levels.items() if mask & criteria), None)
            if lowest is not None:
                numbers[lowest] += number
        return {level: numbers[level] for level in masks_of_levels}


def _indexes(mask: int) -> Iterator[int]:
    """Yield the indexes of the bits that are set."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def conformance_of_snapshot(run: ListRun, standard: Standard, level: str, tag: str = "") -> ListConformance:
    """Return what a snapshot says about the criteria of a standard, in three queries.

    With a `tag`, only the sites with this tag are included.
    """
    level = LEVELS[min(LEVELS.index(level), LEVELS.index(standard.highest_level))]
    criteria = required_criteria(standard, level)
    tally = _Tally(run, criteria)
    results = ListResult.objects.filter(run=run, status=ListResult.Status.DONE, accessibility_score__isnull=False)
    if tag:
        results = results.filter(tags__contains=[tag])
    letters = results.order_by("position").values_list("id", "statuses")
    for result_id, statuses in letters.iterator(chunk_size=CHUNK_ROWS):
        tally.add(result_id, statuses)
    checks = _checks_by_criterion(run, tag)
    failed, review = tally.failed, tally.review
    examples = [first or first_to_review for first, first_to_review in zip(failed.first, review.first, strict=True)]
    sites = _sites_by_result({result_id for ids in examples for result_id in ids})
    rows = [
        _criterion(one, standard, numbers, checks.get(one.number, []), [sites[id] for id in ids if id in sites])
        for one, ids, *numbers in zip(criteria, examples, failed.numbers(), review.numbers(), strict=True)
    ]
    failed_sites = failed.by_lowest_level(
        {
            name: sum(1 << index for index, one in enumerate(criteria) if one.level == name)
            for name in LEVELS[: LEVELS.index(level) + 1]
        }
    )
    return {
        "run_id": run.id,
        "standard": standard.value,
        "standard_name": standard.label,
        "level": level,
        "tag": tag,
        "sites": tally.total,
        "statement": statement(standard, failed_sites, tally.total),
        "failed_sites": failed_sites,
        "criteria": rows,
    }


def _criterion(
    one: SuccessCriterion,
    standard: Standard,
    numbers: Sequence[int],
    checks: list[CheckFigures],
    sites: list[SiteOfCriterion],
) -> ListCriterion:
    sites_failed, sites_to_review = numbers
    if sites_failed:
        result = Result.FAILS
    elif sites_to_review:
        result = Result.NEEDS_REVIEW
    else:
        result = Result.NO_FAILURE if any(check["of"] for check in checks) else Result.NOT_TESTED
    found = [check for check in checks if check["failed"] or check["warned"]]
    found.sort(key=lambda check: (-check["failed"], -check["warned"], check["check"]))
    return {
        "number": one.number,
        "name": one.name,
        "level": one.level,
        "clause": one.clause(standard),
        "url": one.url,
        "result": result.value,
        "sites_failed": sites_failed,
        "sites_to_review": sites_to_review,
        "checks": found[:MAX_CHECKS],
        "sites": sites,
    }


def _checks_by_criterion(run: ListRun, tag: str) -> dict[str, list[CheckFigures]]:
    """Return the numbers of sites by check, for each criterion."""
    counts = ListCount.objects.filter(run=run, tag=tag).values_list("data__checks", flat=True).first() or {}
    references = references_by_check()
    checks: dict[str, list[CheckFigures]] = {}
    for check in check_statistics({id: numbers for id, numbers in counts.items() if id in references}):
        for number in criteria_of(references[check["check"]]):
            checks.setdefault(number, []).append(check)
    return checks


def _sites_by_result(result_ids: set[int]) -> dict[int, SiteOfCriterion]:
    rows = ListResult.objects.filter(id__in=result_ids).values_list("id", "url", "entry_id", "audit_id")
    return {id: {"url": url, "entry_id": entry_id, "audit_id": audit_id} for id, url, entry_id, audit_id in rows}


def statement(standard: Standard, failed_sites: Mapping[str, int], sites: int) -> str:
    """Return sentences about the sites that fail, lowest level first, and about those that remain to be tested."""
    if not sites:
        return "No site was judged for accessibility."
    failures = [(level, number) for level, number in failed_sites.items() if number]
    others = sites - sum(number for _, number in failures)
    if not failures:
        criteria = standard.at_level(list(failed_sites)[-1])
        rest = agreeing(others, "It still needs", "All of them still need")
        return f"On {counted(sites, 'site')}, no automatic check found a failure of {criteria}. {rest} a person's test."
    (level, number), *more = failures
    verb = agreeing(number, "fails", "fail")
    sentence = f"{number:,} of {counted(sites, 'site')} {verb} {standard.label} at level {level}"
    sentence += "".join(f", and {number:,} more at level {level}" for level, number in more)
    rest = f" The other {others:,} still {agreeing(others, 'needs', 'need')} a person's test." if others else ""
    return f"{sentence}.{rest}"


CSV_COLUMNS = ("clause", "name", "level", "result", "sites_failed", "sites_to_review", "checks", "sites", "url")


def conformance_csv(conformance: ListConformance) -> str:
    """Return the results as CSV, with one line for each criterion. Cells are safe from formula injection."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for row in conformance["criteria"]:
        cells: dict[str, object] = {
            **row,
            "result": Result(row["result"]).label,
            "checks": "\n".join(
                f"{check['name']}: fails on {counted(check['failed'], 'site')}" for check in row["checks"]
            ),
            "sites": " ".join(site["url"] for site in row["sites"]),
        }
        writer.writerow([cell(cells[column]) for column in CSV_COLUMNS])
    return output.getvalue()
