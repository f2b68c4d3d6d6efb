"""Traces through Ray Serve's own tracing, which carries a trace from its proxy to all replicas.

Ray sets up OpenTelemetry in every process and reads the client's ``traceparent``. It calls
``build_span_processors`` to learn where spans are sent; the exporter reads the standard variables
``OTEL_EXPORTER_OTLP_*``. Stages open their spans inside the trace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode, format_trace_id

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


class RayTracer:
    """See ``ServiceTracer``. Spans contain class names of errors, never their messages."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def open_span(self, name: str) -> Iterator[None]:
        """See ``ServiceTracer.open_span``."""
        with self._tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def trace_id(self) -> str:
        """See ``ServiceTracer.trace_id``."""
        context = trace.get_current_span().get_span_context()
        return format_trace_id(context.trace_id) if context.is_valid else ""

    def annotate(self, attributes: dict[str, str | float]) -> None:
        """See ``ServiceTracer.annotate``."""
        trace.get_current_span().set_attributes(attributes)


def find_tracer() -> RayTracer | None:
    """A tracer if Ray Serve traces in this process, else None, so that tracing costs nothing."""
    from opentelemetry.sdk.trace import TracerProvider

    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        return None
    return RayTracer(provider.get_tracer("quorumsql"))
