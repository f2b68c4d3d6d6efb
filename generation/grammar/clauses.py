"""The rules of one SELECT over one scope, clause by clause.

There are two kinds of values: ``v`` without aggregates, for WHERE and GROUP BY; ``x`` with
aggregates, for the select list, HAVING and ORDER BY. A query may end after every clause.
"""

from __future__ import annotations

from generation.grammar.ebnf import RuleBook, any_of, listing
from generation.grammar.scopes import Scope

_MOST_ITEMS = 10
_MOST_TERMS = 4
_MOST_CONDITIONS = 5
_MOST_LITERALS = 10
_MOST_ARGUMENTS = 4
_MOST_CASES = 4
_MOST_KEYS = 4


def add_select(book: RuleBook, scope: Scope, *, depth: int, subquery: str, dialect: str) -> str:
    """The rule of a SELECT over ``scope``; ``subquery`` is the rule of its subqueries, or empty.

    ``depth`` 0 is the query itself. Subqueries select only one value.
    """
    column = book.add(f"column_{scope.name}", scope.columns)
    plain = _add_values(book, scope, column, dialect, aggregated=False)
    mixed = _add_values(book, scope, column, dialect, aggregated=True)
    where = _add_conditions(book, scope, plain, depth=depth, subquery=subquery)
    having = _add_conditions(book, scope, mixed, depth=depth, subquery=subquery)
    source = book.add(f"source_{scope.name}", scope.source)
    item = f'({mixed} (ws label)? | ("*"))'
    items = book.add(f"items_{scope.name}", listing(item, _MOST_ITEMS)) if not depth else mixed
    groups = book.add(f"groups_{scope.name}", listing(plain, _MOST_KEYS))
    orders = _add_orders(book, scope, mixed)
    return book.add(
        f"select_{scope.name}_{depth}",
        f"{book.word('SELECT')} ws ({book.word('DISTINCT')} ws)? {items}"
        f" ws {book.word('FROM')} ws {source}"
        f" (ws {book.word('WHERE')} ws {where})?"
        f" (ws {book.word('GROUP BY')} ws {groups} (ws {book.word('HAVING')} ws {having})?)?"
        f" (ws {book.word('ORDER BY')} ws {orders})?"
        f" (ws {book.word('LIMIT')} ws count (ws {book.word('OFFSET')} ws count)?)?",
    )


def _add_orders(book: RuleBook, scope: Scope, value: str) -> str:
    direction = book.any_word("direction", ("ASC", "DESC", "asc", "desc"))
    nulls = book.any_word("nulls", ("NULLS FIRST", "NULLS LAST"))
    key = f"({value} | own_measure) (ws {direction})? (ws {nulls})?"
    return book.add(f"orders_{scope.name}", listing(key, _MOST_KEYS))


def _add_values(
    book: RuleBook, scope: Scope, column: str, dialect: str, *, aggregated: bool
) -> str:
    """Columns, literals, functions, CASE and arithmetic; with aggregates if ``aggregated``."""
    kind = "x" if aggregated else "v"
    value, atom = f"{kind}_{scope.name}", f"{kind}atom_{scope.name}"
    test = _add_test(book, scope, value)
    arguments = listing(value, _MOST_ARGUMENTS)
    case = (
        f"{book.word('CASE')} (ws {book.word('WHEN')} ws {test} (ws {book.word('AND')} ws {test})?"
        f" ws {book.word('THEN')} ws {value}){{1,{_MOST_CASES}}}"
        f" (ws {book.word('ELSE')} ws {value})? ws {book.word('END')}"
    )
    forms = [
        column,
        "literal",
        "moment",
        f'function "(" ({arguments})? ")"',
        f'{book.word("CAST")} "(" {value} ws {book.word("AS")} ws type ")"',
        f'"(" ow {value} ow ")"',
        case,
    ]
    if dialect != "sqlite":
        forms.append(f'{book.word("EXTRACT")} "(" part ws {book.word("FROM")} ws {value} ")"')
    if aggregated:
        forms.append(_add_aggregate(book, scope, dialect))
    cast = "" if dialect == "sqlite" else ' ("::" type)?'
    book.add(atom, f"{any_of(f'({form})' for form in forms)}{cast}")
    return book.add(value, listing(atom, _MOST_TERMS, "ow arithmetic ow"))


def _add_aggregate(book: RuleBook, scope: Scope, dialect: str) -> str:
    value = f"v_{scope.name}"
    inner = f"(({book.word('DISTINCT')} ws)? {value} (comma string)?)"
    condition = listing(f"vtest_{scope.name}", 3, f"ws {book.word('AND')} ws")
    chosen = f'(ws {book.word("FILTER")} ws "(" {book.word("WHERE")} ws {condition} ")")?'
    body = (
        f'(({book.word("COUNT")} "(" ow "*" ow ")") | (aggregate "(" ow {inner} ow ")")) {chosen}'
    )
    return book.add(f"aggregate_{scope.name}", body)


def _add_test(book: RuleBook, scope: Scope, value: str) -> str:
    """One condition without a subquery."""
    negated = f"({book.word('NOT')} ws)?"
    literals = listing("literal", _MOST_LITERALS)
    return book.add(
        f"{value[0]}test_{scope.name}",
        any_of(
            [
                f"({negated} {value} ow compare ow {value})",
                f"({value} ws {book.word('IS')} ws {negated} {book.word('NULL')})",
                f"({negated} {value} ws {negated} like ws string)",
                f"({value} ws {negated} {book.word('BETWEEN')} ws {value}"
                f" ws {book.word('AND')} ws {value})",
                f'({negated} {value} ws {negated} {book.word("IN")} ow "(" {literals} ")")',
                f"({negated} column_{scope.name})",
            ]
        ),
    )


def _add_conditions(book: RuleBook, scope: Scope, value: str, *, depth: int, subquery: str) -> str:
    """Conditions joined by AND and OR, with one level of brackets, and subqueries if allowed."""
    name = f"{value}_{depth}"
    negated = f"({book.word('NOT')} ws)?"
    tests = [f"{value[0]}test_{scope.name}"]
    if subquery:
        tests += [
            f'({value} ow compare ow "(" ow {subquery} ow ")")',
            f'({negated} {value} ws {negated} {book.word("IN")} ow "(" ow {subquery} ow ")")',
            f'({negated} {book.word("EXISTS")} ow "(" ow {subquery} ow ")")',
        ]
    test = book.add(f"test_{name}", any_of(tests))
    also = f"ws {book.any_word('also', ('AND', 'OR'))} ws"
    bracketed = f'({negated} "(" ow {listing(test, _MOST_CONDITIONS, also)} ow ")")'
    return book.add(f"where_{name}", listing(f"({test} | {bracketed})", _MOST_CONDITIONS, also))
