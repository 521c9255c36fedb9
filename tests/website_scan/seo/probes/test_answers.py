from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, target
from tests.website_scan.net.seams import Records
from website_scan.crawl.canonicals import read_canonicals
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable
from website_scan.page.evidence import Document, Page
from website_scan.page.fetch import SiteProtected, fetch_page, parse_document
from website_scan.seo.evidence import AlternateAnswers, CanonicalAnswer, SocialImage
from website_scan.seo.hreflang import read_alternates
from website_scan.seo.metadata import read_social_metadata
from website_scan.seo.probes import answers as probes
from website_scan.seo.probes.answers import MAX_ALTERNATES

T = TypeVar("T")


def alternate_answers(page: Page, document: Document, network: Network) -> AlternateAnswers:
    return probes.alternate_answers(page, read_alternates(page, document), read_canonicals(page, document), network)


def canonical_answer(page: Page, document: Document, network: Network) -> CanonicalAnswer:
    return probes.canonical_answer(page, read_canonicals(page, document), network)


def social_image(page: Page, document: Document, network: Network) -> SocialImage:
    return probes.social_image(page, read_social_metadata(document), network)


def probed(site: Site, probe: Callable[[Page, Document, Network], T], top_level: str = "com") -> T:
    with Network(POLICY, lookup=Records({}, top_level=top_level)) as network:
        page = fetch_page(target(f"{site.url}/"), network)
        return probe(page, parse_document(page), network)


def versions(*addresses: str) -> Answer:
    links = "".join(f'<link rel=alternate hreflang=de href="{each}">' for each in addresses)
    return Answer(f"<!doctype html><head>{links}</head><body>Text")


def test_other_versions_are_fetched_once_and_redirects_are_not_followed() -> None:
    with Site(
        {"/": versions("/", "/de", "/fr", "/de#top"), "/de": Answer("Hallo"), "/fr": Answer.redirect("/")}
    ) as site:
        found = {(each.url or "").rpartition("/")[2]: each for each in probed(site, alternate_answers).answers}
    assert sorted(site.paths()) == ["/", "/de", "/fr"]
    assert {name: each.page.response.status for name, each in found.items() if each.page} == {"de": 200, "fr": 302}


def test_what_cannot_be_reached_is_evidence() -> None:
    with Site({"/": versions("http://10.0.0.1/de", "https://site.invalid/")}) as site:
        answers = probed(site, alternate_answers).answers
    assert [bool(each.error) for each in answers] == [True, True]


def test_in_a_closed_network_the_names_of_other_sites_prove_nothing() -> None:
    """A manual's canonical URL is the manual on its project's site."""
    head = (
        '<link rel=canonical href="https://www.manual.org/"><link rel=alternate hreflang=de href="/de">'
        '<link rel=alternate hreflang=fr href="https://fr.manual.org/"><meta property="og:image" content="//cdn.org/a">'
    )
    with Site({"/": Answer(f"<!doctype html><head>{head}</head><body>Text"), "/de": Answer("Hallo")}) as site:
        assert [each.url for each in probed(site, alternate_answers, "").answers] == [f"{site.url}/de"]
        for probe in (canonical_answer, social_image):
            with pytest.raises(NotReachable):
                probed(site, probe, "")
        assert probed(site, canonical_answer).error


def test_a_hundred_versions_are_sampled() -> None:
    with Site({"/": versions(*(f"/v{number}" for number in range(100)))}) as site:
        assert len(probed(site, alternate_answers).answers) == MAX_ALTERNATES


@pytest.mark.parametrize("probe", [alternate_answers, social_image])
def test_a_site_that_has_enough_says_so(probe: Callable[[Page, Document, Network], object]) -> None:
    html = '<head><link rel=alternate hreflang=de href="/x"><meta property="og:image" content="/x"></head>'
    with Site({"/": Answer(html), "/x": Answer(status=429)}) as site, pytest.raises(SiteProtected):
        probed(site, probe)


def test_the_picture_for_sharing_is_followed_through_redirects() -> None:
    html = '<meta property="og:image" content="/old.png">'
    image = Answer(b"\x89PNG" + b"x" * 100_000, headers={"Content-Type": "image/png"})
    with Site({"/": Answer(html), "/old.png": Answer.redirect("/new.png"), "/new.png": image}) as site:
        assert probed(site, social_image).status == 200


def test_a_picture_that_does_not_come_is_evidence() -> None:
    with Site({"/": Answer('<meta property="og:image" content="https://site.invalid/a.png">')}) as site:
        found = probed(site, social_image)
    assert found.status is None
    assert found.error


def test_without_a_picture_nothing_is_asked() -> None:
    with Site({"/": Answer("Hello")}) as site:
        assert probed(site, social_image).error == ""
    assert site.paths() == ["/"]
