"""Execution of `website-scan URL …`: scans of all pages, their outputs, and the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from website_scan.command.arguments import Options
from website_scan.command.baseline import Baseline, baseline_text, read_baseline, read_place_texts
from website_scan.command.errors import EXIT_FAILED, EXIT_GATE, ServerRefused
from website_scan.command.judged import Gate, Judged, Outcome
from website_scan.command.output import OutputWriter, refuse_unwritable, write
from website_scan.command.preview_findings import IN_PREVIEW
from website_scan.command.progress import ProgressLine
from website_scan.command.terminal import write_err
from website_scan.findings import ScanType, Severity
from website_scan.messages import counted
from website_scan.report_json import ExportedError

INTERRUPTED: ExportedError = {"code": "SCAN_CANCELLED", "message": "The command was interrupted before the scan ended."}


def scan_and_judge(options: Options) -> int:
    """Scan all pages and write the outputs. Returns the exit status: 0, 1 if the gate failed, 3 if a scan failed."""
    files = [output.path for output in options.outputs]
    refuse_unwritable([*files, *filter(None, [options.write_baseline])])
    # When the command runs for the first time, it writes the baseline that website-scan.toml names.
    is_first = options.baseline == options.write_baseline and not (options.baseline and options.baseline.exists())
    accepted = read_baseline(options.baseline) if options.baseline and not is_first else None
    # With a baseline and no other condition, each new failed check fails the gate.
    is_for_new_findings = (
        accepted is not None and not options.under and options.fail_on is None and not options.fail_on_outcome
    )
    gate = Gate(options.under, Severity.LOW if is_for_new_findings else options.fail_on, options.fail_on_outcome)
    if options.write_baseline and accepted is None:
        gate = Gate()  # no gate, because the new baseline accepts all findings
    progress = ProgressLine(is_quiet=options.is_quiet)
    with _with_preview(options, progress) as preview_options:
        outcome = _outcome(preview_options, gate, accepted, progress)
    for sentence in accepted.caveats(outcome.reports) if accepted else ():
        write_err(f"Warning: {sentence}")
    return _conclude(preview_options, outcome, has_gate=gate != Gate())


def _outcome(options: Options, gate: Gate, accepted: Baseline | None, progress: ProgressLine) -> Outcome:
    """Scan all pages and write the outputs. If the scans end early, the outputs contain the finished reports."""
    judged: list[Judged] = []
    output = OutputWriter(options)
    early_end: ExportedError | None = {"code": "INTERNAL_ERROR", "message": "The command ended early."}
    try:
        for visit in _scans(options, progress):
            progress.clear()
            reports = [report.with_accepted_outcomes(options.accept) for report in visit]
            reports = [accepted.accept(report, options.urls) if accepted else report for report in reports]
            judged += reports
            output.show(reports)
        early_end = None
    except KeyboardInterrupt:
        early_end = INTERRUPTED
        raise
    except ServerRefused as refusal:
        early_end = {"code": "SCAN_NOT_COMPLETE", "message": str(refusal)}
        raise
    finally:
        progress.clear()
        unfinished = _unfinished(options, judged) if early_end else ()
        outcome = Outcome(
            judged if early_end is None else [*judged, *_failed(unfinished, options.types, early_end)],
            [sentence for report in judged for sentence in gate.complaints(report)],
            requested=len(options.urls) * len(options.types),
            check_pages=f"{options.server.rstrip('/')}/docs/checks/" if options.server else "",
            gate=gate,
            is_interrupted=early_end is INTERRUPTED,
            unfinished=unfinished,
        )
        if judged or early_end is INTERRUPTED:
            output.end(outcome)
        if early_end is INTERRUPTED:
            write_err(f"Interrupted: {len(unfinished)} of {counted(len(options.urls), 'page')} not finished.")
    return outcome


def _unfinished(options: Options, judged: Sequence[Judged]) -> tuple[str, ...]:
    finished = {report.url for report in judged}
    return tuple(url for url in options.urls if url not in finished)


def _failed(urls: Sequence[str], types: Sequence[ScanType], error: ExportedError) -> list[Judged]:
    from website_scan.command.failed_reports import failed_report  # imports the engine

    return [failed_report(url, scan_type, error) for url in urls for scan_type in types]


def _conclude(options: Options, outcome: Outcome, *, has_gate: bool) -> int:
    """Write the messages of the gate and the baseline, and return the exit status."""
    for sentence in outcome.complaints:
        write_err(f"Gate failed: {sentence}")
    failed = any(report.error is not None for report in outcome.reports)
    written = [output.path for output in options.outputs if output.path is not None]
    if options.write_baseline and failed:
        write_err(f"{options.write_baseline} was not written: a scan failed, so its findings are not known.")
    elif options.write_baseline:
        reports = [report.without_accepted_for(IN_PREVIEW) for report in outcome.reports]
        words = read_place_texts(options.write_baseline)
        write(options.write_baseline, baseline_text(reports, options.served_at, words))
        written.append(options.write_baseline)
    if outcome.is_good and not options.is_quiet:
        pages = counted(len({report.url for report in outcome.reports}), "page")
        count = counted(len(outcome.reports), "report")
        files = f" Written: {', '.join(map(str, written))}." if written else ""
        write_err(f"{'Gate passed' if has_gate else 'Done'}: {count} of {pages}.{files}")
    return EXIT_FAILED if failed else EXIT_GATE if outcome.complaints else 0


def _with_preview(options: Options, progress: ProgressLine) -> AbstractContextManager[Options]:
    """Return a context with the options of the scan, in which the server of `--serve` or `--start` runs."""
    if not options.serve and not options.start:
        return nullcontext(options)
    from website_scan.command.preview import preview  # imports the network

    return preview(options, progress)


def _scans(options: Options, progress: ProgressLine) -> Iterator[list[Judged]]:
    """Yield the reports of each page. Imports only the modules for scans by a service, or for local scans."""
    if options.server:
        from website_scan.command import remote

        return remote.scan_pages(options, progress)
    from website_scan.command import local

    return local.scan_pages(options, progress)
