"""Trying a fix: what is asked with it, what is lost, for whom; and that nothing is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.wiring import Wiring
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.http.test_review_routes import ACTIVE, COUNT, PAY, count_examples, judge
from tests.serve_app.page_service import PageService, open_page_service

pytestmark = pytest.mark.asyncio(loop_scope="module")

WRONG = "How many employees are with us?"
UNLIKE = "Zebra?"
ALL = "How many employees are there?"
DEFINED = "How many employees that are with us, past ones too?"
LONG = "SELECT employee_id, pay_month FROM payslips ORDER BY employee_id, pay_month"
DEFINITION = {"name": "with us", "expression": "employees.status = 'ACT'"}


class TaughtEngine(EchoEngine):
    """Counts the active ones once its prompt says what is active, else all."""

    async def sample(self, request: SamplingRequest) -> Completions:
        prompt = "".join(message.content for message in request.prompt.messages)
        query = ACTIVE if "'ACT'" in prompt else LONG if "gross_amt > 0" in prompt else COUNT
        return Completions((query,) * request.k, prompt_tokens=1, completion_tokens=1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(wiring: Wiring) -> AsyncIterator[PageService]:
    with pytest.MonkeyPatch.context() as patch:
        async with open_page_service(wiring, patch, TaughtEngine()) as service:
            yield service


async def affirm(service: PageService, name: str, question: str, sql: str = COUNT) -> None:
    body = {"question": question, "sql": sql, "verdict": "right"}
    assert (await service.send(name, "POST", "/feedback", json=body)).status_code == 200


async def list_exam(service: PageService, name: str, id_: str) -> dict[str, str]:
    """Question → id."""
    found = await service.get(name, f"/feedback/{id_}/exam")
    assert found["total"] == len(found["questions"])
    assert {each["sql"] for each in found["questions"]} <= {COUNT, PAY}
    return {each["question"]: each["id"] for each in found["questions"]}


async def try_fix(service: PageService, id_: str, **body: str) -> dict[str, Any]:
    response = await service.send("ada", "POST", f"/feedback/{id_}/trial", json=body)
    assert response.status_code == 200, response.text
    tried: dict[str, Any] = response.json()
    return tried


async def test_a_definition_is_tried_on_the_question_and_on_the_exam(service: PageService) -> None:
    id_ = await judge(service, "mia", WRONG, correction=ACTIVE)
    await affirm(service, "ada", ALL)
    await affirm(service, "ada", DEFINED)
    await affirm(service, "mia", "Who is no reviewer?")
    before = await count_examples(service)
    exam = await list_exam(service, "ada", id_)
    assert set(exam) == {ALL, DEFINED}
    own = await try_fix(service, id_, **DEFINITION)
    keep = own.pop("keep")
    assert "demo_erp/semantics.yaml`, below its heading" in keep
    assert "`quorumsql doctor demo_erp --definitions` checks it" in keep
    assert own == {
        "question": WRONG,
        "verdict": "right",
        "sql": ACTIVE,
        "reason": "",
        "example_shown": False,
        "definition": "filters:\n  with us: employees.status = 'ACT'\n",
    }
    assert (await try_fix(service, id_))["verdict"] == "wrong"
    told = {
        question: (await try_fix(service, id_, example=example, **DEFINITION))["verdict"]
        for question, example in exam.items()
    }
    assert told == {ALL: "right", DEFINED: "lost"}
    assert await count_examples(service) == before
    # Every question is recorded as the reviewer's.
    asked = [each.question for each in await service.read_audit() if each.principal == "ada"]
    assert asked.count(DEFINED) == 2


async def test_an_example_is_tried_as_if_it_were_stored(service: PageService) -> None:
    id_ = await judge(service, "mia", WRONG)
    await affirm(service, "ada", ALL)
    exam = await list_exam(service, "ada", id_)
    assert (await try_fix(service, id_, sql=ACTIVE))["verdict"] == "right"
    assert (await try_fix(service, id_, sql=ACTIVE, example=exam[ALL]))["verdict"] == "lost"
    assert (await try_fix(service, id_, sql=COUNT, example=exam[ALL]))["verdict"] == "right"
    # A question that is too unlike is not shown it.
    await affirm(service, "ada", UNLIKE)
    unlike = (await list_exam(service, "ada", id_))[UNLIKE]
    shown = {
        example: (await try_fix(service, id_, sql=ACTIVE, example=example))["example_shown"]
        for example in (exam[ALL], unlike)
    }
    assert shown == {exam[ALL]: True, unlike: False}
    # Without a right query nobody knows.
    assert (await try_fix(service, id_, **DEFINITION))["verdict"] == "unknown"


async def test_results_that_are_not_whole_are_not_called_right(service: PageService) -> None:
    id_ = await judge(service, "ada", "What is paid?", PAY)
    tried = await try_fix(service, id_, sql=LONG)
    assert tried["verdict"] == "unknown"
    assert tried["reason"] == "The right query has too many rows."
    # The first rows alone are the same.
    id_ = await judge(service, "ada", "What is paid?", PAY, correction=f"{LONG} LIMIT 1000")
    tried = await try_fix(service, id_, name="paid", expression="payslips.gross_amt > 0")
    assert tried["sql"] == LONG
    assert (tried["verdict"], tried["reason"]) == (
        "wrong",
        "Only the first part of its rows was read.",
    )


async def test_a_fix_is_tried_by_reviewers_on_what_they_may_ask(service: PageService) -> None:
    id_ = await judge(service, "mia", WRONG, correction=ACTIVE)
    hidden = await judge(service, "ada", "What is paid?", PAY)
    await affirm(service, "ada", ALL)
    await affirm(service, "ada", "What is paid in all?", PAY)
    exam = await list_exam(service, "ada", id_)
    assert len(exam) == 2
    assert set(await list_exam(service, "ravi", id_)) == {ALL}
    cases = [
        ("mia", id_, {}, 403),
        ("eve", id_, {}, 403),
        ("ravi", hidden, {}, 404),
        ("zoe", id_, {}, 404),
        ("ada", "invented", {}, 404),
        ("ravi", id_, {"example": exam["What is paid in all?"]}, 404),
        ("ravi", id_, {"name": "paid", "expression": "payslip.net_amt > 0"}, 422),
        ("ada", id_, {"name": "x", "expression": "1; DROP TABLE y"}, 422),
        # What feedback would refuse is tried on no question.
        ("ada", id_, {"sql": "SELECT (", "example": exam[ALL]}, 422),
        ("ada", id_, {"sql": "DROP TABLE x", "example": exam[ALL]}, 422),
        ("ada", id_, {"sql": "SELECT 'x'::int FROM employees", "example": exam[ALL]}, 422),
        ("ada", id_, {"name": "the", "expression": "employees.status = 'ACT'"}, 422),
    ]
    for name, entry, body, status in cases:
        response = await service.send(name, "POST", f"/feedback/{entry}/trial", json=body)
        assert (response.status_code, "payslips" in response.text) == (status, False), body
        if status in (403, 404) and not body:
            shown = await service.send(name, "GET", f"/feedback/{entry}/exam")
            assert shown.status_code == status
    # Of what the reviewer may not read, it tells no more than the reviewer wrote.
    refused = await service.send("ravi", "POST", f"/feedback/{id_}/trial", json={"sql": PAY})
    assert refused.status_code == 422
    assert "hr.payslips" not in refused.text
