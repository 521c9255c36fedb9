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


def missing_on(site: Site) -> NotFoundBaseline:
    with Network(POLICY) as network:
        return not_found_baseline(fetch_page(target(site.url), network), network)


def directories_of(site: Site, markup: str, path: str = "/") -> AssetDirectories:
    site.routes[path] = Answer(head(markup))
    with Network(POLICY) as network:
        page = fetch_page(target(site.url + path), network)
        return asset_directories(page, page_references(parse_document(page)), network)


def test_missing_paths_are_new_of_different_lengths_and_one_can_t_be_decoded(site: Site) -> None:
    first, second = missing_on(site), missing_on(site)
    assert [each.status for each in first.answers] == [404, 404, 404]
    paths = [each.url.removeprefix(site.url) for each in (*first.answers, *second.answers)]
    assert len(set(paths)) == 6
    assert [len(path) for path in paths[:2]] == [11, 25]
    assert paths[2].startswith("/%C0")
    assert site.paths() == ["/", *paths[:3], "/", *paths[3:]]


def test_redirects_of_missing_paths_are_not_followed(site: Site) -> None:
    site.routes["*"] = Answer.redirect("/login")
    assert [each.status for each in missing_on(site).answers] == [302, 302, 302]
    assert "/login" not in site.paths()


@pytest.mark.parametrize(
    "answer",
    [
        Answer("Slow down", status=429),
        Answer("<title>Just a moment...</title>", status=403),
        Answer("", status=202, headers={"x-amzn-waf-action": "challenge"}),
    ],
)
def test_a_protection_or_limit_ends_it(site: Site, answer: Answer) -> None:
    site.routes["*"] = answer
    with pytest.raises(SiteProtected):
        missing_on(site)
    assert len(site.requests) == 2


def test_only_the_malformed_path_may_go_without_an_answer(site: Site) -> None:
    def hang_up_on(part: str) -> None:
        def answer(request: Request) -> Answer | None:
            return None if part in request.path else Answer("No", status=404)

        site.routes["*"] = answer

    hang_up_on("%C0")
    assert len(missing_on(site).answers) == 2
    hang_up_on("/")
    with pytest.raises(NotReachable):
        missing_on(site)


def test_folders_are_those_of_the_page_s_own_assets_each_once_and_five_at_most(site: Site) -> None:
    markup = (
        '<link rel="stylesheet" href="/css/a.css?v=1/2"><link rel="stylesheet" href="/css/b.css">'
        '<script src="/js/vendor/a.js"></script><script src="root.js"></script>'
        '<script src="https://cdn.example.net/x/a.js"></script><script src="data:text/javascript,1"></script>'
        '<link rel="icon" href="/shop/here.ico"><img src="/img/a.png"><img src="/img/b/c.png"><img src="/d/e.png">'
        '<img src="/f/g.png">'
    )
    asked = directories_of(site, markup, "/shop/")
    paths = [each.url.removeprefix(site.url) for each in asked.answers]
    assert paths == ["/css/", "/js/vendor/", "/img/", "/img/b/", "/d/"]
    assert sorted(site.paths()) == sorted(["/shop/", *paths])


def test_folders_that_redirect_are_not_followed(site: Site) -> None:
    site.routes["/css/"] = Answer.redirect("/")
    asked = directories_of(site, '<link rel="stylesheet" href="/css/a.css">')
    assert [each.status for each in asked.answers] == [302]


def test_too_many_requests_for_folders(site: Site) -> None:
    site.routes["/css/"] = Answer("Slow down", status=429)
    with pytest.raises(SiteProtected):
        directories_of(site, '<link rel="stylesheet" href="/css/a.css">')


def test_a_page_without_assets_of_its_own_has_no_folders(site: Site) -> None:
    assert directories_of(site, "").answers == ()
    assert site.paths() == ["/"]
