"""How sitemaps are asked for: as they came, since they are decompressed where they are read."""

from __future__ import annotations

from dataclasses import replace

from scanner.net.client import Network
from scanner.net.http.answers import Reuse
from scanner.net.http.decoding import decode
from scanner.net.http.response import Response
from scanner.net.targets import Target

# Where a sitemap often is that robots.txt does not name.
USUAL = ("/sitemap.xml", "/sitemap_index.xml")
# Compressed otherwise than we ask for; what is beyond is cut off.
MAX_DECODED_BYTES = 10 * 1024 * 1024
# They may be compressed twice and are long.
HEADERS = {"Accept": "application/xml,text/xml,text/plain;q=0.9,*/*;q=0.5", "Accept-Encoding": "gzip"}


def fetch_sitemap(target: Target, network: Network, *, max_bytes: int, timeout_s: float) -> Response:
    """What the address answers, its redirects followed; `max_bytes` are those on the wire, `timeout_s` is for each hop.

    Raises whatever `Network.follow` raises.
    """
    hops = network.follow(
        target,
        headers=HEADERS,
        max_bytes=max_bytes,
        timeout_s=timeout_s,
        verify=False,
        decode=False,
        with_credentials=True,
        reuse=Reuse.ALLOWED,
    )
    return _decoded(hops[-1])


def _decoded(response: Response) -> Response:
    """The response without codings that were not asked for; all of them are undone where it is no sitemap."""
    coding = (response.headers.get("Content-Encoding") or "").strip().lower()
    is_sitemap = 200 <= response.status < 300
    if not coding or (is_sitemap and coding in ("gzip", "x-gzip")):
        return response
    body, is_cut = decode(response.body, coding, MAX_DECODED_BYTES)
    return replace(response, body=body, truncated=response.truncated or is_cut)
