"""Gallery of the sample reports: reports of demo pages, and the kept pages of an audit and a list."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from lxml import html

from reports.page.frozen import FROZEN, frozen_page
from reports.page.sample import PAGES, SHOP, Sample, SamplePage, page_of, sample_of, samples_of
from website_scan.catalogue import checks
from website_scan.findings import ScanType

pytestmark = pytest.mark.django_db
SAMPLES = [(page, scan_type) for page in PAGES for scan_type in page.types]


def page(path: str) -> html.HtmlElement:
    response = Client().get(path)
    assert response.status_code == 200, path
    return html.fromstring(response.content.decode())


def test_the_gallery_shows_every_sample_with_its_grade_and_what_page_it_is() -> None:
    cards = {card.findtext(".//h2"): card for card in page("/samples/").xpath("//li[contains(@class, 'sample')]")}
    assert list(cards) == [each.title for each in (*PAGES, *FROZEN)]
    assert len(cards) >= 6
    for each in PAGES:
        card = cards[each.title]
        said = " ".join(card.text_content().split())
        assert each.about in said
        links = {link.get("href"): " ".join(link.text_content().split()) for link in card.xpath(".//ul//a")}
        for scan_type, sample in samples_of(each).items():
            assert sample.export_json["url"] in said
            assert links[f"/report/sample/{each.names[scan_type]}"].endswith(sample.export_json["grade"] or "no grade")
    for kept in FROZEN:
        assert cards[kept.title].xpath(".//ul//a/@href") == [f"/samples/{kept.slug}"]


def test_every_card_has_a_picture_in_both_themes() -> None:
    pictures = page("/samples/").xpath("//picture//@src | //picture//@srcset")
    assert len(pictures) == 2 * (len(PAGES) + len(FROZEN))
    for each in pictures:
        found = finders.find(each.removeprefix("/static/"))
        assert found, each
        assert Path(found).read_bytes()[8:12] == b"WEBP"


@pytest.mark.parametrize(("sample_page", "scan_type"), SAMPLES)
def test_a_sample_is_complete_and_names_no_address_of_ours(sample_page: SamplePage, scan_type: ScanType) -> None:
    name = sample_page.names[scan_type]
    sample = sample_of(name)
    assert sample is not None
    assert page_of(name) is sample_page
    shown = page(f"/report/sample/{name}")
    text = shown.text_content()
    assert "This is a sample" in text
    assert "localhost:" not in text
    assert "127.0.0.1" not in text
    found = {check["id"] for category in sample.export_json["categories"] for check in category["checks"]}
    assert found <= {each.id for each in checks(scan_type)}
    for link in {each for each in shown.xpath("//main//a/@href | //main//@src") if each.startswith("/")}:
        assert Client().get(link).status_code == 200, link
    tabs = shown.xpath("//nav[@aria-label='Reports of this page by type']//a/@href")
    assert tabs == (
        [f"/report/sample/{each}" for each in sample_page.names.values()] if len(sample_page.types) > 1 else []
    )


def score_of(sample: Sample) -> int:
    score = sample.export_json["score"]
    assert score is not None
    return score


def test_samples_show_what_they_are_for() -> None:
    scores = {each.slug: {key: score_of(sample) for key, sample in samples_of(each).items()} for each in PAGES}
    assert min(scores["library"].values()) >= 95
    assert scores["council"][ScanType.SECURITY] < 60
    leak = sample_of("leak-security")
    assert leak is not None
    critical = [
        check["id"]
        for category in leak.export_json["categories"]
        for check in category["checks"]
        if (check["status"], check["severity"]) == ("fail", "critical")
    ]
    assert critical == ["exposed-git", "exposed-env", "exposed-sql-dump"]
    assert PAGES[0].slug == SHOP  # samples of the start page


@pytest.mark.parametrize("slug", [each.slug for each in FROZEN])
def test_a_kept_page_has_only_links_that_lead_somewhere(slug: str) -> None:
    shown = page(f"/samples/{slug}")
    assert shown.xpath("//main//form | //main//dialog | //main//script | //main//*[@style]") == []
    ids = set(shown.xpath("//@id"))
    for link in shown.xpath("//main//a/@href"):
        if link.startswith("#"):
            assert link[1:] in ids, link
        elif link.startswith("/"):
            assert Client().get(link).status_code == 200, link
    text = shown.text_content()
    assert "localhost:" not in text
    assert "127.0.0.1" not in text
    assert shown.xpath("//meta[@name='robots']/@content") == ["noindex, nofollow"]


def test_there_are_no_other_samples() -> None:
    assert frozen_page("nothing") is None
    assert sample_of("library") is sample_of("leak-seo") is None
    for path in ("/samples/nothing", "/report/sample/leak-seo", "/report/sample/library/screenshot.webp"):
        assert Client().get(path).status_code == 404
