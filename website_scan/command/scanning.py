"""Scans of all pages of a command, the documents about them, and the gate: `website-scan URL …`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from website_scan.command.arguments import Options
from website_scan.command.baseline import Baseline, baseline_of, read_baseline, words_in
from website_scan.command.errors import EXIT_FAILED, EXIT_GATE, ServerRefused
from website_scan.command.judged import Gate, Judged, Outcome
from website_scan.command.preview_findings import IN_PREVIEW
from website_scan.command.output import Output, refuse_what_cannot_be_written, write
from website_scan.command.progress import ProgressLine
from website_scan.command.terminal import say
from website_scan.findings import ScanType, Severity
from website_scan.messages import counted
from website_scan.report_json import ExportedError

INTERRUPTED: ExportedError = {"code": "SCAN_CANCELLED", "message": "The command was interrupted before the scan ended."}


def scan_and_judge(options: Options) -> int:
    """Scan all pages and write the documents. Returns the exit status: 0, 1 if the gate failed, 3 if a scan failed."""
    files = [each.path for each in options.documents]
    refuse_what_cannot_be_written([*files, *filter(None, [options.write_baseline])])
    # In the first run, the baseline that website-scan.toml names does not exist yet: this run writes it.
    is_first = options.baseline == options.write_baseline and not (options.baseline and options.baseline.exists())
    accepted = read_baseline(options.baseline) if options.baseline and not is_first else None
    # With a baseline and no other gate, every new failed check fails the gate.
    is_about_news = (
        accepted is not None and not options.under and options.fail_on is None and not options.fail_on_outcome
    )
    gate = Gate(options.under, Severity.LOW if is_about_news else options.fail_on, options.fail_on_outcome)
    if options.write_baseline and accepted is None:
        gate = Gate()  # all findings are accepted
    progress = ProgressLine(is_quiet=options.is_quiet)
    with _previewed(options, progress) as ready:
        outcome = _outcome(ready, gate, accepted, progress)
    for sentence in accepted.caveats(outcome.reports) if accepted else ():
        say(f"Warning: {sentence}")
    return _concluded(ready, outcome, has_gate=gate != Gate())


def _outcome(options: Options, gate: Gate, accepted: Baseline | None, progress: ProgressLine) -> Outcome:
    """Scan all pages and write the documents, also if the scan ends early: then with the finished reports."""
    judged: list[Judged] = []
    output = Output(options)
    early: ExportedError | None = {"code": "INTERNAL_ERROR", "message": "The command ended early."}
    try:
        for visit in _scans(options, progress):
            progress.clear()
            reports = [each.accepting_outcomes(options.accept) for each in visit]
            reports = [accepted.accept(each, options.urls) if accepted else each for each in reports]
            judged += reports
            output.show(reports)
        early = None
    except KeyboardInterrupt:
        early = INTERRUPTED
        raise
    except ServerRefused as refusal:
        early = {"code": "SCAN_NOT_COMPLETE", "message": str(refusal)}
        raise
    finally:
        progress.clear()
        unfinished = _unfinished(options, judged) if early else ()
        outcome = Outcome(
            judged if early is None else [*judged, *_failed(unfinished, options.types, early)],
            [sentence for each in judged for sentence in gate.complaints(each)],
            asked=len(options.urls) * len(options.types),
            check_pages=f"{options.server.rstrip('/')}/docs/checks/" if options.server else "",
            gate=gate,
            is_interrupted=early is INTERRUPTED,
            unfinished=unfinished,
        )
        if judged or early is INTERRUPTED:
            output.end(outcome)
        if early is INTERRUPTED:
            say(f"Interrupted: {len(unfinished)} of {counted(len(options.urls), 'page')} not finished.")
    return outcome


def _unfinished(options: Options, judged: Sequence[Judged]) -> tuple[str, ...]:
    finished = {each.url for each in judged}
    return tuple(each for each in options.urls if each not in finished)


def _failed(urls: Sequence[str], types: Sequence[ScanType], error: ExportedError) -> list[Judged]:
    from website_scan.command.failed_reports import failed  # loads what scans need

    return [failed(url, each, error) for url in urls for each in types]


def _concluded(options: Options, outcome: Outcome, *, has_gate: bool) -> int:
    """Say how the run ended, write the baseline, and return the exit status."""
    for sentence in outcome.complaints:
        say(f"Gate failed: {sentence}")
    failed = any(each.error is not None for each in outcome.reports)
    written = [each.path for each in options.documents if each.path is not None]
    if options.write_baseline and failed:
        say(f"{options.write_baseline} was not written: a scan failed, so its findings are not known.")
    elif options.write_baseline:
        reports = [each.without(IN_PREVIEW) for each in outcome.reports]
        known = words_in(options.write_baseline)
        write(options.write_baseline, baseline_of(reports, options.served_at, known))
        written.append(options.write_baseline)
    if outcome.is_good and not options.is_quiet:
        pages = counted(len({each.url for each in outcome.reports}), "page")
        count = counted(len(outcome.reports), "report")
        files = f" Written: {', '.join(map(str, written))}." if written else ""
        say(f"{'Gate passed' if has_gate else 'Done'}: {count} of {pages}.{files}")
    return EXIT_FAILED if failed else EXIT_GATE if outcome.complaints else 0


def _previewed(options: Options, progress: ProgressLine) -> AbstractContextManager[Options]:
    """Return a context with the options of the scan, in which the server of `--serve` or `--start` runs."""
    if not options.serve and not options.start:
        return nullcontext(options)
    from website_scan.command.preview import preview  # loads the network

    return preview(options, progress)


def _scans(options: Options, progress: ProgressLine) -> Iterator[list[Judged]]:
    """Yield the reports of each page. Imports only the modules of the way that is used, remote or local."""
    if options.server:
        from website_scan.command import remote

        return remote.scans(options, progress)
    from website_scan.command import local

    return local.scans(options, progress)
