"""Traces through Ray Serve's own tracing, which carries a trace from its proxy to all replicas.

Ray sets up OpenTelemetry in every process and reads the client's ``traceparent``. It calls
``build_span_processors`` to learn where spans are sent; the exporter reads the standard variables
``OTEL_EXPORTER_OTLP_*``. Stages open their spans inside the trace.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from serve_app.settings.service import ObservabilitySettings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

# Ray Serve reads these two. The ``tracing_config`` of ``serve.start`` does not reach its proxy
# (Ray 2.60), which would ignore the client's trace.
_PROCESSORS_VARIABLE = "RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH"
_SAMPLING_VARIABLE = "RAY_SERVE_TRACING_SAMPLING_RATIO"
_PROCESSORS = "serve_app.ray.tracing:build_span_processors"
_ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"


def prepare_tracing(
    settings: ObservabilitySettings, environ: MutableMapping[str, str] = os.environ
) -> None:
    """Makes the Ray that is started next trace, or not, as the settings say."""
    if not settings.traces_endpoint:
        if environ.get(_PROCESSORS_VARIABLE) == _PROCESSORS:
            del environ[_PROCESSORS_VARIABLE]
        return
    environ[_PROCESSORS_VARIABLE] = _PROCESSORS
    # Where a request is not sampled, Ray draws again in the next process, and would send pieces of
    # traces. A collector can sample whole ones.
    environ[_SAMPLING_VARIABLE] = "1"
    environ[_ENDPOINT_VARIABLE] = settings.traces_endpoint


def build_span_processors() -> list[SpanProcessor]:
    """Ray Serve calls this in each of its processes."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return [BatchSpanProcessor(OTLPSpanExporter())]
