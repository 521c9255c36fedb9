"""Calls with room for the frames of nested calls (ADR 38)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Size of a frame of just over 512 KiB. CPython then allocates a chunk of 1 MiB, of which nested calls get the rest. The
# operating system provides no memory for the frame's unused slots.
STACK_SLOTS = 65_536


def call_with_room(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call the function, and store the frames of nested calls in one chunk of memory of up to 512 KiB.

    CPython stores frames in chunks of 16 KiB. It requests a chunk from the operating system when a frame does not fit
    into the last one, and returns it when the call ends. A loop whose calls begin at such a border needs several times
    as long.
    """
    return function(*args, **kwargs)


call_with_room.__code__ = call_with_room.__code__.replace(co_stacksize=STACK_SLOTS)
