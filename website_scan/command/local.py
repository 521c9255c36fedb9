"""Scan pages in this process, without a service, a database or Redis."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from website_scan import environment
from website_scan import settings as scanning
from website_scan.command.access import allow_option_hint, network_policy
from website_scan.command.additional_checks import additional_checks
from website_scan.command.arguments import Options
from website_scan.command.credentials import credentials_by_origin, has_credentials
from website_scan.command.errors import WrongUsage
from website_scan.command.gate import CommandReport
from website_scan.command.preview_findings import accept_preview_findings
from website_scan.command.progress import ProgressLine
from website_scan.command.terminal import write_err
from website_scan.errors import Refusal
from website_scan.evidence_cache import EvidenceCache, InMemoryEvidence
from website_scan.ids import new_report_id, new_scan_id
from website_scan.net.browser import find_supported_browser
from website_scan.net.client import Network
from website_scan.net.credentials import OriginCredentials
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target
from website_scan.redaction import redacted
from website_scan.report.serialization import export_json, stored_waterfall
from website_scan.result import Budget, Progress, ScanError, ScanResult
from website_scan.run import failed_result, scan

if TYPE_CHECKING:
    from website_scan.browser.warm import WarmBrowser

logger = logging.getLogger(__name__)


def scan_pages(options: Options, progress: ProgressLine) -> Iterator[list[CommandReport]]:
    """Scan the pages one by one, and yield the reports of each page.

    Raises WrongUsage before the first scan.
    """
    refuse_invalid_settings()
    policies = {url: network_policy(url, options) for url in options.urls}
    credentials_of_pages = credentials_by_url(options, policies)
    shared = InMemoryEvidence()
    hints: set[str] = set()
    for number, (url, policy) in enumerate(policies.items()):
        label = f"{number + 1}/{len(options.urls)}  {url}" if len(options.urls) > 1 else url
        credentials = credentials_of_pages.get(url)
        with Network(policy, time_limit_s=scanning.SCAN_TIME_LIMIT_S, credentials=credentials) as network:
            results = _visit(url, options, network, shared, label, progress)
            if any(result.error is not None and result.error.code == Blocked.code for result in results):
                _write_hint(allow_option_hint(url, network), hints, progress)
        yield [command_report(redacted(result, credentials), options) for result in results]


def refuse_invalid_settings() -> None:
    """Raise WrongUsage if an environment variable of scans is invalid."""
    problems = [str(problem) for problem in environment.problems if problem.name.startswith("SCAN_")]
    if problems:
        raise WrongUsage("\n".join(problems))


def _write_hint(sentence: str, hints: set[str], progress: ProgressLine) -> None:
    """Write a hint to standard error once.

    Adds the hint to `hints`, which contains the hints already written.
    """
    if sentence and sentence not in hints:
        hints.add(sentence)
        progress.clear()
        write_err(sentence)


def _refuse_denied_ports(policies: Mapping[str, Policy]) -> None:
    """Raise WrongUsage if a URL has a forbidden port.

    SCAN_ALLOWED_PORTS contains the allowed ports.
    """
    problems = []
    for url, policy in policies.items():
        try:
            parse_target(url, policy)
        except Blocked:
            # The scan of the page fails, and its report contains the error.
            continue
        except InvalidUrl as refusal:
            problems.append(f"{url}: {refusal} The variable SCAN_ALLOWED_PORTS lists those that are.")
    if problems:
        raise WrongUsage("\n".join(problems))


def credentials_by_url(options: Options, policies: Mapping[str, Policy]) -> dict[str, OriginCredentials]:
    """Return the credentials by URL.

    URLs without credentials are left out. Raises WrongUsage, also for URLs with a forbidden port.
    """
    _refuse_denied_ports(policies)
    if not has_credentials(options):
        return {}
    try:
        origins = {url: parse_target(url, policy).origin for url, policy in policies.items()}
    except Refusal as refusal:
        raise WrongUsage(str(refusal)) from None
    by_origin = credentials_by_origin(options, set(origins.values()))
    return {url: by_origin[origin] for url, origin in origins.items() if origin in by_origin}


def _visit(
    url: str, options: Options, network: Network, shared: EvidenceCache, label: str, progress: ProgressLine
) -> tuple[ScanResult, ...]:
    def show(now: Progress) -> None:
        counts = now.checks.values()
        done = f"{sum(count.done for count in counts)}/{sum(count.total for count in counts)} checks"
        progress.update(now.percent, f"{now.phase:<10}  {done}  {label}")

    progress.update(0, f"{'connecting':<10}  {label}")
    started_at = datetime.now(UTC)
    try:
        target = parse_target(url, network.policy)
        budget = Budget(time_limit_s=scanning.SCAN_TIME_LIMIT_S)
        return scan(
            target,
            options.types,
            network,
            budget,
            show,
            browser(),
            shared,
            viewing=options.viewing,
            extension=additional_checks(options.requirements, uses_plug_ins=options.uses_plug_ins),
        )
    except Refusal as refusal:
        error = ScanError(refusal.code, str(refusal))
    except Exception:
        logger.exception("the scan failed")
        error = ScanError("INTERNAL_ERROR", "The scanner failed.")
    return tuple(failed_result(scan_type, url, started_at, error) for scan_type in options.types)


def command_report(result: ScanResult, options: Options) -> CommandReport:
    """Return the report of a result, with the findings about the server of a preview accepted."""
    export = export_json(
        result,
        scan_id=new_scan_id(),
        report_id=new_report_id(),
        created_at=result.started_at,
        completed_at=result.completed_at,
    )
    if result.error is not None:
        export["error"] = {"code": result.error.code, "message": result.error.message}
    report = CommandReport(
        export,
        facts=result.facts,
        scoring=result.scoring,
        waterfall=stored_waterfall(result.waterfall) if result.waterfall else None,
        exhibits=result.exhibits,
        screenshot=result.screenshot,
        pictures=result.pictures,
    )
    is_served = bool(options.preview_origin) and result.url.startswith(f"{options.preview_origin}/")
    return accept_preview_findings(report, is_served=is_served)


@cache
def browser() -> WarmBrowser | None:
    """Return the shared browser of this process.

    It starts at its first use. None if no browser is installed.
    """
    program = find_supported_browser(scanning.SCAN_BROWSER)
    if program is None:
        return None
    from website_scan.browser.warm import WarmBrowser  # The import needs the package extra `browser`.

    warm = WarmBrowser(
        program,
        memory_mib=scanning.SCAN_BROWSER_MEMORY_MIB,
        sandbox=scanning.SCAN_BROWSER_SANDBOX,
        ca_bundle=scanning.SCAN_CA_BUNDLE,
    )
    atexit.register(warm.close)
    return warm
