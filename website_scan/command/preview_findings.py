"""Findings about the server of a preview, which differs from the site's server: the command accepts such findings."""

from __future__ import annotations

from website_scan.command.judged import Judged
from website_scan.net.addresses import loopback_addresses
from website_scan.written_urls import split_url

IN_PREVIEW = "about the server of a preview"

# Certificates are for public names, so previews have no certificate. Checks of TLS and DNS do not apply to loopback.
WITHOUT_HTTPS = ("http-to-https-redirect", "https-available")
# The server of `--serve` does not send headers that hosting services let their customers choose.
WITHOUT_HEADERS = (
    "cache-missing", "clickjacking", "csp-present", "permissions-policy", "referrer-policy", "x-content-type-options",
)  # fmt: skip


def accepted_in_preview(judged: Judged, *, is_served: bool) -> Judged:
    """Return the report with findings about a preview's server accepted. `is_served`: `--serve` serves the page."""
    parts = split_url(judged.url)
    if parts.scheme != "http" or not loopback_addresses(parts.hostname or ""):
        return judged
    ids = (*WITHOUT_HTTPS, *(WITHOUT_HEADERS if is_served else ()))
    return judged.with_accepted(dict.fromkeys(ids, IN_PREVIEW))
