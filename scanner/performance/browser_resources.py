"""From the requests that a browser made to the page's sub-resources, as the checks know them.

Weights and counts are those that a visitor pays for. Headers and bodies come from requests of our own, which only
files of the page itself are asked for with: what scripts and frames ask for is not ours to send again.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from scanner.browser.evidence import Load, LoadedRequest
from scanner.page.evidence import Page
from scanner.page.references import ResourceKind
from scanner.page.registrable_domain import is_same_site
from scanner.performance.evidence import Resource

FILES = frozenset(
    {ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.IMAGE, ResourceKind.FONT, ResourceKind.OTHER}
)
# The page or the browser did not want it any more, or not in this place.
NOT_WANTED = ("net::ERR_ABORTED", "net::ERR_BLOCKED_BY")
# The browser had an answer, but the page may not use it: no Access-Control-Allow-Origin.
NOT_SHARED = "net::ERR_FAILED"


def from_log(page: Page, load: Load) -> list[Resource]:
    """What stands for each request behind the document's, in order, as far as the log tells of it."""
    documents = {page.target.url, load.requests[0].url, ""}
    scripts = {each.url for each in load.requests if each.kind is ResourceKind.SCRIPT}
    found: list[Resource] = []
    for each in load.requests[1:]:
        initiator = each.initiator.partition("#")[0]
        is_foreign = _is_foreign(each.url, page)
        # What other sites' scripts and frames ask other sites for is theirs. Other kinds are what scripts fetch, which
        # may cope, and what nobody sees: icons, prefetched pages.
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
    """Whether a request of our own tells more: of the page's own files, those that came, and those that did not.

    Why something failed the browser does not know: behind the proxy a host that there is not looks like a limit of
    the scanner's.
    """
    if request.is_programmed or request.in_frame or request.method != "GET" or request.kind not in FILES:
        return False
    return request.status == 200 or (request.status is None and not _is_explained(request))


def merged(logged: Resource, fetched: Resource) -> Resource:
    """What was fetched, in the place of what the browser logged, with the bytes that the browser received.

    Where it got the file and we did not, what counts is that it came.
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
    return not is_same_site(urlsplit(url).hostname or "", page.target.host)


def _is_explained(request: LoadedRequest) -> bool:
    return not request.error or request.error == NOT_SHARED or request.error.startswith(NOT_WANTED)
