"""Suggests definitions from verified examples: what several of their queries compute or demand.

Suggested are outputs with an aggregate, and conditions about one table. A person names them and
decides; nothing is written into the file of definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import yaml
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog, Table
from nl2sql.sql.expression_form import list_conjuncts, write_form
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import read_tree
from nl2sql.sql.scopes import fold_case, list_outputs, read_sources
from nl2sql.types import Definition

LEAST_EXAMPLES = 2
_LONGEST_QUESTION = 100
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A measure or filter that the queries of some ``questions`` have; ``name`` is a proposal."""

    kind: str
    name: str
    sql: str
    questions: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    kind: str
    sql: str
    names: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


def suggest_definitions(
    examples: Iterable[tuple[str, str]], catalog: Catalog, known: Iterable[Definition] = ()
) -> tuple[Suggestion, ...]:
    """From pairs of question and query: what at least two have and no definition says, most first.

    ``known`` are the present definitions, written for the same catalog.
    """
    found: dict[tuple[str, str], _Found] = {}
    for question, sql in examples:
        seen = set()
        for kind, form, node, select in _list_parts(sql, catalog):
            key = (kind, form)
            if key not in found:
                found[key] = _Found(kind, _write(node, select, catalog))
            if key not in seen:
                seen.add(key)
                found[key].questions.append(" ".join(question.split()))
            if node.parent and isinstance(node.parent, exp.Alias):
                found[key].names.append(node.parent.alias)
    for definition in known:
        for kind, form, *_ in _list_parts(definition.query, catalog):
            found.pop((kind, form), None)
    often = [part for part in found.values() if len(part.questions) >= LEAST_EXAMPLES]
    often.sort(key=lambda part: (part.kind == "filter", -len(part.questions), part.sql))
    names: set[str] = set()
    return tuple(
        Suggestion(part.kind, _choose_name(part, names), part.sql, tuple(part.questions))
        for part in often
    )


def render_suggestions(suggestions: Iterable[Suggestion]) -> str:
    """The suggestions as a file of definitions, with a question that each occurs in.

    >>> one = Suggestion("measure", "paid", "SUM(bills.amt)", ("What was paid?", "Paid in 2024?"))
    >>> print(render_suggestions([one]))
    version: 1
    measures:
      paid:  # in 2 examples, such as: What was paid?
        expression: SUM(bills.amt)
    <BLANKLINE>
    """
    suggestions = tuple(suggestions)
    lines = ["version: 1"]
    for kind, key in (("measure", "expression"), ("filter", "condition")):
        chosen = [suggestion for suggestion in suggestions if suggestion.kind == kind]
        if chosen:
            lines.append(f"{kind}s:")
        for suggestion in chosen:
            asked = suggestion.questions[0][:_LONGEST_QUESTION]
            shown = "".join(sign for sign in asked if sign.isprintable())
            count = len(suggestion.questions)
            lines.append(f"  {_scalar(suggestion.name)}:  # in {count} examples, such as: {shown}")
            lines.append(f"    {key}: {_scalar(suggestion.sql)}")
    return "".join(f"{line}\n" for line in lines)


def _scalar(text: str) -> str:
    return yaml.safe_dump(text, width=10**6, allow_unicode=True).removesuffix("...\n").strip()


def _choose_name(part: _Found, taken: set[str]) -> str:
    """The name that a query gives its output, or a number."""
    plain = (name for name in part.names if name.isidentifier() and len(name) <= _LONGEST_NAME)
    proposed = [name.replace("_", " ").strip() for name in plain]
    numbered = (f"{part.kind} {number}" for number in range(1, len(taken) + 2))
    chosen = next(name for name in (*proposed, *numbered) if name and name not in taken)
    taken.add(chosen)
    return chosen


def _list_parts(sql: str, catalog: Catalog) -> Iterator[tuple[str, str, exp.Expr, exp.Select]]:
    """Kind, form, node and SELECT of what a query computes and demands."""
    try:
        tree = read_tree(sql, catalog.dialect)
    except (SqlglotError, RecursionError):
        return
    for select in find_all(tree, exp.Select):
        for output in list_outputs(select):
            node = output.unalias()
            is_measure = node.find(exp.AggFunc) is not None and node.find(exp.Window) is None
            if is_measure and (form := _find_form(node, select, catalog)):
                yield "measure", form, node, select
        where = select.args.get("where")
        for node in list_conjuncts(where.this) if where is not None else ():
            tables = {table.qualified for table, _ in _resolve(node, select, catalog).values()}
            if len(tables) == 1 and (form := _find_form(node, select, catalog)):
                yield "filter", form, node, select


def _find_form(node: exp.Expr, select: exp.Select, catalog: Catalog) -> str | None:
    """The form; None if a column is unknown, or there is none."""
    names = _resolve(node, select, catalog)

    def name(column: exp.Column) -> str | None:
        table, spelled = names.get(id(column), (None, ""))
        return f"{table.qualified}.{spelled}" if table is not None else None

    return write_form(node, name, catalog.dialect) if names else None


def _write(node: exp.Expr, select: exp.Select, catalog: Catalog) -> str:
    """The SQL with the tables' names instead of their aliases."""
    names = _resolve(node, select, catalog)
    texts = {
        key: f"{catalog.short_names[table.qualified]}.{quote_name(column, catalog.dialect)}"
        for key, (table, column) in names.items()
    }
    columns = [id(column) for column in find_all(node, exp.Column)]
    copy = exp.Paren(this=node.copy())
    for key, column in zip(columns, list(find_all(copy, exp.Column)), strict=True):
        column.replace(exp.Var(this=texts[key]))
    return str(copy.this.sql(catalog.dialect, comments=False))


def _resolve(
    node: exp.Expr, select: exp.Select, catalog: Catalog
) -> Mapping[int, tuple[Table, str]]:
    """Id of a column in ``node`` → its table and its name; without those that are unknown."""
    sources = {}
    for alias, source in read_sources(select, fold_case).items():
        table = None
        if source.table is not None:
            fold = str.lower if catalog.dialect == "postgres" else str
            table = catalog.resolve(fold(source.table.name), fold(source.table.db))
        sources[alias] = None if source.renamed else table
    found: dict[int, tuple[Table, str]] = {}
    for column in find_all(node, exp.Column):
        qualifier = column.table.lower()
        tables = [sources.get(qualifier)] if qualifier else list(sources.values())
        holders = [
            (table, known.name)
            for table in tables
            if table is not None
            for known in table.columns
            if fold_name(known.name, catalog.dialect).lower() == column.name.lower()
        ]
        if len(holders) == 1 and None not in tables:
            found[id(column)] = holders[0]
    return found
