"""Packaged examples on a small separate schema, shown as earlier turns of the conversation.

For databases without examples. They are the same for every question, so they come before the
schema, and the engine's prefix cache serves them.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.prompts import render_text
from nl2sql.schema_text import Form, render_schema
from nl2sql.types import Message, RetrievedTable, SchemaContext

_SCHEMA = "library"


@cache
def render_worked_examples(dialect: str, form: Form) -> tuple[Message, ...]:
    """Questions and answers alternately; the first question follows the schema in ``form``."""
    content = yaml.safe_load(
        files("generation.prompts").joinpath("worked.yaml").read_text(encoding="utf-8")
    )
    schema = render_schema(_build_context(content["tables"], dialect), form=form, database=_SCHEMA)
    messages: list[Message] = []
    for example in content["examples"]:
        sql = example["sql"]
        question = render_text(
            "generation.prompts",
            "worked_question",
            schema=f"Schema:\n{schema}\n\n" if not messages else "",
            question=example["question"],
        )
        query = (sql if isinstance(sql, str) else sql[dialect]).strip()
        answer = render_text("generation.prompts", "worked_answer", sql=query)
        messages += [Message("user", question), Message("assistant", answer)]
    return tuple(messages)


def _build_context(tables: list[dict[str, Any]], dialect: str) -> SchemaContext:
    hits = tuple(
        RetrievedTable(
            Table(
                schema=_SCHEMA,
                name=table["name"],
                columns=tuple(Column(name, kind) for name, kind in table["columns"].items()),
                primary_key=tuple(table["key"]),
            ),
            score=1.0,
        )
        for table in tables
    )
    keys = tuple(
        ForeignKey("", f"{_SCHEMA}.{table['name']}", (column,), f"{_SCHEMA}.{target}", (theirs,))
        for table in tables
        for column, reference in table.get("references", {}).items()
        for target, theirs in [reference.split(".")]
    )
    return SchemaContext(hits, keys, tuple(hit.table.name for hit in hits), dialect=dialect)
