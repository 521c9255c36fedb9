"""Tests that a written recording is read as the same journey, and that any input is read in bounded time."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.journeys.recorded import CLICK, NAVIGATE, VIEWPORT, recording
from tests.website_scan.journeys.strategies import journeys
from website_scan.journeys.journey import MAX_STEPS, Journey, JourneyRefused
from website_scan.journeys.json_steps import MAX_RECORDING_BYTES
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.recorded_steps import READERS
from website_scan.journeys.recordings import read_recording, recording_of
from website_scan.journeys.words import states_in_words, step_in_words

KEYS = (
    "type", "target", "selectors", "frame", "value", "key", "url", "title", "steps", "timeout", "assertedEvents",
    "expression", "parameters", "name", "width", "height", "offsetX", "offsetY", "x", "y", "operator", "count",
    "visible", "attributes", "properties", "button", "duration", "websiteScan", "deviceScaleFactor",
)  # fmt: skip
TEXTS = st.text(max_size=10) | st.sampled_from(
    [
        "main",
        "aria/a",
        "https://a.example",
        "javascript:x",
        "{{password}}",
        "document.title === 'x'",
        "navigation",
        "Enter",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda items: st.lists(items, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | TEXTS, items, max_size=4),
    max_leaves=10,
)
STEPS = st.lists(
    st.builds(
        lambda kind, usual, others: {**usual, **others, "type": kind},
        st.sampled_from(sorted(READERS)),
        st.sampled_from([NAVIGATE, CLICK, VIEWPORT, {}]),
        st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3),
    ),
    max_size=4,
)
MAX_TIME_S = 2.0


def read_or_refuse(data: bytes | str) -> ReadJourney | None:
    """Read a recording. Returns None if it is refused; every other exception fails the test."""
    try:
        return read_recording(data)
    except JourneyRefused:
        return None


@given(journeys())
def test_written_recording_is_read_as_the_same_journey(journey: Journey) -> None:
    read = read_recording(json.dumps(recording_of(journey)))
    assert read == ReadJourney(journey)


@given(journeys())
def test_every_step_has_words(journey: Journey) -> None:
    sentences = [*map(step_in_words, journey.steps), states_in_words(journey)]
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)


@given(STEPS, st.booleans())
def test_recording_with_unusual_fields_is_read_or_refused(steps: list[Any], begins_with_page: bool) -> None:
    first = [NAVIGATE] if begins_with_page else []
    read = read_or_refuse(json.dumps({"title": "x", "steps": [*first, *steps]}))
    if read is not None:
        written = json.dumps(recording_of(read.journey))
        assert read_recording(written).journey == read.journey
        written.encode()


@given(JSON, JSON)
def test_any_json_is_read_or_refused(title: Any, steps: Any) -> None:
    read_or_refuse(json.dumps({"title": title, "steps": steps}))
    read_or_refuse(json.dumps(steps))


@given(st.binary(max_size=200) | st.text('{}[]":,a1\\ \n', max_size=200))
def test_any_text_is_read_or_refused(data: bytes | str) -> None:
    read_or_refuse(data)


@pytest.mark.parametrize(
    "data",
    [
        "[" * 50_000_000,
        b'{"title":' * 6_000_000,
        "[" * (MAX_RECORDING_BYTES - 10),
        '{"title": ' + "[" * 200_000,
        '{"title": "x", "steps": [' + '{"a":' * 50_000,
        '{"title": "x", "steps": [' + "{}," * 80_000 + "{}]}",
        '{"title": "x", "steps": [' + "9" * 200_000 + "]}",
        '{"title": "x", "steps": [{"type": "' + "a" * 200_000 + '"}]}',
    ],
    ids=["50 MB", "54 MB", "brackets", "deep value", "deep step", "many steps", "long number", "long kind"],
)
def test_giant_recording_is_refused_at_once(data: bytes | str) -> None:
    started = time.perf_counter()
    with pytest.raises(JourneyRefused) as refused:
        read_recording(data)
    assert time.perf_counter() - started < MAX_TIME_S
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "part",
    ["(" * 1900, "[" * 1900, "aria/" + "[name=" * 300, "a " * 950, "xpath/" + "/[" * 900, "{{" * 900, "[a=(" * 450],
)
def test_long_selectors_are_read_in_linear_time(part: str) -> None:
    step = {"type": "change", "value": "x", "selectors": [[part + str(number)] for number in range(20)]}
    data = recording(*[step] * 5)
    started = time.perf_counter()
    read_or_refuse(data)
    assert time.perf_counter() - started < MAX_TIME_S


@pytest.mark.parametrize("value", ["{{" * 2400, "{{a" * 1600, "1 " * 2400, "Aa1!" * 1200, "eyJ." * 1200, "4" * 4900])
def test_long_values_are_read_in_linear_time(value: str) -> None:
    step = {"type": "change", "value": value, "selectors": ["#field", "#password"]}
    data = recording(*[{**step, "value": value + str(number)} for number in range(MAX_STEPS - 1)])
    started = time.perf_counter()
    read_or_refuse(data)
    assert time.perf_counter() - started < MAX_TIME_S
