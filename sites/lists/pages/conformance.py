"""View model of the page with a list's results by success criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from reports.page.conformance import ConformanceQuery, CriteriaChoices, downloads, result_counts
from scans.check_catalogue import failure_title
from scans.models import path_of
from sites.lists.adoption import percent
from sites.lists.conformance import TYPE, ListConformance, ListCriterion
from sites.lists.conformance_api import FORMATS
from sites.lists.pages.snapshots import tags_of
from sites.lists.pages.table import reports_of
from sites.models import ListRun
from website_scan.accessibility.standards import SuccessCriterion, success_criteria
from website_scan.report.conformance import Result
from website_scan.urls import host_and_port_of

# Parameter of the choice of tag.
TAG = "tag"


class SiteLink(NamedTuple):
    """Site with a failure. `report` is the address of its audit, or empty if the audit has expired."""

    name: str
    report: str


class CheckLine(NamedTuple):
    """Check of a criterion, with the numbers of sites on which it fails and warns."""

    id: str
    title: str
    failed: int
    warned: int


class ListCriterionRow(Struct, frozen=True):
    """Row of the table of criteria. `percent` is the percentage of sites that fail."""

    row: ListCriterion
    criterion: SuccessCriterion
    result: Result
    checks: Sequence[CheckLine]
    sites: Sequence[SiteLink]
    percent: int

    @property
    def more_sites(self) -> int:
        """Number of sites with the result that are not listed."""
        return (self.row["sites_failed"] or self.row["sites_to_review"]) - len(self.sites)


class ListConformancePage(CriteriaChoices, frozen=True):
    """Template context of the page. `tags` can be chosen, and `tag` is empty for all sites."""

    conformance: ListConformance
    rows: Sequence[ListCriterionRow]
    tags: Sequence[str]
    tag: str


def list_conformance_page(
    run: ListRun, conformance: ListConformance, query: ConformanceQuery, tag: str
) -> ListConformancePage:
    """Return the page with the results of a list's snapshot."""
    criteria = [row for row in conformance["criteria"] if query.result in (None, row["result"])]
    audits = [site["audit_id"] for row in criteria for site in row["sites"]]
    reports = reports_of(run.site_list.organization_id, audits)
    return ListConformancePage(
        query=query,
        level=conformance["level"],
        counts=result_counts([row["result"] for row in conformance["criteria"]], query, **{TAG: tag}),
        downloads=downloads(query, FORMATS, **{TAG: tag}),
        conformance=conformance,
        rows=[_row(row, reports, conformance["sites"]) for row in criteria],
        tags=tags_of(run),
        tag=tag,
    )


def read_tag(query: Mapping[str, str]) -> str:
    """Return the tag in a query string, or an empty string for all sites."""
    return query.get(TAG, "").replace("\0", "")[:60]


def _row(row: ListCriterion, reports: Mapping[str, str], sites: int) -> ListCriterionRow:
    links = []
    for site in row["sites"]:
        path, report = path_of(site["url"]), reports.get(site["audit_id"] or "", "")
        name = f"{host_and_port_of(site['url'])}{'' if path == '/' else path}"
        links.append(SiteLink(name, f"{report}?type={TYPE}" if report else ""))
    return ListCriterionRow(
        row=row,
        criterion=success_criteria()[row["number"]],
        result=Result(row["result"]),
        checks=[
            CheckLine(check["check"], failure_title(check["check"], check["name"]), check["failed"], check["warned"])
            for check in row["checks"]
        ],
        sites=links,
        percent=percent(row["sites_failed"], sites) if sites else 0,
    )
