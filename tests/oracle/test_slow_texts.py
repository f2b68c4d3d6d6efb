"""Texts that once stopped the service, in all ways in which the service reads a text of SQL.

Nothing here looks at a clock. Before parsing was bounded, most of these took minutes to years.
Nor does anything need a database: the catalog is that of the fakes' shop, in each dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

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
from repair.autocorrect import autocorrect_query
from repair.normalize import normalize_dialect
from retrieval.examples.records import find_literals
from retrieval.search.keywords import read_draft
from tests.attacks.attack import ENGINES
from tests.fakes.builders import build_context, build_question
from tests.fakes.shop import SHOP

# A few characters more than the guard reads.
LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Shape:
    """A text of any length: a head, pieces to open, a middle, pieces to close.

    ``#`` in an opening is the number of the repetition.
    """

    head: str
    opening: str
    middle: str
    closing: str
    tail: str

    def build(self) -> str:
        """The text with as many repetitions as ``LONGEST`` characters hold."""
        room = LONGEST - len(self.head) - len(self.middle) - len(self.tail)
        opened: list[str] = []
        while room > 0:
            opened.append(self.opening.replace("#", str(len(opened))))
            room -= len(opened[-1]) + len(self.closing)
        opened = opened[:-1] or opened
        closed = self.closing * len(opened)
        return f"{self.head}{''.join(opened)}{self.middle}{closed}{self.tail}"[:LONGEST]


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
        "autocorrect": lambda sql: autocorrect_query(sql, context),
        "words": lambda sql: describe_query(sql, dialect),
        "draft": lambda sql: (has_new_names(sql, context), read_draft(sql, shop.catalog)),
        "masking": lambda sql: find_literals("How many orders?", sql, dialect),
    }


NESTED = ("DATE(", "STRUCT(", "DECIMAL(", "TIMESTAMP(", "VARCHAR(")
LONG = (
    Shape("SELECT CAST(id AS", "\n", "substring(a FROM ", ")", " FROM orders"),
    Shape("VALUES ", "a,@", "1", "]", "]"),
    Shape("SELECT 1 + ", "count(substring(a FROM ", "id", ") a", ""),
    Shape("SELECT o.id FROM ", "orders o#, ", "", "", "orders o"),
    Shape("SELECT ", "orders o#, ", "", "", "1 FROM orders o"),
    Shape("WITH a AS (SELECT id FROM orders), ", "a# AS (SELECT a.id FROM a AS b#, a), ", "", "",
          " b AS (SELECT 1) SELECT a.id FROM a"),
    Shape("SELECT ", "(", "1", ")", " FROM orders"),
    Shape("SELECT id FROM orders WHERE ", "id = 1 OR ", "", "", "true"),
    Shape("", "(", "", "", ""),
    Shape("SELECT ", "/*", "", "", ""),
    Shape("SELECT ", "$a#$", "", "", ""),
    Shape("WITH ", "[WITH ", "", "", ""),
)  # fmt: skip


@pytest.mark.parametrize("opening", NESTED)
@pytest.mark.parametrize("dialect", ENGINES)
def test_a_nest_of_type_words_is_refused(dialect: str, opening: str) -> None:
    shop = open_shop(dialect)
    verdict = guard_query(f"SELECT {opening * 17}1{')' * 17}", shop.access)
    assert isinstance(verdict, Violation)
    assert verdict.code == "unparsable"
    assert "too many ways" in verdict.message


@pytest.mark.parametrize("dialect", ENGINES)
def test_what_is_not_long_still_passes(dialect: str) -> None:
    shop = open_shop(dialect)
    for sql in (
        "SELECT CAST(CAST(CAST(total AS integer) AS integer) AS integer) FROM orders",
        f"SELECT id FROM orders WHERE id IN ({', '.join(map(str, range(1000)))})",
        "SELECT " + "(" * 12 + "id" + ")" * 12 + " FROM orders",
    ):
        assert isinstance(guard_query(sql, shop.access), GuardedQuery), sql[:60]


@pytest.mark.parametrize("shape", LONG, ids=lambda shape: repr(shape.opening))
@pytest.mark.parametrize("dialect", ENGINES)
def test_every_way_of_reading_ends(dialect: str, shape: Shape) -> None:
    for stage, read in build_stages(dialect).items():
        result = read(shape.build())
        assert stage != "guard" or isinstance(result, Violation)
