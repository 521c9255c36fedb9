"""Tests for web statistics and their sources."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from tests.jinja_templates import macro
from tests.results import stored_finding
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.performance.checks.loading import Figures
from website_scan.performance.vitals import CLS, FCP_S, LCP_S, SPEED_INDEX_S, TBT_S
from website_scan.places import Rows
from website_scan.report.cards import card_of
from website_scan.report.metrics import METRICS, mark, metrics
from website_scan.report.web_figures import BANDS, WEB_FIGURES, Band, web_figure

KNOWN = {check.id for scan_type in ScanType for check in checks(scan_type)}
# Trusted sources. In a URL's path, `{}` is the year of the edition.
ORIGINS = {"https://almanac.httparchive.org": "/en/{}/", "https://www.spamresource.com": "/{}/"}
DATED = re.compile(r"(January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d")


def card(id: str) -> html.HtmlElement:
    """Return the card of a finding."""
    return html.fromstring(macro("report/card.html", "card")(card_of(stored_finding(id))))


@pytest.mark.parametrize("id", WEB_FIGURES)
def test_web_figure_has_a_source(id: str) -> None:
    figure = WEB_FIGURES[id]
    assert id in KNOWN
    assert re.search(r"\d", figure.text)
    assert not figure.text.endswith(".")
    assert figure.source
    assert figure.sample
    assert DATED.fullmatch(figure.dated)
    address = urlsplit(figure.address)
    year = int(figure.dated.split()[1])
    assert address.path.startswith(ORIGINS[f"{address.scheme}://{address.netloc}"].format(year))


def test_card_shows_share_of_websites() -> None:
    card_html = card("hsts")
    (line,) = card_html.xpath("//p[@class='standing']")
    assert line.text_content() == "Across the web: 36% of pages send the header (HTTP Archive, July 2025)."
    assert line.xpath("a/@href") == ["https://almanac.httparchive.org/en/2025/security"]
    assert line.getparent().get("class") == "more"


def test_card_may_have_no_web_figure() -> None:
    assert web_figure("exposed-git") is None
    assert card("exposed-git").xpath("//p[@class='standing']") == []


def test_metric_scale_uses_check_limits() -> None:
    judged = {"lcp": LCP_S, "fcp": FCP_S, "tbt": TBT_S, "cls": CLS, "speed-index": SPEED_INDEX_S}
    assert {id: (band.good, band.poor) for id, band in BANDS.items()} == judged
    assert set(METRICS) == set(BANDS)


def test_metric_card_shows_scale() -> None:
    figures = Figures(3.25, 3.1, 3.4, 3, True, None)
    measured = stored_finding("lcp", status="warn", details=Rows.of([figures]))
    (metric,) = metrics({"lcp": measured})
    assert (metric.scale.mark, metric.scale.good, metric.scale.poor) == (500, "2.5 s", "4.0 s")
    assert metric.web_figure
    assert "62% of sites" in metric.web_figure.text


@given(st.lists(st.floats(0, 1000), min_size=2, max_size=20), st.sampled_from(sorted(BANDS)))
def test_metric_marker_shows_verdict(values: list[float], id: str) -> None:
    band: Band = BANDS[id]
    marks = [mark(value, band) for value in sorted(values)]
    assert all(before <= after for before, after in pairwise(marks))
    for value in values:
        third = 0 if value <= band.good else 1 if value <= band.poor else 2
        assert third * 1000 / 3 - 1 <= mark(value, band) <= (third + 1) * 1000 / 3 + 1
