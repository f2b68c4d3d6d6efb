"""The variables for Ray."""

from __future__ import annotations

from serve_app.ray.tracing import prepare_tracing
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
