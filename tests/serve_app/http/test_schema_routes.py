"""Schemas over HTTP: what each principal may see of the demo, from the real index and database."""

from __future__ import annotations

import pytest

from tests.serve_app.page_service import PageService

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def list_tables(service: PageService, name: str, search: str = "") -> list[str]:
    """All tables that match, read page by page."""
    path = "/databases/demo_erp/tables"
    found = await service.list_all(name, path, "tables", search=search, limit=7)
    tables = [entry["table"] for entry in found]
    total = (await service.get(name, path, search=search))["total"]
    assert len(tables) == len(set(tables)) == total
    return tables


async def test_databases_are_those_that_a_principal_may_ask(service: PageService) -> None:
    found = {
        name: {each["name"]: each for each in (await service.get(name, "/databases"))["databases"]}
        for name in ("ada", "mia", "eve", "zoe")
    }
    assert {name: sorted(databases) for name, databases in found.items()} == {
        "ada": ["demo_erp", "second"],
        "mia": ["demo_erp", "second"],
        "eve": ["second"],
        "zoe": ["second"],
    }
    demo = found["ada"]["demo_erp"]
    assert (demo["description"], demo["dialect"]) == ("A made-up company.", "postgres")
    assert (demo["is_default"], found["ada"]["second"]["is_default"]) == (True, False)
    assert demo["tables"] > found["mia"]["demo_erp"]["tables"] > 0


async def test_two_principals_see_their_own_tables(service: PageService) -> None:
    everything, own = await list_tables(service, "ada"), await list_tables(service, "mia")
    assert set(own) < set(everything)
    assert "hr.payslips" in everything
    assert "hr.payslips" not in own
    assert await list_tables(service, "mia", "payslip") == []
    assert await list_tables(service, "ada", "payslip") != []
    # net_amt is a column of it.
    assert "hr.payslips" in await list_tables(service, "ada", "net_amt")
    assert await list_tables(service, "mia", "net_amt") == []


async def test_not_permitted_is_another_answer_than_nothing(service: PageService) -> None:
    for path in ("tables", "tables/hr.employees", "definitions", "suggestions"):
        response = await service.send("eve", "GET", f"/databases/demo_erp/{path}")
        assert (response.status_code, response.json()["code"]) == (403, "not_permitted")
    page = await service.get("mia", "/databases/demo_erp/tables", search="nothing has this name")
    assert page == {"tables": [], "next": None, "total": 0, "schemas": page["schemas"]}


@pytest.mark.parametrize("path", ["tables", "tables/hr.employees", "definitions", "suggestions"])
async def test_a_database_that_may_not_be_asked_is_unknown(service: PageService, path: str) -> None:
    response = await service.send("zoe", "GET", f"/databases/demo_erp/{path}")
    assert response.status_code == 404
    assert "hr." not in response.text
    assert (await service.send("", "GET", f"/databases/demo_erp/{path}")).status_code == 401


async def test_suggestions_are_verified_then_defined_then_made_from_visible_tables(
    service: PageService,
) -> None:
    question = "How many colleagues does Zacharias have?"
    body = {"question": question, "sql": "SELECT count(*) FROM employees", "verdict": "right"}
    for name, others in (("mia", ("noa", "ada", "max")), ("ada", ("mia", "noa"))):
        own = {**body, "question": f"{question} asks {name}"}
        response = await service.send(name, "POST", "/feedback", json=own)
        assert response.json()["outcome"] == "stored"
        shown = (await service.get(name, "/databases/demo_erp/suggestions"))["questions"]
        assert shown[0] == own["question"]
        assert shown[1].startswith("What is the ")
        assert len(shown) <= 8
        for other in others:
            found = await service.get(other, "/databases/demo_erp/suggestions")
            assert own["question"] not in found["questions"]
    for name in ("mia", "noa"):
        found = await service.get(name, "/databases/demo_erp/suggestions")
        assert len(found["questions"]) == 8
        assert "payslip" not in " ".join(found["questions"])


async def test_a_principal_browses_no_more_than_its_policy_shows(service: PageService) -> None:
    path = "/databases/demo_erp"
    columns, definitions = {}, {}
    for name in ("ada", "mia"):
        body = await service.get(name, f"{path}/tables/hr.employees")
        columns[name] = {column["name"]: column for column in body["columns"]}
        found = await service.get(name, f"{path}/definitions")
        definitions[name] = {
            each["name"]: each["tables"] for kind in found.values() for each in kind
        }
    # Values are for those who may see all rows.
    assert columns["ada"]["status"]["values"]
    assert not any(column["values"] for column in columns["mia"].values())
    assert [columns[name]["salary"]["is_masked"] for name in ("ada", "mia")] == [False, True]
    assert definitions["mia"].keys() < definitions["ada"].keys()
    assert set().union(*definitions["mia"].values()) <= set(await list_tables(service, "mia"))
    said = set()
    for table in ("hr.payslips", "payslips", "hr.invented"):
        response = await service.send("mia", "GET", f"{path}/tables/{table}")
        assert response.status_code == 404
        said.add(response.text.replace(table, "…"))
    assert len(said) == 1
