"""Probe that reads the beginning of the page's own scripts.

It recognizes JavaScript libraries.
"""

from __future__ import annotations

import concurrent.futures

from msgspec.structs import replace

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, TimedOut
from website_scan.net.http.request import Request, Reuse
from website_scan.net.targets import InvalidUrl
from website_scan.page.encodings import decode
from website_scan.page.evidence import Page
from website_scan.page.fetch import raise_if_rate_limited
from website_scan.page.references import References, ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.security.evidence import LoadedScripts, Script
from website_scan.security.javascript_libraries import find_library_by_url
from website_scan.urls import host_of

MAX_SCRIPTS = 40
MAX_FETCHED_SCRIPTS = 8
MAX_CONCURRENT_REQUESTS = 4
MAX_READ_BYTES = 64 * 1024
# The limit is the same as in other probes, so that they can reuse the response.
MAX_BODY_BYTES = 1024 * 1024


@probe()
def loaded_scripts(page: Page, references: References, network: Network) -> LoadedScripts:
    """List the page's scripts, and fetch up to eight.

    Their URLs contain no library's name.

    Only scripts of the page's own site are fetched. A script that did not answer has no text. Raises `SiteProtected` if
    the site refuses further requests.
    """
    urls = [reference.url for reference in references.items if reference.kind is ResourceKind.SCRIPT][:MAX_SCRIPTS]
    unrecognized = [url for url in urls if find_library_by_url(url) is None and _is_on_same_site(url, page)][
        :MAX_FETCHED_SCRIPTS
    ]
    with concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS, "script") as pool:
        beginnings = pool.map(lambda url: _fetch_beginning(url, page, network), unrecognized)
        texts = dict(zip(unrecognized, beginnings, strict=True))
    return LoadedScripts(tuple(Script(url, texts.get(url, "")) for url in urls))


def _is_on_same_site(url: str, page: Page) -> bool:
    return is_same_site(host_of(url), page.target.host)


def _fetch_beginning(url: str, page: Page, network: Network) -> str:
    try:
        response = network.fetch(
            Request(
                page.target.join(url),
                headers={"Referer": page.target.url},
                max_bytes=MAX_BODY_BYTES,
                verify=False,
                with_credentials=True,
                reuse=Reuse.ALLOWED,
            )
        )
    except (TimedOut, BudgetExceeded):
        raise
    except (NetError, InvalidUrl):
        return ""
    raise_if_rate_limited(response)
    beginning = replace(response, body=response.body[:MAX_READ_BYTES])
    return decode(beginning)[0] if response.status == 200 else ""
