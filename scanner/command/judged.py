"""Model of a report in the command, made on this machine or by a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scanner.document import (
    ExportDocument,
    ExportedCheck,
    ExportedError,
    ExportedFinding,
    Facts,
    StoredBasis,
    StoredExhibits,
    StoredWaterfall,
)
from scanner.findings import Severity
from scanner.result import Pictures

IN_BASELINE = "in the baseline"
NOT_COMPARED = "not compared, as the baseline was written without a browser"
SEVERITIES = [str(each) for each in Severity]


@dataclass(frozen=True, slots=True)
class Judged:
    """A report. `document` is its JSON export; for a failed scan, it has no score, the status `failed` and an `error`.

    `accepted` maps IDs of checks to the reason why their findings are accepted. `accepted_score` is the score as if
    these had passed; None if none is accepted, or if the score is not known. `scoring` is the basis of the score, for
    scans on this machine.
    """

    document: ExportDocument
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
    def checks(self) -> Iterator[tuple[str, ExportedCheck]]:
        """Yield every check that ran, with the name of its category."""
        for category in self.document["categories"]:
            for check in category["checks"]:
                yield category["name"], check

    def findings(self, *, accepted: bool = False) -> Sequence[tuple[str, ExportedFinding]]:
        """Return the failed checks, then the warnings, the most severe first: the accepted ones, or the others."""
        found = ((category, check) for category, check in self.checks if check["status"] != "pass")
        return sorted((each for each in found if (each[1]["id"] in self.accepted) == accepted), key=_weight)

    @property
    def passed(self) -> int:
        return sum(check["status"] == "pass" for _, check in self.checks)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The content of an output document: the reports, the gate's complaints, and how many reports were requested.

    `check_pages` is the base URL of the checks' pages, empty without a server.
    """

    reports: Sequence[Judged]
    complaints: Sequence[str]
    asked: int
    check_pages: str = ""

    @property
    def is_good(self) -> bool:
        return not self.complaints and all(each.error is None for each in self.reports)


def _weight(found: tuple[str, ExportedFinding]) -> tuple[bool, int, float]:
    _, check = found
    return check["status"] != "fail", SEVERITIES.index(check["severity"]), -check["points"]
