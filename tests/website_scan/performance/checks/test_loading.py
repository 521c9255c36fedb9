from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.website_scan.browser.loads import HERE, figures, largest, load, visit
from tests.website_scan.cast import body, document, head, message, outcome, page, rows, severity_of, verdict
from website_scan.browser.evidence import BrowserLoad, LayoutShift, MainThread, Task
from website_scan.browser.visit import BrowserFailed
from website_scan.findings import NotApplicable, Severity
from website_scan.outcomes import Fail, Pass, Verdict, Warn
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import loading as checks
from website_scan.performance.estimate import estimate
from website_scan.performance.evidence import Resource, Resources, Timing
from website_scan.performance.vitals import Measured

HERO = f"{HERE}/img/hero.jpg"
METRICS: dict[str, Callable[..., Verdict]] = {
    "fcp": checks.fcp,
    "lcp": checks.lcp,
    "tbt": checks.tbt,
    "cls": checks.cls,
    "speed-index": checks.speed_index,
}
SECOND_BYTES = 200_000  # bytes in a second with 1.6 Mbit/s


def bare(url: str = f"{HERE}/", via: tuple[tuple[str, int], ...] = ()) -> Page:
    """Return a page whose document has no bytes, so that only the round trips count."""
    full_page = page(url=url, via=via)
    return replace(full_page, hops=(*full_page.hops[:-1], replace(full_page.response, body_wire_bytes=0)))


def resource(wire_bytes: int, *, host: str = HERE, name: str = "a", depth: int = 1, eager: bool = True) -> Resource:
    return Resource(f"{host}/{name}", ResourceKind.IMAGE, eager, depth, 200, wire_bytes=wire_bytes)


def test_estimate_of_a_document_is_set_up_request_and_server_time() -> None:
    assert estimate(bare(), (), 0.1).seconds == pytest.approx(0.1 + 4 * 0.15)


def test_estimate_without_tls_is_a_round_trip_shorter() -> None:
    assert estimate(bare("http://site.example.com/"), (), 0).seconds == pytest.approx(3 * 0.15)


def test_redirect_costs_a_request_and_for_another_origin_a_set_up() -> None:
    same = bare(via=((f"{HERE}/old", 301),))
    other = bare(via=(("http://site.example.com/", 301),))
    assert estimate(same, (), 0).seconds == pytest.approx(5 * 0.15)
    assert estimate(other, (), 0).seconds == pytest.approx((3 + 4) * 0.15)


def test_estimate_grows_with_the_bytes_at_the_links_speed() -> None:
    one = estimate(bare(), [resource(SECOND_BYTES)], 0)
    assert one.seconds == pytest.approx(4 * 0.15 + 0.15 + 1)
    assert (one.wire_bytes, one.requests) == (SECOND_BYTES, 2)


def test_six_requests_share_a_round_trip() -> None:
    def round_trips(count: int) -> float:
        resources = [resource(0, name=str(number)) for number in range(count)]
        return round((estimate(bare(), resources, 0).seconds - 4 * 0.15) / 0.15, 6)

    assert [round_trips(1), round_trips(6), round_trips(7), round_trips(13)] == [1, 1, 2, 3]


def test_new_origins_are_set_up_at_once() -> None:
    resources = [resource(0, host="https://a.example.org"), resource(0, host="https://b.example.org")]
    assert estimate(bare(), resources, 0).seconds == pytest.approx((4 + 3 + 1) * 0.15)


def test_references_of_a_style_sheet_load_after_it() -> None:
    parallel = [resource(0, name="a"), resource(0, name="b")]
    sequential = [resource(0, name="a"), resource(0, name="b", depth=2)]
    assert estimate(bare(), sequential, 0).seconds == pytest.approx(estimate(bare(), parallel, 0).seconds + 0.15)


def test_lazy_resources_do_not_count_in_the_estimate() -> None:
    lazy = [resource(10 * SECOND_BYTES, eager=False)]
    assert estimate(bare(), lazy, 0) == estimate(bare(), (), 0)


def test_video_does_not_count_in_the_estimate() -> None:
    video = replace(resource(SECOND_BYTES), kind=ResourceKind.MEDIA)
    assert estimate(bare(), [video], 0) == estimate(bare(), (), 0)


@pytest.mark.parametrize(("seconds_of_bytes", "expected"), [(4.2, "pass"), (4.3, "warn"), (9.2, "warn"), (9.3, "fail")])
def test_est_load_time(seconds_of_bytes: float, expected: str) -> None:
    resources = Resources((resource(int(seconds_of_bytes * SECOND_BYTES)),))
    finding = checks.est_load_time(bare(), resources, Timing((0.0,)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "long")
    assert "1.6 Mbit/s" in message(finding)


def test_estimate_is_a_minimum_if_resources_were_left_out() -> None:
    finding = checks.est_load_time(bare(), Resources((resource(1000),), left_out=9), Timing((0.1,)))
    assert message(finding) == (
        "On a connection of 1.6 Mbit/s with 150 ms of latency, the page would take at least 0.9 s: 1.0 kB in 2 "
        "requests."
    )
    assert rows(finding) == [
        {"seconds": 0.9, "document_seconds": 0.7, "wire_bytes": 1000, "requests": 2, "not_counted": 9}
    ]


def test_message_of_the_estimate_has_the_limit_in_whole_seconds() -> None:
    finding = checks.est_load_time(bare(), Resources((resource(5 * SECOND_BYTES),)), Timing((0.0,)))
    assert message(finding).endswith("would take 5.8 s: 1.0 MB in 2 requests; up to 5 s is good.")


def judged(metric: str, value: float | None, **others: Any) -> Verdict:
    return METRICS[metric](figures(**({metric.replace("-", "_"): value} | others)), visit())


def credit(finding: Verdict) -> float | None:
    assert isinstance(finding, Pass | Warn | Fail)
    return finding.credit


@pytest.mark.parametrize(
    ("metric", "good", "poor", "name", "limit"),
    [
        ("fcp", 1.8, 3.0, "slow", "1.8 s"),
        ("lcp", 2.5, 4.0, "slow", "2.5 s"),
        ("tbt", 0.2, 0.6, "high", "200 ms"),
        ("cls", 0.1, 0.25, "high", "0.1"),
        ("speed-index", 3.4, 5.8, "high", "3.4 s"),
    ],
)
def test_metrics_are_judged_by_lighthouses_control_points_and_curve(
    metric: str, good: float, poor: float, name: str, limit: str
) -> None:
    values = (0.0, good, good * 1.001, poor, poor * 1.001, poor * 100)
    findings = [judged(metric, value) for value in values]
    assert [verdict(finding) for finding in findings] == ["pass", "pass", "warn", "warn", "fail", "fail"]
    assert [outcome(finding) for finding in findings] == ["pass", "pass", *[name] * 4]
    assert f"; just above the limit: up to {limit} is good." in message(findings[2])
    assert f"; up to {limit} is good." in message(findings[5])
    earned = [credit(finding) for finding in findings]
    assert earned == sorted(earned, key=lambda number: -(number or 0))
    assert earned[0] == 1.0
    assert earned[1] == pytest.approx(0.9)
    assert earned[2] == pytest.approx(0.9, abs=0.01)
    assert earned[3] == pytest.approx(0.5)
    assert earned[5] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("metric", METRICS)
def test_empty_page_has_no_metrics(metric: str) -> None:
    finding = judged(metric, None if metric != "cls" else 0.0, observed_fcp=None)
    assert isinstance(finding, NotApplicable)
    assert "painted nothing" in finding.reason


@pytest.mark.parametrize("metric", METRICS)
def test_page_that_did_not_paint_in_time_does_not_count_as_empty(metric: str) -> None:
    with pytest.raises(BrowserFailed, match="time ran out"):
        judged(metric, None if metric != "cls" else 0.0, observed_fcp=None, is_complete=False)


@pytest.mark.parametrize(("metric", "warned", "failed"), [("fcp", 2.0, 3.1), ("lcp", 2.6, 4.1), ("tbt", 0.3, 0.7)])
def test_warning_of_a_slow_scanning_machine_has_low_severity(metric: str, warned: float, failed: float) -> None:
    def judged_on(host_ms: float | None, value: float) -> Severity | None:
        return severity_of(METRICS[metric], METRICS[metric](figures(**{metric: value}), visit(host_ms=host_ms)))

    assert judged_on(61.0, warned) is Severity.LOW
    assert judged_on(60.0, warned) is judged_on(None, warned) is Severity.HIGH
    assert judged_on(61.0, failed) is (Severity.CRITICAL if metric == "lcp" else Severity.HIGH)


def test_warning_about_the_speed_index_has_medium_severity() -> None:
    finding = checks.speed_index(figures(speed_index=4.0), visit())
    assert severity_of(checks.speed_index, finding) is Severity.MEDIUM


@pytest.mark.parametrize("metric", METRICS)
def test_message_has_the_reasons_why_a_figure_is_uncertain(metric: str) -> None:
    def message_for(host_ms: float | None, *, is_complete: bool = True) -> str:
        return message(METRICS[metric](figures(is_complete=is_complete), visit(host_ms=host_ms)))

    assert "scanning machine" not in message_for(60.0)
    assert "The figure is uncertain: the scanning machine was slow (61 ms" in message_for(61.0)
    assert "scanning machine" not in message_for(None)
    assert "not finished loading" in message_for(None, is_complete=False)
    assert "not finished loading" not in message_for(None)


@pytest.mark.parametrize("metric", METRICS)
def test_details_have_the_spread_of_the_loads(metric: str) -> None:
    finding = METRICS[metric](figures(), visit(host_ms=21.26))
    assert isinstance(finding, Pass)
    assert {"median", "least", "largest", "loads", "stable"} <= set(rows(finding)[0])
    assert rows(finding)[0]["loads"] == 3
    assert isinstance(finding.details[0], checks.Figures)
    assert finding.details[0].host_ms == 21.3


@pytest.mark.parametrize(
    ("metric", "measured", "spread"),
    [
        ("fcp", Measured(1.5, 1.2, 1.9, 3), "1.2 s to 1.9 s in 3 loads"),
        ("lcp", Measured(2.0, 1.69, 2.0, 2), "1.7 s to 2.0 s in 2 loads"),
        ("speed-index", Measured(2.0, 2.0, 2.31, 3), "2.0 s to 2.3 s in 3 loads"),
        ("tbt", Measured(0.1, 0.04, 0.12, 3), "40 ms to 120 ms in 3 loads"),
        ("cls", Measured(0.05, 0.03, 0.05, 3), "0.030 to 0.050 in 3 loads"),
        # Differences that nobody would notice are not reported.
        ("fcp", Measured(1.7, 1.45, 1.95, 3), ""),
        ("tbt", Measured(0.01, 0.0, 0.05, 3), ""),
        ("cls", Measured(0.004, 0.0, 0.01, 3), ""),
    ],
)
def test_message_has_the_spread_if_the_loads_do_not_agree(metric: str, measured: Measured, spread: str) -> None:
    changed: dict[str, Any] = {metric.replace("-", "_"): measured}
    finding = METRICS[metric](replace(figures(), **changed), visit())
    assert isinstance(finding, Pass)
    assert (f"The figure is uncertain: it was {spread}." in message(finding)) == bool(spread)
    assert ("uncertain" in message(finding)) == bool(spread)
    assert rows(finding)[0]["stable"] == (not spread)


def test_all_reasons_for_uncertainty_are_in_one_sentence() -> None:
    vitals = replace(figures(is_complete=False), fcp=Measured(1.5, 1.2, 1.9, 3))
    assert message(checks.fcp(vitals, visit(host_ms=61.0))).endswith(
        " The figure is uncertain: the page had not finished loading when the time ran out, and it was 1.2 s to 1.9 s "
        "in 3 loads, and the scanning machine was slow (61 ms for what takes 20 ms elsewhere)."
    )


def test_speed_index_needs_a_film() -> None:
    assert verdict(checks.speed_index(figures(speed_index=None), visit())) == "n/a"


def test_message_has_the_largest_element() -> None:
    finding = checks.lcp(figures(), visit(load(lcp=largest(url=HERO))))
    assert "The largest element of the first screen, <img>, is painted after" in message(finding)
    assert isinstance(finding, Pass)
    assert rows(finding)[0]["url"] == HERO
    assert {"selector", "snippet", "seen_s"} <= set(rows(finding)[0])
    unnamed = checks.lcp(figures(), visit(load(lcp=None)))
    assert "The largest element of the first screen is painted" in message(unnamed)
    assert not {"selector", "snippet", "url"} & set(rows(unnamed)[0])


def test_message_has_the_most_shifted_elements_without_tiny_and_unknown_ones() -> None:
    shifts = (LayoutShift(0.1, 0.05, "#ad"), LayoutShift(0.2, 0.2, ".banner"), LayoutShift(0.3, 0.0004, "#tiny"))
    finding = checks.cls(figures(cls=0.25), visit(load(shifts=(*shifts, LayoutShift(0.4, 0.1, "")))))
    assert message(finding).endswith("up to 0.1 is good. Shifted most: .banner, #ad.")
    assert isinstance(finding, Warn)
    assert [row["shift"] for row in rows(finding)[1:]] == [0.2, 0.1, 0.05, 0.0004]
    assert rows(finding)[1] == {"selector": ".banner", "shift": 0.2}


@pytest.mark.parametrize(
    ("url", "lazy", "expected"),
    [
        (HERO, True, "lazy"),
        (HERO, False, "pass"),
        ("", False, "n/a"),  # text
        ("data:image/png;base64,iVBO", True, "n/a"),  # no request for the image
    ],
)
def test_lcp_lazy(url: str, lazy: bool, expected: str) -> None:
    finding = checks.lcp_lazy(visit(load(lcp=largest(url=url, lazy=lazy))))
    assert outcome(finding) == expected
    if expected == "lazy":
        assert verdict(finding) == "fail"
        assert message(finding) == "The largest image of the first screen is lazily loaded: <img>."
        assert rows(finding) == [{"selector": "#hero", "url": HERO}]


def test_lcp_lazy_needs_a_paint() -> None:
    assert verdict(checks.lcp_lazy(visit(load(lcp=None)))) == "n/a"


PRELOAD = "<link rel=preload as=image href=/img/hero.jpg"


@pytest.mark.parametrize(
    ("markup", "high", "expected", "words"),
    [
        (body("<img src=/img/hero.jpg fetchpriority=high>"), True, "pass", "high priority"),
        (body("<img src=/img/hero.jpg>"), False, "low-priority", "no fetchpriority"),
        (body("<img src='/img/hero.jpg#x'>"), True, "pass", ""),
        (body("<img srcset='/img/s.jpg 1x, /img/hero.jpg 2x'>"), True, "pass", ""),
        (body("<picture><source srcset='/img/hero.jpg 800w,/b.jpg 9w'><img></picture>"), True, "pass", ""),
        (body("<video poster=/img/hero.jpg></video>"), False, "low-priority", "no fetchpriority"),
        (body("<p style='background:url(/img/hero.jpg)'>"), False, "low-priority", "no fetchpriority"),
        (head("<style>p{background:url(/img/hero.jpg)}</style>"), False, "low-priority", "no fetchpriority"),
        (head(PRELOAD + " fetchpriority=high>"), False, "pass", ""),
        (head("<link rel=preload as=image fetchpriority=HIGH imagesrcset='/img/hero.jpg 2x'>"), False, "pass", ""),
        (head(PRELOAD + ">"), False, "low-priority", "no fetchpriority"),
        (head("<base href=/img/>", "<img src=hero.jpg>"), True, "pass", ""),
        # An image that a script inserts is discovered when the script has run.
        (body("<img data-src=/img/hero.jpg src='data:image/gif;base64,R0lGOD'>"), True, "late", "not in the HTML"),
        (body("<img src=/img/hero.jpg.webp><p>/img/hero.jpg"), True, "late", "not in the HTML"),
        (body("<noscript><img src=/img/hero.jpg></noscript>"), True, "late", "not in the HTML"),
        (body("<a href=/img/other.jpg>"), False, "late", "not in the HTML"),
    ],
)
def test_lcp_priority(markup: str, high: bool, expected: str, words: str) -> None:
    scanned_page = page(markup)
    finding = checks.lcp_priority(
        scanned_page, document(scanned_page), visit(load(lcp=largest(url=HERO, high=high))), figures()
    )
    assert outcome(finding) == expected
    assert verdict(finding) == ("pass" if expected == "pass" else "warn")
    assert words in message(finding)


def test_message_and_details_have_the_largest_image() -> None:
    scanned_page = page(body("<img src=/img/hero.jpg>"))
    finding = checks.lcp_priority(scanned_page, document(scanned_page), visit(load(lcp=largest(url=HERO))), figures())
    assert message(finding) == f'The largest image ({HERO}) has no fetchpriority="high".'
    assert rows(finding) == [{"selector": "#hero", "url": HERO, "in_html": True, "high": False}]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("</img/hero.jpg>; rel=preload; as=image; fetchpriority=high", "pass"),
        ('</a.css>; rel=preload, </img/hero.jpg>; rel="preload"; as=image; fetchpriority=high', "pass"),
        ("</img/hero.jpg>; rel=preload; as=image", "low-priority"),
        ("</img/hero.jpg>; rel=next; fetchpriority=high", "late"),
    ],
)
def test_link_header_can_preload_the_largest_image(link: str, expected: str) -> None:
    scanned_page = page(body("<p>Text"), ("Link", link))
    finding = checks.lcp_priority(scanned_page, document(scanned_page), visit(load(lcp=largest(url=HERO))), figures())
    assert outcome(finding) == expected


@pytest.mark.parametrize("markup", ["<img src=/img/hero.jpg>", "<p>Text"])
def test_severity_of_image_priority_is_low_if_the_image_is_painted_in_time(markup: str) -> None:
    scanned_page = page(body(markup))
    loaded = visit(load(lcp=largest(url=HERO)))
    slow = replace(loaded, host_ms=61.0)

    def judged_in(lcp: float, loaded: BrowserLoad) -> Severity | None:
        finding = checks.lcp_priority(scanned_page, document(scanned_page), loaded, figures(lcp=lcp))
        return severity_of(checks.lcp_priority, finding)

    assert judged_in(2.5, loaded) is Severity.LOW
    assert judged_in(2.6, loaded) is Severity.MEDIUM
    assert judged_in(4.0, slow) is Severity.LOW
    assert judged_in(4.1, slow) is Severity.MEDIUM


@pytest.mark.parametrize("url", ["", "data:image/png;base64,iVBO"])
def test_lcp_priority_does_not_apply_to_text_and_data_urls(url: str) -> None:
    scanned_page = page()
    assert (
        verdict(checks.lcp_priority(scanned_page, document(scanned_page), visit(load(lcp=largest(url=url))), figures()))
        == "n/a"
    )


def tasks(*milliseconds: int) -> MainThread:
    return MainThread(tuple(Task(number, 2 * ms / 1000, ms / 1000) for number, ms in enumerate(milliseconds)))


@pytest.mark.parametrize(
    ("count", "expected", "words"),
    [(0, "pass", "No task"), (1, "warn", "1 task takes"), (5, "warn", "5 tasks take"), (6, "fail", "6 tasks take")],
)
def test_long_tasks(count: int, expected: str, words: str) -> None:
    finding = checks.long_tasks(visit(load(main_thread=tasks(*[90] * count, 49, 20))))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "long")
    assert words in message(finding)


def test_few_long_tasks_with_little_blocking_time_have_low_severity() -> None:
    """The longest task of a simple page may take 52 ms in one scan and less than 50 ms in the next."""

    def judged_with(*milliseconds: int) -> Severity | None:
        return severity_of(checks.long_tasks, checks.long_tasks(visit(load(main_thread=tasks(*milliseconds)))))

    assert judged_with(52, 240) is Severity.LOW
    assert judged_with(60, 240) is Severity.MEDIUM
    assert judged_with(*[51] * 6) is Severity.MEDIUM  # more than five tasks


def test_load_with_the_fewest_long_tasks_counts() -> None:
    loads = [load(main_thread=tasks(*durations)) for durations in ((60,) * 9, (70, 1200), (60,) * 3, ())]
    finding = checks.long_tasks(visit(*loads))
    assert "2 tasks take longer than 50 ms, the longest 1,200 ms" in message(finding)
    assert isinstance(finding, Warn)
    assert rows(finding)[1] == {"at_s": 1, "duration_ms": 1200}


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, "pass"), (1.282, "pass"), (1.3, "warn"), (3.5, "warn"), (3.6, "fail")]
)
def test_script_time(seconds: float, expected: str) -> None:
    finding = checks.script_time(figures(script_s=seconds))
    assert verdict(finding) == expected
    assert outcome(finding) == ("high" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, "pass"), (2.017, "pass"), (2.1, "warn"), (4.0, "warn"), (4.1, "fail")]
)
def test_main_thread(seconds: float, expected: str) -> None:
    finding = checks.main_thread(figures(main_thread_s=seconds))
    assert verdict(finding) == expected
    assert outcome(finding) == ("too-much" if expected in ("warn", "fail") else expected)


def test_messages_about_processor_time_have_the_limit() -> None:
    assert message(checks.script_time(figures(script_s=2.0))) == (
        "Scripts run for 2.0 s while the page loads, on a processor four times slower than the scanner's; up to 1.3 s "
        "is good."
    )
    busy = checks.main_thread(figures(main_thread_s=5.0))
    assert message(busy).startswith("The main thread is busy for 5.0 s while the page loads")
    assert rows(busy) == [{"seconds": 5.0}]
