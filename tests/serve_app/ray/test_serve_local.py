"""The application in Serve's local testing mode: every stage a deployment, all in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from ray import serve

from nl2sql.errors import InvalidRequest
from nl2sql.types import Principal, TableDescriptions
from quorumsql.contract import FeedbackRequest, QueryRequest
from serve_app.composition.wiring import Wiring
from serve_app.ray.builder import build_application
from serve_app.ray.remote import RemoteStage
from serve_app.ray.replicas import StageReplica, build_executor, build_retrieval
from tests.serve_app.echo_replica import EchoReplica


@pytest.fixture(scope="module", params=[True, False], ids=["fused", "a deployment a stage"])
def ingress(wiring: Wiring, request: pytest.FixtureRequest) -> Any:
    changed = {"fuse_cpu_stages": request.param}
    serving = wiring.settings.serve.model_copy(update=changed)
    settings = wiring.settings.model_copy(update={"serve": serving})
    engine = serve.deployment(EchoReplica, name="engine").bind()
    application = build_application(replace(wiring, settings=settings), engine)
    return serve.run(application, _local_testing_mode=True)


def ask(ingress: Any, question: str, **options: Any) -> Any:
    request = QueryRequest(question=question, **options)
    return ingress.query.remote(request, Principal("local")).result()


def test_all_replicas_share_a_session(ingress: Any) -> None:
    first = ask(ingress, "SELECT count(*) FROM employees", session="local-test")
    again = ask(ingress, "And of those?", session="local-test")
    other = ask(ingress, "And of those?", session="another-test")
    assert [each.trace.notes for each in (first, again, other)] == [(), (), ()]
    # The engine echoes what makes no whole question; without earlier turns it is not asked.
    assert [each.trace.rewriting.method for each in (first, again, other)] == ["", "kept", ""]


def test_a_right_answer_is_an_example_for_the_next_question(ingress: Any) -> None:
    sql = "SELECT count(*) FROM knowledge_articles"

    def say(verdict: Literal["right", "wrong"]) -> str:
        request = FeedbackRequest(question=sql, sql=sql, verdict=verdict)
        return str(ingress.feedback.remote(request, Principal("local")).result().outcome)

    assert say("right") == "stored"
    assert say("right") == "known"
    examples = ask(ingress, sql).trace.context.examples
    assert [example.sql for example in examples] == [sql]
    assert say("wrong") == "removed"
    assert ask(ingress, sql).trace.context.examples == ()
    request = FeedbackRequest(question="q", sql="SELECT pg_sleep(1)", verdict="right")
    with pytest.raises(InvalidRequest, match="pg_sleep"):
        ingress.feedback.remote(request, Principal("local")).result()


async def test_descriptions_cross_the_handle(wiring: Wiring) -> None:
    executor = serve.deployment(StageReplica, name="executor").bind(build_executor, wiring)
    retriever = serve.deployment(StageReplica, name="retriever")
    handle = serve.run(retriever.bind(build_retrieval, wiring, executor), _local_testing_mode=True)
    retrieval, local = RemoteStage("retriever", handle), Principal("local")
    names = ("demo_erp", "second")
    assert await retrieval.list_admitted(names, local) == names
    found = await retrieval.describe_tables("demo_erp", ("employees",), local, 5)
    assert isinstance(found, TableDescriptions)
    assert found.tables[0].qualified == "hr.employees"
    assert await retrieval.list_examples("second", local) == ()
