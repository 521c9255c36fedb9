"""Results of a list's snapshot by success criterion: the number of sites on which each criterion fails.

The numbers are counted when results end (`sites.lists.conformance_counts`), so a page reads no results of sites except
the first ones of each criterion.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import TypedDict

from sites.lists.conformance_counts import criteria_by_check
from sites.lists.snapshots import CheckFigures, check_statistics
from sites.models import ListCount, ListResult, ListRun
from sites.models.site_list import CriterionCounts, empty_conformance_counts, empty_criterion_counts
from sites.models.stored_json import RunId
from website_scan.accessibility.standards import LEVELS, Standard, SuccessCriterion, required_criteria
from website_scan.json_types import Count, component
from website_scan.messages import agreeing, counted
from website_scan.report.conformance import Result
from website_scan.report.spreadsheets import cell

TYPE = "accessibility"
# Maximum number of checks of a criterion.
MAX_CHECKS = 5


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


def conformance_of_snapshot(run: ListRun, standard: Standard, level: str, tag: str = "") -> ListConformance:
    """Return what a snapshot says about the criteria of a standard, in two queries.

    With a `tag`, only the sites with this tag are included.
    """
    level = LEVELS[min(LEVELS.index(level), LEVELS.index(standard.highest_level))]
    criteria = required_criteria(standard, level)
    row = ListCount.objects.filter(run=run, tag=tag).values_list("conformance", "data__checks", f"data__scores__{TYPE}")
    counts, numbers_by_check, scores = row.first() or (empty_conformance_counts(), {}, {})
    total = sum((scores or {}).values())
    checks = _checks_by_criterion(numbers_by_check)
    numbers = [counts["criteria"].get(one.number, empty_criterion_counts()) for one in criteria]
    sites = _sites_by_result({id for row in numbers for id in _first_sites(row)})
    rows = [
        _criterion(
            one, standard, row, checks.get(one.number, []), [sites[id] for id in _first_sites(row) if id in sites]
        )
        for one, row in zip(criteria, numbers, strict=True)
    ]
    levels = counts["failed_sites"].get(standard.value, {})
    failed_sites = {name: levels.get(name, 0) for name in LEVELS[: LEVELS.index(level) + 1]}
    return {
        "run_id": run.id,
        "standard": standard.value,
        "standard_name": standard.label,
        "level": level,
        "tag": tag,
        "sites": total,
        "statement": statement(standard, failed_sites, total),
        "failed_sites": failed_sites,
        "criteria": rows,
    }


def _criterion(
    one: SuccessCriterion,
    standard: Standard,
    numbers: CriterionCounts,
    checks: list[CheckFigures],
    sites: list[SiteOfCriterion],
) -> ListCriterion:
    if numbers["failed"]:
        result = Result.FAILS
    elif numbers["to_review"]:
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
        "sites_failed": numbers["failed"],
        "sites_to_review": numbers["to_review"],
        "checks": found[:MAX_CHECKS],
        "sites": sites,
    }


def _first_sites(numbers: CriterionCounts) -> list[int]:
    """Return the IDs of the first results on which a criterion fails, or needs review if it fails on no site."""
    return numbers["first_failed"] or numbers["first_to_review"]


def _checks_by_criterion(counts: Mapping[str, list[int]]) -> dict[str, list[CheckFigures]]:
    """Return the numbers of sites by check, for each criterion."""
    criteria = criteria_by_check()
    checks: dict[str, list[CheckFigures]] = {}
    for check in check_statistics({id: numbers for id, numbers in counts.items() if id in criteria}):
        for number in criteria[check["check"]]:
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
