"""Every way in which the service reads a text of SQL, as functions of the text alone.

Nothing here needs a database: the catalog is that of the fakes' shop, spoken of in each dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from execution.guard.guard import guard_query
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from nl2sql.catalog import Catalog
from nl2sql.pipeline.draft_names import has_new_names
from nl2sql.sql.extraction import extract_sql
from nl2sql.sql.normal_form import normal_form
from nl2sql.types import (
    Candidate,
    Explained,
    GuardedQuery,
    Plan,
    Principal,
    SchemaContext,
    Violation,
)
from ranking.lint import lint_query
from ranking.query import read_candidate
from ranking.query_words import describe_query
from ranking.score.score import score_candidate
from repair.autocorrect import RULES, autocorrect_query
from repair.normalize import normalize_dialect
from repair.whitelist import find_risks, list_allowed, swapped_names
from retrieval.examples.masking import find_literals
from retrieval.search.keywords import read_draft
from tests.fakes.builders import build_context, build_question
from tests.fakes.shop import SHOP

DIALECTS = ("postgres", "sqlite", "duckdb")

POLICY: dict[str, Any] = {
    "version": 1,
    "database": "shop",
    "attributes": {"customer": {"type": "integer"}},
    "shared": ["sales.employees", "stock.products"],
    "roles": {
        "buyer": {
            "tables": {"visible": "*"},
            "row_filters": {"sales.customers": "id = :customer"},
            "inherit": {
                "sales.orders": {"columns": ["customer_id"], "references": "sales.customers"},
                "sales.order_lines": {"columns": ["order_id"], "references": "sales.orders"},
                "stock.returns": {
                    "columns": ["order_id", "line_no"],
                    "references": "sales.order_lines",
                },
            },
            "masked_columns": ["sales.customers.name"],
        }
    },
}
_PRINCIPAL = Principal("tester", ("buyer",), (("customer", 3),))


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop as one dialect has it, to one buyer."""

    catalog: Catalog
    access: Access
    context: SchemaContext


def open_shop(dialect: str) -> Shop:
    """The shop under a policy with filters over three hops."""
    catalog = replace(SHOP, dialect=dialect)
    access = CompiledPolicy(parse_policy(POLICY), catalog).access(_PRINCIPAL)
    assert not isinstance(access, Violation)
    return Shop(catalog, access, build_context(catalog, dialect=dialect))


def build_stages(dialect: str) -> Mapping[str, Callable[[str], object]]:
    """Every way in which a text is read on its way through the service."""
    shop = open_shop(dialect)
    context = shop.context
    question = build_question(text="How many orders of 'Ulm' are open since 2024?")

    def guard(sql: str) -> object:
        return guard_query(sql, shop.access)

    def assess(sql: str) -> object:
        query = read_candidate(sql, context)
        findings = lint_query(query) if query else ()
        guarded = GuardedQuery("shop", sql, ("sales.orders",))
        explained = Explained(cost=1.0, rows=1.0)
        return score_candidate(
            question, Candidate("c1", sql), query, guarded, explained, findings, context, Plan()
        )

    def correct(sql: str) -> object:
        return autocorrect_query(sql, context, Plan(), (*RULES, swapped_names))

    return {
        "guard": guard,
        "normal form": lambda sql: normal_form.__wrapped__(sql, dialect),
        "extraction": lambda sql: extract_sql(sql, dialect),
        "extraction from prose": lambda sql: extract_sql(
            f"The answer:\n{sql}\nThat is it.", dialect
        ),
        "lint and score": assess,
        "normalization": lambda sql: normalize_dialect(
            sql, dialect, tables=[hit.table for hit in context.tables]
        ),
        "autocorrect": correct,
        "whitelist": lambda sql: list_allowed(sql, context),
        "risks": lambda sql: find_risks("SELECT id FROM orders", sql, dialect),
        "words": lambda sql: describe_query(sql, dialect),
        "draft": lambda sql: (has_new_names(sql, context), read_draft(sql, shop.catalog)),
        "masking": lambda sql: find_literals("How many orders?", sql, dialect),
    }
