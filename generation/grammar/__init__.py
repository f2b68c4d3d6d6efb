"""A grammar that admits one SELECT over the tables and columns that a model was shown.

``scopes`` says what may stand after FROM and which columns there are then, ``clauses`` builds a
SELECT over each scope, ``terminals`` holds what every schema shares, ``ebnf`` writes the rules. It
leaves out what is rare in answers: common table expressions, derived tables, window functions,
right and full joins, joins without a key, correlated subqueries over aliases of the outer query.
What it admits is not always right: the guard and the database judge, as without it.
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
# UNION, INTERSECT and EXCEPT in a row.
_MOST_UNITED = 2


def build_grammar(context: SchemaContext, plan: Plan | None = None) -> str:
    """The grammar in xgrammar's EBNF; names are spelled as the prompt spells them.

    ``plan`` narrows the columns to those that are shown. After the query a semicolon, a line end
    and a closing fence may follow: a model that wants to end there must be able to.
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
            # The deepest subqueries have no need of T1 and T2, and would double the rules.
            for scope in scopes
            if depth < _DEPTH or not scope.is_numbered
        )
        alone = book.add(f"query_{depth}", select)
        query = book.add(f"united_{depth}", f"{alone} (ws {united} ws {alone}){{0,{_MOST_UNITED}}}")
    root = f'{query} ow ";"? ow "```"?'
    return f"root ::= {root}\n{book.render()}\n"


def _name_tables(context: SchemaContext) -> list[str]:
    """What a query calls a count of a table's rows."""
    return [
        quote(hit.table.name.lower()) for hit in context.tables if hit.table.name.isidentifier()
    ]
