"""Files of a page load, by the kinds that own requirements count, as in Lighthouse's budgets."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from website_scan.browser.evidence import BrowserLoad, LoadedRequest
from website_scan.messages import excerpt
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import Resources
from website_scan.performance.places import LoadedFile
from website_scan.requirements.model import FileKind
from website_scan.urls import host_of

KINDS: Mapping[ResourceKind, FileKind] = {
    ResourceKind.SCRIPT: FileKind.SCRIPT,
    ResourceKind.STYLESHEET: FileKind.STYLESHEET,
    ResourceKind.IMAGE: FileKind.IMAGE,
    ResourceKind.FONT: FileKind.FONT,
    ResourceKind.MEDIA: FileKind.MEDIA,
    ResourceKind.ICON: FileKind.OTHER,
    ResourceKind.OTHER: FileKind.OTHER,
}
# Some browsers request it for every site, so Lighthouse does not count it either.
ICON_OF_BROWSERS = "/favicon.ico"


class CountedFile(Struct, frozen=True):
    """Request of a page load. `wire_bytes` are the transferred bytes."""

    url: str
    kind: FileKind
    wire_bytes: int
    is_third_party: bool

    def is_of(self, kind: FileKind) -> bool:
        """Return True if a rule for this kind counts the file."""
        if kind is FileKind.TOTAL:
            return True
        return self.is_third_party if kind is FileKind.THIRD_PARTY else self.kind is kind

    @property
    def place(self) -> LoadedFile:
        return LoadedFile(excerpt(self.url), str(self.kind), self.wire_bytes)


class CountedFiles(Struct, frozen=True):
    """Files of the page and the number of requests that were not recorded."""

    files: tuple[CountedFile, ...]
    left_out: int


def counted_files(page: Page, resources: Resources, load: BrowserLoad | None) -> CountedFiles:
    """Return the requests of the browser. Without a browser, the document and the files that load with it."""
    host = page.target.host
    if load is not None and load.first.requests:
        requests = [_of_request(request, host) for request in load.first.requests]
        return CountedFiles(tuple(filter(None, requests)), load.first.left_out)
    document = CountedFile(page.target.url, FileKind.DOCUMENT, page.response.body_wire_bytes, is_third_party=False)
    loaded = [
        CountedFile(
            resource.url,
            KINDS[resource.kind],
            resource.wire_bytes,
            is_third_party=not is_same_site(resource.host, host),
        )
        for resource in resources.items
        if resource.eager and resource.status is not None and resource.kind is not ResourceKind.ICON
    ]
    return CountedFiles((document, *loaded), resources.left_out)


def _of_request(request: LoadedRequest, host: str) -> CountedFile | None:
    kind = FileKind.DOCUMENT if request.kind is None else KINDS[request.kind]
    if kind is FileKind.OTHER and request.url.partition("?")[0].endswith(ICON_OF_BROWSERS):
        return None
    is_third_party = not is_same_site(host_of(request.url), host)
    return CountedFile(request.url, kind, request.wire_bytes, is_third_party)
