"""Scans in this process with the settings of environment variables, without a service.

The command and the library use them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from website_scan import settings as scanning
from website_scan.browser.visit import Browser
from website_scan.environment import Exemption
from website_scan.errors import Refusal
from website_scan.evidence_cache import EvidenceCache
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.findings import ScanType
from website_scan.ids import new_report_id, new_scan_id
from website_scan.net.browser import find_supported_browser, missing_packages
from website_scan.net.client import Network
from website_scan.net.policy import Policy, RouteValidator
from website_scan.net.targets import parse_target
from website_scan.redaction import redacted
from website_scan.report.serialization import export_json
from website_scan.report_json import ExportJson
from website_scan.result import Budget, Progress, ScanError, ScanResult
from website_scan.run import failed_result, scan
from website_scan.security_categories import Categories
from website_scan.viewing import Viewing

if TYPE_CHECKING:
    from website_scan.browser.warm import WarmBrowser

logger = logging.getLogger(__name__)


def policy_of_settings(allowed_networks: Iterable[Exemption] = (), *, mail_servers: bool | None = None) -> Policy:
    """Return the network policy of the settings, which allows these networks as well.

    `mail_servers` replaces the setting if it is not None.
    """
    return Policy(
        allowed_networks=(*scanning.SCAN_ALLOWED_NETWORKS, *allowed_networks),
        denied_networks=scanning.SCAN_DENIED_NETWORKS,
        name_servers=scanning.SCAN_NAME_SERVERS,
        allowed_ports=scanning.SCAN_ALLOWED_PORTS,
        ca_bundle=scanning.SCAN_CA_BUNDLE,
        contacts_mail_servers=scanning.SCAN_MAIL_SERVERS if mail_servers is None else mail_servers,
        route_validator=RouteValidator.of_settings(scanning.SCAN_RPKI_URL, scanning.SCAN_ORIGIN_ZONE),
    )


def scan_address(  # noqa: PLR0913 -- the parameters of `run.scan`
    url: str,
    types: Sequence[ScanType],
    network: Network,
    *,
    time_limit_s: float,
    progress: Callable[[Progress], None],
    browser: Browser | None,
    shared: EvidenceCache,
    viewing: Viewing | None = None,
    extension: Extension = NO_EXTENSION,
    categories: Categories | None = None,
) -> tuple[ScanResult, ...]:
    """Scan a page in this process. The results, one for each type, do not contain the network's credentials.

    Never raises for a refused URL or a fault of the scanner: the results then have an error.
    """
    started_at = datetime.now(UTC)

    def fail(error: ScanError) -> tuple[ScanResult, ...]:
        return tuple(failed_result(scan_type, url, started_at, error) for scan_type in types)

    try:
        target = parse_target(url, network.policy)
        budget = Budget(time_limit_s=time_limit_s)
        results = scan(
            target,
            types,
            network,
            budget,
            progress,
            browser,
            shared,
            viewing=viewing,
            extension=extension,
            categories=categories,
        )
    except Refusal as refusal:
        results = fail(ScanError(refusal.code, str(refusal)))
    except Exception:
        logger.exception("the scan failed")
        results = fail(ScanError("INTERNAL_ERROR", "The scanner failed."))
    return tuple(redacted(result, network.credentials) for result in results)


def export_of(result: ScanResult) -> ExportJson:
    """Return the JSON export of a result with new IDs."""
    export = export_json(
        result,
        scan_id=new_scan_id(),
        report_id=new_report_id(),
        created_at=result.started_at,
        completed_at=result.completed_at,
    )
    if result.error is not None:
        export["error"] = {"code": result.error.code, "message": result.error.message}
    return export


def new_browser() -> WarmBrowser | None:
    """Return a browser, which starts at its first use. None if no browser is installed. The caller must close it."""
    program = find_supported_browser(scanning.SCAN_BROWSER)
    if program is None:
        return None
    from website_scan.browser.warm import WarmBrowser  # The import needs the package extra `browser`.

    return WarmBrowser(
        program,
        memory_mib=scanning.SCAN_BROWSER_MEMORY_MIB,
        sandbox=scanning.SCAN_BROWSER_SANDBOX,
        ca_bundle=scanning.SCAN_CA_BUNDLE,
    )


def reason_without_browser() -> str:
    """Return a sentence that says why `new_browser` returns None."""
    if scanning.SCAN_BROWSER == "off":
        return "The variable SCAN_BROWSER is off."
    if missing_packages():
        return "The package extra is missing: install website-scan[browser]."
    return "No Chromium was found: install one, or set SCAN_BROWSER to its program."
