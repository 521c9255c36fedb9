from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.website_scan.browser.loads import HERE, document_request, largest_paint, load, request, visit
from tests.website_scan.cast import body as with_body
from tests.website_scan.cast import document, page
from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.evidence import Evaluation, LayoutShift, LoadedRequest, MainThread, Progress, Task
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import FontFace, Styles
from website_scan.performance.layout_shifts import cumulative_layout_shift
from website_scan.performance.probes.vitals import measure
from website_scan.performance.score_curve import log_normal_score
from website_scan.performance.vitals import (
    MarkupFacts,
    Measured,
    simulate_load,
    vitals,
)

Kind = ResourceKind
HERO = f"{HERE}/hero.jpg"


# Points of Lighthouse's curve from its statistics tests, and the metrics' control points.
@pytest.mark.parametrize(
    ("value", "good", "median", "expected"),
    [
        (1000, 3785, 7300, 1.00),
        (2500, 3785, 7300, 0.98),
        (3785, 3785, 7300, 0.90),
        (5000, 3785, 7300, 0.77),
        (7300, 3785, 7300, 0.50),
        (7500, 3785, 7300, 0.48),
        (10_000, 3785, 7300, 0.27),
        (30_000, 3785, 7300, 0.00),
        (1_000_000, 3785, 7300, 0.00),
        (1.8, 1.8, 3.0, 0.90),
        (3.0, 1.8, 3.0, 0.50),
        (2.5, 2.5, 4.0, 0.90),
        (4.0, 2.5, 4.0, 0.50),
        (0.2, 0.2, 0.6, 0.90),
        (0.6, 0.2, 0.6, 0.50),
        (0.1, 0.1, 0.25, 0.90),
        (0.25, 0.1, 0.25, 0.50),
    ],
)
def test_credit_follows_lighthouse_curve(value: float, good: float, median: float, expected: float) -> None:
    assert log_normal_score(value, good, median) == pytest.approx(expected, abs=0.005)


def test_control_point_credit_is_never_too_low() -> None:
    for good, median in ((1.8, 3.0), (2.5, 4.0), (0.2, 0.6), (0.1, 0.25), (3785, 7300)):
        assert log_normal_score(good, good, median) >= 0.9
        assert log_normal_score(median, good, median) >= 0.5
        assert log_normal_score(0, good, median) == log_normal_score(-1, good, median) == 1.0


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=2))
def test_credit_never_grows_with_the_value(values: list[float]) -> None:
    less, more = sorted(values)
    assert 1.0 >= log_normal_score(less, 1.8, 3.0) >= log_normal_score(more, 1.8, 3.0) >= 0.0


def shifts(*pairs: tuple[float, float]) -> tuple[LayoutShift, ...]:
    return tuple(LayoutShift(time_s, value, "") for time_s, value in pairs)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((), 0.0),
        (((0.1, 0.2),), 0.2),
        (((0.1, 0.2), (1.0, 0.1)), 0.3),
        # A second passes between the shifts, and the larger of the two windows counts.
        (((0.1, 0.2), (1.1, 0.1)), 0.2),
        (((0.1, 0.1), (1.1, 0.2)), 0.2),
        # A window ends after five seconds, even if shifts continue.
        (tuple((number * 0.9, 0.1) for number in range(6)), 0.6),
        (tuple((number * 0.9, 0.1) for number in range(7)), 0.6),
        (((0.0, 0.1), (0.9, 0.1), (1.8, 0.1), (2.7, 0.1), (3.6, 0.1), (4.5, 0.1), (5.0, 0.5)), 0.6),
        (((3.0, 0.1), (2.5, 0.2), (9.0, 0.1)), 0.3),  # Layout shift events may come in any order.
    ],
)
def test_shifts_add_up_within_a_window(pairs: tuple[tuple[float, float], ...], expected: float) -> None:
    assert cumulative_layout_shift(shifts(*pairs)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("tasks", "fcp_s", "expected"),
    [
        ((), 0.3, 0.0),
        (((0.4, 0.2),), 0.3, 0.75),  # The first 50 ms of this task of 800 ms do not count.
        (((0.4, 0.2), (0.7, 0.1)), 0.3, 0.75 + 0.35),
        (((0.0, 0.2),), 0.3, 0.0),  # A task that ends before the first paint does not block.
        (((0.1, 0.2),), 0.3, 0.0),
        (((0.2, 0.2),), 0.3, 0.35),  # Half of this task runs after the first paint.
        (((0.29, 0.0225),), 0.3, 0.0),  # The task ends 12.5 ms after the first paint.
        (((0.4, 0.2),), None, None),
        # Regression: tasks below 50 ms are missing in the browser's list, so "0 ms" was reported.
        (((0.4, 0.03), (0.5, 0.04)), 0.3, 0.07 + 0.11),
        (((0.4, 0.0125),) * 9, 0.3, 0.0),
    ],
)
def test_tasks_before_the_paint_do_not_block(
    tasks: tuple[tuple[float, float], ...], fcp_s: float | None, expected: float | None
) -> None:
    main_thread = MainThread(tuple(Task(start_s, duration_s, duration_s) for start_s, duration_s in tasks))
    simulated_tbt_s = simulate_load(load(main_thread=main_thread, fcp_s=fcp_s), MarkupFacts()).simulated_tbt_s
    assert simulated_tbt_s == (expected if expected is None else pytest.approx(expected))


def test_blocking_time_is_processor_time() -> None:
    interrupted = load(main_thread=MainThread((Task(0.4, 0.2, 0.02),)))
    assert simulate_load(interrupted, MarkupFacts()).simulated_tbt_s == pytest.approx(0.03)


# The document has one byte and is painted after 0.3 s. It arrives after 0.1 s (0.6 s on the slow link). Later
# responses that exceed the connection's window wait for an acknowledgement.
STALL_S = 0.15 - 14_601 / 200_000


def first_paint_s(*requests: LoadedRequest, is_empty: bool = False, **others: Any) -> float | None:
    simulated_fcp_s = simulate_load(
        load(*requests, **others), MarkupFacts(is_empty=is_empty, is_placeholder_page=is_empty)
    ).simulated_fcp_s
    return simulated_fcp_s if simulated_fcp_s is None else round(simulated_fcp_s, 3)


def largest_paint_s(*requests: LoadedRequest, is_placeholder_page: bool = False, **others: Any) -> float | None:
    simulated_lcp_s = simulate_load(
        load(*requests, **others), MarkupFacts(is_placeholder_page=is_placeholder_page)
    ).simulated_lcp_s
    return simulated_lcp_s if simulated_lcp_s is None else round(simulated_lcp_s, 3)


def sheet(**others: Any) -> LoadedRequest:
    return request("a.css", Kind.STYLESHEET, is_blocking=True, wire_bytes=20_000, **others)


def script(**others: Any) -> LoadedRequest:
    return request("app.js", Kind.SCRIPT, **({"wire_bytes": 100_000} | others))


def test_first_paint_keeps_observed_delay() -> None:
    assert first_paint_s() == 0.8


def test_first_paint_waits_for_blocking_resources() -> None:
    image = request("b.png", wire_bytes=1_000_000)
    # The sheet arrives after 0.85 s plus the stall, 0.1 s before the first paint.
    assert first_paint_s(sheet()) == round(0.95 + STALL_S, 3)
    # The image takes a ninth of the link, which does not delay the acknowledgement.
    assert first_paint_s(sheet(), image) == pytest.approx(0.95 + STALL_S + (20_000 - 14_601) / 200_000 / 8, abs=1e-3)
    assert first_paint_s(sheet(end_s=0.4)) == 0.8  # The paint did not wait for the sheet, which arrived later.
    assert first_paint_s(sheet(end_s=None)) == 0.8


def test_first_paint_of_empty_page_waits_for_scripts() -> None:
    api = request("api", Kind.OTHER, 0.2, 0.25, is_sent_by_script=True, initiator=f"{HERE}/app.js")
    assert first_paint_s(script(), api) == 0.8
    assert first_paint_s(script(), api, is_empty=True) == pytest.approx(0.75 + STALL_S + 0.5 + 0.15 + 0.05, abs=1e-3)
    assert first_paint_s(request("a.png", wire_bytes=1_000_000), is_empty=True) == 0.8


def test_placeholder_page_paint_waits_for_scripts() -> None:
    """Regression test: the FCP of a page with a heading waited for all scripts."""
    words = MarkupFacts(is_placeholder_page=True)
    paints = simulate_load(load(script()), words)
    assert paints.simulated_fcp_s == pytest.approx(0.8, abs=1e-3)
    assert paints.simulated_lcp_s == pytest.approx(0.75 + STALL_S + 0.5 + 0.1, abs=1e-3)


def test_inline_script_content_waits_for_document() -> None:
    """Regression test: the FCP of a page with inline scripts was too early.

    It was half of the real time.
    """
    assert first_paint_s(requests=(document_request(wire_bytes=214_600),), is_empty=True) == pytest.approx(
        0.75 + 1 + 0.2
    )


def main_thread_with_scripts(
    *tasks: tuple[float, float], runs: Mapping[str, tuple[float, float]] = {}, frame_s: float = 0.3
) -> MainThread:
    """Return main-thread work at full speed.

    `runs` maps file names to the start and duration of their evaluation.
    """
    return MainThread(
        tuple(Task(start_s, duration_s, duration_s) for start_s, duration_s in tasks),
        tuple(
            Evaluation(f"{HERE}/{name}", start_s, duration_s, duration_s)
            for name, (start_s, duration_s) in (runs or {}).items()
        ),
        (frame_s,),
    )


def test_slow_processor_quadruples_work() -> None:
    """Regression test: the FCP of script-bound pages was too early.

    It was 1.2 to 1.7 s, although phones take 2.9 to 4.1 s.
    """
    assert first_paint_s(main_thread=main_thread_with_scripts((0.1, 0.15))) == pytest.approx(0.6 + 4 * 0.15 + 0.05)
    assert first_paint_s(main_thread=main_thread_with_scripts((0.05, 0.1))) == pytest.approx(
        0.6 + 4 * 0.05 + 0.15
    )  # Parsing the document waited for these tasks.
    blocking = request("a.js", Kind.SCRIPT, is_blocking=True, wire_bytes=100_000)
    work = main_thread_with_scripts((0.2, 0.1), runs={"a.js": (0.2, 0.1)})
    assert first_paint_s(blocking, main_thread=work) == pytest.approx(0.75 + STALL_S + 0.5 + 4 * 0.1, abs=1e-3)


def test_only_the_arrived_markup_is_laid_out() -> None:
    tasks = (Task(0.1, 0.05, 0.05), Task(0.15, 0.1, 0.1))
    work = MainThread(tasks, frame_commits_s=(0.25,), rendering=(Task(0.15, 0.1, 0.1),), parse_starts_s=(0.15,))
    long = document_request(wire_bytes=200_000)
    # When the previous page is unloaded, 22,600 bytes of the document have arrived.
    share = (14_600 + 0.05 * 200_000) / 200_000
    assert first_paint_s(requests=(long,), main_thread=work, fcp_s=0.25) == pytest.approx(
        0.8 + 4 * 0.1 * share, abs=1e-3
    )
    assert first_paint_s(main_thread=work, fcp_s=0.25) == pytest.approx(0.8 + 4 * 0.1)


def test_early_script_runs_during_late_download() -> None:
    one = request("a.js", Kind.SCRIPT, end_s=0.15, is_blocking=True, wire_bytes=1_000)
    two = request("b.js", Kind.SCRIPT, end_s=0.15, is_blocking=True, wire_bytes=200_000)
    work = main_thread_with_scripts((0.15, 0.1), (0.25, 0.05), runs={"a.js": (0.15, 0.1), "b.js": (0.25, 0.05)})
    # The first script's work takes less time than the second script's download.
    assert first_paint_s(one, two, main_thread=work) == pytest.approx(0.755 + STALL_S + 1.0 + 4 * 0.05, abs=0.005)


def test_drawing_a_frame_is_not_work() -> None:
    work = main_thread_with_scripts((0.1, 0.1), (0.22, 0.08), frame_s=0.2)
    assert first_paint_s(main_thread=work) == pytest.approx(0.6 + 4 * 0.1 + 0.1)
    # Work during the drawing is after the paint.
    assert simulate_load(load(main_thread=work), MarkupFacts()).simulated_tbt_s == pytest.approx(4 * 0.08 - 0.05)


def test_script_after_slow_paint_does_not_delay_it() -> None:
    late = request("ads.js", Kind.SCRIPT, wire_bytes=200_000)
    work = main_thread_with_scripts((0.2, 0.1), runs={"ads.js": (0.2, 0.1)})
    assert first_paint_s(late, main_thread=work) == pytest.approx(0.7, abs=0.01)
    assert simulate_load(load(late, main_thread=work), MarkupFacts()).simulated_tbt_s == pytest.approx(4 * 0.1 - 0.05)
    soon = request("ads.js", Kind.SCRIPT, wire_bytes=1, start_s=0.0)
    assert first_paint_s(soon, sheet(), main_thread=work) == pytest.approx(0.85 + 4 * 0.1, abs=0.1)


def test_long_document_is_painted_early() -> None:
    long = document_request(wire_bytes=400_000)
    assert first_paint_s(requests=(long,)) == pytest.approx(0.6 + 0.02 + 0.2)
    simulated_fcp_s = simulate_load(load(requests=(long,)), MarkupFacts(invisible_lead_share=0.5)).simulated_fcp_s
    assert simulated_fcp_s == pytest.approx(0.6 + 0.15 + (200_000 - 14_600) / 200_000 + 0.2)


def test_text_waits_three_seconds_for_its_font() -> None:
    font = request("a.woff2", Kind.FONT, wire_bytes=200_000)
    markup = MarkupFacts(text_blocking_fonts=frozenset({font.url}))
    assert simulate_load(load(font), markup).simulated_fcp_s == pytest.approx(0.8, abs=1e-3)
    assert simulate_load(load(font), markup).simulated_lcp_s == pytest.approx(0.75 + STALL_S + 1.0, abs=1e-3)
    # A font with `font-display: swap` does not delay text.
    assert simulate_load(load(font), MarkupFacts()).simulated_lcp_s == pytest.approx(0.8, abs=1e-3)
    heavy = replace(font, wire_bytes=2_000_000)
    assert simulate_load(load(heavy), markup).simulated_lcp_s == pytest.approx(0.6 + 3.0)


def test_idle_time_before_paint_is_limited() -> None:
    assert first_paint_s(fcp_s=9.0) == pytest.approx(0.6 + 1.0)


def test_load_without_paint_has_no_fcp() -> None:
    assert first_paint_s(fcp_s=None) is None
    assert first_paint_s(requests=()) is None
    assert largest_paint_s(fcp_s=None) is None
    assert largest_paint_s(lcp=None) is None


def test_image_is_painted_when_it_arrives() -> None:
    hero = request("hero.jpg", start_s=0.1, end_s=0.3, wire_bytes=200_000)
    assert largest_paint_s(hero, lcp=largest_paint(0.35, HERO)) == round(1.8 + STALL_S, 3)
    # The image is requested after the script that inserts it.
    late = request("hero.jpg", start_s=0.2, end_s=0.3, wire_bytes=200_000, initiator=f"{HERE}/app.js")
    assert largest_paint_s(script(), late, lcp=largest_paint(0.35, HERO)) == pytest.approx(
        0.75 + STALL_S + 0.5 + 0.15 + 1 + 0.05, abs=1e-3
    )


def test_largest_paint_is_never_before_first() -> None:
    hero = request("hero.jpg", start_s=0.1, end_s=0.15, wire_bytes=10)
    assert (
        largest_paint_s(hero, sheet(), lcp=largest_paint(0.3, HERO))
        == first_paint_s(hero, sheet())
        == round(0.95 + STALL_S, 3)
    )


def test_largest_text_has_first_paint_time() -> None:
    assert largest_paint_s(script(), lcp=largest_paint(0.34)) == first_paint_s(script()) == 0.8


def test_later_text_waits_for_scripts() -> None:
    image = request("b.png", wire_bytes=1)
    assert largest_paint_s(script(), lcp=largest_paint(0.5)) == pytest.approx(0.75 + STALL_S + 0.5 + 0.3, abs=1e-3)
    assert largest_paint_s(image, lcp=largest_paint(0.5)) == pytest.approx(0.6 + 0.4)


def test_image_missing_from_log_counts_as_text() -> None:
    assert largest_paint_s(lcp=largest_paint(0.31, "data:image/png;base64,iVBO")) == 0.8


def test_vitals_use_the_fastest_paint() -> None:
    loads = [load(fcp_s=time_s, shifts=shifts((0.1, time_s))) for time_s in (0.5, 0.3, 0.4)]
    result = vitals(loads, MarkupFacts())
    first_paint_s = result.fcp
    assert first_paint_s is not None
    figures = (first_paint_s.value, first_paint_s.second, first_paint_s.largest)
    assert figures == pytest.approx((0.8, 0.9, 1.0), abs=1e-3)
    assert first_paint_s.loads == 3
    assert result.cls == Measured(0.4, 0.3, 0.5, 3)
    assert result.observed_fcp == Measured(0.4, 0.3, 0.5, 3)
    assert (result.loads, result.is_complete) == (3, True)
    assert result.script_s == pytest.approx(0.2)  # The simulated processor is four times slower.
    assert result.main_thread_s == pytest.approx(0.4)


def test_fastest_load_counts() -> None:
    """Regression test: missing frames halved a page's Speed Index."""
    whole, torn = Progress(((0.3, 0.5), (1.5, 1.0)), ()), Progress(((0.3, 1.0),), ())
    loads = [load(fcp_s=0.3, progress=torn), load(fcp_s=0.4, progress=whole)]
    both, fast, slow = (vitals(some_loads, MarkupFacts()) for some_loads in (loads, loads[:1], loads[1:]))
    assert both.fcp
    assert both.speed_index
    assert replace(both.fcp, largest=both.fcp.value, loads=1, second=None) == fast.fcp
    assert replace(both.speed_index, least=both.speed_index.value, loads=1) == slow.speed_index


def test_missing_figures_come_from_other_loads() -> None:
    result = vitals([load(fcp_s=None, lcp=None, load_s=None), load()], MarkupFacts())
    assert result.observed_fcp == result.observed_lcp == Measured(0.3, 0.3, 0.3)
    assert not result.is_complete
    nothing = vitals([load(fcp_s=None, lcp=None)], MarkupFacts())
    assert (nothing.fcp, nothing.lcp, nothing.tbt, nothing.cls) == (None, None, None, Measured(0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("body", "is_empty", "is_placeholder_page"),
    [
        ("<div id=root></div><script src=/app.js></script>", True, True),
        ("<div id=root>Loading…</div>", False, True),
        ("<noscript>You need to enable JavaScript to run this app, or nothing will show.</noscript>", True, True),
        ("<p hidden>A long text that nobody sees, and that is longer than forty letters.</p>", True, True),
        ("<p>A text of more than forty letters, which is painted as soon as it came.</p>", False, False),
        # Regression: the space between elements counted as text.
        (" " * 50 + "<p>A text of more than forty letters, which is painted as soon as it came.</p>", False, False),
        ("<img src=/a.png alt=''>", False, False),
        ("<svg></svg>", False, False),
        ("<img src=/a.png alt='' hidden>", True, True),
    ],
)
def test_empty_pages_are_recognized(body: str, is_empty: bool, is_placeholder_page: bool) -> None:
    markup = read(with_body(body))
    assert (markup.is_empty, markup.is_placeholder_page) == (is_empty, is_placeholder_page)


def read(markup: str, **others: Any) -> MarkupFacts:
    """Return the `MarkupFacts` that the probe makes from a page."""
    calls: list[MarkupFacts] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("website_scan.performance.probes.vitals.vitals", lambda _, markup: calls.append(markup))
        measure(page(**others), AccessibleDocument(document(page(markup, **others))), visit())
    return calls[0]


def test_positions_of_preloaded_urls_are_read() -> None:
    text = with_body(
        "<img src=/a.png><img src=/late.png loading=lazy><a href=/page>Page</a><script src=b.js?x=1&amp;y=2></script>"
        "<video poster='/c.jpg'></video><img srcset='/d.png 1x, /e.png 2x'><img src=/a.png><img src=data:,>"
    )
    places = read(text).places
    base = page().target.url.rsplit("/", 1)[0]
    assert list(places) == [f"{HERE}/a.png", f"{base}/b.js?x=1&y=2", f"{HERE}/c.jpg", f"{HERE}/d.png"]
    assert places[f"{HERE}/a.png"] == text.index("<img src=/a.png>") / len(text)


def test_redirects_delay_the_first_paint() -> None:
    """Regression test: the time of redirects did not count.

    The browser loads the page at the end of its redirects.
    """
    via = ((f"{HERE}/old", 301),)
    assert read("", via=via).redirects == (f"{HERE}/old",)
    plain = simulate_load(load(), MarkupFacts())
    same = simulate_load(load(), MarkupFacts(redirects=(f"{HERE}/old",)))
    other = simulate_load(load(), MarkupFacts(redirects=("http://site.example.com/",)))
    assert same.simulated_fcp_s == pytest.approx((plain.simulated_fcp_s or 0) + 0.15)
    assert other.simulated_fcp_s == pytest.approx((plain.simulated_fcp_s or 0) + 3 * 0.15)


def test_speed_index_is_a_mean_time() -> None:
    hero = request("hero.jpg", end_s=0.25, wire_bytes=514_601)
    film = Progress(((0.31, 0.5), (0.5, 1.0)), ((HERO, 0.4),))
    speed_index_s = simulate_load(load(hero, progress=film), MarkupFacts()).speed_index_s
    # Chromium draws the arrived part of the image after one and two seconds, and the rest after 2.65 s. The second
    # half of the text is painted 0.2 s after the first.
    start_s, duration_s = 0.75, STALL_S + 514_601 / 200_000
    image_s = start_s + (1 * 1 + 2 * 1 + (duration_s - 2) * duration_s) / duration_s
    assert speed_index_s == pytest.approx(0.4 * image_s + 0.6 * (0.5 * 0.8 + 0.5 * 1.0), abs=0.002)
    assert simulate_load(load(hero), MarkupFacts()).speed_index_s is None


def test_incomplete_avif_image_does_not_count() -> None:
    hero = request("hero.jpg", end_s=0.25, wire_bytes=514_601, media_type="image/avif")
    speed_index_s = simulate_load(
        load(hero, progress=Progress(((0.31, 1.0),), ((HERO, 1.0),))), MarkupFacts()
    ).speed_index_s
    assert speed_index_s == pytest.approx(0.75 + STALL_S + 514_601 / 200_000, abs=0.002)


@pytest.mark.parametrize(("display", "delays"), [("", True), ("block", True), ("swap", False), ("optional", False)])
def test_font_display_delays_text(display: str, delays: bool) -> None:
    font = request("a.woff2", Kind.FONT, wire_bytes=200_000)
    styles = Styles(faces=(FontFace("brand", font.url, display),))
    markup = AccessibleDocument(document(page(with_body("<h1>Hello</h1>" * 20))))
    result = measure(page(), markup, visit(load(font)), styles)
    assert result.lcp is not None
    assert (result.lcp.value > 1.5) == delays


def test_load_without_a_trace_does_not_count() -> None:
    busy = load(main_thread=MainThread((Task(0.1, 0.15, 0.15), Task(0.4, 0.2, 0.2))))
    busier = load(main_thread=MainThread((Task(0.1, 0.2, 0.2), Task(0.4, 0.3, 0.3))))
    result = vitals([busier, busy, load()], MarkupFacts())
    assert result.fcp == vitals([busier, busy], MarkupFacts()).fcp
    assert result.tbt is not None
    assert result.tbt.value == pytest.approx(0.75)
    assert result.tbt.largest == pytest.approx(1.15)
