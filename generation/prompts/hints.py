"""What stands between the schema and the question: examples, evidence, cell values, the plan.

All of it changes from question to question; so it comes after the schema, which does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from nl2sql.prompts import render_text
from nl2sql.schema_text.view import SchemaView
from nl2sql.sql.names import quote_name
from nl2sql.types import FewShot, Plan, Question, SchemaContext, ValueMatch

_MOST_LINKS_SHOWN = 8
_MOST_NOTES = 8


def render_example(example: FewShot) -> str:
    """One example, in the very form of the question and its answer."""
    text = render_text(
        "generation.prompts",
        "example",
        question=" ".join(example.question.split()),
        sql=example.sql.strip(),
    )
    return f"{text}\n\n"


def render_hints(
    question: Question, context: SchemaContext, plan: Plan, left_out: Collection[str] = ()
) -> str:
    """A line for each hint, but for tables that are ``left_out``; empty where there is none."""
    names = {
        hit.table.qualified: name
        for hit, name in zip(context.tables, context.names, strict=True)
        if hit.table.qualified not in left_out
    }
    columns = [
        f"{names[link.table]}.{link.column}"
        for link in plan.links.links
        if link.column and link.table in names
    ][:_MOST_LINKS_SHOWN]
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
        # A line break would end the hint, and no query of a model spells one.
        and match.value.isprintable()
    ]
    rules = [(names[table], told) for table, told in context.row_rules if table in names]
    if rules:
        lines.append(
            "Already limited to the rows that the user may see, add no filter for it: "
            + ", ".join(f"{table} ({told})" if told else table for table, told in rules)
        )
    if columns:
        lines.append(f"Columns that may matter: {', '.join(columns)}")
    if plan.joins.skeleton:
        lines.append(f"Tables join like this, where needed:\n{plan.joins.skeleton}")
    return "".join(f"{line}\n" for line in lines)


def render_notes(
    context: SchemaContext, plan: Plan, left_out: Collection[str] = (), *, comments: bool = True
) -> str:
    """What the database says of the tables and columns that the question may mean, a line each.

    Of a database that is shown whole nothing: its schema says it.
    """
    if context.is_whole:
        return ""
    view = SchemaView(context, left_out=frozenset(left_out), comments=comments)
    tables = {table.qualified: table for table in view.tables}
    keys = {(key.table, column) for key in view.keys for column in key.columns}
    meant = [(link.table, link.column) for link in plan.links.links]
    meant += [(match.table, match.column) for match in context.values]
    meant += [(hit.table.qualified, column) for hit in view.hits for column in hit.columns]
    lines = []
    for name, column in dict.fromkeys(meant):
        table = tables.get(name)
        shown = table.column(column) if table and column else table
        # What a key is, its name and the schema say.
        if table is None or shown is None or column in table.primary_key or (name, column) in keys:
            continue
        place, sql = (f"{name}.{column}", f".{view.quote(column)}") if column else (name, "")
        if told := view.describe(place, shown.comment):
            lines.append(f"-- {view.name(name)}{sql}: {'; '.join(told)}\n")
    return "".join(lines[:_MOST_NOTES])


def render_value(match: ValueMatch, table: str, dialect: str) -> str:
    """Where a word of the question is found among the cells, spelled as SQL wants it.

    >>> match = ValueMatch("germany", "sales.customers", "country", "Germany", 1.0)
    >>> render_value(match, "customers", "postgres")
    'customers.country holds \\'Germany\\' (the question says "germany")'
    """
    value = match.value.replace("'", "''")
    said = "" if match.phrase == match.value else f' (the question says "{match.phrase}")'
    return f"{table}.{quote_name(match.column, dialect)} holds '{value}'{said}"


def choose_examples(examples: Mapping[str, int], room: int) -> tuple[str, ...]:
    """Those of the texts, best first, that fit together into ``room`` tokens.

    >>> choose_examples({"a": 5, "b": 9, "c": 3}, 10)
    ('a', 'c')
    """
    chosen = []
    for text, tokens in examples.items():
        if tokens <= room:
            room -= tokens
            chosen.append(text)
    return tuple(chosen)
