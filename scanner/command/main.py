"""The command `website-scan URL …`: scans without server or database, and judges the reports by its exit status."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scanner.command.arguments import PROGRAM, Options, options_from
from scanner.command.baseline import baseline_of, read_baseline
from scanner.command.errors import EXIT_FAILED, EXIT_GATE, EXIT_USAGE, ServerRefused, WrongUsage
from scanner.command.judged import SEVERITIES, Judged, Outcome
from scanner.command.output import Output, refuse_what_cannot_be_written, write
from scanner.command.progress import ProgressLine
from scanner.command.terminal import ended_by, printable, show_what_can_be_shown
from scanner.findings import Severity

CHECKS_TOLD = 3  # the number of failed checks that a complaint lists


@dataclass(frozen=True, slots=True)
class Gate:
    """Quality gate for reports.

    `under` has the lowest scores that pass by type, "" for all types; `fail_on` is the least severity of a failed check
    that fails the gate. Warnings never fail it, because they are improvements, or not certain.
    """

    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None

    def complaints(self, judged: Judged) -> Iterator[str]:
        """Yield a sentence for each reason why the report fails the gate."""
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
            more = f", and {len(failed) - CHECKS_TOLD} more" if len(failed) > CHECKS_TOLD else ""
            yield f"{judged.type} of {judged.url}: {count} {severe}{new}: {', '.join(failed[:CHECKS_TOLD])}{more}."


def main() -> None:
    """Entry point of the installed command; ends the process."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    ended_by(lambda: run(sys.argv[1:]))


def run(arguments: Sequence[str], program: str = PROGRAM) -> int:
    """Run the command. Returns the exit status: 0, 1 if the gate failed, 2 for wrong usage, 3 if a scan failed."""
    show_what_can_be_shown()
    try:
        return _scan_and_judge(options_from(arguments, program))
    except WrongUsage as wrong:
        _say(f"{program}: {wrong}")
        return EXIT_USAGE
    except ServerRefused as refusal:
        _say(f"{program}: {refusal}")
        return EXIT_FAILED


def _scan_and_judge(options: Options) -> int:
    files = [each.path for each in options.documents] + [options.write_baseline]
    refuse_what_cannot_be_written(filter(None, files))
    # In the first run, the baseline that website-scan.toml names does not exist yet: this run writes it.
    is_first = options.baseline == options.write_baseline and not (options.baseline and options.baseline.exists())
    accepted = read_baseline(options.baseline, options.urls) if options.baseline and not is_first else None
    # With a baseline and no other gate, every new failed check fails the gate.
    is_about_news = accepted is not None and not options.under and options.fail_on is None
    gate = Gate(options.under, Severity.LOW if is_about_news else options.fail_on)
    if options.write_baseline and accepted is None:
        gate = Gate()  # all findings are accepted
    progress = ProgressLine(is_quiet=options.is_quiet)
    judged: list[Judged] = []
    output = Output(options)
    try:
        for visit in _scans(options, progress):
            progress.clear()
            reports = [accepted.accept(each) if accepted else each for each in visit]
            judged += reports
            output.show(reports)
    finally:
        # After Ctrl-C, the finished reports are still written.
        progress.clear()
        complaints = [sentence for each in judged for sentence in gate.complaints(each)]
        if judged:
            asked = len(options.urls) * len(options.types)
            pages = f"{options.server.rstrip('/')}/docs/checks/" if options.server else ""
            output.end(Outcome(judged, complaints, asked, pages))
    for sentence in accepted.caveats(judged) if accepted else ():
        _say(f"Warning: {sentence}")
    for sentence in complaints:
        _say(f"Gate failed: {sentence}")
    failed = any(each.error is not None for each in judged)
    if options.write_baseline:
        if failed:
            _say(f"{options.write_baseline} was not written: a scan failed, so its findings are not known.")
        else:
            write(options.write_baseline, baseline_of(judged))
    return EXIT_FAILED if failed else EXIT_GATE if complaints else 0


def _scans(options: Options, progress: ProgressLine) -> Iterator[list[Judged]]:
    """Yield the reports of each page. Imports only the modules of the way that is used, remote or local."""
    if options.server:
        from scanner.command import remote

        return remote.scans(options, progress)
    from scanner.command import local

    return local.scans(options, progress)


def _say(sentence: str) -> None:
    sys.stderr.write("".join(f"{printable(line)}\n" for line in sentence.splitlines()))
