"""Lint and notes on a real database: the demo's golds, and a principal's rows."""

from __future__ import annotations

import json

from data.demo_erp import EXAMPLES, QUESTIONS
from nl2sql.catalog import Catalog
from ranking.lint import lint_query
from ranking.query import Query, read_query
from serve_app.composition.wiring import Wiring


def read(sql: str, catalog: Catalog) -> Query:
    query = read_query(sql, "postgres", catalog.tables, catalog.foreign_keys)
    assert query is not None
    return query


def test_no_rule_hits_a_gold_of_the_demo(wiring: Wiring) -> None:
    catalog = wiring.source("demo_erp").read_catalog()
    lines = [*QUESTIONS.read_text("utf-8").splitlines(), *EXAMPLES.read_text("utf-8").splitlines()]
    golds = [case.get("query") or case["sql"] for case in map(json.loads, lines)]
    assert {sql: lint_query(read(sql, catalog)) for sql in golds} == dict.fromkeys(golds, ())
