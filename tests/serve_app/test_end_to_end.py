"""Everything real at once: HTTP, Ray Serve, the default engine and model, PostgreSQL, pgvector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from nl2sql.settings.pipeline import RankingSettings
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import is_ready, service_url
from serve_app.operations.preparation import pull_model
from serve_app.ray.running import run_application, stop_service
from serve_app.ray.starting import start_serve
from serve_app.settings import load_settings
from tests.conftest import ROOT

pytestmark = [pytest.mark.model, pytest.mark.timeout(900)]

QUESTION = "How many employees are currently active?"


@pytest.fixture(scope="module")
def url(wiring: Wiring) -> Iterator[str]:
    """The service with the weights of the repository's own cache, which ``make test`` fills."""
    cache = load_settings(ROOT / "quorumsql.yaml").home
    settings = wiring.settings.model_copy(update={"home": cache, "ranking": RankingSettings()})
    pull_model(settings)
    start_serve(settings)
    run_application(replace(wiring, settings=settings))
    yield service_url(settings)
    stop_service()


def ask(url: str, **body: Any) -> dict[str, Any]:
    response = httpx.post(f"{url}/query", json={"trace": True, **body}, timeout=300)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_question_becomes_guarded_sql_and_the_right_rows(url: str) -> None:
    assert is_ready(url)
    answer = ask(url, question=QUESTION, k=4)
    assert answer["outcome"] == "answered"
    gold = ask(url, question=QUESTION, k=1)
    if gold["outcome"] == "clarify":  # one sample may be too little to be sure
        gold = ask(url, question=QUESTION, chosen_sql=gold["interpretations"][0]["sql"])
    assert answer["rows"] == gold["rows"] == [[count_active_employees()]]
    trace = answer["trace"]
    assert sum(each["samples"] for each in trace["candidates"] if each["origin"] == "sample") <= 4
    assert trace["candidates"][0]["guarded_sql"].count('"hr"."employees"') == 1
    assert "hr.employees" in [table["table"] for table in trace["tables"]]
    generate = next(stage for stage in trace["stages"] if stage["stage"] == "generate")
    assert generate["prompt_tokens"] > 100


def count_active_employees() -> int:
    """The truth, from the rows themselves."""
    from data.demo_erp import read_tables

    for table in read_tables():
        if table.table == "hr.employees":
            status = table.columns.index("status")
            return sum(row[status] == "ACT" for row in table.rows)
    raise AssertionError("the demo has no employees")
