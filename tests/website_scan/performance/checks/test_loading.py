from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.website_scan.browser.loads import HERE, figures, largest_paint, load, visit
from tests.website_scan.cast import body, document, head, message, outcome, page, rows, severity_of, verdict
from website_scan.browser.evidence import BrowserLoad, LayoutShift, MainThread, Task
from website_scan.browser.visit import BrowserFailed
from website_scan.findings import LOW, NotApplicable, Severity
from website_scan.outcomes import Fail, Note, Pass, Verdict, Warn
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import loading as checks
from website_scan.performance.estimate import estimate_load_time
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
BYTES_PER_SECOND = 200_000  # Bytes transferred in one second at 1.6 Mbit/s.


def page_without_bytes(url: str = f"{HERE}/", via: tuple[tuple[str, int], ...] = ()) -> Page:
    """Return a page with an empty document, so that only round trips count."""
    full_page = page(url=url, via=via)
    return replace(full_page, hops=(*full_page.hops[:-1], replace(full_page.response, body_wire_bytes=0)))


def resource(wire_bytes: int, *, host: str = HERE, name: str = "a", depth: int = 1, eager: bool = True) -> Resource:
    return Resource(f"{host}/{name}", ResourceKind.IMAGE, eager, depth, 200, wire_bytes=wire_bytes)


def test_document_estimate_adds_waiting_times() -> None:
    assert estimate_load_time(page_without_bytes(), (), 0.1).seconds == pytest.approx(0.1 + 4 * 0.15)


def test_estimate_without_tls_is_shorter() -> None:
    assert estimate_load_time(page_without_bytes("http://site.example.com/"), (), 0).seconds == pytest.approx(3 * 0.15)


def test_redirect_to_another_origin_costs_set_up() -> None:
    same = page_without_bytes(via=((f"{HERE}/old", 301),))
    other = page_without_bytes(via=(("http://site.example.com/", 301),))
    assert estimate_load_time(same, (), 0).seconds == pytest.approx(5 * 0.15)
    assert estimate_load_time(other, (), 0).seconds == pytest.approx((3 + 4) * 0.15)


def test_estimate_includes_transfer_time() -> None:
    one = estimate_load_time(page_without_bytes(), [resource(BYTES_PER_SECOND)], 0)
    assert one.seconds == pytest.approx(4 * 0.15 + 0.15 + 1)
    assert (one.wire_bytes, one.requests) == (BYTES_PER_SECOND, 2)


def test_six_requests_share_a_round_trip() -> None:
    def round_trips(count: int) -> float:
        resources = [resource(0, name=str(number)) for number in range(count)]
        return round((estimate_load_time(page_without_bytes(), resources, 0).seconds - 4 * 0.15) / 0.15, 6)

    assert [round_trips(1), round_trips(6), round_trips(7), round_trips(13)] == [1, 1, 2, 3]


def test_new_connections_are_set_up_in_parallel() -> None:
    resources = [resource(0, host="https://a.example.org"), resource(0, host="https://b.example.org")]
    assert estimate_load_time(page_without_bytes(), resources, 0).seconds == pytest.approx((4 + 3 + 1) * 0.15)


def test_style_sheet_references_load_later() -> None:
    parallel = [resource(0, name="a"), resource(0, name="b")]
    sequential = [resource(0, name="a"), resource(0, name="b", depth=2)]
    assert estimate_load_time(page_without_bytes(), sequential, 0).seconds == pytest.approx(
        estimate_load_time(page_without_bytes(), parallel, 0).seconds + 0.15
    )


def test_lazy_resources_do_not_count() -> None:
    lazy = [resource(10 * BYTES_PER_SECOND, eager=False)]
    assert estimate_load_time(page_without_bytes(), lazy, 0) == estimate_load_time(page_without_bytes(), (), 0)


def test_video_does_not_count() -> None:
    video = replace(resource(BYTES_PER_SECOND), kind=ResourceKind.MEDIA)
    assert estimate_load_time(page_without_bytes(), [video], 0) == estimate_load_time(page_without_bytes(), (), 0)


@pytest.mark.parametrize(("seconds_of_bytes", "expected"), [(4.2, "pass"), (4.3, "warn"), (9.2, "warn"), (9.3, "fail")])
def test_load_time_is_judged_by_limits(seconds_of_bytes: float, expected: str) -> None:
    resources = Resources((resource(int(seconds_of_bytes * BYTES_PER_SECOND)),))
    finding = checks.est_load_time(page_without_bytes(), resources, Timing((0.0,)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "long")
    assert "1.6 Mbit/s" in message(finding)


def test_estimate_is_a_minimum_without_all_resources() -> None:
    finding = checks.est_load_time(page_without_bytes(), Resources((resource(1000),), left_out=9), Timing((0.1,)))
    assert message(finding) == (
        "On a connection of 1.6 Mbit/s with 150 ms of latency, the page would take at least 0.9 s: 1.0 kB in 2 "
        "requests."
    )
    assert rows(finding) == [
        {"seconds": 0.9, "document_seconds": 0.7, "wire_bytes": 1000, "requests": 2, "not_counted": 9}
    ]


def test_load_time_message_states_limit() -> None:
    finding = checks.est_load_time(page_without_bytes(), Resources((resource(5 * BYTES_PER_SECOND),)), Timing((0.0,)))
    assert message(finding).endswith("would take 5.8 s: 1.0 MB in 2 requests; up to 5 s is good.")


def judge_metric(metric: str, value: float | None, **others: Any) -> Verdict:
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
def test_metric_scores_follow_lighthouse(metric: str, good: float, poor: float, name: str, limit: str) -> None:
    values = (0.0, good, good * 1.03, poor, poor * 1.001, poor * 100)
    findings = [judge_metric(metric, value) for value in values]
    assert [verdict(finding) for finding in findings] == ["pass", "pass", "warn", "warn", "fail", "fail"]
    assert [outcome(finding) for finding in findings] == ["pass", "pass", *[name] * 4]
    assert f"; just above the limit: up to {limit} is good." in message(findings[2])
    assert f"; up to {limit} is good." in message(findings[5])
    earned = [credit(finding) for finding in findings]
    assert earned == sorted(earned, key=lambda number: -(number or 0))
    assert earned[0] == 1.0
    assert earned[1] == pytest.approx(0.9)
    assert earned[2] == pytest.approx(0.9, abs=0.04)
    assert earned[3] == pytest.approx(0.5)
    assert earned[5] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("metric", "value"), [("fcp", 1.849), ("lcp", 2.549), ("tbt", 0.2004), ("cls", 0.10049), ("speed-index", 3.449)]
)
def test_displayed_limit_passes(metric: str, value: float) -> None:
    finding = judge_metric(metric, value)
    assert verdict(finding) == "pass"
    assert "is good" not in message(finding)


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [
        ("fcp", 1.9, Severity.LOW),
        ("fcp", 2.2, Severity.LOW),
        ("fcp", 2.9, Severity.MEDIUM),
        ("fcp", 3.1, Severity.HIGH),
        ("tbt", 0.21, Severity.LOW),
        ("tbt", 0.55, Severity.MEDIUM),
        ("tbt", 0.7, Severity.HIGH),
        ("cls", 0.12, Severity.LOW),
        ("cls", 0.24, Severity.MEDIUM),
        ("cls", 0.26, Severity.HIGH),
        ("speed-index", 3.6, Severity.LOW),
        ("speed-index", 5.7, Severity.MEDIUM),
        ("speed-index", 6.0, Severity.MEDIUM),
    ],
)
def test_metric_severity_grows_with_value(metric: str, value: float, expected: Severity) -> None:
    assert severity_of(METRICS[metric], judge_metric(metric, value)) == expected


@pytest.mark.parametrize("metric", METRICS)
def test_empty_page_has_no_metrics(metric: str) -> None:
    finding = judge_metric(metric, None if metric != "cls" else 0.0, observed_fcp=None)
    assert isinstance(finding, NotApplicable)
    assert "painted nothing" in finding.reason


@pytest.mark.parametrize("metric", METRICS)
def test_late_paint_does_not_mean_empty_page(metric: str) -> None:
    with pytest.raises(BrowserFailed, match="time ran out"):
        judge_metric(metric, None if metric != "cls" else 0.0, observed_fcp=None, is_complete=False)


@pytest.mark.parametrize(("metric", "warned", "failed"), [("fcp", 2.9, 3.1), ("lcp", 3.9, 4.1), ("tbt", 0.55, 0.7)])
def test_slow_machine_warning_has_low_severity(metric: str, warned: float, failed: float) -> None:
    def judge_on_machine(host_ms: float | None, value: float) -> Severity | None:
        return severity_of(METRICS[metric], METRICS[metric](figures(**{metric: value}), visit(host_ms=host_ms)))

    assert judge_on_machine(61.0, warned) is Severity.LOW
    assert judge_on_machine(60.0, warned) is judge_on_machine(None, warned) is Severity.MEDIUM
    assert judge_on_machine(61.0, failed) is (Severity.CRITICAL if metric == "lcp" else Severity.HIGH)


def test_speed_index_warning_has_medium_severity() -> None:
    finding = checks.speed_index(figures(speed_index=5.7), visit())
    assert severity_of(checks.speed_index, finding) is Severity.MEDIUM


@pytest.mark.parametrize("metric", METRICS)
def test_message_states_reasons_for_uncertainty(metric: str) -> None:
    def message_of_load(host_ms: float | None, *, is_complete: bool = True) -> str:
        return message(METRICS[metric](figures(is_complete=is_complete), visit(host_ms=host_ms)))

    assert "scanning machine" not in message_of_load(60.0)
    assert "The figure is uncertain: the scanning machine was slow (61 ms" in message_of_load(61.0)
    assert "scanning machine" not in message_of_load(None)
    assert "not finished loading" in message_of_load(None, is_complete=False)
    assert "not finished loading" not in message_of_load(None)


@pytest.mark.parametrize("metric", METRICS)
def test_details_state_spread_of_loads(metric: str) -> None:
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
def test_message_states_spread_of_loads(metric: str, measured: Measured, spread: str) -> None:
    changed: dict[str, Any] = {metric.replace("-", "_"): measured}
    finding = METRICS[metric](replace(figures(), **changed), visit())
    assert isinstance(finding, Pass)
    assert (f"The figure is uncertain: it was {spread}." in message(finding)) == bool(spread)
    assert ("uncertain" in message(finding)) == bool(spread)
    assert rows(finding)[0]["stable"] == (not spread)


def test_uncertainty_reasons_form_one_sentence() -> None:
    vitals = replace(figures(is_complete=False), fcp=Measured(1.5, 1.2, 1.9, 3))
    assert message(checks.fcp(vitals, visit(host_ms=61.0))).endswith(
        " The figure is uncertain: the page had not finished loading when the time ran out, and it was 1.2 s to 1.9 s "
        "in 3 loads, and the scanning machine was slow (61 ms for what takes 20 ms elsewhere)."
    )


def test_speed_index_requires_a_filmstrip() -> None:
    assert verdict(checks.speed_index(figures(speed_index=None), visit())) == "n/a"


def test_lcp_message_names_largest_element() -> None:
    finding = checks.lcp(figures(), visit(load(lcp=largest_paint(url=HERO))))
    assert "The largest element of the first screen, <img>, is painted after" in message(finding)
    assert isinstance(finding, Pass)
    assert rows(finding)[0]["url"] == HERO
    assert {"selector", "snippet", "seen_s"} <= set(rows(finding)[0])
    unnamed = checks.lcp(figures(), visit(load(lcp=None)))
    assert "The largest element of the first screen is painted" in message(unnamed)
    assert not {"selector", "snippet", "url"} & set(rows(unnamed)[0])


def test_message_lists_most_shifted_elements() -> None:
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
        ("", False, "n/a"),  # The largest element is a text, not an image.
        ("data:image/png;base64,iVBO", True, "n/a"),  # The browser has logged no request for the image.
    ],
)
def test_lcp_lazy_check_verdict(url: str, lazy: bool, expected: str) -> None:
    scanned_page = page(body("<img src=/img/hero.jpg loading=lazy>"))
    finding = checks.lcp_lazy(scanned_page, document(scanned_page), visit(load(lcp=largest_paint(url=url, lazy=lazy))))
    assert outcome(finding) == expected
    if expected == "lazy":
        assert verdict(finding) == "fail"
        assert message(finding) == "The largest image of the first screen is lazily loaded: <img>."
        assert rows(finding) == [{"selector": "#hero", "url": HERO}]


def test_lcp_lazy_check_needs_a_paint() -> None:
    scanned_page = page(body(""))
    assert verdict(checks.lcp_lazy(scanned_page, document(scanned_page), visit(load(lcp=None)))) == "n/a"


PRELOAD = "<link rel=preload as=image href=/img/hero.jpg"


@pytest.mark.parametrize(
    ("markup", "link", "expected"),
    [
        (PRELOAD + " fetchpriority=high>", "", "pass"),
        ("<link rel=preload as=image fetchpriority=high imagesrcset='/img/hero.jpg 2x'>", "", "pass"),
        ("", "</img/hero.jpg>; rel=preload; as=image; fetchpriority=high", "pass"),
        (PRELOAD + ">", "", "warn"),
        ("", "</img/hero.jpg>; rel=preload; as=image", "warn"),
        (PRELOAD + " fetchpriority=low>", "", "warn"),
        ("<link rel=preload as=image href=/img/other.jpg fetchpriority=high>", "", "fail"),
        ("<link rel=preload as=fetch href=/img/hero.jpg>", "", "fail"),  # An image does not use such a response.
        # Browsers ignore preloads without `as` or for other screens.
        ("<link rel=preload href=/img/hero.jpg fetchpriority=high>", "", "fail"),
        ("", "</img/hero.jpg>; rel=preload; fetchpriority=high", "fail"),
        (PRELOAD + " fetchpriority=high media='(min-width: 1000px)'>", "", "fail"),
        (PRELOAD + " fetchpriority=high media='(max-width:20em)'>", "", "fail"),
        (PRELOAD + " fetchpriority=high media=print>", "", "fail"),
        ("", '</img/hero.jpg>; rel=preload; as=image; media="(min-width: 1000px)"', "fail"),
        (PRELOAD + " fetchpriority=high media='(max-width: 1000px)'>", "", "pass"),
        (PRELOAD + " fetchpriority=high media='screen and (min-width: 20em)'>", "", "pass"),
        (PRELOAD + " fetchpriority=high media='(min-width: 1000px), (max-width: 999px)'>", "", "pass"),
        ("", '</img/hero.jpg>; rel=preload; as=image; media="(max-width: 1000px)"', "warn"),
        ("<link rel=prefetch as=image href=/img/hero.jpg>", "", "fail"),
        ("", "</img/hero.jpg>; rel=next", "fail"),
        ("", "", "fail"),
    ],
)
def test_preloaded_image_precedes_the_layout(markup: str, link: str, expected: str) -> None:
    """Only the img element waits for the layout.

    HTML, "Link type preload" and "lazy loading attributes".
    """
    scanned_page = page(head(markup, "<img src=/img/hero.jpg loading=lazy>"), *([("Link", link)] if link else []))
    largest = largest_paint(url=HERO, lazy=True)
    finding = checks.lcp_lazy(scanned_page, document(scanned_page), visit(load(lcp=largest)))
    assert verdict(finding) == expected
    if isinstance(finding, Warn):
        assert finding.severity is LOW


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
        # A script's image is discovered only after the script has run.
        (body("<img data-src=/img/hero.jpg src='data:image/gif;base64,R0lGOD'>"), True, "late", "not in the HTML"),
        (body("<img src=/img/hero.jpg.webp><p>/img/hero.jpg"), True, "late", "not in the HTML"),
        (body("<noscript><img src=/img/hero.jpg></noscript>"), True, "late", "not in the HTML"),
        (body("<a href=/img/other.jpg>"), False, "late", "not in the HTML"),
    ],
)
def test_lcp_priority_check_verdict(markup: str, high: bool, expected: str, words: str) -> None:
    scanned_page = page(markup)
    finding = checks.lcp_priority(
        scanned_page, document(scanned_page), visit(load(lcp=largest_paint(url=HERO, high=high))), figures()
    )
    assert outcome(finding) == expected
    assert verdict(finding) == ("pass" if expected == "pass" else "warn")
    assert words in message(finding)


def test_message_names_largest_image() -> None:
    scanned_page = page(body("<img src=/img/hero.jpg>"))
    finding = checks.lcp_priority(
        scanned_page, document(scanned_page), visit(load(lcp=largest_paint(url=HERO))), figures()
    )
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
def test_link_header_preloads_largest_image(link: str, expected: str) -> None:
    scanned_page = page(body("<p>Text"), ("Link", link))
    finding = checks.lcp_priority(
        scanned_page, document(scanned_page), visit(load(lcp=largest_paint(url=HERO))), figures()
    )
    assert outcome(finding) == expected


@pytest.mark.parametrize("markup", ["<img src=/img/hero.jpg>", "<p>Text"])
def test_image_priority_is_minor_if_paint_is_in_time(markup: str) -> None:
    scanned_page = page(body(markup))
    loaded = visit(load(lcp=largest_paint(url=HERO)))
    slow = replace(loaded, host_ms=61.0)

    def judge_in_load(lcp: float, loaded: BrowserLoad) -> Severity | None:
        finding = checks.lcp_priority(scanned_page, document(scanned_page), loaded, figures(lcp=lcp))
        return severity_of(checks.lcp_priority, finding)

    assert judge_in_load(2.5, loaded) is Severity.LOW
    assert judge_in_load(2.6, loaded) is Severity.MEDIUM
    assert judge_in_load(4.0, slow) is Severity.LOW
    assert judge_in_load(4.1, slow) is Severity.MEDIUM


@pytest.mark.parametrize("url", ["", "data:image/png;base64,iVBO"])
def test_lcp_priority_check_skips_text(url: str) -> None:
    scanned_page = page()
    assert (
        verdict(
            checks.lcp_priority(
                scanned_page, document(scanned_page), visit(load(lcp=largest_paint(url=url))), figures()
            )
        )
        == "n/a"
    )


def tasks(*milliseconds: int) -> MainThread:
    return MainThread(tuple(Task(number, 2 * ms / 1000, ms / 1000) for number, ms in enumerate(milliseconds)))


@pytest.mark.parametrize(
    ("count", "expected", "words"),
    [(0, "pass", "No task"), (1, "warn", "1 task takes"), (5, "warn", "5 tasks take"), (6, "fail", "6 tasks take")],
)
def test_long_tasks_check_verdict(count: int, expected: str, words: str) -> None:
    finding = checks.long_tasks(visit(load(main_thread=tasks(*[90] * count, 49, 20))))
    assert verdict(finding) == expected
    assert outcome(finding) == ("pass" if expected == "pass" else "long")
    assert words in message(finding)


def test_few_long_tasks_have_low_severity() -> None:
    """Test the tolerance for one long task.

    The longest task of a simple page may take 52 ms in one scan and less than 50 ms in the next scan.
    """

    def judge_tasks(*milliseconds: int) -> Severity | None:
        return severity_of(checks.long_tasks, checks.long_tasks(visit(load(main_thread=tasks(*milliseconds)))))

    assert judge_tasks(52, 240) is Severity.LOW
    assert judge_tasks(60, 240) is Severity.MEDIUM
    assert judge_tasks(*[51] * 6) is Severity.MEDIUM  # More than five long tasks have medium severity.


def test_load_with_fewest_long_tasks_counts() -> None:
    loads = [load(main_thread=tasks(*durations)) for durations in ((60,) * 9, (70, 1200), (60,) * 3, ())]
    finding = checks.long_tasks(visit(*loads))
    assert "2 tasks take longer than 50 ms, the longest 1,200 ms" in message(finding)
    assert isinstance(finding, Warn)
    assert rows(finding)[1] == {"at_s": 1, "duration_ms": 1200}


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, "pass"), (1.282, "pass"), (1.3, "warn"), (3.5, "warn"), (3.6, "fail")]
)
def test_script_time_check_verdict(seconds: float, expected: str) -> None:
    finding = checks.script_time(figures(script_s=seconds))
    assert verdict(finding) == expected
    assert outcome(finding) == ("high" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, "pass"), (2.017, "pass"), (2.1, "warn"), (4.0, "warn"), (4.1, "fail")]
)
def test_main_thread_check_verdict(seconds: float, expected: str) -> None:
    finding = checks.main_thread(figures(main_thread_s=seconds))
    assert verdict(finding) == expected
    assert outcome(finding) == ("too-much" if expected in ("warn", "fail") else expected)


def test_processor_time_message_states_limit() -> None:
    assert message(checks.script_time(figures(script_s=2.0))) == (
        "Scripts run for 2.0 s while the page loads, on a processor four times slower than the scanner's; up to 1.3 s "
        "is good."
    )
    busy = checks.main_thread(figures(main_thread_s=5.0))
    assert message(busy).startswith("The main thread is busy for 5.0 s while the page loads")
    assert rows(busy) == [{"seconds": 5.0}]


# Other programs only add processor time, so the fastest loads count.
@pytest.mark.parametrize(
    ("fastest", "second", "starvation", "expected", "has_weight"),
    [
        pytest.param(0.1, 0.9, 0.0, "pass", True, id="a-slow-load-beside-a-good-one"),
        pytest.param(0.3, 0.32, 0.0, "warn", True, id="loads-agree"),
        pytest.param(0.3, 0.6, 0.0, "warn", False, id="perhaps-good"),
        pytest.param(0.7, 1.1, 0.0, "warn", False, id="perhaps-no-failure"),
        pytest.param(0.7, 0.75, 0.0, "fail", True, id="failure"),
        pytest.param(2.2, 2.9, 0.0, "fail", True, id="failure-of-any-load"),
        pytest.param(0.7, None, 0.0, "fail", True, id="single-load"),
        pytest.param(0.7, 0.72, 0.2, "fail", True, id="a-little-starved"),
        pytest.param(0.7, 0.72, 2.0, "warn", False, id="starved-failure"),
        pytest.param(0.3, 0.3, 2.0, "warn", False, id="starved-warning"),
        pytest.param(0.1, 0.1, 2.0, "pass", True, id="good-although-starved"),
        pytest.param(2.5, 5.0, 2.0, "fail", True, id="failure-of-any-machine"),
    ],
)
def test_uncertain_blocking_time_has_no_weight(
    fastest: float, second: float | None, starvation: float, expected: str, has_weight: bool
) -> None:
    vitals = replace(figures(), tbt=Measured(fastest, fastest, second or fastest, 2, second))
    finding = checks.tbt(vitals, visit(load(starvation=starvation)))
    assert verdict(finding) == expected
    assert isinstance(finding, Note) is not has_weight


# A browser that waits for a processor paints later.
@pytest.mark.parametrize(
    ("metric", "value", "starvation", "expected", "has_weight"),
    [
        pytest.param("fcp", 1.9, 0.0, "warn", True, id="fcp"),
        pytest.param("fcp", 1.9, 2.0, "warn", False, id="fcp-starved"),
        pytest.param("fcp", 2.4, 2.0, "warn", True, id="fcp-slow-on-any-machine"),
        pytest.param("fcp", 1.7, 2.0, "pass", True, id="fcp-good-although-starved"),
        pytest.param("lcp", 2.6, 2.0, "warn", False, id="lcp-starved"),
        pytest.param("lcp", 4.5, 2.0, "fail", True, id="lcp-poor-on-any-machine"),
        pytest.param("speed_index", 3.6, 2.0, "warn", False, id="speed-index-starved"),
        pytest.param("cls", 0.11, 2.0, "warn", True, id="layout-shifts-are-no-times"),
    ],
)
def test_late_paint_of_starved_browser_has_no_weight(
    metric: str, value: float, starvation: float, expected: str, has_weight: bool
) -> None:
    changes: dict[str, Any] = {metric: Measured(value, value, value, 2)}
    vitals = replace(figures(), **changes)
    finding = getattr(checks, metric)(vitals, visit(load(starvation=starvation)))
    assert verdict(finding) == expected
    assert isinstance(finding, Note) is not has_weight


@pytest.mark.parametrize(
    ("milliseconds", "starvation", "has_weight"),
    [
        pytest.param([60, 70], 0.0, True, id="quiet-machine"),
        pytest.param([60, 70], 2.0, False, id="starved"),
        pytest.param([90] * 6, 2.0, True, id="many-tasks"),
        pytest.param([900], 2.0, True, id="one-very-long-task"),
    ],
)
def test_long_tasks_of_starved_browser_have_no_weight(
    milliseconds: list[int], starvation: float, has_weight: bool
) -> None:
    finding = checks.long_tasks(visit(load(main_thread=tasks(*milliseconds), starvation=starvation)))
    assert isinstance(finding, Note) is not has_weight
