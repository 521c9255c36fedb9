"""Test the compressed size of a long report's page."""

from __future__ import annotations

import gzip

from tests.factories import Member
from tests.long_report import CHECKS, finished_long_scan
from tests.reports.people import page_of, person

MAX_COMPRESSED_BYTES = 60_000


def test_report_with_250_checks_has_at_most_60_kb(home: Member) -> None:
    finished_long_scan(home.organization, seed=1)
    scan = finished_long_scan(home.organization)
    response = person(home.organization).get(f"/report/{scan.id}")
    page = page_of(response)
    assert len(page.xpath("//li[contains(@class, 'check is-')]")) == CHECKS == 250
    # The page has crops of elements, tables of evidence, and figures of the web as a whole.
    for part in ("svg[@class='crop']", "table[@class='evidence']", "p[@class='standing']"):
        assert page.xpath(f"//{part}"), part
    assert len(gzip.compress(response.content, 6)) <= MAX_COMPRESSED_BYTES
