"""Conversion of a browser's log of sub-resource requests into the resources that the checks read.

Weights and counts are those of the visitor's browser. Headers and bodies come from the scanner's own requests. It
requests only the page's own files: it must not repeat the requests of scripts and frames.
"""

from __future__ import annotations

from dataclasses import replace

from website_scan.browser.evidence import Load, LoadedRequest
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import Resource
from website_scan.urls import host_of

FILES = frozenset(
    {ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.IMAGE, ResourceKind.FONT, ResourceKind.OTHER}
)
# The page or the browser cancelled or blocked the request. Of a style sheet or script with nosniff, it may be the media
# type of an error page (Fetch, "should response to request be blocked due to nosniff").
NOT_WANTED = ("net::ERR_ABORTED", "net::ERR_BLOCKED_BY")
# The browser got a response that the page may not use: no Access-Control-Allow-Origin.
NOT_SHARED = "net::ERR_FAILED"
NOT_SNIFFED = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})


def from_log(page: Page, load: Load) -> list[Resource]:
    """Return a resource for each request after the document's, in order, with the facts from the log."""
    documents = {page.target.url, load.requests[0].url, ""}
    scripts = {each.url for each in load.requests if each.kind is ResourceKind.SCRIPT}
    found: list[Resource] = []
    for each in load.requests[1:]:
        initiator = each.initiator.partition("#")[0]
        is_foreign = _is_foreign(each.url, page)
        # A page is not to blame for requests to other sites by scripts and frames of other sites. Other kinds may fail
        # as well: requests of scripts, which may handle errors, and invisible files such as icons and prefetched pages.
        is_theirs = each.in_frame or each.kind is None or (initiator in scripts and _is_foreign(initiator, page))
        found.append(
            Resource(
                url=each.url,
                kind=each.kind or ResourceKind.OTHER,
                eager=True,
                depth=1 if initiator in documents else 2,
                status=each.status,
                wire_bytes=each.wire_bytes,
                body_bytes=each.body_bytes,
                final_url=each.url,
                redirects=each.redirects,
                error=f"The page may not use what came ({NOT_SHARED})." if each.error == NOT_SHARED else "",
                is_fetched=False,
                may_fail=each.kind is ResourceKind.OTHER or (is_foreign and is_theirs),
            )
        )
    return found


def is_worth_fetching(request: LoadedRequest) -> bool:
    """Return True if the scanner should fetch it, too: a file of the page that loaded, or failed without explanation.

    The browser does not know why a request failed: behind the proxy an unknown host looks like a limit of the scanner.
    """
    if request.is_programmed or request.in_frame or request.method != "GET" or request.kind not in FILES:
        return False
    return request.status == 200 or (request.status is None and not _is_explained(request))


def merged(logged: Resource, fetched: Resource) -> Resource:
    """Return the fetched resource with the bytes that the browser received.

    If the browser got the file and the scanner did not, the browser's result counts.
    """
    if logged.status == 200 and fetched.status != 200:
        return logged
    return replace(
        fetched,
        depth=logged.depth,
        wire_bytes=logged.wire_bytes or fetched.wire_bytes,
        may_fail=logged.may_fail,
    )


def _is_foreign(url: str, page: Page) -> bool:
    return not is_same_site(host_of(url), page.target.host)


def _is_explained(request: LoadedRequest) -> bool:
    if request.error == "net::ERR_ABORTED" and request.kind in NOT_SNIFFED:
        return False
    return not request.error or request.error == NOT_SHARED or request.error.startswith(NOT_WANTED)
