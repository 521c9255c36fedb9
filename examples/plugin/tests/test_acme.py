"""Tests of the plug-in. Checks are functions, so tests call them with evidence."""

from acme_scan.rules import OpeningHours, imprint, load_opening_hours, opening_hours
from acme_scan.table import table

from website_scan.plugins import Answer, Document, Fail, Network, Page, Pass, Warn


def test_page_with_a_link_passes() -> None:
    assert isinstance(imprint(Document('<a href="/imprint">Imprint</a>')), Pass)


def test_page_without_a_link_fails() -> None:
    verdict = imprint(Document("<p>Tea"))
    assert isinstance(verdict, Fail)
    assert verdict.outcome == "missing"


def test_link_without_text_is_a_warning() -> None:
    verdict = imprint(Document('<a href="/imprint"></a>'))
    assert isinstance(verdict, Warn)
    assert verdict.message == "1 link to the imprint without text."


def test_opening_hours_are_requested_from_the_site() -> None:
    requested = []

    def get(url: str) -> Answer:
        requested.append(url)
        return Answer(url, 404)

    hours = load_opening_hours(Page("https://a.example/shop"), Network(get))
    assert requested == ["https://a.example/hours"]
    assert hours == OpeningHours("https://a.example/hours", 404)
    assert isinstance(opening_hours(hours), Fail)


def test_table_has_a_line_for_each_finding() -> None:
    checks = [{"status": "fail", "title": "No link", "severity": "medium"}, {"status": "pass", "title": "Fine"}]
    report = {"url": "https://a.example/", "categories": [{"checks": checks}]}
    assert table([report]).splitlines()[2:] == ["| https://a.example/ | No link | medium |"]
