"""Calls with room for the frames of nested calls.

CPython stores the frames of Python functions in chunks of 16 KiB. It requests a chunk from the operating system when a
call does not fit into the last one, and returns the chunk when the call ends. If a loop happens to call functions at
such a border, each call costs system calls and page faults: pages took up to twice the processor time, depending on the
depth of the test's call stack. A function with a large frame gets a larger chunk, whose rest has room for all nested
calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# Chunks have a power of two bytes. A frame of just over 512 KiB gets 1 MiB, of which the other half is free. The pages
# of the large frame are never touched, so that it needs no memory.
STACK_SLOTS = 65_536


def _call(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    return function(*args, **kwargs)


_call.__code__ = _call.__code__.replace(co_stacksize=STACK_SLOTS)


def call_with_room(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call the function so that nested calls of up to 512 KiB of frames use one chunk."""
    return _call(function, *args, **kwargs)
