"""Review of wrong answers and the service's status: for whom, and what they are shown."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.answers import Clarify, Trace
from nl2sql.settings.pipeline import SessionSettings
from nl2sql.types import Interpretation, Principal
from retrieval.conversations import GuardedConversations
from retrieval.cursors import write_cursor
from tests.fakes import FakeGuard, build_question
from tests.serve_app.page_service import PRINCIPALS, PageService

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNT = "SELECT count(*) FROM employees"
ACTIVE = "SELECT count(*) FROM employees WHERE status = 'ACT'"
PAY = "SELECT sum(net_amt) FROM payslips"
OTHERS = ("mia", "noa", "cleo", "eve")


async def judge(
    service: PageService, name: str, question: str, sql: str = COUNT, **more: Any
) -> str:
    """The id of feedback that says that an answer is wrong."""
    body = {"question": question, "sql": sql, "verdict": "wrong", **more}
    response = await service.send(name, "POST", "/feedback", json=body)
    assert response.status_code in (200, 202), response.text
    id_: str = response.json()["id"]
    return id_


async def ask_back(service: PageService, name: str, question: str, *readings: str) -> None:
    """Stores a turn of a conversation that ended in a question to the person."""
    value = PRINCIPALS[name]
    attributes = tuple(value.get("attributes", {}).items())
    principal = Principal(name, tuple(value["roles"]), attributes)
    asked = build_question(text=question, database="demo_erp", principal=principal, session="s1")
    offered = tuple(Interpretation(sql, "", 0.5) for sql in readings)
    conversations = GuardedConversations(service.store, FakeGuard(), SessionSettings())
    await conversations.record(asked, Clarify("Which?", 0.4, offered, Trace(asked)))


async def list_entries(service: PageService, name: str, **parameters: Any) -> list[dict[str, Any]]:
    return await service.list_all(name, "/feedback", "entries", **parameters)


async def list_questions(service: PageService, name: str, **parameters: Any) -> list[str]:
    return [each["question"] for each in await list_entries(service, name, **parameters)]


# -- review ----------------------------------------------------------------------------------------


async def test_only_reviewers_work_through_wrong_answers(service: PageService) -> None:
    await judge(service, "mia", "How many?")
    (entry,) = await list_entries(service, "ada")
    for name in OTHERS:
        for response in (
            await service.send(name, "GET", "/feedback"),
            await service.send(name, "POST", f"/feedback/{entry['id']}/done"),
            await service.send(name, "POST", "/feedback/invented/done"),
        ):
            assert response.status_code == 403
            assert "How many" not in response.text
    assert (await service.send("", "GET", "/feedback")).status_code == 401
    assert [each["state"] for each in await list_entries(service, "ada")] == ["open"]


async def test_a_reviewer_sees_entries_whose_queries_the_guard_lets_pass(
    service: PageService,
) -> None:
    await judge(service, "ada", "What is paid?", PAY)
    corrected = await judge(service, "ada", "What is paid in all?", COUNT, correction=PAY)
    await judge(service, "ada", "How many?")
    assert await list_questions(service, "ada") == ["How many?", "What is paid?"]
    assert await list_questions(service, "ada", state="done") == ["What is paid in all?"]
    assert await list_questions(service, "ravi") == ["How many?"]
    assert await list_questions(service, "ravi", state="done") == []
    hidden = [
        each["id"] for each in await list_entries(service, "ada") if "paid" in each["question"]
    ]
    for id_ in (*hidden, corrected, "invented", "a%00b", "x" * 100):
        for method, path in (("POST", f"/feedback/{id_}/done"), ("DELETE", f"/feedback/{id_}")):
            response = await service.send("ravi", method, path)
            assert response.status_code == 404
    assert len(await list_entries(service, "ada")) == 2


async def test_a_question_without_a_query_is_reviewed_until_somebody_writes_one(
    service: PageService,
) -> None:
    asked = "How many employees are in department 31?"
    for name in ("mia", "noa"):
        await judge(service, name, asked, "")
    for reviewer in ("ada", "ravi"):
        entries = await list_entries(service, reviewer)
        assert {(each["sql"], each["cause"]) for each in entries} == {("", "other")}
        assert [each["given_by"] for each in entries] == ["noa", "mia"]
    assert "How many" not in (await service.send("zoe", "GET", "/feedback")).text
    right = {"question": asked, "verdict": "right"}
    assert (await service.send("ada", "POST", "/feedback", json=right)).status_code == 422
    await judge(service, "ada", asked, "", correction=COUNT)
    assert await list_questions(service, "ravi") == []
    (own, *_) = await list_entries(service, "ravi", state="done")
    assert (own["cause"], own["corrected_by"]) == ("table", "ada")
    assert (await service.ask("mia", asked)).get("verified") is None
    assert (await service.ask("ada", asked))["sql"] == COUNT


async def test_what_is_done_is_listed_as_done(service: PageService) -> None:
    for number in range(3):
        await judge(service, "mia", f"How many, {number}?")
    entries = await list_entries(service, "ada")
    done = await service.send("ada", "POST", f"/feedback/{entries[1]['id']}/done")
    assert (done.status_code, done.content) == (204, b"")
    assert await list_questions(service, "ada") == ["How many, 2?", "How many, 0?"]
    (closed,) = await list_entries(service, "ravi", state="done")
    assert (closed["question"], closed["state"]) == ("How many, 1?", "done")
    assert closed["reviewed_by"] == "ada"
    # It is wrong again.
    await judge(service, "mia", "How many, 1?")
    assert (await list_questions(service, "ada"))[0] == "How many, 1?"


async def test_the_gravest_comes_first_with_its_cause_and_a_fix(service: PageService) -> None:
    await judge(service, "mia", "How many are active?", correction=ACTIVE)
    await ask_back(service, "ada", "How many of them?", COUNT, ACTIVE)
    await ask_back(service, "ada", "How many with one reading?", COUNT)
    await judge(service, "mia", "How many in 31?")
    await judge(service, "mia", "How many?")
    found = await list_entries(service, "ada")
    assert [(each["kind"], each["cause"], each["question"]) for each in found] == [
        ("wrong", "other", "How many?"),
        ("wrong", "value", "How many in 31?"),
        ("asked_back", "other", "How many with one reading?"),
        # No reading of it is known to be right.
        ("asked_back", "other", "How many of them?"),
        ("corrected", "value", "How many are active?"),
    ]
    assert found[3]["fix"].startswith("Say which query is right")
    assert found[3].get("expression", "") == ""
    assert "to the synonyms of the value status: ACT. Synonyms are part of" in found[4]["fix"]
    assert "`databases.demo_erp.synonyms`, then `quorumsql index build demo_erp`" in found[4]["fix"]
    defined = {"name": "active", "expression": "employees.status = 'ACT'"}
    assert defined.items() <= found[4].items()
    assert await list_questions(service, "ada", state="done") == []
    # The cursor of another list.
    cursor = write_cursor("2026-01-01T00:00:00+00:00", "x")
    response = await service.send("ada", "GET", "/feedback", params={"after": cursor})
    assert response.status_code == 422


async def test_what_was_asked_back_is_shown_to_who_asked_until_it_is_settled(
    service: PageService,
) -> None:
    await ask_back(service, "mia", "Asked by mia?", COUNT)
    await ask_back(service, "ravi", "Asked by ravi?", COUNT, ACTIVE)
    await ask_back(service, "ravi", "Now hidden?", PAY, ACTIVE)
    assert await list_questions(service, "ada") == []
    (entry,) = await list_entries(service, "ravi")
    assert (entry["question"], entry["given_by"]) == ("Asked by ravi?", "ravi")
    for method, path in (
        ("POST", f"/feedback/{entry['id']}/done"),
        ("DELETE", "/feedback/asked-1"),
    ):
        assert (await service.send("ravi", method, path)).status_code == 404
    response = await service.send("mia", "GET", "/feedback")
    assert response.status_code == 403
    await judge(service, "ravi", "Asked by ravi?", correction=ACTIVE)
    assert await list_questions(service, "ravi") == []


# -- corrections -----------------------------------------------------------------------------------


async def count_examples(service: PageService) -> int:
    async with service.store.connection() as connection:
        cursor = await connection.execute("SELECT count(*) FROM quorumsql.examples")
        row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def test_a_correction_by_a_reviewer_closes_what_it_corrects(service: PageService) -> None:
    await judge(service, "mia", "How many?")
    await judge(service, "noa", "How many?", correction="SELECT 2 FROM employees")
    await judge(service, "mia", "How many more?")
    id_ = await judge(service, "ada", "How many?", correction=ACTIVE)
    assert await list_questions(service, "ada") == ["How many more?"]
    closed = await list_entries(service, "ada", state="done")
    assert {each["given_by"]: each["corrected_by"] for each in closed} == {
        "mia": "ada",
        "noa": "ada",
        "ada": "ada",
    }
    # Taken back, they are open again, and the example is gone.
    assert await count_examples(service) == 2
    response = await service.send("ada", "DELETE", f"/feedback/{id_}")
    assert (response.status_code, response.content) == (204, b"")
    assert await count_examples(service) == 1
    assert sorted(await list_questions(service, "ada")) == [
        "How many more?",
        "How many?",
        "How many?",
    ]
    assert await list_entries(service, "ada", state="done") == []
    assert (await service.send("ada", "DELETE", f"/feedback/{id_}")).status_code == 404


async def test_a_reviewer_closes_nothing_of_others_that_it_is_not_shown(
    service: PageService,
) -> None:
    await judge(service, "ada", "What is paid?", PAY)
    await judge(service, "ravi", "What is paid?", PAY)
    await judge(service, "ravi", "What is paid?", PAY, correction=COUNT)
    found = {each["given_by"]: each["correction"] for each in await list_entries(service, "ada")}
    assert found == {"ada": "", "ravi": COUNT}


async def test_feedback_is_taken_back_by_its_giver_and_by_reviewers(service: PageService) -> None:
    id_ = await judge(service, "mia", "How many?", correction=ACTIVE)
    # cleo sees the same as mia, but is not mia.
    for name in ("noa", "cleo", "eve", "zoe"):
        for path in (f"/feedback/{id_}", "/feedback/invented"):
            response = await service.send(name, "DELETE", path)
            assert response.status_code == 404
            assert "How many" not in response.text
    assert (await service.send("", "DELETE", f"/feedback/{id_}")).status_code == 401
    assert await count_examples(service) == 1
    assert (await service.send("ravi", "DELETE", f"/feedback/{id_}")).status_code == 204
    assert await count_examples(service) == 0
    entries = [entry for entry in await service.read_audit() if "withdraw" in entry.question]
    assert (entries[-1].principal, entries[-1].question) == ("ravi", f"withdraw_feedback: {id_}")


async def test_right_answers_and_other_databases_are_listed_on_their_own(
    service: PageService,
) -> None:
    await judge(service, "ada", "Wrong?")
    right = {"question": "Right?", "sql": COUNT, "verdict": "right"}
    await service.send("ada", "POST", "/feedback", json=right)
    await judge(service, "ada", "Second?", "SELECT 1 FROM departments", database="second")
    assert await list_questions(service, "ada", verdict="right") == ["Right?"]
    assert await list_questions(service, "ada", database="second") == ["Second?"]
    # zoe may ask the other database only.
    assert await list_questions(service, "zoe") == ["Second?"]
    response = await service.send("zoe", "GET", "/feedback", params={"database": "demo_erp"})
    assert response.status_code == 404


IN_FINANCE = {
    "question": "How many employees are there in Finance?",
    "sql": "SELECT count(*) FROM employees e JOIN departments d USING (department_id) "
    "WHERE d.name = 'Finance'",
    "verdict": "right",
}


async def test_a_reviewer_makes_parameters_of_the_values_of_a_right_query(
    service: PageService,
) -> None:
    asked = IN_FINANCE
    given = (await service.send("ada", "POST", "/feedback", json=asked)).json()
    (proposed,) = given["parameters"]
    assert proposed == {
        "name": "department",
        "phrase": "Finance",
        "type": "text",
        "column": "hr.departments.name",
        "literal": "'Finance'",
        "chosen": False,
    }
    assert given["marked"].endswith("d.name = :department")
    assert given["withheld"] == []
    marked = asked | {"parameters": ["department"]}
    known = given | {"outcome": "known", "parameters": [proposed | {"chosen": True}]}
    assert (await service.send("ada", "POST", "/feedback", json=marked)).json() == known
    assert (await service.send("ada", "POST", "/feedback", json=asked)).json() == known
    answer = await service.ask("ada", "How many employees are there in Sales?")
    assert answer["verified"]["label"].startswith("Verified by ada")
    assert answer["verified"]["label"].endswith("with department Sales")
    assert "'Sales'" in answer["sql"]
    # No reviewer: nothing is proposed, and nothing is marked.
    shown = await service.send("mia", "POST", "/feedback", json=asked)
    assert shown.json().get("parameters", []) == []
    assert (await service.send("mia", "POST", "/feedback", json=marked)).status_code == 422
    odd = asked | {"parameters": ["salary"]}
    assert (await service.send("ada", "POST", "/feedback", json=odd)).status_code == 422
    wrong = await service.send("ada", "POST", "/feedback", json=marked | {"verdict": "wrong"})
    assert (wrong.status_code, "Send its correction" in wrong.text) == (422, True)
    assert await list_questions(service, "ada") == []


async def test_a_reviewer_sees_and_withdraws_the_verified_query_behind_a_wrong_answer(
    service: PageService,
) -> None:
    given = IN_FINANCE | {"parameters": ["department"]}
    id_ = (await service.send("ada", "POST", "/feedback", json=given)).json()["id"]
    asked = "How many employees are there in Sales?"
    answer = await service.ask("ada", asked)
    await judge(service, "mia", asked, answer["sql"])
    await judge(service, "mia", "How many?")
    other, entry = await list_entries(service, "ravi")
    assert other["verified"] is None
    source = entry["verified"]
    assert source["question"] == "How many employees are there in :department?"
    assert (source["given_by"], source["feedback"]) == ("ada", id_)
    # It is also listed among the right ones.
    (right,) = await list_entries(service, "ravi", verdict="right")
    assert (right["id"], right["verified"]) == (id_, source)
    # Of a query for other roles a reviewer learns nothing.
    async with service.store.connection() as connection:
        await connection.execute("UPDATE quorumsql.examples SET roles = '{analyst}'")
    assert (await list_entries(service, "ravi"))[1]["verified"] is None
    assert (await list_entries(service, "ada"))[1]["verified"] == source
    assert (await service.send("ravi", "DELETE", f"/feedback/{id_}")).status_code == 204
    assert (await list_entries(service, "ravi"))[1]["verified"] is None
    assert (await service.ask("ada", asked)).get("verified") is None


async def test_what_was_called_wrong_since_is_no_verified_query(service: PageService) -> None:
    for question in ("How many?", "How many of us?"):
        right = {"question": question, "sql": COUNT, "verdict": "right"}
        await service.send("ada", "POST", "/feedback", json=right)
    await judge(service, "ada", "How many?")
    found = await list_entries(service, "ravi", verdict="right")
    assert {each["question"]: each["verified"] is not None for each in found} == {
        "How many?": False,
        "How many of us?": True,
    }


async def test_the_feedback_behind_a_wrong_answer_is_that_which_gave_its_query(
    service: PageService,
) -> None:
    given = {}
    for sql in (COUNT, ACTIVE):
        right = {"question": "How many?", "sql": f"{sql};", "verdict": "right"}
        given[sql] = (await service.send("ada", "POST", "/feedback", json=right)).json()["id"]
        await judge(service, "mia", "How many?", sql)
    found = await list_entries(service, "ravi")
    assert {each["sql"]: each["verified"]["feedback"] for each in found} == given
