"""Spans of a scan's steps, for a service that traces its requests; without one they cost next to nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

Tracer = Callable[[str], AbstractContextManager[None]]

_tracer: Tracer | None = None


def trace_with(tracer: Tracer) -> None:
    """Have every span made by `tracer` from now on: called with the step's name, it returns what encloses the step."""
    global _tracer
    _tracer = tracer


def span(name: str) -> AbstractContextManager[None]:
    """Enclose a step of the scan."""
    return contextlib.nullcontext() if _tracer is None else _tracer(name)
