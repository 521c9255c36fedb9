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


# Lighthouse's own figures for its curve (from its statistics tests), and the control points of the four metrics.
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
def test_the_curve_is_lighthouses(value: float, good: float, median: float, expected: float) -> None:
    assert curve(value, good, median) == pytest.approx(expected, abs=0.005)


def test_at_the_control_points_it_is_exact_and_never_below() -> None:
    for good, median in ((1.8, 3.0), (2.5, 4.0), (0.2, 0.6), (0.1, 0.25), (3785, 7300)):
        assert curve(good, good, median) >= 0.9
        assert curve(median, good, median) >= 0.5
        assert curve(0, good, median) == curve(-1, good, median) == 1.0


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=2))
def test_what_takes_longer_never_earns_more(values: list[float]) -> None:
    less, more = sorted(values)
    assert 1.0 >= curve(less, 1.8, 3.0) >= curve(more, 1.8, 3.0) >= 0.0


def shifts(*pairs: tuple[float, float]) -> tuple[LayoutShift, ...]:
    return tuple(LayoutShift(time_s, value, "") for time_s, value in pairs)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ((), 0.0),
        (((0.1, 0.2),), 0.2),
        (((0.1, 0.2), (1.0, 0.1)), 0.3),
        (((0.1, 0.2), (1.1, 0.1)), 0.2),  # a second between them: two windows, of which the larger counts
        (((0.1, 0.1), (1.1, 0.2)), 0.2),
        # A window ends after five seconds, no matter how close its shifts are.
        (tuple((each * 0.9, 0.1) for each in range(6)), 0.6),
        (tuple((each * 0.9, 0.1) for each in range(7)), 0.6),
        (((0.0, 0.1), (0.9, 0.1), (1.8, 0.1), (2.7, 0.1), (3.6, 0.1), (4.5, 0.1), (5.0, 0.5)), 0.6),
        (((3.0, 0.1), (2.5, 0.2), (9.0, 0.1)), 0.3),  # in any order of the events
    ],
)
def test_shifts_add_up_within_a_window(seen: tuple[tuple[float, float], ...], expected: float) -> None:
    assert cumulative_layout_shift(shifts(*seen)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("tasks", "fcp_s", "expected"),
    [
        ((), 0.3, 0.0),
        (((0.4, 0.2),), 0.3, 0.75),  # four times 200 ms, less 50
        (((0.4, 0.2), (0.7, 0.1)), 0.3, 0.75 + 0.35),
        (((0.0, 0.2),), 0.3, 0.0),  # before anything was shown
        (((0.1, 0.2),), 0.3, 0.0),
        (((0.2, 0.2),), 0.3, 0.35),  # the half after the paint
        (((0.29, 0.0225),), 0.3, 0.0),  # 2.5 ms of it
        (((0.4, 0.2),), None, None),
        # Too short for the browser's own list of long tasks, which begins at 50 ms. Regression: "0 ms" was reported.
        (((0.4, 0.03), (0.5, 0.04)), 0.3, 0.07 + 0.11),
        (((0.4, 0.0125),) * 9, 0.3, 0.0),
    ],
)
def test_only_what_blocks_after_the_first_paint_counts(
    tasks: tuple[tuple[float, float], ...], fcp_s: float | None, expected: float | None
) -> None:
    seen = load(main_thread=MainThread(tuple(Task(*each, each[1]) for each in tasks)), fcp_s=fcp_s)
    found = simulated(seen, Markup()).blocked_s
    assert found == (expected if expected is None else pytest.approx(expected))


def test_what_else_the_machine_does_makes_no_task_longer() -> None:
    seen = load(main_thread=MainThread((Task(0.4, 0.2, 0.02),)))
    assert simulated(seen, Markup()).blocked_s == pytest.approx(0.03)


# A page whose document arrives after 0.1 s and is painted after 0.3 s. On the slow link it arrives after 0.6 s. What is
# larger than the window that the document, of one byte, leaves to the connection, waits for an acknowledgement.
STALL_S = 0.15 - 14_601 / 200_000


def fcp(*requests: LoadedRequest, is_empty: bool = False, **others: Any) -> float | None:
    found = simulated(load(*requests, **others), Markup(is_empty=is_empty, is_shell=is_empty)).first_s
    return found if found is None else round(found, 3)


def lcp(*requests: LoadedRequest, is_shell: bool = False, **others: Any) -> float | None:
    found = simulated(load(*requests, **others), Markup(is_shell=is_shell)).largest_s
    return found if found is None else round(found, 3)


def sheet(**others: Any) -> LoadedRequest:
    return request("a.css", Kind.STYLESHEET, is_blocking=True, wire_bytes=20_000, **others)


def script(**others: Any) -> LoadedRequest:
    return request("app.js", Kind.SCRIPT, **({"wire_bytes": 100_000} | others))


def test_the_first_paint_comes_as_long_after_the_document_as_it_was_seen_to() -> None:
    assert fcp() == 0.8


def test_it_waits_for_what_blocks_it_and_for_nothing_else() -> None:
    image = request("b.png", wire_bytes=1_000_000)
    assert fcp(sheet()) == round(0.95 + STALL_S, 3)  # 0.85 s for the sheet without the stall, 0.1 s as measured
    # Meanwhile the image has a ninth of the link, but the sheet waits as long as before for the acknowledgement.
    assert fcp(sheet(), image) == pytest.approx(0.95 + STALL_S + (20_000 - 14_601) / 200_000 / 8, abs=1e-3)
    assert fcp(sheet(end_s=0.4)) == 0.8  # it came after the paint, so the paint did not wait for it
    assert fcp(sheet(end_s=None)) == 0.8


def test_of_an_empty_shell_it_waits_for_its_scripts() -> None:
    api = request("api", Kind.OTHER, 0.2, 0.25, is_programmed=True, initiator=f"{HERE}/app.js")
    assert fcp(script(), api) == 0.8
    assert fcp(script(), api, is_empty=True) == pytest.approx(0.75 + STALL_S + 0.5 + 0.15 + 0.05, abs=1e-3)
    assert fcp(request("a.png", wire_bytes=1_000_000), is_empty=True) == 0.8


def test_of_a_page_with_a_few_words_only_the_largest_paint_waits_for_its_scripts() -> None:
    """Regression: a page with a heading over its background was said to be painted when its scripts had run."""
    words = Markup(is_shell=True)
    found = simulated(load(script()), words)
    assert found.first_s == pytest.approx(0.8, abs=1e-3)
    assert found.largest_s == pytest.approx(0.75 + STALL_S + 0.5 + 0.1, abs=1e-3)


def test_what_scripts_inside_of_the_document_build_waits_for_all_of_it() -> None:
    """Regression: a page of one file with all its scripts was said to be painted after half of the time."""
    assert fcp(requests=(document_request(wire_bytes=214_600),), is_empty=True) == pytest.approx(0.75 + 1 + 0.2)


def worked(
    *tasks: tuple[float, float], runs: Mapping[str, tuple[float, float]] = {}, frame_s: float = 0.3
) -> MainThread:
    """Return the main thread with its work at full speed. `runs` are those of scripts, by name."""
    return MainThread(
        tuple(Task(at, took, took) for at, took in tasks),
        tuple(Evaluation(f"{HERE}/{name}", at, took, took) for name, (at, took) in (runs or {}).items()),
        (frame_s,),
    )


def test_work_before_the_paint_takes_four_times_as_long() -> None:
    """Regression: script-bound pages were said to be painted after 1.2 to 1.7 s, where phones take 2.9 to 4.1 s."""
    assert fcp(main_thread=worked((0.1, 0.15))) == pytest.approx(0.6 + 4 * 0.15 + 0.05)
    assert fcp(main_thread=worked((0.05, 0.1))) == pytest.approx(0.6 + 4 * 0.05 + 0.15)  # what the document waited for
    blocking = request("a.js", Kind.SCRIPT, is_blocking=True, wire_bytes=100_000)
    ran = worked((0.2, 0.1), runs={"a.js": (0.2, 0.1)})
    assert fcp(blocking, main_thread=ran) == pytest.approx(0.75 + STALL_S + 0.5 + 4 * 0.1, abs=1e-3)


def test_of_a_part_of_the_document_only_that_part_is_laid_out() -> None:
    tasks = (Task(0.1, 0.05, 0.05), Task(0.15, 0.1, 0.1))
    seen = MainThread(tasks, frames_s=(0.25,), rendering=(Task(0.15, 0.1, 0.1),), parses_s=(0.15,))
    long = document_request(wire_bytes=200_000)
    # After 0.2 s for the page before it, 22,600 bytes of the document are there.
    share = (14_600 + 0.05 * 200_000) / 200_000
    assert fcp(requests=(long,), main_thread=seen, fcp_s=0.25) == pytest.approx(0.8 + 4 * 0.1 * share, abs=1e-3)
    assert fcp(main_thread=seen, fcp_s=0.25) == pytest.approx(0.8 + 4 * 0.1)


def test_work_on_an_early_script_goes_on_while_a_late_one_comes() -> None:
    one = request("a.js", Kind.SCRIPT, end_s=0.15, is_blocking=True, wire_bytes=1_000)
    two = request("b.js", Kind.SCRIPT, end_s=0.15, is_blocking=True, wire_bytes=200_000)
    ran = worked((0.15, 0.1), (0.25, 0.05), runs={"a.js": (0.15, 0.1), "b.js": (0.25, 0.05)})
    # The first script's 0.4 s of work fit into the second script's one second on the link.
    assert fcp(one, two, main_thread=ran) == pytest.approx(0.755 + STALL_S + 1.0 + 4 * 0.05, abs=0.005)


def test_drawing_a_frame_is_not_the_main_threads_work() -> None:
    ran = worked((0.1, 0.1), (0.22, 0.08), frame_s=0.2)
    assert fcp(main_thread=ran) == pytest.approx(0.6 + 4 * 0.1 + 0.1)
    # Work during the drawing is after the paint.
    assert simulated(load(main_thread=ran), Markup()).blocked_s == pytest.approx(4 * 0.08 - 0.05)


def test_a_script_that_comes_behind_the_paint_on_a_slow_link_blocks_it_no_more() -> None:
    late = request("ads.js", Kind.SCRIPT, wire_bytes=200_000)
    ran = worked((0.2, 0.1), runs={"ads.js": (0.2, 0.1)})
    assert fcp(late, main_thread=ran) == pytest.approx(0.7, abs=0.01)
    assert simulated(load(late, main_thread=ran), Markup()).blocked_s == pytest.approx(4 * 0.1 - 0.05)
    soon = request("ads.js", Kind.SCRIPT, wire_bytes=1, start_s=0.0)
    assert fcp(soon, sheet(), main_thread=ran) == pytest.approx(0.85 + 4 * 0.1, abs=0.1)


def test_a_long_document_is_shown_before_it_is_complete() -> None:
    long = document_request(wire_bytes=400_000)
    assert fcp(requests=(long,)) == pytest.approx(0.6 + 0.02 + 0.2)
    shown = simulated(load(requests=(long,)), Markup(lead_share=0.5)).first_s
    assert shown == pytest.approx(0.6 + 0.15 + (200_000 - 14_600) / 200_000 + 0.2)


def test_text_waits_for_its_font_but_three_seconds_at_most() -> None:
    font = request("a.woff2", Kind.FONT, wire_bytes=200_000)
    markup = Markup(holding_fonts=frozenset({font.url}))
    assert simulated(load(font), markup).first_s == pytest.approx(0.8, abs=1e-3)
    assert simulated(load(font), markup).largest_s == pytest.approx(0.75 + STALL_S + 1.0, abs=1e-3)
    assert simulated(load(font), Markup()).largest_s == pytest.approx(0.8, abs=1e-3)  # `font-display: swap`
    heavy = replace(font, wire_bytes=2_000_000)
    assert simulated(load(heavy), markup).largest_s == pytest.approx(0.6 + 3.0)


def test_work_between_the_last_byte_and_the_paint_is_bounded() -> None:
    assert fcp(fcp_s=9.0) == pytest.approx(0.6 + 1.0)


def test_without_a_paint_or_a_request_there_is_no_figure() -> None:
    assert fcp(fcp_s=None) is None
    assert fcp(requests=()) is None
    assert lcp(fcp_s=None) is None
    assert lcp(lcp=None) is None


def test_an_image_is_painted_when_it_came() -> None:
    hero = request("hero.jpg", start_s=0.1, end_s=0.3, wire_bytes=200_000)
    assert lcp(hero, lcp=largest(0.35, HERO)) == round(1.8 + STALL_S, 3)
    # After the script that inserted it.
    late = request("hero.jpg", start_s=0.2, end_s=0.3, wire_bytes=200_000, initiator=f"{HERE}/app.js")
    assert lcp(script(), late, lcp=largest(0.35, HERO)) == pytest.approx(
        0.75 + STALL_S + 0.5 + 0.15 + 1 + 0.05, abs=1e-3
    )


def test_a_largest_paint_never_comes_before_the_first() -> None:
    hero = request("hero.jpg", start_s=0.1, end_s=0.15, wire_bytes=10)
    assert lcp(hero, sheet(), lcp=largest(0.3, HERO)) == fcp(hero, sheet()) == round(0.95 + STALL_S, 3)


def test_text_of_the_first_paint_is_painted_with_it() -> None:
    assert lcp(script(), lcp=largest(0.34)) == fcp(script()) == 0.8


def test_later_text_waits_for_scripts_and_fonts_but_for_no_image() -> None:
    image = request("b.png", wire_bytes=1)
    assert lcp(script(), lcp=largest(0.5)) == pytest.approx(0.75 + STALL_S + 0.5 + 0.3, abs=1e-3)
    assert lcp(image, lcp=largest(0.5)) == pytest.approx(0.6 + 0.4)


def test_an_image_that_is_not_in_the_log_is_taken_for_text() -> None:
    assert lcp(lcp=largest(0.31, "data:image/png;base64,iVBO")) == 0.8


def test_of_several_loads_the_median_counts_and_the_spread_is_told() -> None:
    loads = [load(fcp_s=each, shifts=shifts((0.1, each))) for each in (0.5, 0.3, 0.4)]
    found = vitals(loads, Markup())
    fcp = found.fcp
    assert fcp is not None
    assert (fcp.value, fcp.least, fcp.largest) == pytest.approx((0.9, 0.8, 1.0), abs=1e-3)
    assert fcp.loads == 3
    assert found.cls == Measured(0.4, 0.3, 0.5, 3)
    assert found.seen_fcp == Measured(0.4, 0.3, 0.5, 3)
    assert (found.loads, found.is_complete) == (3, True)
    assert found.script_s == pytest.approx(0.2)  # four times as slow
    assert found.main_thread_s == pytest.approx(0.4)


def test_of_two_loads_the_faster_one_counts_but_for_the_speed_index() -> None:
    """Regression: a film without the frames before the last one halved the Speed Index of a page."""
    whole, torn = Progress(((0.3, 0.5), (1.5, 1.0)), ()), Progress(((0.3, 1.0),), ())
    loads = [load(fcp_s=0.3, progress=torn), load(fcp_s=0.4, progress=whole)]
    found, fast, slow = (vitals(each, Markup()) for each in (loads, loads[:1], loads[1:]))
    assert found.fcp
    assert found.speed_index
    assert replace(found.fcp, largest=found.fcp.value, loads=1) == fast.fcp
    assert replace(found.speed_index, least=found.speed_index.value, loads=1) == slow.speed_index


def test_what_was_not_seen_in_one_load_is_taken_from_the_others() -> None:
    found = vitals([load(fcp_s=None, lcp=None, load_s=None), load()], Markup())
    assert found.seen_fcp == found.seen_lcp == Measured(0.3, 0.3, 0.3)
    assert not found.is_complete
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
        # Regression: the space between elements was counted, too, and nothing behind it was read.
        (" " * 50 + "<p>A text of more than forty letters, which is painted as soon as it came.</p>", False, False),
        ("<img src=/a.png alt=''>", False, False),
        ("<svg></svg>", False, False),
        ("<img src=/a.png alt='' hidden>", True, True),
    ],
)
def test_a_page_whose_markup_shows_nothing_waits_for_scripts(body: str, is_empty: bool, is_shell: bool) -> None:
    markup = read(with_body(body))
    assert (markup.is_empty, markup.is_shell) == (is_empty, is_shell)


def read(markup: str, **others: Any) -> Markup:
    """Return what the probe reads from a page."""
    seen: list[Markup] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("website_scan.performance.probes.vitals.vitals", lambda _, markup: seen.append(markup))
        measure(page(**others), AccessibleDocument(document(page(markup, **others))), visit())
    return seen[0]


def test_it_is_read_where_a_preload_scanner_finds_each_address() -> None:
    text = with_body(
        "<img src=/a.png><img src=/late.png loading=lazy><a href=/page>Page</a><script src=b.js?x=1&amp;y=2></script>"
        "<video poster='/c.jpg'></video><img srcset='/d.png 1x, /e.png 2x'><img src=/a.png><img src=data:,>"
    )
    places = read(text).places
    base = page().target.url.rsplit("/", 1)[0]
    assert list(places) == [f"{HERE}/a.png", f"{base}/b.js?x=1&y=2", f"{HERE}/c.jpg", f"{HERE}/d.png"]
    assert places[f"{HERE}/a.png"] == text.index("<img src=/a.png>") / len(text)


def test_redirects_come_before_the_page() -> None:
    """Regression: the browser loads the page where its redirects end, and their time was not counted."""
    via = ((f"{HERE}/old", 301),)
    assert read("", via=via).redirects == (f"{HERE}/old",)
    plain = simulated(load(), Markup())
    same = simulated(load(), Markup(redirects=(f"{HERE}/old",)))
    other = simulated(load(), Markup(redirects=("http://site.example.com/",)))
    assert same.first_s == pytest.approx((plain.first_s or 0) + 0.15)
    assert other.first_s == pytest.approx((plain.first_s or 0) + 3 * 0.15)


def test_the_speed_index_is_the_mean_time_at_which_parts_appear() -> None:
    hero = request("hero.jpg", end_s=0.25, wire_bytes=514_601)
    film = Progress(((0.31, 0.5), (0.5, 1.0)), ((HERO, 0.4),))
    found = simulated(load(hero, progress=film), Markup()).speed_index_s
    # Of the image's 2.65 s, Chromium draws what is there after one and two seconds. The text came 0.2 s later.
    began_s, took_s = 0.75, STALL_S + 514_601 / 200_000
    image_s = began_s + (1 * 1 + 2 * 1 + (took_s - 2) * took_s) / took_s
    assert found == pytest.approx(0.4 * image_s + 0.6 * (0.5 * 0.8 + 0.5 * 1.0), abs=0.002)
    assert simulated(load(hero), Markup()).speed_index_s is None


def test_an_image_that_is_drawn_whole_counts_at_its_end() -> None:
    hero = request("hero.jpg", end_s=0.25, wire_bytes=514_601, media_type="image/avif")
    found = simulated(load(hero, progress=Progress(((0.31, 1.0),), ((HERO, 1.0),))), Markup()).speed_index_s
    assert found == pytest.approx(0.75 + STALL_S + 514_601 / 200_000, abs=0.002)


@pytest.mark.parametrize(("display", "holds"), [("", True), ("block", True), ("swap", False), ("optional", False)])
def test_a_font_holds_text_back_as_its_face_says(display: str, holds: bool) -> None:
    font = request("a.woff2", Kind.FONT, wire_bytes=200_000)
    styles = Styles(faces=(FontFace("brand", font.url, display),))
    markup = AccessibleDocument(document(page(with_body("<h1>Hello</h1>" * 20))))
    found = measure(page(), markup, visit(load(font)), styles)
    assert found.lcp is not None
    assert (found.lcp.value > 1.5) == holds


def test_a_load_that_was_not_traced_does_not_make_the_page_look_quick() -> None:
    busy = load(main_thread=MainThread((Task(0.1, 0.15, 0.15), Task(0.4, 0.2, 0.2))))
    busier = load(main_thread=MainThread((Task(0.1, 0.2, 0.2), Task(0.4, 0.3, 0.3))))
    found = vitals([busier, busy, load()], Markup())
    assert found.fcp == vitals([busier, busy], Markup()).fcp
    assert found.tbt is not None
    assert found.tbt.value == pytest.approx(0.75)
    assert found.tbt.largest == pytest.approx(1.15)
