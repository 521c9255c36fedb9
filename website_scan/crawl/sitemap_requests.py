"""Requests for sitemaps.

Bodies stay compressed, because the sitemap parser decompresses them in pieces.
"""

from __future__ import annotations

from msgspec.structs import replace

from website_scan.net.client import Network
from website_scan.net.http.decoding import decode
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import Target

# Usual paths of sitemaps, for sites whose robots.txt lists no sitemap.
USUAL = ("/sitemap.xml", "/sitemap_index.xml")
# Longer bodies are truncated if their content coding was not requested.
MAX_DECODED_BYTES = 10 * 1024 * 1024
# Request gzip only, because the sitemap parser decompresses gzip in chunks.
HEADERS = {"Accept": "application/xml,text/xml,text/plain;q=0.9,*/*;q=0.5", "Accept-Encoding": "gzip"}


def fetch_sitemap(target: Target, network: Network, *, max_bytes: int, timeout_s: float) -> Response:
    """Fetch a sitemap, following redirects.

    `max_bytes` limits the compressed body, `timeout_s` each hop. Raises the errors of `Network.follow`.
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
    return _decode_body(hops[-1])


def _decode_body(response: Response) -> Response:
    """Return the response with its body decoded.

    A sitemap in gzip is left to the sitemap parser.
    """
    coding = (response.headers.get("Content-Encoding") or "").strip().lower()
    is_sitemap = 200 <= response.status < 300
    if not coding or (is_sitemap and coding in ("gzip", "x-gzip")):
        return response
    body, is_cut = decode(response.body, coding, MAX_DECODED_BYTES)
    return replace(response, body=body, truncated=response.truncated or is_cut)
