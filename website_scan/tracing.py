"""Tracing spans for the steps of a scan, if the service sets a tracer. Without a tracer they cost next to nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

Tracer = Callable[[str], AbstractContextManager[None]]

_tracer: Tracer | None = None


def trace_with(tracer: Tracer) -> None:
    """Set the tracer for all later spans. `tracer(step_name)` returns a context manager around the step."""
    global _tracer
    _tracer = tracer


def span(name: str) -> AbstractContextManager[None]:
    """Return a context manager around a step of the scan."""
    return contextlib.nullcontext() if _tracer is None else _tracer(name)
