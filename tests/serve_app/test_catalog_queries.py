"""The queries about the database itself pass the guard and run on all three databases."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog
from retrieval.search.catalog_questions import find_tables, read_request, write_query
from tests.fakes.shop import build_key, build_table
from tests.serve_app.interfaces import Interfaces
from tests.serve_app.test_shown_policy import ENGINES, interfaces

__all__ = ["interfaces"]

pytestmark = pytest.mark.asyncio(loop_scope="module")

STAFF = build_table(
    "main.staff", "id integer", "name text -- Who 'they' are", "region integer", key=("id",)
)
TASKS = build_table("main.tasks", "id integer", "staff_id integer", key=("id",))
KEYS = (build_key("main.tasks(staff_id)", "main.staff(id)"),)


QUESTIONS: dict[str, list[list[object]]] = {
    "Show me all tables": [["staff", 3], ["tasks", 2]],
    "What does the column name mean?": [["staff", "name", "text", "Who 'they' are"]],
    "What columns does tasks have?": [["id", "integer"], ["staff_id", "integer"]],
    # One of the two is kept from mia.
    "How many rows are in staff?": [[1]],
    "How big is the database?": [["staff", 1], ["tasks", 1]],
}


async def test_they_run_within_the_policy(interfaces: Interfaces) -> None:
    for dialect in ENGINES:
        catalog = Catalog("shop", (STAFF, TASKS), KEYS, search_path=("main",), dialect=dialect)
        for question, rows in QUESTIONS.items():
            request = read_request(question)
            assert request is not None
            query = write_query(request, find_tables(request, catalog), catalog, ())
            assert query is not None
            # Of the model a query without tables would be asked back.
            body = {"question": question, "chosen_sql": query.sql, "database": dialect}
            answer = (await interfaces.send("mia", "/query", body)).json()
            assert answer.get("rows") == rows, (dialect, question, answer)
