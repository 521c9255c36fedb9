"""Decide whether the command's reports pass the quality gate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from website_scan.accessibility.standards import SuccessCriterion, required_criteria
from website_scan.command.conformance_options import DEFAULT_TARGET, ConformanceTarget
from website_scan.command.executed_journeys import ExecutedJourneys
from website_scan.command.reported_page import ReportedPage, count_pages, page_of
from website_scan.command.site_options import SitePages
from website_scan.findings import ScanType, Severity
from website_scan.messages import agreeing
from website_scan.priority import by_priority
from website_scan.report.cap_sentence import score_cap_sentence
from website_scan.report.levels import finding_level
from website_scan.report.linked_reports import OtherReport, reported_elsewhere
from website_scan.report_json import ExportedCategory, ExportedCheck, ExportedError, ExportedFinding, ExportJson
from website_scan.result import Pictures
from website_scan.score_basis import recompute_score
from website_scan.stored_data import Facts, StoredBasis, StoredExhibits, StoredWaterfall

BASELINE_REASON = "in the baseline"
ACCEPTED = "accepted by name"
NOT_COMPARED_REASON = "not compared, as the baseline was written without a browser"
SEVERITIES = [str(severity) for severity in Severity]
LOG_IN_MESSAGE = "the site asked for a log-in, and its answer was judged in place of the page."
# Maximum number of findings that a message of the gate lists.
MAX_TITLES = 3


class CommandReport(Struct, frozen=True):
    """Report of a scan, with its accepted findings.

    The `export` of a failed scan has the status `failed` and an error. `accepted` maps IDs of checks to the reason why
    their findings are accepted. `accepted_score` is the score as if these checks had passed; None if no finding is
    accepted, or if the score is unknown. `scoring` is the basis of the score, only for scans on this machine.
    `screenshot` is the first screen as WebP or JPEG.
    """

    export: ExportJson
    facts: Facts = field(default_factory=Facts)
    scoring: StoredBasis | None = None
    waterfall: StoredWaterfall | None = None
    exhibits: StoredExhibits = field(default_factory=StoredExhibits)
    screenshot: bytes | None = None
    pictures: Pictures | None = None
    accepted: Mapping[str, str] = field(default_factory=dict)
    accepted_score: int | None = None

    @property
    def type(self) -> str:
        return self.export["type"]

    @property
    def url(self) -> str:
        return self.export["url"]

    @property
    def page(self) -> ReportedPage:
        """Page or state of a journey that the report is about."""
        return page_of(self.export)

    @property
    def other_final_url(self) -> str:
        """Address of the judged page after redirects.

        Empty if redirects did not lead to another page.
        """
        final_url = self.export.get("final_url") or ""
        return "" if final_url == self.url else final_url

    @property
    def addresses(self) -> str:
        """Requested page of a report.

        If another page was judged, an arrow and its address follow.
        """
        return " → ".join(filter(None, (str(self.page), self.other_final_url)))

    @property
    def needs_log_in(self) -> bool:
        """Return True if the site answered with a log-in page.

        The requested page was another one.
        """
        return self.export.get("needs_log_in", False)

    @property
    def error(self) -> ExportedError | None:
        return self.export.get("error")

    @property
    def notice(self) -> str:
        """Notice above the findings.

        It says, for example, that the page is an error page. May be empty.
        """
        return self.facts.get("notice", "")

    @property
    def score(self) -> int | None:
        """Score that the gate judges, without the accepted findings."""
        return self.export["score"] if self.accepted_score is None else self.accepted_score

    @property
    def score_cap_sentence(self) -> str:
        """Sentence about the findings that cap the score.

        Empty if no cap lowers the score.
        """
        if not self.accepted or self.scoring is None or not self.export["held"]:
            return self.export["held"]
        return score_cap_sentence(
            self.scoring, [cap["reason"] for cap in self.export["caps"]], self.accepted, "accepted"
        )

    @property
    def checks(self) -> Iterator[tuple[str, ExportedCheck]]:
        """Return the checks that ran, in order of priority.

        As pairs (category name, check).
        """
        return iter(by_priority(self.export))

    def findings(self, *, accepted: bool = False) -> Sequence[tuple[str, ExportedFinding]]:
        """Return all accepted or all unaccepted findings, by priority.

        As pairs (category name, finding).
        """
        findings = ((category, check) for category, check in self.checks if check["status"] != "pass")
        return [(category, check) for category, check in findings if (check["id"] in self.accepted) == accepted]

    def reported_elsewhere(self, others: Iterable[CommandReport]) -> Mapping[str, str]:
        """Return sentences about findings of another report, by check ID.

        The other report of the page has the same findings. Ignores accepted findings of the other report.
        """
        reports = [
            report for report in others if report is not self and report.page == self.page and report.error is None
        ]
        unaccepted_ids = {report.type: {check["id"] for _, check in report.findings()} for report in reports}
        links = reported_elsewhere(self.export, [OtherReport(report.export, "") for report in reports])
        return {
            id: f"The {link.label} report has the same finding: {link.title} ({link.id})."
            for id, link in links.items()
            if link.id in unaccepted_ids[link.type]
        }

    def accept_checks(self, reasons: Mapping[str, str]) -> CommandReport:
        """Return the report with more checks accepted.

        Its score is as if they had passed. `reasons` maps check IDs to reasons.
        """
        accepted = {id: why for _, check in self.findings() if (why := reasons.get(id := check["id"]))}
        if not accepted:
            return self
        accepted |= self.accepted
        score_and_grade = recompute_score(self.scoring, accepted) if self.scoring else None
        score = score_and_grade[0] if score_and_grade else self.accepted_score
        return replace(self, accepted=accepted, accepted_score=score)

    def accept_outcomes(self, names: Collection[str]) -> CommandReport:
        """Return the report with these outcomes accepted.

        An example is `hsts.short`.
        """
        return self.accept_checks(
            {check["id"]: ACCEPTED for _, check in self.findings() if outcome_name(check) in names}
        )

    def without_checks_accepted_for(self, reason: str) -> CommandReport:
        """Return the report without checks accepted for this reason.

        An example is BASELINE_REASON.
        """
        categories: list[ExportedCategory] = [
            {**category, "checks": [check for check in category["checks"] if self.accepted.get(check["id"]) != reason]}
            for category in self.export["categories"]
        ]
        return replace(self, export={**self.export, "categories": categories})

    @property
    def passed_count(self) -> int:
        return sum(check["status"] == "pass" for _, check in self.checks)


class Gate(Struct, frozen=True):
    """Quality gate, which fails a build.

    Because of low scores or certain findings. `under` maps scan types ("" for all types) to the lowest passing score.
    Failed checks of severity `fail_on` or higher fail the gate. Warnings, which are suggestions or uncertain, fail it
    only by name: `outcomes` are names, such as `hsts.short`, that fail it whatever their severity. So does a failed
    check that proves the failure of a success criterion of the `target`. A log-in page instead of the requested page
    fails every gate unless `allows_login`.
    """

    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None
    outcomes: frozenset[str] = frozenset()
    allows_login: bool = False
    target: ConformanceTarget | None = None

    def lowest_score(self, scan_type: str) -> int | None:
        """Return the lowest score of a scan type that passes the gate.

        None if all scores pass.
        """
        return self.under.get(scan_type, self.under.get(""))

    def is_score_too_low(self, report: CommandReport) -> bool:
        """Return True if the report's score is too low to pass."""
        lowest_score = self.lowest_score(report.type)
        return lowest_score is not None and report.score is not None and report.score < lowest_score

    def is_log_in_page_refused(self, report: CommandReport) -> bool:
        """Return True if the gate refuses a log-in page.

        It was judged instead of the requested page.
        """
        return report.needs_log_in and not self.allows_login

    def failing_findings(self, report: CommandReport) -> Sequence[ExportedFinding]:
        """Return the findings that fail the gate, by priority."""
        return [
            check for _, check in report.findings() if self._is_listed(check) or self._failed_criteria(report, check)
        ]

    def complaints(self, report: CommandReport) -> Iterator[str]:
        """Yield a sentence for each reason why the report fails the gate."""
        if self.is_log_in_page_refused(report):
            yield f"{report.type} of {report.page}: {LOG_IN_MESSAGE} Scan with credentials, or with --allow-login."
        if self.is_score_too_low(report):
            suffix = " without accepted findings" if report.accepted_score is not None else ""
            yield f"{report.type} of {report.page}: {report.score}{suffix} is below {self.lowest_score(report.type)}."
        if failing_findings := [check for _, check in report.findings() if self._is_listed(check)]:
            new = "new " if BASELINE_REASON in report.accepted.values() else ""
            yield f"{report.type} of {report.page}: {len(failing_findings)} {new}{self._describe(failing_findings)}."
        criteria = {one.number: one for _, check in report.findings() for one in self._failed_criteria(report, check)}
        if self.target and criteria:
            standard = self.target.standard
            names = [
                f"{one.clause(standard)} {one.name} ({one.level})"
                for one in sorted(criteria.values(), key=lambda one: (one.level, one.order))
            ]
            yield f"{report.type} of {report.page}: fails {standard.label}: {', '.join(names)}."

    def site_complaints(self, reports: Iterable[CommandReport]) -> list[str]:
        """Return the complaints about the pages of a site, one for all pages with the same complaint."""
        pages: dict[tuple[str, str], list[ReportedPage]] = {}
        for report in reports:
            for complaint in self.complaints(report):
                reason = complaint.removeprefix(f"{report.type} of {report.page}: ")
                pages.setdefault((report.type, reason), []).append(report.page)
        return [
            f"{type} of {group[0] if len(group) == 1 else f'{count_pages(group)}, such as {group[0]}'}: {reason}"
            for (type, reason), group in pages.items()
        ]

    def _is_listed(self, finding: ExportedFinding) -> bool:
        """Return True if the finding's severity or its name fails the gate."""
        return self._is_too_severe(finding) or outcome_name(finding) in self.outcomes

    def _failed_criteria(self, report: CommandReport, finding: ExportedFinding) -> Sequence[SuccessCriterion]:
        """Return the criteria of the target whose failure the finding proves."""
        if self.target is None or report.type != ScanType.ACCESSIBILITY or finding["status"] != "fail":
            return ()
        # Few commands have a target.
        from website_scan.report.conformance import criteria_of

        numbers = criteria_of(finding["references"])
        required = required_criteria(self.target.standard, self.target.level)
        return [one for one in required if one.number in numbers]

    def _is_too_severe(self, finding: ExportedFinding) -> bool:
        severities = SEVERITIES[: SEVERITIES.index(self.fail_on) + 1] if self.fail_on else ()
        return finding_level(finding).gated and finding["severity"] in severities

    def _describe(self, failing_findings: Sequence[ExportedFinding]) -> str:
        """Return a summary of the findings.

        An example is "failures (high or higher): No HSTS header".
        """
        if all(map(self._is_too_severe, failing_findings)):
            severe = f" ({self.fail_on}{'' if self.fail_on == Severity.CRITICAL else ' or higher'})"
            noun = agreeing(len(failing_findings), "failure", "failures") + severe
        else:
            noun = agreeing(len(failing_findings), "finding", "findings")
        more = f", and {len(failing_findings) - MAX_TITLES} more" if len(failing_findings) > MAX_TITLES else ""
        return f"{noun}: {', '.join(check['title'] for check in failing_findings[:MAX_TITLES])}{more}"


def outcome_name(finding: ExportedFinding) -> str:
    """Return the IDs of the check and outcome, such as `hsts.short`."""
    return f"{finding['id']}.{finding['outcome']}"


class CommandResult(Struct, frozen=True):
    """Result of the command.

    `requested` is the number of requested reports, or 0 if it is unknown. `check_pages` is the base URL of the checks'
    pages, empty without a server. `gate` has returned the complaints. `target` has the success criteria of outputs.
    `is_interrupted` is True after Ctrl-C. `unfinished` are the pages whose scans did not end; `reports` contains them
    as failed scans. `site` is None if the pages are neither those of a site nor states of journeys.
    """

    reports: Sequence[CommandReport]
    complaints: Sequence[str]
    requested: int
    check_pages: str = ""
    gate: Gate = field(default_factory=Gate)
    target: ConformanceTarget = DEFAULT_TARGET
    is_interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    site: SitePages | ExecutedJourneys | None = None

    @property
    def is_good(self) -> bool:
        """Return True if no scan failed and the gate has no complaint."""
        is_complete = not self.is_interrupted and not self.unfinished
        return is_complete and not self.complaints and all(report.error is None for report in self.reports)
