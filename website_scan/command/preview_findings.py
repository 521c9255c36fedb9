"""Findings about the server of a preview, which is not the server of the site: they are accepted, with a reason."""

from __future__ import annotations

from website_scan.command.judged import Judged
from website_scan.net.addresses import loopback_addresses
from website_scan.written_urls import split_url

IN_PREVIEW = "about the server of a preview"

# Certificates are for public names, so previews have none. Checks of TLS and DNS do not apply to loopback anyway.
WITHOUT_HTTPS = ("http-to-https-redirect", "https-available")
# The server of `--serve` sends no header that hosts let their customers choose.
WITHOUT_HEADERS = (
    "cache-missing", "clickjacking", "csp-present", "permissions-policy", "referrer-policy", "x-content-type-options",
)  # fmt: skip


def accepted_in_preview(judged: Judged, *, is_served: bool) -> Judged:
    """Return the report of a page on loopback with these findings accepted. `is_served` if by `--serve`."""
    parts = split_url(judged.url)
    if parts.scheme != "http" or not loopback_addresses(parts.hostname or ""):
        return judged
    ids = (*WITHOUT_HTTPS, *(WITHOUT_HEADERS if is_served else ()))
    return judged.accepting(dict.fromkeys(ids, IN_PREVIEW))
