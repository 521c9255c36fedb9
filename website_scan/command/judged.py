"""Reports of the command, made on this machine or by a server, and the gate that lets them pass or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from website_scan.findings import Severity
from website_scan.messages import agreeing
from website_scan.need import by_need
from website_scan.report.cap_sentence import score_cap_sentence
from website_scan.report.elsewhere import OtherReport, reported_elsewhere
from website_scan.report.levels import level_of
from website_scan.report_json import ExportedCategory, ExportedCheck, ExportedError, ExportedFinding, ExportJson
from website_scan.result import Pictures
from website_scan.score_basis import score_without
from website_scan.stored_data import Facts, StoredBasis, StoredExhibits, StoredWaterfall

IN_BASELINE = "in the baseline"
ACCEPTED = "accepted by name"
NOT_COMPARED = "not compared, as the baseline was written without a browser"
SEVERITIES = [str(each) for each in Severity]
CHECKS_TOLD = 3  # the number of failed checks that a complaint lists


@dataclass(frozen=True, slots=True)
class Judged:
    """A report. `document` is its JSON export; for a failed scan, it has no score, the status `failed` and an `error`.

    `accepted` maps IDs of checks to the reason why their findings are accepted. `accepted_score` is the score as if
    these had passed; None if none is accepted, or if the score is not known. `scoring` is the basis of the score, for
    scans on this machine.
    """

    document: ExportJson
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
        return self.document["type"]

    @property
    def url(self) -> str:
        return self.document["url"]

    @property
    def error(self) -> ExportedError | None:
        return self.document.get("error")

    @property
    def notice(self) -> str:
        """Notice to show before the findings."""
        return self.facts.get("notice", "")

    @property
    def score(self) -> int | None:
        """The score that the gate judges: without accepted findings, where there are any."""
        return self.document["score"] if self.accepted_score is None else self.accepted_score

    @property
    def score_cap_sentence(self) -> str:
        """Sentence on what holds the score of the report under a cap; empty if nothing does."""
        if not self.accepted or self.scoring is None or not self.document["held"]:
            return self.document["held"]
        return score_cap_sentence(
            self.scoring, [cap["reason"] for cap in self.document["caps"]], self.accepted, "accepted"
        )

    @property
    def checks(self) -> Iterator[tuple[str, ExportedCheck]]:
        """Every check that ran, with the name of its category, the neediest first."""
        return iter(by_need(self.document))

    def findings(self, *, accepted: bool = False) -> Sequence[tuple[str, ExportedFinding]]:
        """Return the failed and warned checks, the neediest first: the accepted ones, or the others."""
        found = ((category, check) for category, check in self.checks if check["status"] != "pass")
        return [each for each in found if (each[1]["id"] in self.accepted) == accepted]

    def reported_elsewhere(self, others: Iterable[Judged]) -> Mapping[str, str]:
        """Return the findings that another report of the same page tells, by check ID, with a sentence that says so.

        Accepted findings tell nothing.
        """
        reports = [each for each in others if each is not self and each.url == self.url and each.error is None]
        heard = {each.type: {check["id"] for _, check in each.findings()} for each in reports}
        found = reported_elsewhere(self.document, [OtherReport(each.document, "") for each in reports])
        return {
            id: f"The {each.label} report has the same finding: {each.title} ({each.id})."
            for id, each in found.items()
            if each.id in heard[each.type]
        }

    def accepting(self, reasons: Mapping[str, str]) -> Judged:
        """Return the report with more accepted checks, by ID, and its score as if they had passed."""
        accepted = {id: why for _, check in self.findings() if (why := reasons.get(id := check["id"]))}
        if not accepted:
            return self
        accepted |= self.accepted
        found = score_without(self.scoring, accepted) if self.scoring else None
        return replace(self, accepted=accepted, accepted_score=found[0] if found else self.accepted_score)

    def accepting_outcomes(self, names: Collection[str]) -> Judged:
        """Return the report with the findings of these outcomes, such as `hsts.short`, accepted."""
        return self.accepting({check["id"]: ACCEPTED for _, check in self.findings() if outcome_of(check) in names})

    def without(self, reason: str) -> Judged:
        """Return the report without the checks that are accepted for this reason."""
        categories: list[ExportedCategory] = [
            {**each, "checks": [check for check in each["checks"] if self.accepted.get(check["id"]) != reason]}
            for each in self.document["categories"]
        ]
        return replace(self, document={**self.document, "categories": categories})

    @property
    def passed(self) -> int:
        return sum(check["status"] == "pass" for _, check in self.checks)


@dataclass(frozen=True, slots=True)
class Gate:
    """Quality gate for reports.

    `under` has the lowest scores that pass by type, "" for all types; `fail_on` is the least severity of a failed check
    that fails the gate. Warnings fail it only by name, because they are improvements, or not certain: `outcomes` are
    those that fail it whatever their severity, such as `hsts.short`.
    """

    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None
    outcomes: frozenset[str] = frozenset()

    def lowest(self, scan_type: str) -> int | None:
        """Return the lowest score of a type that passes, None if any does."""
        return self.under.get(scan_type, self.under.get(""))

    def is_too_low(self, judged: Judged) -> bool:
        """Return True if the report fails the gate by its score."""
        lowest = self.lowest(judged.type)
        return lowest is not None and judged.score is not None and judged.score < lowest

    def failing(self, judged: Judged) -> Sequence[ExportedFinding]:
        """Return the findings for which the report fails the gate, the neediest first."""
        return [
            check for _, check in judged.findings() if self._is_too_severe(check) or outcome_of(check) in self.outcomes
        ]

    def complaints(self, judged: Judged) -> Iterator[str]:
        """Yield a sentence for each reason why the report fails the gate."""
        if self.is_too_low(judged):
            without = " without what is accepted" if judged.accepted_score is not None else ""
            yield f"{judged.type} of {judged.url}: {judged.score}{without} is below {self.lowest(judged.type)}."
        if failing := self.failing(judged):
            new = "new " if IN_BASELINE in judged.accepted.values() else ""
            yield f"{judged.type} of {judged.url}: {len(failing)} {new}{self._described(failing)}."

    def _is_too_severe(self, finding: ExportedFinding) -> bool:
        heavy = SEVERITIES[: SEVERITIES.index(self.fail_on) + 1] if self.fail_on else ()
        return level_of(finding).gated and finding["severity"] in heavy

    def _described(self, failing: Sequence[ExportedFinding]) -> str:
        """Return the noun for findings and the first titles. With the severity, if all of them fail by it."""
        if all(map(self._is_too_severe, failing)):
            severe = f" ({self.fail_on}{'' if self.fail_on == Severity.CRITICAL else ' or higher'})"
            noun = agreeing(len(failing), "failure", "failures") + severe
        else:
            noun = agreeing(len(failing), "finding", "findings")
        more = f", and {len(failing) - CHECKS_TOLD} more" if len(failing) > CHECKS_TOLD else ""
        return f"{noun}: {', '.join(check['title'] for check in failing[:CHECKS_TOLD])}{more}"


def outcome_of(finding: ExportedFinding) -> str:
    """Return the name of a finding's outcome with that of its check, such as `hsts.short`."""
    return f"{finding['id']}.{finding['outcome']}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The content of an output document: the reports, the gate's complaints, and how many reports were requested.

    `check_pages` is the base URL of the checks' pages, empty without a server. `gate` made the complaints.
    `is_interrupted` is True after Ctrl-C. `unfinished` has the pages whose scans did not end; they are in `reports` as
    failed scans, for every format.
    """

    reports: Sequence[Judged]
    complaints: Sequence[str]
    asked: int
    check_pages: str = ""
    gate: Gate = field(default_factory=Gate)
    is_interrupted: bool = False
    unfinished: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Return True if the gate passed: it had every report, and no complaint."""
        is_complete = not self.is_interrupted and not self.unfinished
        return is_complete and not self.complaints and all(each.error is None for each in self.reports)
