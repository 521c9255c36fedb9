"""Tests for tracing of requests, scans and jobs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_django import Settings

from infrastructure.telemetry import tracing
from scans import tasks
from scans.models import Scan
from tests.factories import Member, make_result, make_scan

REQUEST_ID = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def recorded_spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    monkeypatch.setattr(tracing, "_tracer", None)
    monkeypatch.setattr(tracing, "_provider", None)
    exporter = InMemorySpanExporter()
    tracing.start("website-scan-service", "1.2.3", SimpleSpanProcessor(exporter))
    yield exporter
    tracing.stop()


def span_named(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    (span,) = (span for span in exporter.get_finished_spans() if span.name == name)
    return span


def test_request_span_is_named_after_its_route(db: None, recorded_spans: InMemorySpanExporter) -> None:
    Client().get("/report/secret", headers={"X-Request-ID": REQUEST_ID})
    span = span_named(recorded_spans, "GET /report/<any:scan_id>")
    assert span.context is not None
    assert f"{span.context.trace_id:032x}" == REQUEST_ID
    assert span.parent is None
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 302
    assert span.resource.attributes["service.name"] == "website-scan-service"
    assert "secret" not in str(span.to_json())


def test_scan_spans_belong_to_the_request_trace(
    home: Member, recorded_spans: InMemorySpanExporter, settings: Settings
) -> None:
    settings.SCAN_ALLOWED_NETWORKS = ()
    scan = make_scan(home, type="seo", url="http://nowhere.example.com/", request_id=REQUEST_ID)
    Client().get("/healthz", headers={"X-Request-ID": REQUEST_ID})
    tasks.run_scan(scan.id)
    request, visit = span_named(recorded_spans, "GET /healthz"), span_named(recorded_spans, "scan")
    assert request.context is not None
    assert visit.parent is not None
    assert (visit.parent.trace_id, visit.parent.span_id) == (request.context.trace_id, request.context.span_id)
    assert visit.attributes is not None
    assert (visit.attributes["scan"], visit.attributes["attempt"]) == (scan.id, 1)
    assert visit.context is not None
    probes = [span for span in recorded_spans.get_finished_spans() if span.name.startswith("probe ")]
    assert probes
    for probe in probes:
        assert probe.context is not None
        assert probe.parent is not None
        assert (probe.context.trace_id, probe.parent.span_id) == (visit.context.trace_id, visit.context.span_id)


def test_job_without_request_id_starts_new_trace(recorded_spans: InMemorySpanExporter) -> None:
    with tracing.job_span("delivery", "", delivery="dlv_1"):
        pass
    assert span_named(recorded_spans, "delivery").parent is None


def test_any_request_id_gives_a_valid_trace_id(recorded_spans: InMemorySpanExporter) -> None:
    for name in ("from-the-client", "0" * 32):
        with tracing.request_span(name):
            pass
        with tracing.job_span(name, name):
            pass
        assert span_named(recorded_spans, name).context.trace_id == tracing._trace_id(name) != 0


def test_requests_work_while_tracing_is_off(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not tracing.is_on()
    monkeypatch.setattr(
        tasks, "_visit", lambda claim, _: tasks._finish_with(claim, make_result(Scan.objects.get(id=claim.scan_id)))
    )
    tasks.run_scan(make_scan(home).id)
    assert Client().get("/healthz").status_code == 200
