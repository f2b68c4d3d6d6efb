"""Renders the part of a prompt between schema and question.

It consists of examples, evidence, values and definitions.

It differs from question to question, so it comes after the schema, which the prefix cache serves.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from nl2sql.prompts import render_text
from nl2sql.schema_text.view import SchemaView
from nl2sql.sql.names import quote_name
from nl2sql.types import Definition, FewShot, Plan, Question, SchemaContext, ValueMatch

_MOST_NOTES = 4


def render_example(example: FewShot) -> str:
    """One example, in the same form as the question and its answer."""
    text = render_text(
        "generation.prompts",
        "example",
        question=" ".join(example.question.split()),
        sql=example.sql.strip(),
    )
    return f"{text}\n\n"


def render_hints(question: Question, context: SchemaContext, left_out: Collection[str] = ()) -> str:
    """A line for each hint, without tables that are ``left_out``; empty if there are no hints."""
    names = {
        hit.table.qualified: name
        for hit, name in zip(context.tables, context.names, strict=True)
        if hit.table.qualified not in left_out
    }
    lines = [f"Hint: {question.evidence}"] if question.evidence else []
    shown = {
        f"{hit.table.qualified}.{column.name}"
        for hit in context.tables
        for column in hit.table.columns
    }
    lines += [
        render_value(match, names[match.table], context.dialect)
        for match in context.values
        if match.table in names
        and f"{match.table}.{match.column}" in shown
        # A line break would end the hint, and models do not write one in a literal.
        and match.value.isprintable()
    ]
    definitions = [
        render_definition(definition, brief=not context.is_whole)
        for definition in context.definitions
        if names.keys() >= set(definition.tables)
    ]
    if definitions:
        lines += ["Use these definitions:", *definitions]
    return "".join(f"{line}\n" for line in lines)


def render_notes(context: SchemaContext, plan: Plan, left_out: Collection[str] = ()) -> str:
    """A line with the description of each table and column that the question may mean.

    Empty for a database that is shown whole, since its schema includes the descriptions.
    """
    if context.is_whole:
        return ""
    view = SchemaView(context, left_out=frozenset(left_out))
    tables = {table.qualified: table for table in view.tables}
    keys = {(key.table, column) for key in view.keys for column in key.columns}
    # Definitions speak for themselves.
    links = (link for link in plan.links if link.method != "definition")
    meant = [(link.table, link.column) for link in links]
    meant += [(match.table, match.column) for match in context.values]
    meant += [(hit.table.qualified, column) for hit in view.hits for column in hit.columns]
    lines = []
    for name, column in dict.fromkeys(meant):
        table = tables.get(name)
        shown = table.column(column) if table and column else table
        # Keys are clear from their names and the schema.
        if table is None or shown is None or column in table.primary_key or (name, column) in keys:
            continue
        place, sql = (f"{name}.{column}", f".{view.quote(column)}") if column else (name, "")
        if descriptions := view.describe(place, shown.comment):
            lines.append(f"-- {view.name(name)}{sql}: {'; '.join(descriptions)}\n")
    return "".join(lines[:_MOST_NOTES])


def render_definition(definition: Definition, *, brief: bool) -> str:
    """The line for a definition that the question names; ``brief`` leaves its description out.

    >>> revenue = Definition(
    ...     "measure", "revenue", "turnover", "sum(orders.amt)", "orders.status <> 'CXL'",
    ...     ("sales.orders",), (), "", description="Value of orders")
    >>> render_definition(revenue, brief=False)
    "turnover (revenue): sum(orders.amt) WHERE orders.status <> 'CXL' -- Value of orders"
    """
    name = definition.name
    if definition.phrase != name:
        name = f"{definition.phrase} ({name})"
    condition = f"WHERE {definition.condition}" if definition.condition else ""
    text = " ".join(filter(None, (definition.expression, definition.joins, condition)))
    described = f" -- {definition.description}" if definition.description and not brief else ""
    return f"{name}: {text}{described}"


def render_value(match: ValueMatch, table: str, dialect: str) -> str:
    """The hint for a cell value that matches a phrase of the question, as a SQL literal.

    >>> match = ValueMatch("germany", "sales.customers", "country", "Germany", 1.0)
    >>> render_value(match, "customers", "postgres")
    'customers.country holds \\'Germany\\' (the question says "germany")'
    """
    value = match.value.replace("'", "''")
    phrase = "" if match.phrase == match.value else f' (the question says "{match.phrase}")'
    return f"{table}.{quote_name(match.column, dialect)} holds '{value}'{phrase}"


def choose_examples(examples: Mapping[str, int], room: int) -> tuple[str, ...]:
    """The texts, best first, that fit into ``room`` tokens together.

    >>> choose_examples({"a": 5, "b": 9, "c": 3}, 10)
    ('a', 'c')
    """
    chosen = []
    for text, tokens in examples.items():
        if tokens <= room:
            room -= tokens
            chosen.append(text)
    return tuple(chosen)
