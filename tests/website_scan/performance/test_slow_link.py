"""Schedules on a link of 200,000 bytes a second with a round trip of 0.15 s, computed by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.website_scan.browser.loads import HERE, document_request, request
from website_scan.browser.evidence import Evaluation, LoadedRequest, MainThread, Task
from website_scan.page.references import ResourceKind
from website_scan.performance.processor import Processor
from website_scan.performance.slow_link import BYTES_PER_S, MAX_REQUESTS, ROUND_TRIP_S, simulate

Kind = ResourceKind
# What is larger than a connection's window waits for the first acknowledgement of what fills it.
STALL_S = 0.15 - 14_600 / 200_000


def later(end_s: float) -> float:
    """Return a time with the stall of a connection that has brought a document of one byte before."""
    return round(end_s + STALL_S - 1 / 200_000, 4)


def simulated(requests: Sequence[LoadedRequest], seen: MainThread = MainThread()) -> list[float]:  # noqa: B008
    return [each.ended_s for each in simulate(requests, Processor(seen)).arrivals]


def ends(*requests: LoadedRequest, **document: Any) -> list[float]:
    """Return the end times to a ten-thousandth of a second, because a document has at least one byte."""
    return [round(each, 4) for each in simulated((document_request(**document), *requests))]


def sheet(**others: Any) -> LoadedRequest:
    return request("a.css", Kind.STYLESHEET, **({"wire_bytes": 20_000} | others))


def test_nothing_takes_no_time() -> None:
    assert simulated(()) == []


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"wire_bytes": 1}, 0.6),
        ({"wire_bytes": 0}, 0.6),
        ({"wire_bytes": 14_600}, 0.6 + 0.073),
        ({"wire_bytes": 200_000}, 0.6 + STALL_S + 1),  # more than a new connection may send at once
        ({"url": "http://site.example.com/"}, 0.45),
        ({"protocol": "http/1.1"}, 0.6),
        ({"redirects": 2}, 0.6 + 0.3),
        ({"wait_s": 0.4}, 0.6),  # the wait was the round trip
    ],
)
def test_one_document(document: dict[str, Any], expected: float) -> None:
    each = replace(document_request(), **document)
    assert simulated((each,))[0] == pytest.approx(expected, abs=1e-4)


def test_what_a_server_thinks_longer_than_for_its_quickest_answer_counts() -> None:
    assert ends(sheet(wait_s=0.1), wait_s=0.5) == [1.0, later(1.25)]


def test_a_style_sheet_is_asked_for_while_the_document_comes() -> None:
    # From 0.825 s on, each of them has half of the link.
    assert ends(sheet(), wire_bytes=1) == [0.6, later(0.85)]
    # It comes half as fast as the link, and what it takes from the document ends the document's own stall.
    document, style = ends(sheet(), wire_bytes=200_000)
    assert style < document == pytest.approx(0.6 + 220_000 / 200_000 + 0.15 - 14_600 / 200_000, abs=0.001)


def test_an_image_is_asked_for_behind_the_document() -> None:
    assert ends(request("a.png", wire_bytes=20_000), wire_bytes=200_000) == [1.677, 1.927]


TWELVE = [request(f"{number}.png", wire_bytes=10_000) for number in range(12)]


def test_over_one_connection_all_images_come_side_by_side() -> None:
    assert ends(*TWELVE) == [0.6] + [1.35] * 12


def test_over_six_connections_they_wait_for_each_other() -> None:
    old = [replace(each, protocol="http/1.1") for each in TWELVE]
    # The first takes the document's connection. The next five wait 0.3 s for theirs (the name is known by then). When
    # two more have come through the first connection, the five end together and make room for the last four.
    expected = [0.6, 0.8, *[1.33] * 5, 1.0, 1.35, *[1.68] * 4]
    assert ends(*old, protocol="http/1.1") == expected


def test_another_host_costs_a_set_up_that_its_other_files_wait_for() -> None:
    files = [request(f"https://cdn.example.org/{number}.png") for number in range(2)]
    assert ends(*files) == [0.6, 1.2, 1.2]


def test_a_font_comes_behind_the_sheet_that_names_it() -> None:
    font = request("a.woff2", Kind.FONT, start_s=0.25, initiator=f"{HERE}/a.css", wire_bytes=40_000)
    assert ends(sheet(), font) == [0.6, later(0.85), later(1.2)]


@pytest.mark.parametrize(("pause_s", "expected"), [(0.09, 1.2), (0.3, 1.5), (60.0, 3.2), (-0.1, 1.2)])
def test_what_begins_later_waited_for_something_else(pause_s: float, expected: float) -> None:
    font = request("a.woff2", Kind.FONT, start_s=0.2 + pause_s, initiator=f"{HERE}/a.css#x", wire_bytes=40_000)
    assert ends(sheet(), font)[2] == later(expected)


def test_what_an_inline_script_puts_off_comes_later_than_the_document() -> None:
    at_once, put_off = request("a.png", Kind.IMAGE), request("a.png", Kind.IMAGE, start_s=0.7)
    document_end_s = document_request().end_s
    assert document_end_s is not None
    assert ends(put_off)[1] == pytest.approx(ends(at_once)[1] + 0.7 - document_end_s, abs=0.001)


def test_who_is_urgent_has_more_of_the_link() -> None:
    behind: dict[str, Any] = {"start_s": 0.25, "initiator": f"{HERE}/a.css", "wire_bytes": 80_000}
    script, image = request("a.js", Kind.SCRIPT, **behind), request("a.png", **behind)
    # Four fifths of the link, then the rest.
    assert ends(sheet(), script, image) == [0.6, later(0.85), later(1.5), later(1.8)]
    blocking = replace(image, is_blocking=True)
    assert ends(sheet(), script, blocking) == [0.6, later(0.85), later(1.8), later(1.6)]


def test_beyond_four_hundred_the_rest_ends_with_the_last() -> None:
    many = [request(f"{number}.png", wire_bytes=1000) for number in range(450)]
    found = simulated((document_request(), *many))
    assert len(found) == 451
    assert set(found[MAX_REQUESTS:]) == {max(found)}
    assert max(found) == pytest.approx(0.75 + 399 * 1000 / BYTES_PER_S, abs=1e-3)


ADDRESSES = [
    f"{origin}/{number}" for origin in (HERE, "http://site.example.com", "https://b.example") for number in "123"
]
ANY = st.builds(
    LoadedRequest,
    url=st.sampled_from([*ADDRESSES, "", "x", "wss://a/b"]),
    kind=st.sampled_from([None, *ResourceKind]),
    method=st.just("GET"),
    start_s=st.floats(0, 1e6),
    response_s=st.none(),
    end_s=st.none() | st.floats(0, 1e6),
    status=st.just(200),
    wait_s=st.floats(0, 1e6),
    protocol=st.sampled_from(["h2", "h3", "http/1.1", ""]),
    wire_bytes=st.integers(-(2**31), 2**31) | st.integers(2**62, 2**63),
    redirects=st.integers(0, 10),
    initiator=st.sampled_from([*ADDRESSES, "", "https://c.example/#a"]),
    is_blocking=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ANY, min_size=1, max_size=40))
def test_whatever_was_seen_every_request_ends_in_its_time_and_always_in_the_same(requests: list[LoadedRequest]) -> None:
    found = simulated(requests)
    assert found == simulated(requests)
    assert len(found) == len(requests)
    for each, end_s in zip(requests, found, strict=True):
        assert math.isfinite(end_s)
        least_s = (1 + each.redirects) * ROUND_TRIP_S + each.wire_bytes / BYTES_PER_S
        assert end_s >= least_s * 0.999 - 0.001
    total_s = sum(max(each.wire_bytes, 0) for each in requests) / BYTES_PER_S
    assert max(found) >= total_s * 0.999


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY, min_size=2, max_size=20))
def test_what_led_to_a_request_ended_before_it_unless_it_was_the_document(requests: list[LoadedRequest]) -> None:
    found = simulated(requests)
    first: dict[str, int] = {}
    for index, each in enumerate(requests):
        parent = first.get(each.initiator.partition("#")[0], 0)
        if parent:
            assert found[index] > found[parent]
        first.setdefault(each.url, index)


def test_what_a_script_asks_for_comes_behind_its_work_on_a_slow_processor() -> None:
    script = request("a.js", Kind.SCRIPT, end_s=0.2)
    data = request("data", Kind.OTHER, start_s=0.5, is_programmed=True, initiator=f"{HERE}/a.js")
    ran = MainThread((Task(0.3, 0.25, 0.25),), (Evaluation(f"{HERE}/a.js", 0.3, 0.25, 0.25),))
    idle = simulated((document_request(), script, data))
    busy = simulated((document_request(), script, data), ran)
    # Four tasks of 0.2 s. Of the 0.3 s between them, 0.1 s were idle, which is too short for a timer.
    assert idle[2] == pytest.approx(0.75 + 0.3 + 0.15, abs=1e-3)
    assert busy[2] == pytest.approx(0.75 + 4 * 0.2 + 0.15, abs=1e-3)


def test_the_look_ahead_finds_what_the_markup_names_whatever_the_main_thread_does() -> None:
    image = request("a.png", start_s=0.5)
    ran = MainThread((Task(0.1, 0.4, 0.4),))

    def asked_s(**places: float) -> float:
        addresses = {f"{HERE}/a.{ending}": place for ending, place in places.items()}
        return simulate((document_request(), image), Processor(ran), addresses).arrivals[1].asked_s

    assert asked_s(png=0.1) == pytest.approx(0.6, abs=1e-3)
    # A script or a style rule named it.
    assert asked_s() == pytest.approx(0.6 + 4 * 0.4, abs=1e-3)


def test_what_the_markup_names_is_found_when_that_part_of_it_comes() -> None:
    """Regression: images waited for the end of the document, and scripts at its end came with its first byte."""
    requests = document_request(wire_bytes=214_600), request("a.png"), request("b.js", Kind.SCRIPT)
    places = {f"{HERE}/a.png": 0.5, f"{HERE}/b.js": 0.9}
    found = simulate(requests, Processor(MainThread()), places).arrivals
    assert found[1].asked_s == pytest.approx(0.75 + (107_300 - 14_600) / 200_000, abs=1e-3)
    assert found[2].asked_s == pytest.approx(0.75 + (193_140 - 14_600) / 200_000, abs=1e-3)


def test_nothing_is_found_before_the_page_before_it_is_given_up() -> None:
    ran = MainThread((Task(0.1, 0.05, 0.05),), parses_s=(0.15,))
    found = simulate((document_request(), sheet()), Processor(ran), {f"{HERE}/a.css": 0.1}).arrivals
    assert found[1].asked_s == pytest.approx(0.6 + 4 * 0.05)


def test_over_six_connections_style_sheets_come_before_the_fonts_named_before_them() -> None:
    """New connections are given out by urgency, but who finds an idle one takes it."""
    fonts = [request(f"{number}.woff2", Kind.FONT, wire_bytes=50_000) for number in range(6)]
    requests = [replace(each, protocol="http/1.1") for each in (document_request(), *fonts, sheet())]
    found = simulate(requests, Processor(MainThread()), {each.url: 0.5 for each in requests[1:]}).arrivals
    assert found[7].began_s == pytest.approx(0.6 + 0.45, abs=1e-3)
    assert found[6].began_s > found[7].began_s  # it waits for a connection to be free


def test_connections_share_the_link_whatever_is_on_them() -> None:
    """Regression: a style sheet was given eight times as much of the link as images on other connections."""
    behind: dict[str, Any] = {
        "start_s": 0.25,
        "initiator": f"{HERE}/a.css",
        "wire_bytes": 10_000,
        "protocol": "http/1.1",
    }
    found = ends(sheet(), request("b.css", Kind.STYLESHEET, **behind), request("a.png", **behind), protocol="http/1.1")
    assert found[3] - found[2] < 10_000 / 200_000 + 0.15


def test_a_connection_that_has_brought_much_does_not_stall() -> None:
    one, two = sheet(), request("b.css", Kind.STYLESHEET, start_s=0.25, initiator=f"{HERE}/a.css", wire_bytes=30_000)
    old = [replace(each, protocol="http/1.1") for each in (document_request(), one, two)]
    first, second = simulated(old)[1:]
    assert second - first == pytest.approx(0.15 + 30_000 / 200_000, abs=1e-3)


def test_what_a_sheet_names_is_asked_for_when_the_page_can_be_laid_out() -> None:
    """A background image or a font is requested when every blocking sheet is there; only then is its use known."""
    small, large = (
        sheet(is_blocking=True, wire_bytes=1),
        request("b.css", Kind.STYLESHEET, is_blocking=True, wire_bytes=200_000),
    )
    font = request("a.woff2", Kind.FONT, start_s=0.25, initiator=f"{HERE}/a.css")
    found = simulated((document_request(), small, large, font))
    assert found[2] == pytest.approx(1.75 + STALL_S, abs=1e-3)
    assert found[3] == pytest.approx(1.9 + STALL_S, abs=1e-3)
    imported = request("c.css", Kind.STYLESHEET, start_s=0.25, initiator=f"{HERE}/a.css")
    assert simulated((document_request(), small, large, imported))[3] == pytest.approx(0.9, abs=1e-3)


def test_an_image_that_a_script_writes_into_the_page_comes_behind_the_script() -> None:
    """The browser names the document as the initiator."""
    script = request("a.js", Kind.SCRIPT, end_s=0.2, wire_bytes=200_000)
    image = request("a.png", start_s=0.4)
    ran = MainThread((Task(0.3, 0.11, 0.11),), (Evaluation(f"{HERE}/a.js", 0.3, 0.11, 0.11),))
    assert simulated((document_request(), script, image), ran)[2] == pytest.approx(
        1.75 + STALL_S + 4 * 0.1 + 0.15, abs=1e-3
    )
