"""Library probe: the beginnings of the page's own scripts, where libraries have license comments."""

from __future__ import annotations

import concurrent.futures
from dataclasses import replace

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, TimedOut
from website_scan.net.http.request import Request, Reuse
from website_scan.net.targets import InvalidUrl
from website_scan.page.evidence import Page
from website_scan.page.fetch import decode, raise_if_rate_limited
from website_scan.page.references import References, ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.security.evidence import LoadedScripts, Script
from website_scan.security.javascript_libraries import library_of_url
from website_scan.urls import host_of

MAX_SCRIPTS = 40
MAX_READ = 8
AT_ONCE = 4
READ_BYTES = 64 * 1024
# The limit equals that of other probes, so that they can reuse the response.
MAX_BYTES = 1024 * 1024


@probe()
def loaded_scripts(page: Page, references: References, network: Network) -> LoadedScripts:
    """List the page's scripts. Fetch the first eight on the page's site whose URL names no library.

    A script that did not answer has no text. Raises `SiteProtected` if the site refuses further requests.
    """
    urls = [reference.url for reference in references.items if reference.kind is ResourceKind.SCRIPT][:MAX_SCRIPTS]
    unrecognized = [url for url in urls if library_of_url(url) is None and _is_on_same_site(url, page)][:MAX_READ]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "script") as pool:
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
                max_bytes=MAX_BYTES,
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
    beginning = replace(response, body=response.body[:READ_BYTES])
    return decode(beginning)[0] if response.status == 200 else ""
