"""OpenTelemetry spans for requests, deliveries, and scans with their probes.

An OTLP collector receives them.

Unless the settings call `start`, OpenTelemetry is not imported, and a span costs next to nothing. The trace ID of a
request and of its jobs is computed from the request's ID. So no column stores the trace ID, and the request's ID is
enough to find the trace.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from website_scan.tracing import set_tracer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.trace import Tracer

Attribute = str | int | float | bool

_tracer: Tracer | None = None
_provider: TracerProvider | None = None
# ID of the request whose span is being created. IdGenerator computes the trace ID from it.
_span_request_id: ContextVar[str] = ContextVar("_span_request_id", default="")


def start(service: str, version: str, processor: SpanProcessor | None = None) -> None:
    """Switch tracing on, in this process and in processes forked from it later.

    Sends spans in batches to `OTEL_EXPORTER_OTLP_ENDPOINT`, or to `processor`. Raises ImportError without the extra
    `otel`.
    """
    global _tracer, _provider
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class IdGenerator(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            return _trace_id(request_id) if (request_id := _span_request_id.get()) else super().generate_trace_id()

        def generate_span_id(self) -> int:
            return _span_id(request_id) if (request_id := _span_request_id.get()) else super().generate_span_id()

    resource = Resource.create({SERVICE_VERSION: version})
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):  # OTEL_SERVICE_NAME is not set.
        resource = resource.merge(Resource({SERVICE_NAME: service}))
    _provider = TracerProvider(resource=resource, id_generator=IdGenerator())
    _provider.add_span_processor(processor or _batch_processor())
    _tracer = _provider.get_tracer("website-scan-service")
    set_tracer(span)


def is_on() -> bool:
    """Return True if tracing is on."""
    return _tracer is not None


def stop() -> None:
    """Send the remaining spans to the collector, for 2 seconds at most."""
    if _provider is not None:
        _provider.force_flush(2_000)


@contextlib.contextmanager
def request_span(request_id: str) -> Iterator[dict[str, Attribute]]:
    """Create a request's span.

    The block adds attributes to the yielded dictionary, and the span's name as `name`.

    Tracing must be on.
    """
    attributes: dict[str, Attribute] = {}
    assert _tracer is not None
    token = _span_request_id.set(request_id)
    try:
        span = _tracer.start_span("request", kind=_span_kind("SERVER"))
    finally:
        _span_request_id.reset(token)
    with _current(span):
        try:
            yield attributes
        finally:
            span.update_name(str(attributes.pop("name", "request")))
            span.set_attributes(attributes)


@contextlib.contextmanager
def job_span(name: str, request_id: str, **attributes: Attribute) -> Iterator[None]:
    """Create a job's span, in the trace of the request that created the job.

    Does nothing if tracing is off.

    With an empty `request_id`, the job has a trace of its own.
    """
    if _tracer is None:
        yield
        return
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    context = None
    if request_id:
        flags = TraceFlags(TraceFlags.SAMPLED)
        parent = SpanContext(_trace_id(request_id), _span_id(request_id), is_remote=True, trace_flags=flags)
        context = set_span_in_context(NonRecordingSpan(parent))
    with _current(_tracer.start_span(name, context, kind=_span_kind("CONSUMER"), attributes=attributes)):
        yield


@contextlib.contextmanager
def span(name: str) -> Iterator[None]:
    """Create a span within the current span. Does nothing if tracing is off."""
    if _tracer is None:
        yield
    else:
        with _current(_tracer.start_span(name)):
            yield


def _current(span: Any) -> contextlib.AbstractContextManager[Any]:
    from opentelemetry.trace import use_span

    return use_span(span, end_on_exit=True, record_exception=False)


def _span_kind(name: str) -> Any:
    from opentelemetry.trace import SpanKind

    return SpanKind[name]


def _batch_processor() -> SpanProcessor:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return BatchSpanProcessor(OTLPSpanExporter())


def _trace_id(request_id: str) -> int:
    """Return a request's trace ID. This is the request ID if it is 32 hexadecimal digits, otherwise its hash."""
    if len(request_id) == 32 and set(request_id) <= set("0123456789abcdef"):
        return int(request_id, 16) or 1
    return int.from_bytes(hashlib.sha256(request_id.encode()).digest()[:16]) or 1


def _span_id(request_id: str) -> int:
    return int.from_bytes(hashlib.sha256(request_id.encode()).digest()[16:24]) or 1
