"""Probe for directory listings in the folders of the page's own assets."""

from __future__ import annotations

import concurrent.futures

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, raise_if_rate_limited
from website_scan.page.references import References
from website_scan.security.evidence import AssetDirectories

MAX_DIRECTORIES = 5
MAX_CONCURRENT_REQUESTS = 2  # The limit is low, because other probes send requests to the same host concurrently.
MAX_BODY_BYTES = 64 * 1024
REQUEST_TIMEOUT_S = 5.0


@probe(of_origin=True)
def asset_directories(page: Page, references: References, network: Network) -> AssetDirectories:
    """Fetch the first five folders of the page's assets on its origin.

    The root and the page's own folder are left out.

    Redirects are not followed. Raises `SiteProtected` if the site refuses further requests, or a `NetError`.
    """
    origin = page.target.origin
    folders: dict[str, None] = {}
    for reference in references.items:
        if reference.url.startswith(f"{origin}/"):
            folder = reference.url.partition("?")[0].rpartition("/")[0] + "/"
            if folder not in (f"{origin}/", page.target.url):
                folders.setdefault(folder)

    def fetch(url: str) -> Response:
        response = network.fetch(
            Request(
                page.target.join(url),
                headers=ACCEPT,
                max_bytes=MAX_BODY_BYTES,
                timeout_s=REQUEST_TIMEOUT_S,
                verify=False,
            )
        )
        raise_if_rate_limited(response)
        return response

    with concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS, "directory") as pool:
        return AssetDirectories(tuple(pool.map(fetch, list(folders)[:MAX_DIRECTORIES])))
