from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable
from website_scan.page.fetch import SiteProtected, fetch_page, page_references, parse_document
from website_scan.security.evidence import AssetDirectories, NotFoundBaseline
from website_scan.security.probes.directories import asset_directories
from website_scan.security.probes.not_found import not_found_baseline


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": Answer(head(""))}) as site:
        yield site


def fetch_baseline(site: Site) -> NotFoundBaseline:
    with Network(POLICY) as network:
        return not_found_baseline(fetch_page(target(site.url), network), network)


def fetch_directories(site: Site, markup: str, path: str = "/") -> AssetDirectories:
    site.routes[path] = Answer(head(markup))
    with Network(POLICY) as network:
        page = fetch_page(target(site.url + path), network)
        return asset_directories(page, page_references(parse_document(page)), network)


def test_baseline_requests_three_paths(site: Site) -> None:
    first, second = fetch_baseline(site), fetch_baseline(site)
    assert [answer.status for answer in first.answers] == [404, 404, 404]
    paths = [answer.url.removeprefix(site.url) for answer in (*first.answers, *second.answers)]
    assert len(set(paths)) == 6
    assert [len(path) for path in paths[:2]] == [11, 25]
    assert paths[2].startswith("/%C0")
    assert site.paths() == ["/", *paths[:3], "/", *paths[3:]]


def test_baseline_does_not_follow_redirects(site: Site) -> None:
    site.routes["*"] = Answer.redirect("/login")
    assert [answer.status for answer in fetch_baseline(site).answers] == [302, 302, 302]
    assert "/login" not in site.paths()


@pytest.mark.parametrize(
    "answer",
    [
        Answer("Slow down", status=429),
        Answer("<title>Just a moment...</title>", status=403),
        Answer("", status=202, headers={"x-amzn-waf-action": "challenge"}),
    ],
)
def test_baseline_stops_after_challenge(site: Site, answer: Answer) -> None:
    site.routes["*"] = answer
    with pytest.raises(SiteProtected):
        fetch_baseline(site)
    assert len(site.requests) == 2


def test_malformed_path_may_get_no_response(site: Site) -> None:
    def close_connection_on(part: str) -> None:
        def answer(request: Request) -> Answer | None:
            return None if part in request.path else Answer("No", status=404)

        site.routes["*"] = answer

    close_connection_on("%C0")
    assert len(fetch_baseline(site).answers) == 2
    close_connection_on("/")
    with pytest.raises(NotReachable):
        fetch_baseline(site)


def test_probe_requests_five_asset_folders(site: Site) -> None:
    markup = (
        '<link rel="stylesheet" href="/css/a.css?v=1/2"><link rel="stylesheet" href="/css/b.css">'
        '<script src="/js/vendor/a.js"></script><script src="root.js"></script>'
        '<script src="https://cdn.example.net/x/a.js"></script><script src="data:text/javascript,1"></script>'
        '<link rel="icon" href="/shop/here.ico"><img src="/img/a.png"><img src="/img/b/c.png"><img src="/d/e.png">'
        '<img src="/f/g.png">'
    )
    directories = fetch_directories(site, markup, "/shop/")
    paths = [answer.url.removeprefix(site.url) for answer in directories.answers]
    assert paths == ["/css/", "/js/vendor/", "/img/", "/img/b/", "/d/"]
    assert sorted(site.paths()) == sorted(["/shop/", *paths])


def test_probe_does_not_follow_redirects(site: Site) -> None:
    site.routes["/css/"] = Answer.redirect("/")
    directories = fetch_directories(site, '<link rel="stylesheet" href="/css/a.css">')
    assert [answer.status for answer in directories.answers] == [302]


def test_directory_probe_stops_after_status_429(site: Site) -> None:
    site.routes["/css/"] = Answer("Slow down", status=429)
    with pytest.raises(SiteProtected):
        fetch_directories(site, '<link rel="stylesheet" href="/css/a.css">')


def test_probe_needs_own_assets(site: Site) -> None:
    assert fetch_directories(site, "").answers == ()
    assert site.paths() == ["/"]
