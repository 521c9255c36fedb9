"""Report page: the template's context, made from a stored report. This module does not access the database.

Text from the scanned site stays text: the templates escape it, and only addresses that
`website_scan.report.references` has made or accepted become links.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from website_scan.places import BYTES, Column
from website_scan.priority import Priority, priority
from website_scan.report.browserless import MEANING_WITHOUT_BROWSER
from website_scan.report.cards import CardContext, CheckCard, card_of
from website_scan.report.explanations import NOTES, category_meaning, grade_meaning
from website_scan.report.filters import EVERYTHING, Filter, FilterBar, filter_bar
from website_scan.report.illustrations import NO_ILLUSTRATIONS, Crop, Illustrations
from website_scan.report.linked_reports import OtherReport, linked_findings
from website_scan.report.metrics import Metric, metrics
from website_scan.report.muting import NOTHING_MUTED, Muting, ScoreWithout, without_muted
from website_scan.report.places import rows_of
from website_scan.report.references import safe_link
from website_scan.report.sections.sections import Sections, sections_of
from website_scan.report.tables import formatted
from website_scan.report.waterfall import WaterfallChart, waterfall
from website_scan.report_json import ExportedCategory, ExportJson, checks_of
from website_scan.stored_data import Facts, StoredExhibits, StoredWaterfall

# Labels and formats of the facts in the page's list; sentences of the page contain other facts.
FACTS = {
    "final_url": Column("Final address", "address"),
    "status": Column("HTTP status", "number"),
    "address": Column("IP address", "mono"),
    "redirects": Column("Redirects", "number"),
    "document_bytes": Column("Document size", "number", BYTES),
    "server": Column("Web server", "mono"),
    "duration_s": Column("Duration of the scan", "number", "s"),
    "frames_not_judged": Column("Frames not judged", "number"),
    "console_errors": Column("Console errors", "number"),
    "site_evidence_at": Column("Site-wide evidence from", "moment"),
}
FIRST = 5
LAST = priority(status="pass", severity=None, holds=False, points=0.0, later=0.0)


@dataclass(frozen=True, slots=True)
class Group:
    """Checks of a category with the same status."""

    title: str
    checks: tuple[CheckCard, ...]

    @property
    def is_hidden(self) -> bool:
        return all(check.is_hidden for check in self.checks)


# A category score below `LOW` looks alarming, so the page notes if the category has at most `LITTLE` percent weight.
LOW_SCORE, SMALL_SHARE_PERCENT = 50, 3


@dataclass(frozen=True, slots=True)
class CategorySection:
    """Section of a category: its checks by status."""

    name: str
    anchor: str
    meaning: str
    score: int
    failed: tuple[CheckCard, ...]
    warned: tuple[CheckCard, ...]
    passed: tuple[CheckCard, ...]

    @property
    def priority(self) -> Priority:
        """Priority of the most urgent check; the lowest priority if all checks of the category are muted."""
        return min((check.priority for check in (*self.failed, *self.warned, *self.passed)), default=LAST)

    @property
    def small_share(self) -> str:
        """Share of the score, in words, of a light category with a low score by a single failure; otherwise empty.

        Also empty for a critical failure, which the small share would play down.
        """
        if len(self.failed) != 1 or self.warned or self.score >= LOW_SCORE:
            return ""
        (check,) = self.failed
        if check.is_critical:
            return ""
        share = round(100 * (check.points or check.later) / (100 - self.score))
        return f"{share}% of the score" if 0 < share <= SMALL_SHARE_PERCENT else ""

    @property
    def is_clear(self) -> bool:
        """Return True if the category has no findings and a score of 100."""
        return self.score == 100 and not self.failed and not self.warned

    @property
    def groups(self) -> list[Group]:
        """Groups of the checks by status, without empty groups; the page folds passed checks."""
        groups = (("Failed", self.failed), ("Warnings", self.warned), ("Passed", self.passed))
        return [Group(title, checks) for title, checks in groups if checks]

    def with_open_cards(self, first: Container[str], chosen: Filter) -> CategorySection:
        """Return the section with its cards open or folded. `first` are the IDs of the findings to fix first."""
        return replace(
            self,
            failed=tuple(_open_or_fold(check, check.id in first, chosen) for check in self.failed),
            warned=tuple(_open_or_fold(check, check.id in first, chosen) for check in self.warned),
        )

    @property
    def is_hidden(self) -> bool:
        """Return True if the filter excludes all checks of the category."""
        return all(group.is_hidden for group in self.groups)


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Skipped:
    reason: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Check whose fact another finding of the report has: its name, why it was suppressed, and the finding's anchor."""

    name: str
    reason: str
    anchor: str


@dataclass(frozen=True, slots=True)
class CoverageSummary:
    """Coverage of the scan: numbers of checks, and tools. `browser` and `axe` are name and version, or empty."""

    planned: int
    known: int
    not_applicable: int
    browser: str
    axe: str
    skipped: tuple[Skipped, ...]
    omitted: tuple[str, ...]  # names of checks that were left out without a browser
    repeated: tuple[Repeated, ...]
    worth: str  # sentence on the meaning of a score without a browser
    reference_ms: float | None  # duration of the benchmark task on the scanning machine

    @property
    def is_static(self) -> bool:
        """Return True if checks were left out because no browser was available."""
        return self.planned < self.known


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Context of the template. Times are aware, UTC.

    `notice` comes before all else, and may be empty. `prefix` goes before all anchors. `categories` have findings,
    `clear` are the categories without findings.
    """

    export: ExportJson
    link: str | None
    created_at: datetime
    completed_at: datetime
    notice: str
    meaning: str
    held: str  # sentence on the findings that keep the score under a cap; may be empty
    note: str
    categories: tuple[CategorySection, ...]
    clear: tuple[CategorySection, ...]
    filters: FilterBar
    first: tuple[CheckCard, ...]
    metrics: tuple[Metric, ...]
    facts: tuple[Fact, ...]
    coverage: CoverageSummary
    waterfall: WaterfallChart | None
    sections: Sections
    illustrations: Illustrations
    largest: Crop | None  # the element of the largest contentful paint
    muted: tuple[CheckCard, ...]  # not among the checks of the categories
    without_muted: ScoreWithout | None
    prefix: str

    @property
    def named_by(self) -> str:
        """HTML ID of the report's title, with which sections are labelled in a file of several reports."""
        return f"{self.prefix}title " if self.prefix else ""

    @property
    def more_critical(self) -> tuple[CheckCard, ...]:
        """Critical findings that are not in `first`: on paper, the first page has all critical findings."""
        critical = (check for category in self.categories for check in category.failed if check.is_critical)
        return tuple(check for check in critical if not check.is_first)

    @property
    def first_has_later(self) -> bool:
        """Return True if a check of `first` wins points only once no cap lowers the score."""
        return any(check.later_win for check in self.first)


def report_page(  # noqa: PLR0913 -- two documents, and optional parts of the page by keyword
    export: ExportJson,
    facts: Facts,
    requests: StoredWaterfall | None = None,
    muting: Muting = NOTHING_MUTED,
    prefix: str = "",
    chosen: Filter = EVERYTHING,
    check_pages: str = "",
    exhibits: StoredExhibits | None = None,
    illustrations: Illustrations = NO_ILLUSTRATIONS,
    others: Iterable[OtherReport] = (),
) -> ReportPage:
    """Return the page of a report. `export` is the JSON export; `requests` and `exhibits` are stored with it.

    `prefix` makes the anchors of several reports in one file unique. Findings that the filter `chosen` excludes are
    hidden. `check_pages` is the base URL of the checks' pages, `/docs/checks/` of the service; empty without a service.
    `others` are the reports of the same visit for other scan types that the reader may see.
    """
    muted = muting.findings(export)
    scan_type = export["type"]
    by_id = {check["id"]: check for category in export["categories"] for check in category["checks"]}
    context = CardContext(
        url=export["url"],
        muting=muting,
        muted=muted,
        elsewhere=linked_findings(export, others),
        prefix=prefix,
        chosen=chosen,
        check_pages=check_pages,
        illustrations=illustrations,
        server=facts.get("server", ""),
    )
    cards = [[card_of(check, context) for check in category["checks"]] for category in export["categories"]]
    categories = [
        _category(
            category, f"{prefix}category-{number}", scan_type, [card for card in category_cards if not card.is_muted]
        )
        for number, (category, category_cards) in enumerate(zip(export["categories"], cards, strict=True), 1)
    ]
    categories.sort(key=lambda section: section.priority)
    first = _first(categories)
    categories = [section.with_open_cards({check.id for check in first}, chosen) for section in categories]
    return ReportPage(
        export=export,
        link=safe_link(export["url"]),
        created_at=datetime.fromisoformat(export["created_at"]),
        completed_at=datetime.fromisoformat(export["completed_at"]),
        notice=facts.get("notice", ""),
        # The meaning of a grade is true only if the scanner saw the page's content.
        meaning="" if "unseen" in facts else grade_meaning(scan_type, export["grade"] or ""),
        held=muting.held(export, muted),
        note=NOTES.get(scan_type, ""),
        categories=tuple(section for section in categories if not section.is_clear),
        clear=tuple(section for section in categories if section.is_clear),
        filters=filter_bar(chosen, by_id.values(), scan_type),
        first=first,
        metrics=metrics(by_id, prefix) if scan_type == "performance" else (),
        facts=tuple(_fact(FACTS[name], value) for name, value in facts.items() if name in FACTS),
        coverage=_coverage(export, facts, prefix),
        waterfall=waterfall(requests),
        sections=sections_of(export, exhibits, prefix),
        illustrations=illustrations,
        largest=illustrations.crops(by_id["lcp"]).get(0) if "lcp" in by_id else None,
        muted=tuple(
            _open_or_fold(card, False, chosen)
            for card in sorted((card for group in cards for card in group if card.is_muted), key=_priority)
        ),
        without_muted=without_muted(muting.scoring, muted),
        prefix=prefix,
    )


def _open_or_fold(card: CheckCard, is_first: bool, chosen: Filter) -> CheckCard:
    """Return the card open or folded: with a filter, all matching cards are open, otherwise those to fix first."""
    return replace(card, is_first=is_first, is_open=not card.is_hidden if chosen.is_active else is_first)


def _category(category: ExportedCategory, anchor: str, scan_type: str, cards: Sequence[CheckCard]) -> CategorySection:
    by_status: dict[str, list[CheckCard]] = {}
    for card in sorted(cards, key=_priority):
        by_status.setdefault(card.status, []).append(card)
    return CategorySection(
        name=category["name"],
        anchor=anchor,
        meaning=category_meaning(scan_type, category["name"]),
        score=category["score"],
        failed=tuple(by_status.get("fail", ())),
        warned=tuple(by_status.get("warn", ())),
        passed=tuple(by_status.get("pass", ())),
    )


def _priority(check: CheckCard) -> Priority:
    return check.priority


def _first(categories: Iterable[CategorySection]) -> tuple[CheckCard, ...]:
    """Return the findings to fix first, in order of priority. Findings that win no points count only if critical."""
    findings = [check for category in categories for check in (*category.failed, *category.warned)]
    wins = [check for check in findings if check.is_critical or check.holds or check.points or check.later]
    return tuple(sorted(wins, key=_priority)[:FIRST])


def _coverage(export: ExportJson, facts: Facts, prefix: str) -> CoverageSummary:
    by_reason: dict[str, list[str]] = {}
    for check in export["skipped_checks"]:
        by_reason.setdefault(check["reason"], []).append(check["name"])
    planned = facts.get("checks_planned", 0)
    repeated = export.get("repeated_checks", [])
    judged = export["summary"]["total_checks"] + len(export["skipped_checks"]) + len(repeated)
    return CoverageSummary(
        planned=planned,
        not_applicable=max(0, planned - judged),
        known=facts.get("checks_known", 0),
        browser=facts.get("browser", ""),
        # All scan types share one page load, but only accessibility uses axe-core.
        axe=facts.get("axe_core", "") if export["type"] == "accessibility" else "",
        skipped=tuple(Skipped(reason, tuple(names)) for reason, names in by_reason.items()),
        omitted=tuple(check["name"] for check in export.get("omitted_checks", ())),
        repeated=tuple(
            Repeated(check["name"], check["reason"], f"{prefix}check-{check['told_by']}") for check in repeated
        ),
        worth=MEANING_WITHOUT_BROWSER.get(export["type"], ""),
        reference_ms=_reference_ms(export),
    )


def _reference_ms(export: ExportJson) -> float | None:
    """Return the duration of the benchmark task in milliseconds, from the checks that depend on the machine's speed."""
    values = (row.get("host_ms") for _, check in checks_of(export) for row in rows_of(check))
    return next((value for value in values if isinstance(value, int | float)), None)


def _fact(column: Column, value: Any) -> Fact:
    return Fact(column.label, formatted(column, value), safe_link(value))
