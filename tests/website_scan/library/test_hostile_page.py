"""Test that a hostile page can break neither results nor documents."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

import website_scan
from tests.website_scan.command.hostile_page import PATH, hostile_site
from website_scan import settings as scanning


@pytest.fixture(scope="module")
def page() -> Iterator[website_scan.PageResult]:
    with hostile_site() as site, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "SCAN_CA_BUNDLE", site.ca_file)
        url = f"{site.url_as('localhost')}{PATH}"
        yield website_scan.scan(url, browser=False, allow_networks=["127.0.0.0/8"])


def test_hostile_page_is_scanned(page: website_scan.PageResult) -> None:
    assert page.error is None
    assert len(page.findings) > 20


def test_stored_results_of_a_hostile_page_are_read_unchanged(page: website_scan.PageResult) -> None:
    (again,) = website_scan.read(website_scan.document(page, "full"))
    assert again.findings == page.findings
    for name in set(website_scan.FORMATS) - {"html"}:
        assert website_scan.document(again, name) == website_scan.document(page, name), name
    assert website_scan.document(again, "html")


def test_results_can_be_sent_to_other_processes(page: website_scan.PageResult) -> None:
    assert pickle.loads(pickle.dumps(page)) == page


def test_html_of_a_forged_document_is_escaped(page: website_scan.PageResult) -> None:
    text = website_scan.document(page, "full").replace("Strict-Transport-Security", "<script>alert(1)</script>")
    html = website_scan.document(website_scan.read(text), "html")
    assert "<script>alert(1)" not in html
