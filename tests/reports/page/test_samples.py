"""Tests for the gallery of sample reports and other prerendered pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from lxml import html

from reports.page.frozen import FROZEN, frozen_page
from reports.page.sample import PAGES, SHOP, Sample, SamplePage, find_sample, page_of, samples_of_page
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.report.cap_sentence import score_cap_sentence

pytestmark = pytest.mark.django_db
SAMPLES = [(page, scan_type) for page in PAGES for scan_type in page.types]


def page(path: str) -> html.HtmlElement:
    response = Client().get(path)
    assert response.status_code == 200, path
    return html.fromstring(response.content.decode())


def test_gallery_describes_every_sample() -> None:
    cards = {card.findtext(".//h2"): card for card in page("/samples/").xpath("//li[contains(@class, 'sample')]")}
    assert list(cards) == [sample_page.title for sample_page in (*PAGES, *FROZEN)]
    assert len(cards) >= 6
    for sample_page in PAGES:
        card = cards[sample_page.title]
        text = " ".join(card.text_content().split())
        assert sample_page.about in text
        links = {link.get("href"): " ".join(link.text_content().split()) for link in card.xpath(".//ul//a")}
        for scan_type, sample in samples_of_page(sample_page).items():
            assert sample.export_json["url"] in text
            assert links[f"/report/sample/{sample_page.names[scan_type]}"].endswith(
                sample.export_json["grade"] or "no grade"
            )
    for frozen in FROZEN:
        assert cards[frozen.title].xpath(".//ul//a/@href") == [f"/samples/{frozen.slug}"]


def test_every_card_has_a_picture_in_both_themes() -> None:
    pictures = page("/samples/").xpath("//picture//@src | //picture//@srcset")
    assert len(pictures) == 2 * (len(PAGES) + len(FROZEN))
    for url in pictures:
        path = finders.find(url.removeprefix("/static/"))
        assert path, url
        assert Path(path).read_bytes()[8:12] == b"WEBP"


@pytest.mark.parametrize(("sample_page", "scan_type"), SAMPLES)
def test_sample_contains_no_local_address(sample_page: SamplePage, scan_type: ScanType) -> None:
    name = sample_page.names[scan_type]
    sample = find_sample(name)
    assert sample is not None
    assert page_of(name) is sample_page
    sample_report = page(f"/report/sample/{name}")
    text = sample_report.text_content()
    assert "This is a sample" in text
    assert "localhost:" not in text
    assert "127.0.0.1" not in text
    check_ids = {check["id"] for category in sample.export_json["categories"] for check in category["checks"]}
    assert check_ids <= {check.id for check in checks(scan_type)}
    for link in {url for url in sample_report.xpath("//main//a/@href | //main//@src") if url.startswith("/")}:
        assert Client().get(link).status_code == 200, link
    tabs = sample_report.xpath("//nav[@aria-label='Reports of this page by type']//a/@href")
    assert tabs == (
        [f"/report/sample/{sample_name}" for sample_name in sample_page.names.values()]
        if len(sample_page.types) > 1
        else []
    )


@pytest.mark.parametrize(("sample_page", "scan_type"), SAMPLES)
def test_sample_says_what_keeps_its_score_low(sample_page: SamplePage, scan_type: ScanType) -> None:
    """Regression test: samples had a sentence about caps that reports have no longer."""
    sample = find_sample(sample_page.names[scan_type])
    assert sample is not None
    assert sample.scoring is not None
    export = sample.export_json
    assert export["held"] == score_cap_sentence(sample.scoring, [cap["reason"] for cap in export["caps"]])


def score_of(sample: Sample) -> int:
    score = sample.export_json["score"]
    assert score is not None
    return score


def test_samples_match_their_descriptions() -> None:
    scores = {
        sample_page.slug: {key: score_of(sample) for key, sample in samples_of_page(sample_page).items()}
        for sample_page in PAGES
    }
    assert min(scores["library"].values()) >= 95
    assert scores["council"][ScanType.SECURITY] < 60
    leak = find_sample("leak-security")
    assert leak is not None
    critical = [
        check["id"]
        for category in leak.export_json["categories"]
        for check in category["checks"]
        if (check["status"], check["severity"]) == ("fail", "critical")
    ]
    assert critical == ["exposed-git", "exposed-env", "exposed-sql-dump"]
    assert PAGES[0].slug == SHOP  # The start page shows the samples of this page.


@pytest.mark.parametrize("slug", [frozen.slug for frozen in FROZEN])
def test_prerendered_links_lead_to_existing_pages(slug: str) -> None:
    frozen = page(f"/samples/{slug}")
    assert frozen.xpath("//main//form | //main//dialog | //main//script | //main//*[@style]") == []
    ids = set(frozen.xpath("//@id"))
    for link in frozen.xpath("//main//a/@href"):
        if link.startswith("#"):
            assert link[1:] in ids, link
        elif link.startswith("/"):
            assert Client().get(link).status_code == 200, link
    text = frozen.text_content()
    assert "localhost:" not in text
    assert "127.0.0.1" not in text
    assert frozen.xpath("//meta[@name='robots']/@content") == ["noindex, nofollow"]


def test_unknown_samples_are_not_found() -> None:
    assert frozen_page("nothing") is None
    assert find_sample("library") is find_sample("leak-seo") is None
    for path in ("/samples/nothing", "/report/sample/leak-seo", "/report/sample/library/screenshot.webp"):
        assert Client().get(path).status_code == 404
