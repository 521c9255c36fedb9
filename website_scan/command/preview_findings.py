"""Accept findings about a preview's local server.

The site's own server may differ.
"""

from __future__ import annotations

from website_scan.command.gate import CommandReport
from website_scan.net.addresses import loopback_addresses
from website_scan.report.places import stored_places
from website_scan.urls import origin_of
from website_scan.written_urls import split_url

PREVIEW_REASON = "about the server of a preview"

# Certificates exist only for public names, so previews have no HTTPS.
HTTPS_CHECKS = ("http-to-https-redirect", "https-available")
# Forms are sent to the server of the preview, unless their address is absolute.
FORM_CHECK = "insecure-form"
# Hosting services let their customers configure these headers.
HEADER_CHECKS = (
    "cache-missing", "clickjacking", "csp-present", "permissions-policy", "referrer-policy", "x-content-type-options",
)  # fmt: skip


def accept_preview_findings(report: CommandReport, *, is_served: bool) -> CommandReport:
    """Return the report with the findings about its local server accepted.

    `is_served` is True for a page of `--serve`.
    """
    parts = split_url(report.url)
    if parts.scheme != "http" or not loopback_addresses(parts.hostname or ""):
        return report
    ids = [*HTTPS_CHECKS, *(HEADER_CHECKS if is_served else ())]
    if _sends_forms_to_itself(report):
        ids.append(FORM_CHECK)
    return report.accept_checks(dict.fromkeys(ids, PREVIEW_REASON))


def _sends_forms_to_itself(report: CommandReport) -> bool:
    """Return True if no form with a fault is sent to another origin than that of the report."""
    own = origin_of(report.other_final_url or report.url)
    places = [place for _, check in report.findings() if check["id"] == FORM_CHECK for place in stored_places(check)]
    return all(not place.text or origin_of(place.text) == own for place in places)
