"""Requests for sitemaps: bodies stay compressed, because the parser decompresses them."""

from __future__ import annotations

from dataclasses import replace

from website_scan.net.client import Network
from website_scan.net.http.decoding import decode
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import Target

# Usual paths of a sitemap that robots.txt does not name.
USUAL = ("/sitemap.xml", "/sitemap_index.xml")
# Limit for content codings that were not requested; the rest is cut off.
MAX_DECODED_BYTES = 10 * 1024 * 1024
# Only gzip: sitemaps are long, and may be compressed twice.
HEADERS = {"Accept": "application/xml,text/xml,text/plain;q=0.9,*/*;q=0.5", "Accept-Encoding": "gzip"}


def fetch_sitemap(target: Target, network: Network, *, max_bytes: int, timeout_s: float) -> Response:
    """Fetch a sitemap, following redirects. `max_bytes` are on the wire, `timeout_s` is for each hop.

    Raises the errors of `Network.follow`.
    """
    hops = network.follow(
        Request(
            target,
            headers=HEADERS,
            max_bytes=max_bytes,
            timeout_s=timeout_s,
            verify=False,
            decode=False,
            with_credentials=True,
            reuse=Reuse.ALLOWED,
        )
    )
    return _decoded(hops[-1])


def _decoded(response: Response) -> Response:
    """Decode content codings that were not requested; for an error response, decode all of them."""
    coding = (response.headers.get("Content-Encoding") or "").strip().lower()
    is_sitemap = 200 <= response.status < 300
    if not coding or (is_sitemap and coding in ("gzip", "x-gzip")):
        return response
    body, is_cut = decode(response.body, coding, MAX_DECODED_BYTES)
    return replace(response, body=body, truncated=response.truncated or is_cut)
