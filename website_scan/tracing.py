"""Tracing spans for the steps of a scan, if the service has set a tracer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager

Tracer = Callable[[str], AbstractContextManager[None]]

_tracer: Tracer | None = None


def set_tracer(tracer: Tracer) -> None:
    """Set the tracer of this process.

    `tracer(step_name)` returns a context manager around a step.
    """
    global _tracer
    _tracer = tracer


def span(name: str) -> AbstractContextManager[None]:
    """Return a context manager that traces a step of the scan."""
    return contextlib.nullcontext() if _tracer is None else _tracer(name)
