"""Template context of the report page, made from a stored report.

Text from the scanned site stays text: the templates escape it, and only addresses that
`website_scan.report.references` has made or accepted become links.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from website_scan.places import BYTES, Column
from website_scan.priority import Priority, priority
from website_scan.report.cap_sentence import raise_sentence
from website_scan.report.cards import CardContext, CheckCard, card_of
from website_scan.report.conformance import failure_of, without_failure
from website_scan.report.coverage_summary import CoverageSummary, coverage_of
from website_scan.report.explanations import NOTES, category_meaning, grade_meaning
from website_scan.report.filters import EVERYTHING, Filter, FilterBar, filter_bar
from website_scan.report.illustrations import NO_ILLUSTRATIONS, Crop, Illustrations
from website_scan.report.linked_reports import OtherReport, linked_findings
from website_scan.report.metrics import Metric, metrics
from website_scan.report.muting import MUTING_WITHOUT_RULES, Muting, ScoreWithout, without_muted
from website_scan.report.references import safe_link
from website_scan.report.sections.sections import Sections, create_sections
from website_scan.report.tables import formatted
from website_scan.report.waterfall import WaterfallChart, waterfall
from website_scan.report_json import ExportedCategory, ExportJson, checks_of
from website_scan.score_basis import FixStep
from website_scan.stored_data import Facts, StoredExhibits, StoredWaterfall

# Labels and formats of facts in the page's list of facts. Other facts are part of sentences.
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


class Group(Struct, frozen=True):
    """Cards of checks with the same status in a category."""

    title: str
    checks: tuple[CheckCard, ...]

    @property
    def is_hidden(self) -> bool:
        return all(check.is_hidden for check in self.checks)


# A low category score with a small weight looks alarming, so the page displays the weight.
LOW_SCORE, SMALL_SHARE_PERCENT = 50, 3


class CategorySection(Struct, frozen=True):
    """Section of a category on the report page.

    It has the cards of its checks by status. `plug_in` is the name and version of the plug-in that added the category.
    """

    name: str
    anchor: str
    meaning: str
    score: int
    failed: tuple[CheckCard, ...]
    warned: tuple[CheckCard, ...]
    passed: tuple[CheckCard, ...]
    plug_in: str = ""

    @property
    def priority(self) -> Priority:
        """Priority of the most urgent check.

        If all checks are muted, this is the lowest priority.
        """
        return min((check.priority for check in (*self.failed, *self.warned, *self.passed)), default=LAST)

    @property
    def small_weight_text(self) -> str:
        """Text with the weight of a small category whose score is low because of a single failure.

        Empty for other categories, and for a critical failure, which must not look harmless.
        """
        if len(self.failed) != 1 or self.warned or self.score >= LOW_SCORE:
            return ""
        (check,) = self.failed
        if check.is_critical:
            return ""
        share = round(100 * check.later / (100 - self.score))
        return f"{share}% of the score" if 0 < share <= SMALL_SHARE_PERCENT else ""

    @property
    def is_without_findings(self) -> bool:
        """Return True if the category has no findings and a score of 100."""
        return self.score == 100 and not self.failed and not self.warned

    @property
    def groups(self) -> list[Group]:
        """Non-empty groups of checks with the same status."""
        groups = (("Failed", self.failed), ("Warnings", self.warned), ("Passed", self.passed))
        return [Group(title, checks) for title, checks in groups if checks]

    def open_cards(self, first: Container[str], chosen: Filter) -> CategorySection:
        """Return the section with its cards opened or folded.

        `first` has the IDs of the findings to fix first.
        """
        return self._change_findings(lambda check: _open_or_fold_card(check, check.id in first, chosen))

    def promise(self, steps: Mapping[str, FixStep]) -> CategorySection:
        """Return the section with what the fix of each finding gains."""
        return self._change_findings(lambda check: check.promise(steps[check.id]) if check.id in steps else check)

    def _change_findings(self, change: Callable[[CheckCard], CheckCard]) -> CategorySection:
        return replace(self, failed=tuple(map(change, self.failed)), warned=tuple(map(change, self.warned)))

    @property
    def is_hidden(self) -> bool:
        """Return True if the reader's filter excludes all checks of the category."""
        return all(group.is_hidden for group in self.groups)


class Fact(Struct, frozen=True):
    label: str
    value: str
    url: str | None


class ReportPage(Struct, frozen=True):
    """Template context of the report page.

    Times are aware, UTC.

    `final_url` is the address of the page that was judged, if redirects led to another one, otherwise empty. `notice`
    may be empty. `prefix` goes before all anchors. `categories` have findings, `clear` are the categories without
    findings. `held` is a sentence about caps that lower the score, or empty. `first_raise` is a sentence
    with the score after fixing `first`, or empty. `largest` is a crop of the element of the
    largest contentful paint. `muted` are the cards of muted findings. `without_failure` says, for accessibility
    without a failed check, what people have to test.
    """

    export: ExportJson
    link: str | None
    final_url: str
    final_link: str | None
    created_at: datetime
    completed_at: datetime
    notice: str
    meaning: str
    conformance_url: str
    without_failure: str
    held: str
    note: str
    categories: tuple[CategorySection, ...]
    clear: tuple[CategorySection, ...]
    filters: FilterBar
    first: tuple[CheckCard, ...]
    first_raise: str
    metrics: tuple[Metric, ...]
    facts: tuple[Fact, ...]
    coverage: CoverageSummary
    waterfall: WaterfallChart | None
    sections: Sections
    illustrations: Illustrations
    largest: Crop | None
    muted: tuple[CheckCard, ...]
    without_muted: ScoreWithout | None
    prefix: str

    @property
    def title_id(self) -> str:
        """HTML ID of the report title for `aria-labelledby`.

        Empty unless a file has several reports.
        """
        return f"{self.prefix}title " if self.prefix else ""

    @property
    def further_critical_findings(self) -> tuple[CheckCard, ...]:
        """Critical findings that are not in `first`.

        In print, the first page lists all critical findings.
        """
        critical = (check for category in self.categories for check in category.failed if check.is_critical)
        return tuple(check for check in critical if not check.is_first)

    @property
    def has_points(self) -> bool:
        """Return True if a card shows points."""
        return any(check.win for category in self.categories for check in (*category.failed, *category.warned))


def report_page(  # noqa: PLR0913 -- two documents, and optional parts of the page by keyword
    export: ExportJson,
    facts: Facts,
    requests: StoredWaterfall | None = None,
    muting: Muting = MUTING_WITHOUT_RULES,
    prefix: str = "",
    chosen: Filter = EVERYTHING,
    check_pages: str = "",
    exhibits: StoredExhibits | None = None,
    illustrations: Illustrations = NO_ILLUSTRATIONS,
    others: Iterable[OtherReport] = (),
    conformance_url: str = "",
) -> ReportPage:
    """Create the template context of a report page from the JSON export and the data stored with it.

    `prefix` makes the anchors of several reports in one file unique. Findings that the filter `chosen` excludes are
    hidden. `check_pages` is the base URL of the checks' pages, `/docs/checks/` of the service; empty without a service.
    `others` are the reports of the same visit for other scan types that the reader may see. `conformance_url` is the
    address of the page with the results by success criterion, empty without one.
    """
    muted = muting.findings(export)
    final_url = export.get("final_url") or ""
    final_url = "" if final_url == export["url"] else final_url
    scan_type = export["type"]
    checks_by_id = {check["id"]: check for category in export["categories"] for check in category["checks"]}
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
    by_urgency = _findings_by_urgency(categories)
    steps = muting.fix_steps([check.id for check in by_urgency], muted)
    categories = [section.promise(steps) for section in categories]
    first = _findings_to_fix_first(_findings_by_urgency(categories))
    categories = [section.open_cards({check.id for check in first}, chosen) for section in categories]
    return ReportPage(
        export=export,
        link=safe_link(export["url"]),
        final_url=final_url,
        final_link=safe_link(final_url),
        created_at=datetime.fromisoformat(export["created_at"]),
        completed_at=datetime.fromisoformat(export["completed_at"]),
        notice=facts.get("notice", ""),
        meaning=_meaning(export, facts),
        conformance_url=conformance_url,
        without_failure=_without_failure(export, facts),
        held=muting.held(export, muted),
        note=NOTES.get(scan_type, ""),
        categories=tuple(section for section in categories if not section.is_without_findings),
        clear=tuple(section for section in categories if section.is_without_findings),
        filters=filter_bar(chosen, checks_by_id.values(), scan_type),
        first=first,
        first_raise=raise_sentence(export["score"], [steps[check.id] for check in first if check.id in steps]),
        metrics=metrics(checks_by_id, prefix) if scan_type == "performance" else (),
        facts=tuple(_fact(FACTS[name], value) for name, value in facts.items() if name in FACTS),
        coverage=coverage_of(export, facts, prefix),
        waterfall=waterfall(requests),
        sections=create_sections(export, exhibits, prefix),
        illustrations=illustrations,
        largest=illustrations.crops(checks_by_id["lcp"]).get(0) if "lcp" in checks_by_id else None,
        muted=tuple(
            _open_or_fold_card(card, False, chosen)
            for card in sorted((card for group in cards for card in group if card.is_muted), key=_priority)
        ),
        without_muted=without_muted(muting.scoring, muted),
        prefix=prefix,
    )


def _open_or_fold_card(card: CheckCard, is_first: bool, chosen: Filter) -> CheckCard:
    """Open or fold a card.

    With a filter, all matching cards are open, otherwise the findings to fix first.
    """
    return replace(card, is_first=is_first, is_open=not card.is_hidden if chosen.is_active else is_first)


def _meaning(export: ExportJson, facts: Facts) -> str:
    """Return the meaning of the grade. For accessibility, the success criteria that fail come first.

    Empty if the content of the page was not visible to the scanner, and if only some categories were judged, because a
    grade of all categories means more.
    """
    if "unseen" in facts or "chosen_categories" in export:
        return ""
    meaning = grade_meaning(export["type"], export["grade"] or "")
    failure = failure_of(export) if export["type"] == "accessibility" else ""
    if not failure:
        return meaning
    # "Good" must not be said of a page that fails a success criterion.
    _, _, rest = meaning.partition(": ")
    return f"{failure} {rest[:1].upper()}{rest[1:]}".strip()


def _without_failure(export: ExportJson, facts: Facts) -> str:
    """Return what people have to test if no check failed. Empty if one did, and for other types of scans."""
    is_judged = export["type"] == "accessibility" and "unseen" not in facts
    has_failed = any(check["status"] == "fail" for _, check in checks_of(export))
    return without_failure() if is_judged and not has_failed else ""


def _category(category: ExportedCategory, anchor: str, scan_type: str, cards: Sequence[CheckCard]) -> CategorySection:
    cards_by_status: dict[str, list[CheckCard]] = {}
    for card in sorted(cards, key=_priority):
        cards_by_status.setdefault(card.status, []).append(card)
    return CategorySection(
        name=category["name"],
        anchor=anchor,
        meaning="" if "plug_in" in category else category_meaning(scan_type, category["name"]),
        plug_in="{name} {version}".format(**category["plug_in"]) if "plug_in" in category else "",
        score=category["score"],
        failed=tuple(cards_by_status.get("fail", ())),
        warned=tuple(cards_by_status.get("warn", ())),
        passed=tuple(cards_by_status.get("pass", ())),
    )


def _priority(check: CheckCard) -> Priority:
    return check.priority


def _findings_by_urgency(categories: Iterable[CategorySection]) -> list[CheckCard]:
    findings = [check for category in categories for check in (*category.failed, *category.warned)]
    return sorted(findings, key=_priority)


def _findings_to_fix_first(findings: Iterable[CheckCard]) -> tuple[CheckCard, ...]:
    """Return the first of the findings that are critical, or whose fix gains points."""
    wins = [check for check in findings if check.is_critical or check.holds or check.points or check.later]
    return tuple(wins[:FIRST])


def _fact(column: Column, value: Any) -> Fact:
    return Fact(column.label, formatted(column, value), safe_link(value))
