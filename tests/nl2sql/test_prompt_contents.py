"""What a context holds, and what is taken out of it; whole conversations: test_sent_data.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Column, Table
from nl2sql.prompts.contents import measure_context, reduce_context, reduce_table
from nl2sql.types import FewShot, Prompt, SchemaContext, ValueMatch
from tests.fakes import build_context, build_table

PLAIN = build_context(glosses=(("sales.orders.total", "also called revenue"),))
HOLDING_VALUES = {
    "match": replace(PLAIN, values=(ValueMatch("a", "sales.orders", "status", "A", 1.0),)),
    "example": replace(PLAIN, examples=(FewShot("How many?", "SELECT 1"),)),
    "enumeration": replace(PLAIN, glosses=(*PLAIN.glosses, ("sales.orders.status", "values: 'a'"))),
}


def test_names_and_glosses_of_names_are_schema() -> None:
    assert measure_context(PLAIN) == "schema"
    assert reduce_context(PLAIN, "schema") is PLAIN


@pytest.mark.parametrize("context", HOLDING_VALUES.values(), ids=HOLDING_VALUES)
def test_each_kind_of_data_is_taken_out(context: SchemaContext) -> None:
    assert measure_context(context) == "values"
    assert reduce_context(context, "schema") == PLAIN
    assert reduce_context(context, "values") is context


def test_the_values_of_a_type_are_taken_out() -> None:
    mood = build_table("s.t", "id int", "mood ENUM('good','bad')")
    assert [column.type for column in reduce_table(mood).columns] == ["int", "ENUM"]
    odd = Table("s", "u", (Column("a", "'odd'"), Column("b", "STRUCT(x ENUM('a', 'b'), y INT)")))
    assert all("'" not in column.type for column in reduce_table(odd).columns)


def test_a_prompt_without_a_label_may_hold_anything() -> None:
    assert Prompt("new", ()).contains == "rows"
