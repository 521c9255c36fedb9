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
from website_scan.seo.probes.answers import MAX_FETCHED_ALTERNATES

T = TypeVar("T")


def alternate_answers(page: Page, document: Document, network: Network) -> AlternateAnswers:
    return probes.alternate_answers(page, read_alternates(page, document), read_canonicals(page, document), network)


def canonical_answer(page: Page, document: Document, network: Network) -> CanonicalAnswer:
    return probes.canonical_answer(page, read_canonicals(page, document), network)


def social_image(page: Page, document: Document, network: Network) -> SocialImage:
    return probes.social_image(page, read_social_metadata(document), network)


def run_probe(site: Site, probe: Callable[[Page, Document, Network], T], top_level: str = "com") -> T:
    with Network(POLICY, lookup=Records({}, top_level=top_level)) as network:
        page = fetch_page(target(f"{site.url}/"), network)
        return probe(page, parse_document(page), network)


def page_with_alternates(*addresses: str) -> Answer:
    links = "".join(f'<link rel=alternate hreflang=de href="{url}">' for url in addresses)
    return Answer(f"<!doctype html><head>{links}</head><body>Text")


def test_language_versions_are_fetched_once() -> None:
    with Site(
        {"/": page_with_alternates("/", "/de", "/fr", "/de#top"), "/de": Answer("Hallo"), "/fr": Answer.redirect("/")}
    ) as site:
        answers = {
            (answer.url or "").rpartition("/")[2]: answer for answer in run_probe(site, alternate_answers).answers
        }
    assert sorted(site.paths()) == ["/", "/de", "/fr"]
    assert {name: answer.page.response.status for name, answer in answers.items() if answer.page} == {
        "de": 200,
        "fr": 302,
    }


def test_unreachable_version_has_error() -> None:
    with Site({"/": page_with_alternates("http://10.0.0.1/de", "https://site.invalid/")}) as site:
        answers = run_probe(site, alternate_answers).answers
    assert [bool(answer.error) for answer in answers] == [True, True]


def test_names_are_unreachable_in_closed_network() -> None:
    """Test a closed network, whose names cannot be resolved.

    For example, an internal copy of a manual names the public manual as its canonical URL.
    """
    head = (
        '<link rel=canonical href="https://www.manual.org/"><link rel=alternate hreflang=de href="/de">'
        '<link rel=alternate hreflang=fr href="https://fr.manual.org/"><meta property="og:image" content="//cdn.org/a">'
    )
    with Site({"/": Answer(f"<!doctype html><head>{head}</head><body>Text"), "/de": Answer("Hallo")}) as site:
        assert [answer.url for answer in run_probe(site, alternate_answers, "").answers] == [f"{site.url}/de"]
        for probe in (canonical_answer, social_image):
            with pytest.raises(NotReachable):
                run_probe(site, probe, "")
        assert run_probe(site, canonical_answer).error


def test_ten_language_versions_are_fetched() -> None:
    with Site({"/": page_with_alternates(*(f"/v{number}" for number in range(100)))}) as site:
        assert len(run_probe(site, alternate_answers).answers) == MAX_FETCHED_ALTERNATES


@pytest.mark.parametrize("probe", [alternate_answers, social_image])
def test_metadata_probes_stop_after_status_429(
    probe: Callable[[Page, Document, Network], object],
) -> None:
    html = '<head><link rel=alternate hreflang=de href="/x"><meta property="og:image" content="/x"></head>'
    with Site({"/": Answer(html), "/x": Answer(status=429)}) as site, pytest.raises(SiteProtected):
        run_probe(site, probe)


def test_og_image_probe_follows_redirects() -> None:
    html = '<meta property="og:image" content="/old.png">'
    image = Answer(b"\x89PNG" + b"x" * 100_000, headers={"Content-Type": "image/png"})
    with Site({"/": Answer(html), "/old.png": Answer.redirect("/new.png"), "/new.png": image}) as site:
        assert run_probe(site, social_image).status == 200


def test_unreachable_og_image_has_error() -> None:
    with Site({"/": Answer('<meta property="og:image" content="https://site.invalid/a.png">')}) as site:
        image = run_probe(site, social_image)
    assert image.status is None
    assert image.error


def test_og_image_probe_needs_an_image() -> None:
    with Site({"/": Answer("Hello")}) as site:
        assert run_probe(site, social_image).error == ""
    assert site.paths() == ["/"]
