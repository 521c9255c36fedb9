"""Command `website-scan URL …`.

Scans the pages, writes the outputs and checks the quality gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from website_scan.command.arguments import Options
from website_scan.command.baseline import Baseline, baseline_text, read_baseline, read_place_texts
from website_scan.command.errors import EXIT_FAILED, EXIT_GATE, ServerRefused
from website_scan.command.executed_journeys import ExecutedJourneys
from website_scan.command.gate import CommandReport, CommandResult, Gate
from website_scan.command.output import OutputWriter, refuse_unwritable, write
from website_scan.command.preview_findings import PREVIEW_REASON
from website_scan.command.progress import ProgressLine
from website_scan.command.reported_page import count_pages
from website_scan.command.site_options import SitePages
from website_scan.command.terminal import write_err
from website_scan.findings import ScanType, Severity
from website_scan.messages import counted
from website_scan.report_json import ExportedError

INTERRUPTED: ExportedError = {"code": "SCAN_CANCELLED", "message": "The command was interrupted before the scan ended."}


def scan_and_judge(options: Options) -> int:
    """Scan all pages and write the outputs.

    Returns the exit status: 0, 1 if the gate failed, 3 if a scan failed.
    """
    files = [output.path for output in options.outputs]
    refuse_unwritable([*files, *filter(None, [options.write_baseline])])
    # The first execution writes the baseline of website-scan.toml.
    is_first_execution = options.baseline == options.write_baseline and not (
        options.baseline and options.baseline.exists()
    )
    accepted = read_baseline(options.baseline) if options.baseline and not is_first_execution else None
    # Without other conditions, every new failed check fails the gate.
    fails_for_new_findings = (
        accepted is not None
        and not options.under
        and options.fail_on is None
        and not options.fail_on_outcome
        and options.fail_on_level is None
    )
    gate = Gate(
        options.under,
        Severity.LOW if fails_for_new_findings else options.fail_on,
        options.fail_on_outcome,
        options.allows_login,
        options.fail_on_level,
    )
    if options.write_baseline and accepted is None:
        # The new baseline accepts all findings, so only log-in pages can fail the gate.
        gate = Gate(allows_login=options.allows_login)
    progress = ProgressLine(is_quiet=options.is_quiet)
    if options.journeys:
        from website_scan.command.journey import prepare  # Few commands have journeys.

        prepare(options.journeys)
    with _preview_context(options, progress) as preview_options:
        site = None
        if options.site and not options.server:
            from website_scan.command.site import discover_site  # Few commands scan a site.

            site, preview_options = discover_site(preview_options, options.site, progress)
        result = _scan_all(preview_options, gate, accepted, progress, site)
    for sentence in accepted.caveats(result.reports) if accepted else ():
        write_err(f"Warning: {sentence}")
    return _write_messages(preview_options, result, has_gate=gate != Gate(allows_login=options.allows_login))


def _scan_all(
    options: Options, gate: Gate, accepted: Baseline | None, progress: ProgressLine, site: SitePages | None
) -> CommandResult:
    """Scan all pages and write the outputs.

    If an error or Ctrl-C ends the scans, the finished reports are still written.
    """
    finished_reports: list[CommandReport] = []
    output = OutputWriter(options)
    sites: list[SitePages | ExecutedJourneys] = [site] if site else []
    early_end_error: ExportedError | None = {"code": "INTERNAL_ERROR", "message": "The command ended early."}
    try:
        for visit in _scans(options, progress, site, sites.append):
            progress.clear()
            reports = [report.accept_outcomes(options.accept) for report in visit]
            reports = [accepted.accept(report, options.urls) if accepted else report for report in reports]
            finished_reports += reports
            output.show(reports)
        early_end_error = None
    except KeyboardInterrupt:
        early_end_error = INTERRUPTED
        raise
    except ServerRefused as refusal:
        early_end_error = {"code": "SCAN_NOT_COMPLETE", "message": str(refusal)}
        raise
    finally:
        progress.clear()
        unfinished = _unfinished_urls(options, finished_reports) if early_end_error else ()
        result = CommandResult(
            finished_reports
            if early_end_error is None
            else [*finished_reports, *_failed_reports(unfinished, options.types, early_end_error)],
            gate.site_complaints(finished_reports)
            if options.site or options.journeys
            else [sentence for report in finished_reports for sentence in gate.complaints(report)],
            requested=0 if options.journeys else len(options.urls) * len(options.types),
            check_pages=f"{options.server.rstrip('/')}/docs/checks/" if options.server else "",
            gate=gate,
            target=options.target,
            is_interrupted=early_end_error is INTERRUPTED,
            unfinished=unfinished,
            site=sites[0] if sites else None,
        )
        if finished_reports or early_end_error is INTERRUPTED:
            output.end(result)
        if early_end_error is INTERRUPTED:
            journeys = options.journeys.sources if options.journeys else ()
            total = counted(len(journeys), "journey") if journeys else counted(len(options.urls), "page")
            write_err(f"Interrupted: {len(unfinished)} of {total} not finished.")
    return result


def _unfinished_urls(options: Options, reports: Sequence[CommandReport]) -> tuple[str, ...]:
    if options.journeys:
        return options.journeys.unfinished({report.page.journey for report in reports}, options.preview_origin)
    finished = {report.url for report in reports}
    return tuple(url for url in options.urls if url not in finished)


def _failed_reports(urls: Sequence[str], types: Sequence[ScanType], error: ExportedError) -> list[CommandReport]:
    from website_scan.command.failed_reports import failed_report  # The scan engine is imported only after a failure.

    return [failed_report(url, scan_type, error) for url in urls for scan_type in types]


def _write_messages(options: Options, result: CommandResult, *, has_gate: bool) -> int:
    """Write the new baseline and the messages of the gate to standard error.

    Returns the exit status.
    """
    for sentence in result.complaints:
        write_err(f"Gate failed: {sentence}")
    failed = any(report.error is not None for report in result.reports)
    written = [output.path for output in options.outputs if output.path is not None]
    if options.write_baseline and failed:
        write_err(f"{options.write_baseline} was not written: a scan failed, so its findings are not known.")
    elif options.write_baseline:
        reports = [report.without_checks_accepted_for(PREVIEW_REASON) for report in result.reports]
        words = read_place_texts(options.write_baseline)
        write(options.write_baseline, baseline_text(reports, options.preview_origin, words))
        written.append(options.write_baseline)
    if result.is_good and not options.is_quiet:
        pages = count_pages({report.page for report in result.reports})
        count = counted(len(result.reports), "report")
        files = f" Written: {', '.join(map(str, written))}." if written else ""
        write_err(f"{'Gate passed' if has_gate else 'Done'}: {count} of {pages}.{files}")
    return EXIT_FAILED if failed else EXIT_GATE if result.complaints else 0


def _preview_context(options: Options, progress: ProgressLine) -> AbstractContextManager[Options]:
    """Return a context manager that runs the preview's server.

    The server of `--serve` or `--start`. Yields the options of the scan.
    """
    if not options.serve and not options.start:
        return nullcontext(options)
    from website_scan.command.preview import preview  # The network client is imported only for previews.

    return preview(options, progress)


def _scans(
    options: Options,
    progress: ProgressLine,
    site: SitePages | None,
    add_site: Callable[[SitePages | ExecutedJourneys], None],
) -> Iterator[list[CommandReport]]:
    """Yield the reports of each page, or failed scans if the site has an error.

    Scanned by the service of `--server` or, without that option, in this process. `add_site` receives the executed
    journeys, or the pages of a site that the service has discovered.
    """
    if site is not None and site.error is not None:
        return iter([_failed_reports([site.start], options.types, site.error)])
    if options.journeys:
        from website_scan.command import journey

        return journey.scan_journeys(options, progress, add_site)
    if options.server:
        from website_scan.command import remote

        return remote.scan_pages(options, progress, add_site)
    from website_scan.command import local

    return local.scan_pages(options, progress)
