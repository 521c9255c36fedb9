from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.page.evidence import Clock, Page
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.caching import cache_policy
from website_scan.performance.evidence import Resources, StaticFile, StaticFiles
from website_scan.urls import host_of

STATIC = frozenset(
    {ResourceKind.SCRIPT, ResourceKind.STYLESHEET, ResourceKind.IMAGE, ResourceKind.FONT, ResourceKind.ICON}
)


@probe()
def static_files(page: Page, resources: Resources, clock: Clock) -> StaticFiles:
    """Return the fetched static files with their cache policies."""
    own: list[StaticFile] = []
    foreign: list[StaticFile] = []
    for resource in resources.items:
        if resource.status == 200 and resource.kind in STATIC and resource.is_fetched:
            host = host_of(resource.final_url or resource.url)
            file = StaticFile(resource, cache_policy(resource.headers, clock.now))
            (own if is_same_site(host, page.target.host) else foreign).append(file)
    return StaticFiles(tuple(own), tuple(foreign))
