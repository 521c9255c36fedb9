"""Convert the requests in a browser's log to the resources that checks read.

Weights and counts are those of the visitor's browser. Headers and bodies come from the scanner's own requests. The
scanner requests only the page's own files, and does not repeat the requests of scripts and frames.
"""

from __future__ import annotations

from msgspec.structs import replace

from website_scan.browser.evidence import Load, LoadedRequest
from website_scan.browser.network_log import BLOCKED_MIXED_CONTENT
from website_scan.browser.unanswered import unanswered_requests
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
CANCELLED_OR_BLOCKED = ("net::ERR_ABORTED", "net::ERR_BLOCKED_BY", BLOCKED_MIXED_CONTENT)
# Error of a response that the page may not read without Access-Control-Allow-Origin.
CORS_ERROR = "net::ERR_FAILED"
MIXED_CONTENT = "Browsers block it, because it comes over plain HTTP to a page over HTTPS."
NO_ANSWER = "The server sent no answer while the browser waited."
NO_END = "The server did not finish its answer while the browser waited."
NOSNIFF_KINDS = frozenset({ResourceKind.SCRIPT, ResourceKind.STYLESHEET})


def resources_from_log(page: Page, load: Load) -> list[Resource]:
    """Convert the logged requests to resources, in the order of the log.

    The document is left out.
    """
    document_urls = {page.target.url, load.requests[0].url, ""}
    script_urls = {request.url for request in load.requests if request.kind is ResourceKind.SCRIPT}
    unanswered = set(unanswered_requests(load))
    resources: list[Resource] = []
    for request in load.requests[1:]:
        initiator = request.initiator.partition("#")[0]
        is_third_party = _is_third_party(request.url, page)
        # Failed requests by other sites' scripts and frames, or of the kind OTHER, are not the page's fault.
        is_requested_by_third_party = (
            request.is_in_frame
            or request.kind is None
            or (initiator in script_urls and _is_third_party(initiator, page))
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
                error=_error(request, is_unanswered=request in unanswered),
                is_fetched=False,
                may_fail=request.kind is ResourceKind.OTHER or (is_third_party and is_requested_by_third_party),
            )
        )
    return resources


def _error(request: LoadedRequest, *, is_unanswered: bool) -> str:
    """Return why the page could not use a file.

    Returns an empty string if it could, or if the scanner has to find out.
    """
    if request.error == CORS_ERROR:
        return f"The page may not use what came ({CORS_ERROR})."
    if request.error == BLOCKED_MIXED_CONTENT:
        return MIXED_CONTENT
    if is_unanswered:
        return NO_ANSWER if request.status is None else NO_END
    return ""


def is_worth_fetching(request: LoadedRequest, *, is_unanswered: bool = False) -> bool:
    """Return True if the scanner should request a file itself.

    The file loaded, or it failed for an unknown reason.

    A file that the browser waited for in vain may come at another attempt, for example if this machine was busy.

    The browser cannot report why a request failed: behind the scanner's proxy, an unknown host looks like a refusal.
    """
    if request.is_sent_by_script or request.is_in_frame or request.method != "GET" or request.kind not in FILES:
        return False
    return request.status == 200 or is_unanswered or (request.status is None and not _has_known_failure_reason(request))


def merge_resources(logged: Resource, fetched: Resource) -> Resource:
    """Return the resource that the scanner fetched.

    The number of bytes is what the browser received.

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


def _is_third_party(url: str, page: Page) -> bool:
    return not is_same_site(host_of(url), page.target.host)


def _has_known_failure_reason(request: LoadedRequest) -> bool:
    if request.error == "net::ERR_ABORTED" and request.kind in NOSNIFF_KINDS:
        return False
    return not request.error or request.error == CORS_ERROR or request.error.startswith(CANCELLED_OR_BLOCKED)
