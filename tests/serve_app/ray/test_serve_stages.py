"""A deployment for each stage, on a real Ray: the same answers as from one replica; metrics.

Questions carry an API key, which Ray's proxy lets pass and the ingress looks up.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
import ray
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from nl2sql.types import Entitlement, Principal, UsageLimits
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from retrieval.index_store.credentials import ApiKeyStore
from serve_app.composition.wiring import Wiring
from serve_app.settings.identity import IdentitySettings
from serve_app.settings.service import AuditSettings, ObservabilitySettings, PageSettings
from tests.serve_app.ray.ray_service import serving
from tests.waiting import wait_for

pytestmark = pytest.mark.timeout(600)
COUNT = "SELECT count(*) AS n FROM employees"
REFUSED = "SELECT pg_sleep(1) FROM employees"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
TRACED = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}
NO_LIMITS = UsageLimits()
LIMITS = UsageLimits(requests_per_minute=5, tokens_per_day=10**9)


class Collector:
    """Receives traces by OTLP over HTTP."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Span] = []


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    """A collector on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            message = ExportTraceServiceRequest.FromString(body)
            for resource in message.resource_spans:
                for scope in resource.scope_spans:
                    received.spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    received = Collector(f"http://127.0.0.1:{server.server_port}/v1/traces")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield received
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def url(wiring: Wiring, collector: Collector) -> Iterator[str]:
    changed = {
        "identity": IdentitySettings(api_keys=True),
        "audit": AuditSettings(enabled=True),
        "page": PageSettings(operate_roles=("operator",)),
    }
    settings = wiring.settings.model_copy(update=changed)
    observability = ObservabilitySettings(traces_endpoint=collector.url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_metrics_report_interval_ms", "1000")
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        asked = replace(wiring, settings=settings)
        with serving(asked, observability, fuse_cpu_stages=False) as where:
            yield where


def make_key(
    wiring: Wiring, name: str, limits: UsageLimits = NO_LIMITS, *roles: str
) -> tuple[str, str]:
    """The id of a record, and its key."""

    async def make() -> tuple[str, str]:
        store = wiring.build_index_store()
        principal = Principal(name, roles, access=Entitlement(limits=limits))
        record, key = await ApiKeyStore(store).create(principal, valid_days=1)
        await store.close()
        return record.id, key

    return asyncio.run(make())


def revoke(wiring: Wiring, key_id: str) -> None:
    async def end() -> None:
        store = wiring.build_index_store()
        await ApiKeyStore(store).revoke(key_id)
        await store.close()

    asyncio.run(end())


async def read_audit(wiring: Wiring, key_id: str) -> list[AuditEntry]:
    """What is recorded of requests with the key."""
    store = wiring.build_index_store()
    entries = await AuditStore(store).read(most=1000)
    await store.close()
    return [entry for entry in entries if entry.key == key_id]


def ask(url: str, key: str, question: str, **options: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = {"question": question, **options}
    return httpx.post(f"{url}/query", json=body, headers=headers, timeout=60)


# -- metrics and traces ----------------------------------------------------------------------------


def test_metrics_and_traces_of_questions(url: str, wiring: Wiring, collector: Collector) -> None:
    """The first test here: it counts all questions."""
    _, key = make_key(wiring, "watched")
    headers = {"Authorization": f"Bearer {key}"}
    body = {"question": COUNT, "k": 2}
    answer = httpx.post(f"{url}/query", json=body, headers={**TRACED, **headers}, timeout=60)
    other = ask(url, key, REFUSED)
    assert answer.json()["outcome"] == "answered"
    assert answer.headers["QuorumSQL-Trace-Id"] == TRACE_ID
    assert other.headers["QuorumSQL-Trace-Id"] != TRACE_ID
    check_spans(collector)
    check_metrics()


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


# -- questions and routes --------------------------------------------------------------------------


def test_each_stage_in_a_deployment_of_its_own_answers_the_same(url: str, wiring: Wiring) -> None:
    key_id, key = make_key(wiring, "stages")
    answer = ask(url, key, COUNT, k=2, trace=True).json()
    refused = ask(url, key, REFUSED, trace=True).json()
    # Too long to be known to fit: its tokens are counted by the engine, over its handle.
    counted = ask(url, key, COUNT, evidence="word " * 799, trace=True).json()
    unknown = ask(url, key, "How many orders?", database="nowhere")
    assert answer["outcome"] == "answered"
    assert answer["trace"]["principal"] == "stages"
    assert answer["trace"]["candidates"][0]["votes"] == 2
    assert refused["trace"]["candidates"][0]["violation"]["code"] == "function_not_allowed"
    assert counted["trace"]["candidates"][0]["guard"] == "passed"
    assert counted["trace"]["left_out"] == []
    assert unknown.status_code == 404
    entries = asyncio.run(read_audit(wiring, key_id))
    assert [(entry.key, entry.outcome, entry.row_count) for entry in entries] == [
        (key_id, "answered", 1),
        (key_id, "failed", None),
        (key_id, "answered", 1),
        (key_id, "invalid", None),
    ]
    assert entries[0].sql == answer["trace"]["candidates"][0]["guarded_sql"]
    assert list(entries[0].tables) == ["hr.employees"]


def test_keys_and_limits_hold_behind_rays_proxy(url: str, wiring: Wiring) -> None:
    key_id, key = make_key(wiring, "limited", LIMITS)
    statuses = [ask(url, key, "SELECT 1 AS one").status_code for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2
    refused = ask(url, key, "SELECT 1 AS one")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert httpx.get(f"{url}/readyz").json() == {"ready": True}
    revoke(wiring, key_id)
    for wrong in (key, "", "qsql_" + "a" * 43, "other"):
        assert ask(url, wrong, "SELECT 1 AS one").status_code == 401


def test_the_routes_of_the_page_reach_the_stages(url: str, wiring: Wiring) -> None:
    _, key = make_key(wiring, "olga", NO_LIMITS, "operator")
    with httpx.Client(
        base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60
    ) as client:

        def get(path: str, **parameters: Any) -> Any:
            response = client.get(path, params=parameters)
            assert response.status_code == 200, response.text
            return response.json()

        names = {each["name"] for each in get("/databases")["databases"]}
        assert names == {"demo_erp", "second"}
        page = get("/databases/demo_erp/tables", search="employees", limit=1)
        assert page["tables"][0]["table"] == "hr.employees"
        assert get("/databases/demo_erp/tables", search="employees", after=page["next"])["tables"]
        wrong = client.get("/databases/demo_erp/tables", params={"after": "x"})
        assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "after")
        table = get("/databases/demo_erp/tables/hr.employees")
        assert any(column["values"] for column in table["columns"])
        assert client.get("/databases/demo_erp/tables/invented").status_code == 404
        assert get("/databases/demo_erp/definitions")["measures"] == []
        assert get("/databases/demo_erp/suggestions")["questions"]
        assert client.post("/run", json={"sql": COUNT}).json()["rows"]
        client.post("/query", json={"question": COUNT, "k": 1, "session": "page"})
        assert get("/conversations/page")["turns"][0]["question"] == COUNT
        assert client.delete("/conversations").json()["conversations"] == 1
