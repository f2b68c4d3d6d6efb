"""Questions about the database itself: answered without the model, with the asker's rights."""
# ruff: noqa: RUF001

from __future__ import annotations

from typing import Any

import pytest

from tests.serve_app.http.test_principals import Service, service

__all__ = ["service"]


async def ask(service: Service, name: str, question: str) -> dict[str, Any]:
    answer = await service.ask(name, question, answer_text="rule")
    assert answer["outcome"] == "answered", (answer.get("reason"), answer.get("attempts"))
    assert service.engine.prompts == []
    return answer


@pytest.mark.parametrize(
    "question", ["Show me all tables", "有哪些表？", "ما هي الجداول الموجودة في قاعدة البيانات؟"]
)
async def test_tables_are_those_that_one_may_see(service: Service, question: str) -> None:
    all_tables = await ask(service, "ada", question)
    assert [column["name"] for column in all_tables["columns"]] == [
        "table",
        "columns",
        "description",
    ]
    names = {row[0] for row in all_tables["rows"]}
    assert len(names) == 78
    mine = {row[0] for row in (await ask(service, "mia", question))["rows"]}
    assert "employees" in mine < names
    assert "customers" in names - mine


async def test_columns_of_a_table_that_one_may_not_see_are_not_listed(service: Service) -> None:
    listed = await ask(service, "ada", "What columns does payslips have?")
    assert "gross_amt" in {row[0] for row in listed["rows"]}
    refused = await service.ask("mia", "What columns does payslips have?")
    assert "gross_amt" not in repr(refused)


async def test_one_who_sees_nothing_learns_nothing(service: Service) -> None:
    answer = await service.ask("eve", "Show me all tables")
    assert (answer["outcome"], answer["code"]) == ("refused", "not_permitted")
