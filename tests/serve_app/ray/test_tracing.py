"""The variables for Ray, and what a span contains."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from serve_app.ray.tracing import RayTracer, find_tracer, prepare_tracing
from serve_app.settings.service import ObservabilitySettings

ENDPOINT = "http://localhost:4318/v1/traces"


def test_ray_traces_only_with_an_endpoint() -> None:
    environ: dict[str, str] = {}
    prepare_tracing(ObservabilitySettings(), environ)
    assert environ == {}
    prepare_tracing(ObservabilitySettings(traces_endpoint=ENDPOINT), environ)
    assert environ == {
        "RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH": "serve_app.ray.tracing:build_span_processors",
        "RAY_SERVE_TRACING_SAMPLING_RATIO": "1",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": ENDPOINT,
    }
    prepare_tracing(ObservabilitySettings(), environ)
    assert "RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH" not in environ


def test_an_operators_own_tracing_is_left_alone() -> None:
    environ = {"RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH": "mine:exporter"}
    prepare_tracing(ObservabilitySettings(), environ)
    assert environ == {"RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH": "mine:exporter"}


def test_without_tracing_there_is_no_tracer() -> None:
    assert find_tracer() is None


def test_a_span_names_an_error_without_its_message() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = RayTracer(provider.get_tracer("test"))

    def fail() -> None:
        with tracer.open_span("execute"):
            tracer.annotate({"quorumsql.outcome": "failed"})
            assert len(tracer.trace_id()) == 32
            raise ValueError("a secret value")

    with pytest.raises(ValueError, match="secret"):
        fail()
    (span,) = exporter.get_finished_spans()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "ValueError")
    assert (span.events, dict(span.attributes or {})) == ((), {"quorumsql.outcome": "failed"})
    assert tracer.trace_id() == ""
