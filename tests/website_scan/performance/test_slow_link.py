"""Tests for simulated downloads on a slow link.

The expected times are computed by hand, for 200,000 bytes a second and a round trip of 0.15 s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.website_scan.browser.loads import HERE, document_request, request
from website_scan.browser.evidence import Evaluation, LoadedRequest, MainThread, Task
from website_scan.page.references import ResourceKind
from website_scan.performance.processor import Processor
from website_scan.performance.slow_link import BYTES_PER_S, MAX_REQUESTS, ROUND_TRIP_S, simulate_requests

Kind = ResourceKind
# A response larger than the connection's window waits for an acknowledgement.
STALL_S = 0.15 - 14_600 / 200_000


def stalled_time(end_s: float) -> float:
    """Return `end_s` plus the stall of a new connection.

    The connection has carried only one byte.
    """
    return round(end_s + STALL_S - 1 / 200_000, 4)


def simulate_end_times(requests: Sequence[LoadedRequest], work: MainThread = MainThread()) -> list[float]:  # noqa: B008
    """Return the simulated end times of the requests."""
    return [arrival.end_s for arrival in simulate_requests(requests, Processor(work)).arrivals]


def end_times_s(*requests: LoadedRequest, **document: Any) -> list[float]:
    """Return the end times of the document and the requests.

    They are rounded, because a document has at least one byte.
    """
    return [round(end_s, 4) for end_s in simulate_end_times((document_request(**document), *requests))]


def sheet(**others: Any) -> LoadedRequest:
    return request("a.css", Kind.STYLESHEET, **({"wire_bytes": 20_000} | others))


def test_simulation_without_requests_is_empty() -> None:
    assert simulate_end_times(()) == []


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"wire_bytes": 1}, 0.6),
        ({"wire_bytes": 0}, 0.6),
        ({"wire_bytes": 14_600}, 0.6 + 0.073),
        # A new connection may not send this many bytes in its first round trip.
        ({"wire_bytes": 200_000}, 0.6 + STALL_S + 1),
        ({"url": "http://site.example.com/"}, 0.45),
        ({"protocol": "http/1.1"}, 0.6),
        ({"redirects": 2}, 0.6 + 0.3),
        ({"wait_s": 0.4}, 0.6),  # This wait is only a round trip, without server time.
    ],
)
def test_document_end_time_is_simulated(document: dict[str, Any], expected: float) -> None:
    request = replace(document_request(), **document)
    assert simulate_end_times((request,))[0] == pytest.approx(expected, abs=1e-4)


def test_server_time_is_wait_beyond_round_trip() -> None:
    assert end_times_s(sheet(wait_s=0.1), wait_s=0.5) == [1.0, stalled_time(1.25)]


def test_style_sheet_is_requested_before_document_end() -> None:
    # From 0.825 s on, document and style sheet share the link equally.
    assert end_times_s(sheet(), wire_bytes=1) == [0.6, stalled_time(0.85)]
    # The style sheet gets half of the link, which delays the document.
    document, style = end_times_s(sheet(), wire_bytes=200_000)
    assert style < document == pytest.approx(0.6 + 220_000 / 200_000 + 0.15 - 14_600 / 200_000, abs=0.001)


def test_image_is_requested_after_document() -> None:
    assert end_times_s(request("a.png", wire_bytes=20_000), wire_bytes=200_000) == [1.677, 1.927]


TWELVE = [request(f"{number}.png", wire_bytes=10_000) for number in range(12)]


def test_http_2_images_arrive_together() -> None:
    assert end_times_s(*TWELVE) == [0.6] + [1.35] * 12


def test_http_1_images_wait_for_each_other() -> None:
    old = [replace(image, protocol="http/1.1") for image in TWELVE]
    # The first image uses the document's connection, and five wait 0.3 s for new ones. When two more images have
    # arrived on the first connection, the five end together, and the last four begin.
    expected = [0.6, 0.8, *[1.33] * 5, 1.0, 1.35, *[1.68] * 4]
    assert end_times_s(*old, protocol="http/1.1") == expected


def test_files_of_another_host_wait_for_connection() -> None:
    files = [request(f"https://cdn.example.org/{number}.png") for number in range(2)]
    assert end_times_s(*files) == [0.6, 1.2, 1.2]


def test_font_is_requested_after_style_sheet() -> None:
    font = request("a.woff2", Kind.FONT, start_s=0.25, initiator=f"{HERE}/a.css", wire_bytes=40_000)
    assert end_times_s(sheet(), font) == [0.6, stalled_time(0.85), stalled_time(1.2)]


@pytest.mark.parametrize(("pause_s", "expected"), [(0.09, 1.2), (0.3, 1.5), (60.0, 3.2), (-0.1, 1.2)])
def test_pause_after_initiator_is_limited(pause_s: float, expected: float) -> None:
    font = request("a.woff2", Kind.FONT, start_s=0.2 + pause_s, initiator=f"{HERE}/a.css#x", wire_bytes=40_000)
    assert end_times_s(sheet(), font)[2] == stalled_time(expected)


def test_inline_script_delays_image() -> None:
    immediate_image, delayed = request("a.png", Kind.IMAGE), request("a.png", Kind.IMAGE, start_s=0.7)
    document_end_s = document_request().end_s
    assert document_end_s is not None
    assert end_times_s(delayed)[1] == pytest.approx(end_times_s(immediate_image)[1] + 0.7 - document_end_s, abs=0.001)


def test_urgent_responses_get_a_larger_share() -> None:
    after_sheet: dict[str, Any] = {"start_s": 0.25, "initiator": f"{HERE}/a.css", "wire_bytes": 80_000}
    script, image = request("a.js", Kind.SCRIPT, **after_sheet), request("a.png", **after_sheet)
    # The script gets four fifths of the link.
    assert end_times_s(sheet(), script, image) == [0.6, stalled_time(0.85), stalled_time(1.5), stalled_time(1.8)]
    blocking = replace(image, is_blocking=True)
    assert end_times_s(sheet(), script, blocking) == [0.6, stalled_time(0.85), stalled_time(1.8), stalled_time(1.6)]


def test_requests_beyond_limit_end_last() -> None:
    many = [request(f"{number}.png", wire_bytes=1000) for number in range(450)]
    end_times = simulate_end_times((document_request(), *many))
    assert len(end_times) == 451
    assert set(end_times[MAX_REQUESTS:]) == {max(end_times)}
    assert max(end_times) == pytest.approx(0.75 + 399 * 1000 / BYTES_PER_S, abs=1e-3)


URLS = [f"{origin}/{number}" for origin in (HERE, "http://site.example.com", "https://b.example") for number in "123"]
ANY = st.builds(
    LoadedRequest,
    url=st.sampled_from([*URLS, "", "x", "wss://a/b"]),
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
    initiator=st.sampled_from([*URLS, "", "https://c.example/#a"]),
    is_blocking=st.booleans(),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ANY, min_size=1, max_size=40))
def test_end_times_are_not_faster_than_the_link(requests: list[LoadedRequest]) -> None:
    end_times = simulate_end_times(requests)
    assert end_times == simulate_end_times(requests)
    assert len(end_times) == len(requests)
    for logged, end_s in zip(requests, end_times, strict=True):
        assert math.isfinite(end_s)
        minimum_s = (1 + logged.redirects) * ROUND_TRIP_S + logged.wire_bytes / BYTES_PER_S
        assert end_s >= minimum_s * 0.999 - 0.001
    total_download_s = sum(max(logged.wire_bytes, 0) for logged in requests) / BYTES_PER_S
    assert max(end_times) >= total_download_s * 0.999


@settings(max_examples=100, deadline=None)
@given(st.lists(ANY, min_size=2, max_size=20))
def test_request_ends_after_its_initiator(requests: list[LoadedRequest]) -> None:
    end_times = simulate_end_times(requests)
    first: dict[str, int] = {}
    for index, logged in enumerate(requests):
        parent = first.get(logged.initiator.partition("#")[0], 0)
        if parent:
            assert end_times[index] > end_times[parent]
        first.setdefault(logged.url, index)


def test_script_request_waits_for_slow_processor() -> None:
    script = request("a.js", Kind.SCRIPT, end_s=0.2)
    data = request("data", Kind.OTHER, start_s=0.5, is_sent_by_script=True, initiator=f"{HERE}/a.js")
    work = MainThread((Task(0.3, 0.25, 0.25),), (Evaluation(f"{HERE}/a.js", 0.3, 0.25, 0.25),))
    idle = simulate_end_times((document_request(), script, data))
    busy = simulate_end_times((document_request(), script, data), work)
    # The script runs for 0.2 s before its request, and four times as long on the slow processor. The idle 0.1 s are
    # too short for a timer.
    assert idle[2] == pytest.approx(0.75 + 0.3 + 0.15, abs=1e-3)
    assert busy[2] == pytest.approx(0.75 + 4 * 0.2 + 0.15, abs=1e-3)


def test_preload_scanner_finds_images_early() -> None:
    image = request("a.png", start_s=0.5)
    work = MainThread((Task(0.1, 0.4, 0.4),))

    def requested_s(**places: float) -> float:
        positions = {f"{HERE}/a.{ending}": position for ending, position in places.items()}
        return simulate_requests((document_request(), image), Processor(work), positions).arrivals[1].requested_s

    assert requested_s(png=0.1) == pytest.approx(0.6, abs=1e-3)
    # URLs without a position come from a script or a style rule.
    assert requested_s() == pytest.approx(0.6 + 4 * 0.4, abs=1e-3)


def test_url_is_requested_when_its_markup_arrives() -> None:
    """Regression test: URLs were requested at the wrong time.

    Images waited for the end of the document, and scripts at its end were requested too early.
    """
    requests = document_request(wire_bytes=214_600), request("a.png"), request("b.js", Kind.SCRIPT)
    places = {f"{HERE}/a.png": 0.5, f"{HERE}/b.js": 0.9}
    arrivals = simulate_requests(requests, Processor(MainThread()), places).arrivals
    assert arrivals[1].requested_s == pytest.approx(0.75 + (107_300 - 14_600) / 200_000, abs=1e-3)
    assert arrivals[2].requested_s == pytest.approx(0.75 + (193_140 - 14_600) / 200_000, abs=1e-3)


def test_requests_follow_unload_of_previous_page() -> None:
    work = MainThread((Task(0.1, 0.05, 0.05),), parse_starts_s=(0.15,))
    arrivals = simulate_requests((document_request(), sheet()), Processor(work), {f"{HERE}/a.css": 0.1}).arrivals
    assert arrivals[1].requested_s == pytest.approx(0.6 + 4 * 0.05)


def test_style_sheets_get_connections_before_fonts() -> None:
    """The most urgent requests open new connections.

    The first requests use idle connections.
    """
    fonts = [request(f"{number}.woff2", Kind.FONT, wire_bytes=50_000) for number in range(6)]
    requests = [replace(logged, protocol="http/1.1") for logged in (document_request(), *fonts, sheet())]
    arrivals = simulate_requests(
        requests, Processor(MainThread()), {logged.url: 0.5 for logged in requests[1:]}
    ).arrivals
    assert arrivals[7].first_byte_s == pytest.approx(0.6 + 0.45, abs=1e-3)
    assert arrivals[6].first_byte_s > arrivals[7].first_byte_s  # The last font waits for a free connection.


def test_connections_share_the_link_equally() -> None:
    """Regression test: a style sheet got too much bandwidth.

    It was eight times that of images on other connections.
    """
    after_sheet: dict[str, Any] = {
        "start_s": 0.25,
        "initiator": f"{HERE}/a.css",
        "wire_bytes": 10_000,
        "protocol": "http/1.1",
    }
    end_times = end_times_s(
        sheet(), request("b.css", Kind.STYLESHEET, **after_sheet), request("a.png", **after_sheet), protocol="http/1.1"
    )
    assert end_times[3] - end_times[2] < 10_000 / 200_000 + 0.15


def test_grown_window_does_not_stall() -> None:
    one, two = sheet(), request("b.css", Kind.STYLESHEET, start_s=0.25, initiator=f"{HERE}/a.css", wire_bytes=30_000)
    old = [replace(logged, protocol="http/1.1") for logged in (document_request(), one, two)]
    first, second = simulate_end_times(old)[1:]
    assert second - first == pytest.approx(0.15 + 30_000 / 200_000, abs=1e-3)


def test_font_waits_for_all_blocking_sheets() -> None:
    """Browsers request a font once all blocking sheets have arrived.

    This also applies to background images, if they are certainly used.
    """
    small, large = (
        sheet(is_blocking=True, wire_bytes=1),
        request("b.css", Kind.STYLESHEET, is_blocking=True, wire_bytes=200_000),
    )
    font = request("a.woff2", Kind.FONT, start_s=0.25, initiator=f"{HERE}/a.css")
    end_times = simulate_end_times((document_request(), small, large, font))
    assert end_times[2] == pytest.approx(1.75 + STALL_S, abs=1e-3)
    assert end_times[3] == pytest.approx(1.9 + STALL_S, abs=1e-3)
    imported = request("c.css", Kind.STYLESHEET, start_s=0.25, initiator=f"{HERE}/a.css")
    assert simulate_end_times((document_request(), small, large, imported))[3] == pytest.approx(0.9, abs=1e-3)


def test_script_precedes_its_inserted_image() -> None:
    """The browser reports the document as the initiator of this image.

    In fact, the script inserts the image.
    """
    script = request("a.js", Kind.SCRIPT, end_s=0.2, wire_bytes=200_000)
    image = request("a.png", start_s=0.4)
    work = MainThread((Task(0.3, 0.11, 0.11),), (Evaluation(f"{HERE}/a.js", 0.3, 0.11, 0.11),))
    assert simulate_end_times((document_request(), script, image), work)[2] == pytest.approx(
        1.75 + STALL_S + 4 * 0.1 + 0.15, abs=1e-3
    )
