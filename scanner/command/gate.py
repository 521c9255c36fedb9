"""Whether reports are good enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scanner.command.judged import SEVERITIES, Judged
from scanner.findings import Severity

TOLD = 3


@dataclass(frozen=True, slots=True)
class Gate:
    """`under` has lowest scores by type, "" for all types; `fail_on` the least severe failed check that counts.

    Warnings fail no gate: they are worth improving, or not certain.
    """

    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None

    def complaints(self, judged: Judged) -> Iterator[str]:
        """A sentence for each reason why a report that was made is not good enough."""
        lowest = self.under.get(judged.type, self.under.get(""))
        if lowest is not None and judged.score is not None and judged.score < lowest:
            without = " without what is accepted" if judged.accepted_score is not None else ""
            yield f"{judged.type} of {judged.url}: {judged.score}{without} is below {lowest}."
        if self.fail_on is None:
            return
        heavy = SEVERITIES[: SEVERITIES.index(self.fail_on) + 1]
        failed = [
            check["title"] for _, check in judged.findings() if check["status"] == "fail" and check["severity"] in heavy
        ]
        if failed:
            count = "1 failed check is" if len(failed) == 1 else f"{len(failed)} failed checks are"
            severe = self.fail_on if self.fail_on == Severity.CRITICAL else f"{self.fail_on} or worse"
            new = " and new" if judged.accepted else ""
            more = f", and {len(failed) - TOLD} more" if len(failed) > TOLD else ""
            yield f"{judged.type} of {judged.url}: {count} {severe}{new}: {', '.join(failed[:TOLD])}{more}."
