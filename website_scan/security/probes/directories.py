"""Directory probe: requests for the folders of the page's own assets, which the server may list."""

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
AT_ONCE = 2  # low, because other probes send requests to the same host at the same time
MAX_BYTES = 64 * 1024
TIMEOUT_S = 5.0


@probe(of_origin=True)
def asset_directories(page: Page, references: References, network: Network) -> AssetDirectories:
    """Fetch the first five folders of assets on the page's origin, except the root and the page's own.

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
            Request(page.target.join(url), headers=ACCEPT, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, verify=False)
        )
        raise_if_rate_limited(response)
        return response

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "directory") as pool:
        return AssetDirectories(tuple(pool.map(fetch, list(folders)[:MAX_DIRECTORIES])))
