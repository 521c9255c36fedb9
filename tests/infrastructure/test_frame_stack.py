"""Tests that calls with room need no memory from the operating system for their frames."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from infrastructure.frame_stack import call_with_room

CALLS = 300


def page_faults_of_calls(depth: int) -> int:
    """Return how many page faults many calls of a small function cause at this depth of the call stack."""
    if depth:
        return page_faults_of_calls(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for number in range(CALLS):
        add(number, number)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def add(one: int, other: int) -> int:
    return one + other


def most_page_faults(function: Callable[..., int], *args: object) -> int:
    """Return the largest number of page faults at any depth.

    A new thread has no frames yet. Those of a test are in a large chunk.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: max(function(*args, depth) for depth in range(300))).result()


def test_loop_at_any_depth_causes_few_page_faults() -> None:
    assert most_page_faults(call_with_room, page_faults_of_calls) < CALLS / 2


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="other implementations store frames differently")
def test_loop_at_the_border_of_a_chunk_causes_many_page_faults_without_room() -> None:
    """If this fails, Python has become better, and nothing needs `call_with_room` any more."""
    assert most_page_faults(page_faults_of_calls) >= CALLS


def test_arguments_results_and_exceptions_are_passed_on() -> None:
    assert call_with_room(int, "ff", base=16) == 255
    with pytest.raises(ZeroDivisionError):
        call_with_room(divmod, 1, 0)
