"""Reports of the command, made on this machine or by a server, and the quality gate for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from website_scan.findings import Severity
from website_scan.messages import agreeing
from website_scan.priority import by_priority
from website_scan.report.cap_sentence import score_cap_sentence
from website_scan.report.levels import level_of
from website_scan.report.linked_reports import OtherReport, reported_elsewhere
from website_scan.report_json import ExportedCategory, ExportedCheck, ExportedError, ExportedFinding, ExportJson
from website_scan.result import Pictures
from website_scan.score_basis import score_without
from website_scan.stored_data import Facts, StoredBasis, StoredExhibits, StoredWaterfall

IN_BASELINE = "in the baseline"
ACCEPTED = "accepted by name"
NOT_COMPARED = "not compared, as the baseline was written without a browser"
SEVERITIES = [str(severity) for severity in Severity]
MAX_TITLES = 3  # number of findings that a complaint lists


@dataclass(frozen=True, slots=True)
class Judged:
    """Report for the gate. `export` is its JSON export, for a failed scan with the status `failed` and an `error`.

    `accepted` maps IDs of checks to the reason why their findings are accepted. `accepted_score` is the score as if
    these checks had passed; None if no finding is accepted, or if the score is unknown. `scoring` is the basis of the
    score, only for scans on this machine.
    """

    export: ExportJson
    facts: Facts = field(default_factory=Facts)
    scoring: StoredBasis | None = None
    waterfall: StoredWaterfall | None = None
    exhibits: StoredExhibits = field(default_factory=StoredExhibits)
    screenshot: bytes | None = None  # the first screen as WebP
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
    def error(self) -> ExportedError | None:
        return self.export.get("error")

    @property
    def notice(self) -> str:
        """Notice to show before the findings."""
        return self.facts.get("notice", "")

    @property
    def score(self) -> int | None:
        """Score that the gate judges: the score without accepted findings, if there are any."""
        return self.export["score"] if self.accepted_score is None else self.accepted_score

    @property
    def score_cap_sentence(self) -> str:
        """Sentence on the findings that keep the score under a cap; empty if no cap lowers the score."""
        if not self.accepted or self.scoring is None or not self.export["held"]:
            return self.export["held"]
        return score_cap_sentence(
            self.scoring, [cap["reason"] for cap in self.export["caps"]], self.accepted, "accepted"
        )

    @property
    def checks(self) -> Iterator[tuple[str, ExportedCheck]]:
        """Checks that ran, with the name of their category, in order of priority."""
        return iter(by_priority(self.export))

    def findings(self, *, accepted: bool = False) -> Sequence[tuple[str, ExportedFinding]]:
        """Return the accepted findings, or the findings that are not accepted, in order of priority."""
        findings = ((category, check) for category, check in self.checks if check["status"] != "pass")
        return [(category, check) for category, check in findings if (check["id"] in self.accepted) == accepted]

    def reported_elsewhere(self, others: Iterable[Judged]) -> Mapping[str, str]:
        """Return, by check ID, a sentence for each finding whose fact another report of the same page contains.

        Accepted findings of the other report do not count.
        """
        reports = [
            report for report in others if report is not self and report.url == self.url and report.error is None
        ]
        open_ids = {report.type: {check["id"] for _, check in report.findings()} for report in reports}
        links = reported_elsewhere(self.export, [OtherReport(report.export, "") for report in reports])
        return {
            id: f"The {link.label} report has the same finding: {link.title} ({link.id})."
            for id, link in links.items()
            if link.id in open_ids[link.type]
        }

    def with_accepted(self, reasons: Mapping[str, str]) -> Judged:
        """Return the report with more accepted checks (reasons by ID), and its score as if they had passed."""
        accepted = {id: why for _, check in self.findings() if (why := reasons.get(id := check["id"]))}
        if not accepted:
            return self
        accepted |= self.accepted
        score_and_grade = score_without(self.scoring, accepted) if self.scoring else None
        score = score_and_grade[0] if score_and_grade else self.accepted_score
        return replace(self, accepted=accepted, accepted_score=score)

    def with_accepted_outcomes(self, names: Collection[str]) -> Judged:
        """Return the report with findings accepted by the names of their outcomes, such as `hsts.short`."""
        return self.with_accepted({check["id"]: ACCEPTED for _, check in self.findings() if outcome_of(check) in names})

    def without_accepted_for(self, reason: str) -> Judged:
        """Return the report without the checks that are accepted for a reason, such as IN_BASELINE."""
        categories: list[ExportedCategory] = [
            {**category, "checks": [check for check in category["checks"] if self.accepted.get(check["id"]) != reason]}
            for category in self.export["categories"]
        ]
        return replace(self, export={**self.export, "categories": categories})

    @property
    def passed_count(self) -> int:
        return sum(check["status"] == "pass" for _, check in self.checks)


@dataclass(frozen=True, slots=True)
class Gate:
    """Quality gate for reports.

    `under` has the lowest passing scores by scan type, "" for all types. Failed checks of severity `fail_on` or higher
    fail the gate. Warnings, which are suggestions or uncertain, fail it only by name: `outcomes` are names, such as
    `hsts.short`, that fail it whatever their severity.
    """

    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None
    outcomes: frozenset[str] = frozenset()

    def lowest_score(self, scan_type: str) -> int | None:
        """Return the lowest passing score of a scan type, None if all scores pass."""
        return self.under.get(scan_type, self.under.get(""))

    def is_too_low(self, judged: Judged) -> bool:
        """Return True if the score of the report fails the gate."""
        lowest_score = self.lowest_score(judged.type)
        return lowest_score is not None and judged.score is not None and judged.score < lowest_score

    def failing_findings(self, judged: Judged) -> Sequence[ExportedFinding]:
        """Return the findings of the report that fail the gate, in order of priority."""
        return [
            check for _, check in judged.findings() if self._is_too_severe(check) or outcome_of(check) in self.outcomes
        ]

    def complaints(self, judged: Judged) -> Iterator[str]:
        """Yield a sentence for each reason why the report fails the gate."""
        if self.is_too_low(judged):
            suffix = " without what is accepted" if judged.accepted_score is not None else ""
            yield f"{judged.type} of {judged.url}: {judged.score}{suffix} is below {self.lowest_score(judged.type)}."
        if failing_findings := self.failing_findings(judged):
            new = "new " if IN_BASELINE in judged.accepted.values() else ""
            yield f"{judged.type} of {judged.url}: {len(failing_findings)} {new}{self._describe(failing_findings)}."

    def _is_too_severe(self, finding: ExportedFinding) -> bool:
        severities = SEVERITIES[: SEVERITIES.index(self.fail_on) + 1] if self.fail_on else ()
        return level_of(finding).gated and finding["severity"] in severities

    def _describe(self, failing_findings: Sequence[ExportedFinding]) -> str:
        """Return the noun for the findings, the severity if all of them fail by severity, and the first titles."""
        if all(map(self._is_too_severe, failing_findings)):
            severe = f" ({self.fail_on}{'' if self.fail_on == Severity.CRITICAL else ' or higher'})"
            noun = agreeing(len(failing_findings), "failure", "failures") + severe
        else:
            noun = agreeing(len(failing_findings), "finding", "findings")
        more = f", and {len(failing_findings) - MAX_TITLES} more" if len(failing_findings) > MAX_TITLES else ""
        return f"{noun}: {', '.join(check['title'] for check in failing_findings[:MAX_TITLES])}{more}"


def outcome_of(finding: ExportedFinding) -> str:
    """Return the name of a finding's outcome with the ID of its check, such as `hsts.short`."""
    return f"{finding['id']}.{finding['outcome']}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Content of all outputs: the reports, the gate's complaints, and how many reports were requested.

    `check_pages` is the base URL of the checks' pages, empty without a server. `gate` made the complaints.
    `is_interrupted` is True after Ctrl-C. `unfinished` are the pages whose scans did not end; `reports` contains them
    as failed scans.
    """

    reports: Sequence[Judged]
    complaints: Sequence[str]
    requested: int
    check_pages: str = ""
    gate: Gate = field(default_factory=Gate)
    is_interrupted: bool = False
    unfinished: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Return True if the gate passed: all scans ended without an error, and the gate has no complaint."""
        is_complete = not self.is_interrupted and not self.unfinished
        return is_complete and not self.complaints and all(report.error is None for report in self.reports)
