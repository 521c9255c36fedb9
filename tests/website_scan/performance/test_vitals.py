from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.browser.loads import HERE, document_request, largest, load, request, visit
from tests.website_scan.cast import body as with_body
from tests.website_scan.cast import document, page
from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.evidence import Evaluation, LayoutShift, LoadedRequest, MainThread, Progress, Task
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import FontFace, Styles
from website_scan.performance.probes.vitals import measure
from website_scan.performance.vitals import (
    Markup,
    Measured,
    cumulative_layout_shift,
    curve,
    simulated,
    vitals,
)

Kind = ResourceKind
HERO = f"{HERE}/hero.jpg"


# Lighthouse's figures for its curve (from its statistics tests), and the control points of the four metrics.
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
def test_credit_follows_lighthouses_curve(value: float, good: float, median: float, expected: float) -> None:
    assert curve(value, good, median) == pytest.approx(expected, abs=0.005)


def test_credit_at_the_control_points_is_never_below_their_value() -> None:
    for good, median in ((1.8, 3.0), (2.5, 4.0), (0.2, 0.6), (0.1, 0.25), (3785, 7300)):
        assert curve(good, good, median) >= 0.9
        assert curve(median, good, median) >= 0.5
        assert curve(0, good, median) == curve(-1, good, median) == 1.0


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=2))
def test_credit_never_grows_with_the_value(values: list[float]) -> None:
    less, more = sorted(values)
    assert 1.0 >= curve(less, 1.8, 3.0) >= curve(more, 1.8, 3.0) >= 0.0


def shifts(*pairs: tuple[float, float]) -> tuple[LayoutShift, ...]:
    return tuple(LayoutShift(time_s, value, "") for time_s, value in pairs)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((), 0.0),
        (((0.1, 0.2),), 0.2),
        (((0.1, 0.2), (1.0, 0.1)), 0.3),
        (((0.1, 0.2), (1.1, 0.1)), 0.2),  # a second between them: two windows, of which the larger counts
        (((0.1, 0.1), (1.1, 0.2)), 0.2),
        # A window ends after five seconds, no matter how close its shifts are.
        (tuple((number * 0.9, 0.1) for number in range(6)), 0.6),
        (tuple((number * 0.9, 0.1) for number in range(7)), 0.6),
        (((0.0, 0.1), (0.9, 0.1), (1.8, 0.1), (2.7, 0.1), (3.6, 0.1), (4.5, 0.1), (5.0, 0.5)), 0.6),
        (((3.0, 0.1), (2.5, 0.2), (9.0, 0.1)), 0.3),  # in any order of the events
    ],
)
def test_shifts_add_up_within_a_session_window(pairs: tuple[tuple[float, float], ...], expected: float) -> None:
    assert cumulative_layout_shift(shifts(*pairs)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("tasks", "fcp_s", "expected"),
    [
        ((), 0.3, 0.0),
        (((0.4, 0.2),), 0.3, 0.75),  # four times 200 ms, less 50
        (((0.4, 0.2), (0.7, 0.1)), 0.3, 0.75 + 0.35),
        (((0.0, 0.2),), 0.3, 0.0),  # before the first paint
        (((0.1, 0.2),), 0.3, 0.0),
        (((0.2, 0.2),), 0.3, 0.35),  # the half after the paint
        (((0.29, 0.0225),), 0.3, 0.0),  # 12.5 ms after the paint
        (((0.4, 0.2),), None, None),
        # Too short for the browser's own list of long tasks, which begins at 50 ms. Regression: "0 ms" was reported.
        (((0.4, 0.03), (0.5, 0.04)), 0.3, 0.07 + 0.11),
        (((0.4, 0.0125),) * 9, 0.3, 0.0),
    ],
)
def test_blocking_time_counts_tasks_after_the_first_paint(
    tasks: tuple[tuple[float, float], ...], fcp_s: float | None, expected: float | None
) -> None:
    main_thread = MainThread(tuple(Task(start_s, duration_s, duration_s) for start_s, duration_s in tasks))
    blocked_s = simulated(load(main_thread=main_thread, fcp_s=fcp_s), Markup()).blocked_s
    assert blocked_s == (expected if expected is None else pytest.approx(expected))


def test_blocking_time_is_processor_time_of_tasks() -> None:
    interrupted = load(main_thread=MainThread((Task(0.4, 0.2, 0.02),)))
    assert simulated(interrupted, Markup()).blocked_s == pytest.approx(0.03)


# The document of the tests arrives after 0.1 s, on the slow link after 0.6 s, and is painted after 0.3 s. Responses
# that are larger than the connection's window after this document of one byte wait for an acknowledgement.
STALL_S = 0.15 - 14_601 / 200_000


def fcp(*requests: LoadedRequest, is_empty: bool = False, **others: Any) -> float | None:
    first_s = simulated(load(*requests, **others), Markup(is_empty=is_empty, is_shell=is_empty)).first_s
    return first_s if first_s is None else round(first_s, 3)


def lcp(*requests: LoadedRequest, is_shell: bool = False, **others: Any) -> float | None:
    largest_s = simulated(load(*requests, **others), Markup(is_shell=is_shell)).largest_s
    return largest_s if largest_s is None else round(largest_s, 3)


def sheet(**others: Any) -> LoadedRequest:
    return request("a.css", Kind.STYLESHEET, is_blocking=True, wire_bytes=20_000, **others)


def script(**others: Any) -> LoadedRequest:
    return request("app.js", Kind.SCRIPT, **({"wire_bytes": 100_000} | others))


def test_first_paint_follows_the_document_after_the_observed_time() -> None:
    assert fcp() == 0.8


def test_first_paint_waits_only_for_blocking_resources() -> None:
    image = request("b.png", wire_bytes=1_000_000)
    assert fcp(sheet()) == round(0.95 + STALL_S, 3)  # 0.85 s for the sheet without the stall, 0.1 s as measured
    # The image gets a ninth of the link, but the sheet waits for the acknowledgement as long as without the image.
    assert fcp(sheet(), image) == pytest.approx(0.95 + STALL_S + (20_000 - 14_601) / 200_000 / 8, abs=1e-3)
    assert fcp(sheet(end_s=0.4)) == 0.8  # the sheet arrived after the paint, so the paint did not wait for the sheet
    assert fcp(sheet(end_s=None)) == 0.8


def test_first_paint_of_an_empty_page_waits_for_scripts() -> None:
    api = request("api", Kind.OTHER, 0.2, 0.25, is_sent_by_code=True, initiator=f"{HERE}/app.js")
    assert fcp(script(), api) == 0.8
    assert fcp(script(), api, is_empty=True) == pytest.approx(0.75 + STALL_S + 0.5 + 0.15 + 0.05, abs=1e-3)
    assert fcp(request("a.png", wire_bytes=1_000_000), is_empty=True) == 0.8


def test_only_the_largest_paint_of_a_page_with_a_few_words_waits_for_scripts() -> None:
    """Regression: the FCP of a page with a heading on a background waited for all scripts."""
    words = Markup(is_shell=True)
    paints = simulated(load(script()), words)
    assert paints.first_s == pytest.approx(0.8, abs=1e-3)
    assert paints.largest_s == pytest.approx(0.75 + STALL_S + 0.5 + 0.1, abs=1e-3)


def test_content_of_inline_scripts_waits_for_the_whole_document() -> None:
    """Regression: the FCP of a page with all scripts in its document was half of the real time."""
    assert fcp(requests=(document_request(wire_bytes=214_600),), is_empty=True) == pytest.approx(0.75 + 1 + 0.2)


def main_thread_with(
    *tasks: tuple[float, float], runs: Mapping[str, tuple[float, float]] = {}, frame_s: float = 0.3
) -> MainThread:
    """Return main-thread work at full speed. `runs` has start and duration of script evaluations by file name."""
    return MainThread(
        tuple(Task(start_s, duration_s, duration_s) for start_s, duration_s in tasks),
        tuple(
            Evaluation(f"{HERE}/{name}", start_s, duration_s, duration_s)
            for name, (start_s, duration_s) in (runs or {}).items()
        ),
        (frame_s,),
    )


def test_work_before_the_paint_takes_four_times_as_long() -> None:
    """Regression: the FCP of script-bound pages was 1.2 to 1.7 s, although phones take 2.9 to 4.1 s."""
    assert fcp(main_thread=main_thread_with((0.1, 0.15))) == pytest.approx(0.6 + 4 * 0.15 + 0.05)
    assert fcp(main_thread=main_thread_with((0.05, 0.1))) == pytest.approx(
        0.6 + 4 * 0.05 + 0.15
    )  # what the document waited for
    blocking = request("a.js", Kind.SCRIPT, is_blocking=True, wire_bytes=100_000)
    work = main_thread_with((0.2, 0.1), runs={"a.js": (0.2, 0.1)})
    assert fcp(blocking, main_thread=work) == pytest.approx(0.75 + STALL_S + 0.5 + 4 * 0.1, abs=1e-3)


def test_only_the_arrived_part_of_the_document_is_laid_out() -> None:
    tasks = (Task(0.1, 0.05, 0.05), Task(0.15, 0.1, 0.1))
    work = MainThread(tasks, frames_s=(0.25,), rendering=(Task(0.15, 0.1, 0.1),), parses_s=(0.15,))
    long = document_request(wire_bytes=200_000)
    # After 0.2 s of work to unload the previous page, 22,600 bytes of the document have arrived.
    share = (14_600 + 0.05 * 200_000) / 200_000
    assert fcp(requests=(long,), main_thread=work, fcp_s=0.25) == pytest.approx(0.8 + 4 * 0.1 * share, abs=1e-3)
    assert fcp(main_thread=work, fcp_s=0.25) == pytest.approx(0.8 + 4 * 0.1)


def test_work_of_an_early_script_overlaps_with_the_download_of_a_late_script() -> None:
    one = request("a.js", Kind.SCRIPT, end_s=0.15, is_blocking=True, wire_bytes=1_000)
    two = request("b.js", Kind.SCRIPT, end_s=0.15, is_blocking=True, wire_bytes=200_000)
    work = main_thread_with((0.15, 0.1), (0.25, 0.05), runs={"a.js": (0.15, 0.1), "b.js": (0.25, 0.05)})
    # The first script's 0.4 s of work fit into the second script's one second on the link.
    assert fcp(one, two, main_thread=work) == pytest.approx(0.755 + STALL_S + 1.0 + 4 * 0.05, abs=0.005)


def test_drawing_a_frame_is_not_main_thread_work() -> None:
    work = main_thread_with((0.1, 0.1), (0.22, 0.08), frame_s=0.2)
    assert fcp(main_thread=work) == pytest.approx(0.6 + 4 * 0.1 + 0.1)
    # Work during the drawing is after the paint.
    assert simulated(load(main_thread=work), Markup()).blocked_s == pytest.approx(4 * 0.08 - 0.05)


def test_script_that_arrives_after_the_paint_on_the_slow_link_does_not_delay_it() -> None:
    late = request("ads.js", Kind.SCRIPT, wire_bytes=200_000)
    work = main_thread_with((0.2, 0.1), runs={"ads.js": (0.2, 0.1)})
    assert fcp(late, main_thread=work) == pytest.approx(0.7, abs=0.01)
    assert simulated(load(late, main_thread=work), Markup()).blocked_s == pytest.approx(4 * 0.1 - 0.05)
    soon = request("ads.js", Kind.SCRIPT, wire_bytes=1, start_s=0.0)
    assert fcp(soon, sheet(), main_thread=work) == pytest.approx(0.85 + 4 * 0.1, abs=0.1)


def test_long_document_is_painted_before_it_is_complete() -> None:
    long = document_request(wire_bytes=400_000)
    assert fcp(requests=(long,)) == pytest.approx(0.6 + 0.02 + 0.2)
    first_s = simulated(load(requests=(long,)), Markup(lead_share=0.5)).first_s
    assert first_s == pytest.approx(0.6 + 0.15 + (200_000 - 14_600) / 200_000 + 0.2)


def test_text_waits_for_its_font_for_at_most_three_seconds() -> None:
    font = request("a.woff2", Kind.FONT, wire_bytes=200_000)
    markup = Markup(holding_fonts=frozenset({font.url}))
    assert simulated(load(font), markup).first_s == pytest.approx(0.8, abs=1e-3)
    assert simulated(load(font), markup).largest_s == pytest.approx(0.75 + STALL_S + 1.0, abs=1e-3)
    assert simulated(load(font), Markup()).largest_s == pytest.approx(0.8, abs=1e-3)  # `font-display: swap`
    heavy = replace(font, wire_bytes=2_000_000)
    assert simulated(load(heavy), markup).largest_s == pytest.approx(0.6 + 3.0)


def test_idle_time_before_the_paint_is_limited_to_a_second() -> None:
    assert fcp(fcp_s=9.0) == pytest.approx(0.6 + 1.0)


def test_load_without_a_paint_or_request_has_no_fcp_and_lcp() -> None:
    assert fcp(fcp_s=None) is None
    assert fcp(requests=()) is None
    assert lcp(fcp_s=None) is None
    assert lcp(lcp=None) is None


def test_image_is_painted_when_it_has_arrived() -> None:
    hero = request("hero.jpg", start_s=0.1, end_s=0.3, wire_bytes=200_000)
    assert lcp(hero, lcp=largest(0.35, HERO)) == round(1.8 + STALL_S, 3)
    # After the script that inserted it.
    late = request("hero.jpg", start_s=0.2, end_s=0.3, wire_bytes=200_000, initiator=f"{HERE}/app.js")
    assert lcp(script(), late, lcp=largest(0.35, HERO)) == pytest.approx(
        0.75 + STALL_S + 0.5 + 0.15 + 1 + 0.05, abs=1e-3
    )


def test_largest_paint_is_never_before_the_first() -> None:
    hero = request("hero.jpg", start_s=0.1, end_s=0.15, wire_bytes=10)
    assert lcp(hero, sheet(), lcp=largest(0.3, HERO)) == fcp(hero, sheet()) == round(0.95 + STALL_S, 3)


def test_largest_text_of_the_first_paint_has_its_time() -> None:
    assert lcp(script(), lcp=largest(0.34)) == fcp(script()) == 0.8


def test_later_text_waits_for_scripts_and_not_for_images() -> None:
    image = request("b.png", wire_bytes=1)
    assert lcp(script(), lcp=largest(0.5)) == pytest.approx(0.75 + STALL_S + 0.5 + 0.3, abs=1e-3)
    assert lcp(image, lcp=largest(0.5)) == pytest.approx(0.6 + 0.4)


def test_image_that_is_not_in_the_log_counts_as_text() -> None:
    assert lcp(lcp=largest(0.31, "data:image/png;base64,iVBO")) == 0.8


def test_vitals_are_the_median_of_several_loads_with_their_spread() -> None:
    loads = [load(fcp_s=time_s, shifts=shifts((0.1, time_s))) for time_s in (0.5, 0.3, 0.4)]
    result = vitals(loads, Markup())
    fcp = result.fcp
    assert fcp is not None
    assert (fcp.value, fcp.least, fcp.largest) == pytest.approx((0.9, 0.8, 1.0), abs=1e-3)
    assert fcp.loads == 3
    assert result.cls == Measured(0.4, 0.3, 0.5, 3)
    assert result.observed_fcp == Measured(0.4, 0.3, 0.5, 3)
    assert (result.loads, result.is_complete) == (3, True)
    assert result.script_s == pytest.approx(0.2)  # four times as slow
    assert result.main_thread_s == pytest.approx(0.4)


def test_faster_of_two_loads_counts_except_for_the_speed_index() -> None:
    """Regression: missing frames in a film halved the Speed Index of a page."""
    whole, torn = Progress(((0.3, 0.5), (1.5, 1.0)), ()), Progress(((0.3, 1.0),), ())
    loads = [load(fcp_s=0.3, progress=torn), load(fcp_s=0.4, progress=whole)]
    both, fast, slow = (vitals(some_loads, Markup()) for some_loads in (loads, loads[:1], loads[1:]))
    assert both.fcp
    assert both.speed_index
    assert replace(both.fcp, largest=both.fcp.value, loads=1) == fast.fcp
    assert replace(both.speed_index, least=both.speed_index.value, loads=1) == slow.speed_index


def test_figures_that_one_load_lacks_are_from_the_other_loads() -> None:
    result = vitals([load(fcp_s=None, lcp=None, load_s=None), load()], Markup())
    assert result.observed_fcp == result.observed_lcp == Measured(0.3, 0.3, 0.3)
    assert not result.is_complete
    nothing = vitals([load(fcp_s=None, lcp=None)], Markup())
    assert (nothing.fcp, nothing.lcp, nothing.tbt, nothing.cls) == (None, None, None, Measured(0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("body", "is_empty", "is_shell"),
    [
        ("<div id=root></div><script src=/app.js></script>", True, True),
        ("<div id=root>Loading…</div>", False, True),
        ("<noscript>You need to enable JavaScript to run this app, or nothing will show.</noscript>", True, True),
        ("<p hidden>A long text that nobody sees, and that is longer than forty letters.</p>", True, True),
        ("<p>A text of more than forty letters, which is painted as soon as it came.</p>", False, False),
        # Regression: the space between elements counted as text, up to the limit.
        (" " * 50 + "<p>A text of more than forty letters, which is painted as soon as it came.</p>", False, False),
        ("<img src=/a.png alt=''>", False, False),
        ("<svg></svg>", False, False),
        ("<img src=/a.png alt='' hidden>", True, True),
    ],
)
def test_markup_without_visible_content_is_empty_and_with_a_few_words_a_shell(
    body: str, is_empty: bool, is_shell: bool
) -> None:
    markup = read(with_body(body))
    assert (markup.is_empty, markup.is_shell) == (is_empty, is_shell)


def read(markup: str, **others: Any) -> Markup:
    """Return the `Markup` that the probe makes from a page."""
    calls: list[Markup] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("website_scan.performance.probes.vitals.vitals", lambda _, markup: calls.append(markup))
        measure(page(**others), AccessibleDocument(document(page(markup, **others))), visit())
    return calls[0]


def test_positions_of_urls_for_the_preload_scanner_are_read() -> None:
    text = with_body(
        "<img src=/a.png><img src=/late.png loading=lazy><a href=/page>Page</a><script src=b.js?x=1&amp;y=2></script>"
        "<video poster='/c.jpg'></video><img srcset='/d.png 1x, /e.png 2x'><img src=/a.png><img src=data:,>"
    )
    places = read(text).places
    base = page().target.url.rsplit("/", 1)[0]
    assert list(places) == [f"{HERE}/a.png", f"{base}/b.js?x=1&y=2", f"{HERE}/c.jpg", f"{HERE}/d.png"]
    assert places[f"{HERE}/a.png"] == text.index("<img src=/a.png>") / len(text)


def test_redirects_delay_the_first_paint() -> None:
    """Regression: the browser loads the page at the end of its redirects, and their time did not count."""
    via = ((f"{HERE}/old", 301),)
    assert read("", via=via).redirects == (f"{HERE}/old",)
    plain = simulated(load(), Markup())
    same = simulated(load(), Markup(redirects=(f"{HERE}/old",)))
    other = simulated(load(), Markup(redirects=("http://site.example.com/",)))
    assert same.first_s == pytest.approx((plain.first_s or 0) + 0.15)
    assert other.first_s == pytest.approx((plain.first_s or 0) + 3 * 0.15)


def test_speed_index_is_the_mean_time_at_which_parts_appear() -> None:
    hero = request("hero.jpg", end_s=0.25, wire_bytes=514_601)
    film = Progress(((0.31, 0.5), (0.5, 1.0)), ((HERO, 0.4),))
    speed_index_s = simulated(load(hero, progress=film), Markup()).speed_index_s
    # In the image's 2.65 s, Chromium draws its arrived part after one and two seconds. The text came 0.2 s later.
    start_s, duration_s = 0.75, STALL_S + 514_601 / 200_000
    image_s = start_s + (1 * 1 + 2 * 1 + (duration_s - 2) * duration_s) / duration_s
    assert speed_index_s == pytest.approx(0.4 * image_s + 0.6 * (0.5 * 0.8 + 0.5 * 1.0), abs=0.002)
    assert simulated(load(hero), Markup()).speed_index_s is None


def test_avif_image_counts_for_the_speed_index_when_it_is_complete() -> None:
    hero = request("hero.jpg", end_s=0.25, wire_bytes=514_601, media_type="image/avif")
    speed_index_s = simulated(load(hero, progress=Progress(((0.31, 1.0),), ((HERO, 1.0),))), Markup()).speed_index_s
    assert speed_index_s == pytest.approx(0.75 + STALL_S + 514_601 / 200_000, abs=0.002)


@pytest.mark.parametrize(("display", "delays"), [("", True), ("block", True), ("swap", False), ("optional", False)])
def test_font_delays_text_according_to_font_display(display: str, delays: bool) -> None:
    font = request("a.woff2", Kind.FONT, wire_bytes=200_000)
    styles = Styles(faces=(FontFace("brand", font.url, display),))
    markup = AccessibleDocument(document(page(with_body("<h1>Hello</h1>" * 20))))
    result = measure(page(), markup, visit(load(font)), styles)
    assert result.lcp is not None
    assert (result.lcp.value > 1.5) == delays


def test_load_without_a_trace_does_not_count() -> None:
    busy = load(main_thread=MainThread((Task(0.1, 0.15, 0.15), Task(0.4, 0.2, 0.2))))
    busier = load(main_thread=MainThread((Task(0.1, 0.2, 0.2), Task(0.4, 0.3, 0.3))))
    result = vitals([busier, busy, load()], Markup())
    assert result.fcp == vitals([busier, busy], Markup()).fcp
    assert result.tbt is not None
    assert result.tbt.value == pytest.approx(0.75)
    assert result.tbt.largest == pytest.approx(1.15)
