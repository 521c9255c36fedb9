"""Test own requirements about metrics and about the files of a browser's load."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, page, verdict
from website_scan.browser.evidence import BrowserLoad, Load, LoadedRequest
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Resources, Timing
from website_scan.performance.vitals import Measured, Vitals
from website_scan.requirements.limit_checks import bytes_check, metric_check, requests_check
from website_scan.requirements.model import BytesRule, FileKind, Metric, MetricRule, RequestsRule

ONE_LOAD = Measured(2.0, 2.0, 2.0)
VITALS = Vitals(
    fcp=Measured(1.0, 1.0, 1.0),
    lcp=ONE_LOAD,
    cls=Measured(0.12, 0.1, 0.2),
    tbt=Measured(0.3, 0.3, 0.3),
    speed_index=Measured(3.0, 3.0, 3.0),
    observed_fcp=ONE_LOAD,
    observed_lcp=ONE_LOAD,
    script_s=0.5,
    main_thread_s=0.8,
    loads=1,
    is_complete=True,
)


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        (Metric.FIRST_CONTENTFUL_PAINT, 1000, "The first contentful paint is 1,000 ms; allowed are {limit} ms."),
        (Metric.LARGEST_CONTENTFUL_PAINT, 2000, "The largest contentful paint is 2,000 ms; allowed are {limit} ms."),
        (Metric.TOTAL_BLOCKING_TIME, 300, "The total blocking time is 300 ms; allowed are {limit} ms."),
        (Metric.SPEED_INDEX, 3000, "The speed index is 3,000 ms; allowed are {limit} ms."),
        (Metric.MAIN_THREAD_TIME, 800, "The work of the main thread is 800 ms; allowed are {limit} ms."),
        (Metric.SCRIPT_TIME, 500, "The run time of scripts is 500 ms; allowed are {limit} ms."),
    ],
)
def test_metric_is_compared_in_milliseconds(metric: Metric, value: int, text: str) -> None:
    for limit, expected in ((value, "pass"), (value - 1, "fail")):
        found = metric_check(MetricRule(metric, limit))(vitals=VITALS)
        assert (verdict(found), message(found)) == (expected, text.format(limit=f"{limit:,}"))


def test_layout_shift_has_no_unit() -> None:
    found = metric_check(MetricRule(Metric.CUMULATIVE_LAYOUT_SHIFT, 0.125))(vitals=VITALS)
    assert message(found) == "The cumulative layout shift is 0.120; allowed are 0.125."


def test_response_time_is_the_median() -> None:
    check = metric_check(MetricRule(Metric.SERVER_RESPONSE_TIME, 250))
    assert verdict(check(timing=Timing((0.2, 0.9, 0.1)))) == "pass"
    assert verdict(check(timing=Timing((0.3, 0.9, 0.1)))) == "fail"


def test_metric_that_varies_around_the_limit_is_a_warning() -> None:
    unstable = replace(VITALS, lcp=Measured(2.6, 2.6, 4.0, loads=3, second=3.2))
    found = metric_check(MetricRule(Metric.LARGEST_CONTENTFUL_PAINT, 2500))(vitals=unstable)
    assert (verdict(found), message(found)) == (
        "warn",
        "The largest contentful paint is 2,600 ms, more than 2,500 ms, but the loads of the page differ by as much.",
    )
    assert verdict(metric_check(MetricRule(Metric.LARGEST_CONTENTFUL_PAINT, 1500))(vitals=unstable)) == "fail"


def test_page_without_a_paint_is_not_judged() -> None:
    unpainted = replace(VITALS, lcp=None, observed_fcp=None)
    for metric in (Metric.LARGEST_CONTENTFUL_PAINT, Metric.CUMULATIVE_LAYOUT_SHIFT):
        assert verdict(metric_check(MetricRule(metric, 0))(vitals=unpainted)) == "n/a"


def request(url: str, kind: ResourceKind | None, wire_bytes: int) -> LoadedRequest:
    return LoadedRequest(url, kind, "GET", 0.0, 0.1, 0.2, 200, wire_bytes=wire_bytes)


REQUESTS = (
    request("https://site.example.com/shop/shoes", None, 1000),
    request("https://site.example.com/a.js", ResourceKind.SCRIPT, 2000),
    request("https://cdn.example.net/b.js", ResourceKind.SCRIPT, 4000),
    request("https://cdn.example.net/frame", None, 500),
    request("https://static.example.com/c.woff2", ResourceKind.FONT, 8000),
    request("https://site.example.com/favicon.ico", ResourceKind.OTHER, 100),
    request("https://site.example.com/data", ResourceKind.OTHER, 50),
)
LOAD = BrowserLoad("Chromium", Load(0.1, None, (), 0.2, 0.0, 0.0, REQUESTS))


@pytest.mark.parametrize(
    ("kind", "count", "total"),
    [
        (FileKind.TOTAL, 6, 15_550),
        (FileKind.DOCUMENT, 2, 1500),
        (FileKind.SCRIPT, 2, 6000),
        (FileKind.FONT, 1, 8000),
        (FileKind.IMAGE, 0, 0),
        (FileKind.OTHER, 1, 50),
        (FileKind.THIRD_PARTY, 2, 4500),
    ],
)
def test_requests_of_the_browser_are_counted_by_kind(kind: FileKind, count: int, total: int) -> None:
    evidence = {"page": page(), "resources": Resources(()), "load": LOAD}
    assert verdict(requests_check(RequestsRule(kind, count))(**evidence)) == "pass"
    assert verdict(bytes_check(BytesRule(kind, total))(**evidence)) == "pass"
    if count:
        assert outcome(requests_check(RequestsRule(kind, count - 1))(**evidence)) == "above"
        assert outcome(bytes_check(BytesRule(kind, total - 1))(**evidence)) == "above"


def test_requests_that_were_not_recorded_count() -> None:
    load = replace(LOAD, first=replace(LOAD.first, left_out=10))
    found = requests_check(RequestsRule(FileKind.TOTAL, 15))(page=page(), resources=Resources(()), load=load)
    assert message(found) == "The page is loaded with 16 files of at least 16 kB in all; allowed are 15."


def test_value_just_above_the_limit_is_not_rounded() -> None:
    found = bytes_check(BytesRule(FileKind.SCRIPT, 5999))(page=page(), resources=Resources(()), load=LOAD)
    assert message(found) == "2 scripts have 6,000 bytes; allowed are 5,999 bytes."
