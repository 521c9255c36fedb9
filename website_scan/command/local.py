"""Scan pages in this process, without a service, a database or Redis."""

from __future__ import annotations

import atexit
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from website_scan import settings as scanning
from website_scan.browser.pictureless import PicturelessBrowser
from website_scan.browser.visit import Browser
from website_scan.command.access import allow_option_hint, network_policy
from website_scan.command.additional_checks import additional_checks
from website_scan.command.arguments import Options
from website_scan.command.credentials import credentials_by_origin, has_credentials
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import WITH_PICTURES
from website_scan.command.gate import CommandReport
from website_scan.command.progress import ProgressLine
from website_scan.command.scanned_reports import scanned_report
from website_scan.command.terminal import write_err
from website_scan.errors import Refusal
from website_scan.evidence_cache import EvidenceCache, InMemoryEvidence
from website_scan.local_scans import new_browser, scan_address
from website_scan.net.client import Network
from website_scan.net.credentials import OriginCredentials
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target
from website_scan.result import Progress, ScanResult

if TYPE_CHECKING:
    from website_scan.browser.warm import WarmBrowser


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
        yield [scanned_report(result, options.preview_origin) for result in results]


def refuse_invalid_settings() -> None:
    """Raise WrongUsage if an environment variable of scans is invalid."""
    if problems := scanning.invalid_settings():
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
    return scan_address(
        url,
        options.types,
        network,
        time_limit_s=scanning.SCAN_TIME_LIMIT_S,
        progress=show,
        browser=_browser_for(options),
        shared=shared,
        viewing=options.viewing,
        categories=options.categories,
        extension=additional_checks(options.requirements, uses_plug_ins=options.uses_plug_ins),
    )


def _browser_for(options: Options) -> Browser | None:
    """Return the browser of this process. It takes pictures only if an output shows them."""
    warm = browser()
    if warm is None or any(output.format in WITH_PICTURES for output in options.outputs):
        return warm
    return PicturelessBrowser(warm)


@cache
def browser() -> WarmBrowser | None:
    """Return the shared browser of this process.

    It starts at its first use. None if no browser is installed.
    """
    warm = new_browser()
    if warm is not None:
        atexit.register(warm.close)
    return warm
