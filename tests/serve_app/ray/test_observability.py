"""Metrics and traces of the service on a real Ray, with a deployment for each stage."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
import ray
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from serve_app.composition.wiring import Wiring
from serve_app.settings.service import ObservabilitySettings
from tests.serve_app.ray.ray_service import serving
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(600)

PORT = 8124
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
TRACED = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}
RIGHT = "SELECT count(*) AS n FROM employees"
REFUSED = "SELECT pg_sleep(1) FROM employees"


class Collector:
    """Receives traces by OTLP over HTTP."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Span] = []


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            message = ExportTraceServiceRequest.FromString(body)
            for resource in message.resource_spans:
                for scope in resource.scope_spans:
                    collector.spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}/v1/traces")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield collector
    server.shutdown()
    server.server_close()


def scrape() -> list[Sample]:
    """All samples of this machine's metrics endpoint."""
    node = ray.nodes()[0]
    url = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    families = text_string_to_metric_families(httpx.get(url, timeout=30).text)
    return [sample for family in families for sample in family.samples]


def find_value(name: str, **tags: str) -> float | None:
    """The value of a counter, gauge or histogram's count; None if it is not exported."""
    for sample in scrape():
        if sample.name in (f"ray_{name}", f"ray_{name}_total", f"ray_{name}_count") and (
            tags.items() <= sample.labels.items()
        ):
            return sample.value
    return None


def test_metrics_and_traces_of_questions(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_metrics_report_interval_ms", "1000")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
    with collecting() as collector:
        observability = ObservabilitySettings(traces_endpoint=collector.url)
        with serving(wiring, observability, fuse_cpu_stages=False, port=PORT) as url:
            body = {"question": RIGHT, "k": 2}
            answer = httpx.post(f"{url}/query", json=body, headers=TRACED, timeout=60)
            other = httpx.post(f"{url}/query", json={"question": REFUSED}, timeout=60)
            assert answer.json()["outcome"] == "answered"
            assert answer.headers["QuorumSQL-Trace-Id"] == TRACE_ID
            assert other.headers["QuorumSQL-Trace-Id"] != TRACE_ID

            check_spans(collector)
            check_metrics()


def check_spans(collector: Collector) -> None:
    trace_id = bytes.fromhex(TRACE_ID)

    def own() -> dict[str, list[Span]]:
        found: dict[str, list[Span]] = {}
        for span in [*collector.spans]:
            if span.trace_id == trace_id:
                found.setdefault(span.name, []).append(span)
        return found

    proxy = "proxy_http_request ingress POST /query"
    remote = "replica_handle_request retriever retrieve"
    names = ("retrieve", "plan", "generate", "assess", "vote")
    # Each process sends its own.
    awaited = {proxy, remote, "question", *names}
    assert wait_for(lambda: awaited <= own().keys()), sorted(own())
    spans = own()
    (question,) = spans["question"]
    attributes = {each.key: each.value for each in question.attributes}
    assert attributes["quorumsql.outcome"].string_value == "answered"
    stages = [spans[name][0] for name in names]
    assert {stage.parent_span_id for stage in stages} == {question.span_id}
    # The call of another deployment is part of the stage that makes it. A process sends its spans
    # as they end, and those around the question end after it.
    assert wait_for(lambda: find_parents(own(), remote)[-1:] == [proxy])
    parents = find_parents(own(), remote)
    assert parents.index("retrieve") < parents.index("question")


def find_parents(spans: dict[str, list[Span]], name: str) -> list[str]:
    """The names of the spans around the only one of this name, innermost first."""
    by_id = {span.span_id: span for each in spans.values() for span in each}
    (span,) = spans[name]
    parent = span.parent_span_id
    parents = []
    while parent in by_id:
        parents.append(by_id[parent].name)
        parent = by_id[parent].parent_span_id
    return parents


def check_metrics() -> None:
    awaited: list[tuple[str, dict[str, str], float]] = [
        (
            "quorumsql_questions",
            {"outcome": "answered", "database": "demo_erp", "deployment": "ingress"},
            1,
        ),
        ("quorumsql_stage_seconds", {"stage": "retrieve"}, 2),
        ("quorumsql_confidence", {"outcome": "answered"}, 1),
    ]
    # Reported once a second.
    for name, tags, value in awaited:
        assert wait_for(lambda: find_value(name, **tags) == value), (name, tags)  # noqa: B023
    assert find_value("quorumsql_queue") == 0
