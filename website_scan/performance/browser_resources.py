"""Conversion of a browser's log of sub-resource requests into the resources that the checks read.

Weights and counts are those of the visitor's browser. Headers and bodies come from the scanner's own requests. The
scanner requests only the page's own files, and does not repeat the requests of scripts and frames.
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
# Errors of requests that the page or the browser cancelled or blocked. A style sheet or script with nosniff may be
# blocked because of an error page's media type (Fetch, "should response to request be blocked due to nosniff").
CANCELLED_OR_BLOCKED = ("net::ERR_ABORTED", "net::ERR_BLOCKED_BY")
# Error of a response that the page may not read, because it has no Access-Control-Allow-Origin.
REFUSED_BY_CORS = "net::ERR_FAILED"
SUBJECT_TO_NOSNIFF = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})


def resources_from_log(page: Page, load: Load) -> list[Resource]:
    """Convert each request after the document's to a resource, in order, with the facts from the browser's log."""
    document_urls = {page.target.url, load.requests[0].url, ""}
    script_urls = {request.url for request in load.requests if request.kind is ResourceKind.SCRIPT}
    resources: list[Resource] = []
    for request in load.requests[1:]:
        initiator = request.initiator.partition("#")[0]
        is_foreign = _is_foreign(request.url, page)
        # Failed requests to other sites by scripts and frames of other sites are not the page's fault. Requests of the
        # kind OTHER may fail, too: scripts may handle the error, and icons and prefetched pages are invisible.
        is_by_third_party = (
            request.in_frame or request.kind is None or (initiator in script_urls and _is_foreign(initiator, page))
        )
        resources.append(
            Resource(
                url=request.url,
                kind=request.kind or ResourceKind.OTHER,
                eager=True,
                depth=1 if initiator in document_urls else 2,
                status=request.status,
                wire_bytes=request.wire_bytes,
                body_bytes=request.body_bytes,
                final_url=request.url,
                redirects=request.redirects,
                error=f"The page may not use what came ({REFUSED_BY_CORS})."
                if request.error == REFUSED_BY_CORS
                else "",
                is_fetched=False,
                may_fail=request.kind is ResourceKind.OTHER or (is_foreign and is_by_third_party),
            )
        )
    return resources


def is_worth_fetching(request: LoadedRequest) -> bool:
    """Return True if the scanner should request the file, too: a file of the page that loaded, or failed unexplained.

    The browser cannot report why a request failed: behind the scanner's proxy, an unknown host looks like a refusal.
    """
    if request.is_sent_by_code or request.in_frame or request.method != "GET" or request.kind not in FILES:
        return False
    return request.status == 200 or (request.status is None and not _is_explained(request))


def merge_resources(logged: Resource, fetched: Resource) -> Resource:
    """Return the scanner's resource with the bytes that the browser received.

    If the browser received the file and the scanner did not, return the browser's resource.
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
    if request.error == "net::ERR_ABORTED" and request.kind in SUBJECT_TO_NOSNIFF:
        return False
    return not request.error or request.error == REFUSED_BY_CORS or request.error.startswith(CANCELLED_OR_BLOCKED)
