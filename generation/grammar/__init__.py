"""A grammar for one SELECT over the tables and columns in a model's prompt.

``scopes`` defines the possible FROM clauses and their columns, ``clauses`` a SELECT over each
scope, ``terminals`` the rules that all schemas share, ``ebnf`` writes rules. What is rare in
answers is left out: common table expressions, derived tables, window functions, right and full
joins, joins without a key, correlated subqueries over aliases of the outer query. Not every query
of the grammar is valid: the guard and the database check it as usual.
"""

from __future__ import annotations

from generation.grammar.clauses import add_select
from generation.grammar.ebnf import RuleBook, any_of, quote
from generation.grammar.scopes import build_scopes
from generation.grammar.terminals import add_terminals
from nl2sql.types import Plan, SchemaContext

__all__ = ["build_grammar"]

# How deep subqueries nest.
_DEPTH = 2
# The most uses of UNION, INTERSECT and EXCEPT in one query.
_MOST_UNITED = 2


def build_grammar(context: SchemaContext, plan: Plan | None = None) -> str:
    """The grammar in xgrammar's EBNF, with names as the prompt spells them.

    ``plan`` limits the columns to those that are shown. A semicolon, a line break and a closing
    code fence may follow the query, because models end their answers that way.
    """
    book = RuleBook()
    add_terminals(book, context.dialect)
    scopes = build_scopes(book, context, dict(plan.columns) if plan else {})
    book.add("own_measure", any_of(["measure_name", *_name_tables(context)]))
    united = any_of(map(book.word, ("UNION", "UNION ALL", "INTERSECT", "EXCEPT")))
    query = ""
    for depth in range(_DEPTH, -1, -1):
        select = any_of(
            add_select(book, scope, depth=depth, subquery=query, dialect=context.dialect)
            # The deepest subqueries do not need T1 and T2, which would double the rules.
            for scope in scopes
            if depth < _DEPTH or not scope.is_numbered
        )
        alone = book.add(f"query_{depth}", select)
        query = book.add(f"united_{depth}", f"{alone} (ws {united} ws {alone}){{0,{_MOST_UNITED}}}")
    root = f'{query} ow ";"? ow "```"?'
    return f"root ::= {root}\n{book.render()}\n"


def _name_tables(context: SchemaContext) -> list[str]:
    """The tables' names, as possible names of a count of rows."""
    return [
        quote(hit.table.name.lower()) for hit in context.tables if hit.table.name.isidentifier()
    ]
