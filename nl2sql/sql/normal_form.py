"""The normal form: answers of a model with the same form are one candidate.

It is built from the parsed tree and ignores aliases of tables, case, parentheses, the operand order
of ``=`` and ``<>``, the words ``INNER`` and ``OUTER``, and names of output columns. Queries with
equal forms give the same rows; queries that give the same rows can have different forms: more rules
merged 3 of 3,837 samples. One exception: SQLite compares ``a = b`` by the collation of its left
column, but the form is the same as that of ``b = a``.

A form serves only for comparison and is not SQL.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.names import enquote, quote_literal
from nl2sql.sql.parsing import read_tree
from nl2sql.sql.scopes import find_name


class UnresolvedForm(Exception):
    """The query's names cannot be resolved, so its form is its own text."""


@dataclass(frozen=True, slots=True)
class FormScope:
    """The names that are visible at one place of a query.

    ``tables`` maps the names or aliases of the tables of this SELECT and the enclosing ones to
    numbers. ``only`` is the number of the only table, if there is just one and no enclosing SELECT;
    ``outputs`` are the aliases of the SELECT's columns.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    only: str = ""
    outputs: frozenset[str] = frozenset()


def fold(identifier: exp.Identifier, dialect: str) -> str:
    """A name as the database compares it.

    >>> fold(exp.to_identifier("Ann"), "postgres"), fold(exp.to_identifier("Ann", True), "postgres")
    ('ann', 'Ann')
    """
    name = str(identifier.this)
    if dialect in ("sqlite", "duckdb") or not identifier.args.get("quoted"):
        return name.lower()
    return name


def list_sources(select: exp.Select) -> Iterator[exp.Expr]:
    """The tables, subqueries and CTEs that a SELECT reads, in the order of its text.

    Raises Unresolved for any other source: a function, a lateral join, a nested one.
    """
    first = select.args.get("from_")
    parts = [first, *(select.args.get("joins") or ())] if first else []
    for part in parts:
        source = part.this
        plain = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
        nested = isinstance(source, exp.Subquery) and isinstance(source.this, exp.Query)
        if not (plain or nested) or source.args.get("joins"):
            raise UnresolvedForm
        yield source
    if select.args.get("laterals"):
        raise UnresolvedForm


_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# Names with another meaning when they are not quoted.
_KEYWORDS = frozenset(
    "current_catalog current_date current_role current_schema current_time current_timestamp "
    "current_user default localtime localtimestamp session_user system_user user".split()
)


class FormWriter:
    """Writes one query, numbering its tables."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._numbers = 0
        # Unqualified columns written so far: they may refer to an output column.
        self._bare: set[str] = set()

    def write(self, tree: exp.Expr) -> str:
        """The normal form. Raises Unresolved."""
        if isinstance(tree, exp.Select):
            return self._select(tree, FormScope(), is_root=True)
        return self._node(tree, FormScope())

    def _node(self, node: Any, scope: FormScope) -> str:
        if isinstance(node, exp.Expr):
            rule = self._RULES.get(type(node))
            return rule(self, node, scope) if rule else self._plain(node, scope)
        if isinstance(node, list):
            return ",".join([self._node(child, scope) for child in node])
        return str(getattr(node, "value", node))

    def _plain(self, node: exp.Expr, scope: FormScope, leave: Sequence[str] = ()) -> str:
        parts = [
            f"{name}={self._node(value, scope)}"
            for name, value in sorted(node.args.items())
            if value is not None and value is not False and value != [] and name not in leave
        ]
        return f"{type(node).__name__}({' '.join(parts)})"

    # -- leaves --------------------------------------------------------------------------------

    def _literal(self, node: exp.Expr, scope: FormScope) -> str:
        text = str(node.this)
        return quote_literal(text) if node.args.get("is_string") else text.lower()

    def _var(self, node: exp.Expr, scope: FormScope) -> str:
        return str(node.this).upper()

    def _identifier(self, node: exp.Expr, scope: FormScope) -> str:
        assert isinstance(node, exp.Identifier)
        name = fold(node, self._dialect)
        if node.args.get("quoted") and (not _PLAIN_NAME.fullmatch(name) or name in _KEYWORDS):
            return enquote(name)
        return name

    def _column(self, node: exp.Expr, scope: FormScope) -> str:
        column, table = node.this, node.args.get("table")
        if node.args.get("db") or node.args.get("catalog"):
            raise UnresolvedForm
        if not isinstance(column, exp.Identifier):
            if not isinstance(table, exp.Identifier):
                return self._plain(node, scope)
            return f"{self._number(table, scope)}.*"
        name = self._identifier(column, scope)
        if isinstance(table, exp.Identifier):
            number = self._number(table, scope)
            alone = number == scope.only and fold(column, self._dialect) not in scope.outputs
            return name if alone else f"{number}.{name}"
        folded = fold(column, self._dialect)
        self._bare.add(folded)
        if folded in scope.tables:
            # The whole row, or a column with the table's name.
            return f"row {enquote(folded)} {scope.tables[folded]}"
        if column.args.get("quoted") and self._dialect == "sqlite":
            # SQLite reads it as a text if there is no such column.
            return enquote(str(column.this))
        return name

    def _number(self, table: exp.Identifier, scope: FormScope) -> str:
        number = scope.tables.get(fold(table, self._dialect))
        if number is None:
            raise UnresolvedForm
        return number

    # -- commutative nodes ---------------------------------------------------------------------

    def _paren(self, node: exp.Expr, scope: FormScope) -> str:
        return self._node(node.this, scope)

    def _symmetric(self, node: exp.Expr, scope: FormScope) -> str:
        if not _has_only(node, "this", "expression"):
            return self._plain(node, scope)
        operands = sorted((self._node(node.this, scope), self._node(node.expression, scope)))
        return f"{type(node).__name__}({' '.join(operands)})"

    # -- queries -------------------------------------------------------------------------------

    def _table(self, node: exp.Expr, scope: FormScope) -> str:
        rest = self._plain(node, scope, ("this", "alias"))
        return f"{self._node(node.this, scope)} {rest}{self._column_names(node, scope)}"

    def _subquery(self, node: exp.Expr, scope: FormScope) -> str:
        inner = self._node(node.this, scope)
        rest = self._plain(node, scope, ("this", "alias")).removeprefix("Subquery()")
        return f"({inner}){rest}{self._column_names(node, scope)}"

    def _column_names(self, node: exp.Expr, scope: FormScope) -> str:
        alias = node.args.get("alias")
        return (
            f"({self._node(alias.columns, scope)})" if alias is not None and alias.columns else ""
        )

    def _refuse(self, node: exp.Expr, scope: FormScope) -> str:
        raise UnresolvedForm

    def _join(self, node: exp.Expr, scope: FormScope) -> str:
        kind, side = node.args.get("kind"), node.args.get("side")
        bound = node.args.get("on") is not None or bool(node.args.get("using"))
        implied = (kind == "INNER" and bound) or (kind == "OUTER" and bool(side))
        return self._plain(node, scope, ("kind", "this") if implied else ("this",))

    def _select(self, node: exp.Expr, scope: FormScope, *, is_root: bool = False) -> str:
        assert isinstance(node, exp.Select)
        sources = list(list_sources(node))
        own = {
            name: f"#{self._take_number()}" for source in sources if (name := self._name(source))
        }
        if len(own) < len(sources):
            raise UnresolvedForm
        outputs = {
            fold(expression.args["alias"], self._dialect): expression.this
            for expression in node.expressions
            if isinstance(expression, exp.Alias)
        }
        inner = FormScope(
            {**scope.tables, **own},
            next(iter(own.values())) if len(own) == 1 and not scope.tables else "",
            frozenset(outputs),
        )
        # A derived table sees the enclosing SELECT, not its neighbours.
        read = "".join(
            f"{own[self._name(source)]}={self._node(source, scope)};" for source in sources
        )
        bare, self._bare = self._bare, set()
        columns = [self._output(expression, inner) for expression in node.expressions]
        if self._dialect != "duckdb":
            # Here an output expression cannot refer to another output column.
            bare, self._bare = bare | self._bare, set()
        rest = self._plain(node, inner, ("from_", "joins", "expressions", "order"))
        on = "".join(self._join(arg, inner) for arg in node.args.get("joins") or ())
        order = self._order(node, inner, outputs)
        # The names of the result's columns do not count, unless the query itself uses one.
        kept = self._bare if is_root else set(outputs)
        named = [f"{form} AS {enquote(name)}" if name in kept else form for name, form in columns]
        self._bare |= bare
        return f"SELECT {','.join(named)} FROM {read}{on} {rest}{order}"

    def _output(self, node: exp.Expr, scope: FormScope) -> tuple[str, str]:
        """The alias of an output column, empty if it has none, and its form."""
        if isinstance(node, exp.Alias):
            return fold(node.args["alias"], self._dialect), self._node(node.this, scope)
        return "", self._node(node, scope)

    def _order(self, node: exp.Select, scope: FormScope, outputs: dict[str, exp.Expr]) -> str:
        """ORDER BY, with the names of output columns replaced by their expressions."""
        order = node.args.get("order")
        if order is None:
            return ""
        names = Counter(expression.alias_or_name.lower() for expression in node.expressions)
        terms = []
        for expression in order.expressions:
            column = expression.this
            meant = None
            if isinstance(column, exp.Column) and not column.table and column.name:
                name = fold(column.this, self._dialect)
                meant = outputs.get(name) if names[name.lower()] == 1 else None
            term = self._node(column if meant is None else meant, scope)
            terms.append(f"{term} {self._plain(expression, scope, ('this',))}")
        return f"ORDER {','.join(terms)} {self._plain(order, scope, ('expressions',))}"

    def _name(self, source: exp.Expr) -> str:
        """The name by which columns refer to a source; empty if it has none."""
        identifier = find_name(source)
        return fold(identifier, self._dialect) if identifier is not None else ""

    def _take_number(self) -> int:
        self._numbers += 1
        return self._numbers

    _RULES: ClassVar[dict[type[exp.Expr], Callable[[FormWriter, exp.Expr, FormScope], str]]] = {
        exp.Literal: _literal,
        exp.Var: _var,
        exp.Identifier: _identifier,
        exp.Column: _column,
        exp.Paren: _paren,
        exp.EQ: _symmetric,
        exp.NEQ: _symmetric,
        exp.Table: _table,
        exp.Subquery: _subquery,
        exp.Select: _select,
        exp.With: _refuse,
    }


def _has_only(node: exp.Expr, *names: str) -> bool:
    """Whether a node has no other arguments than these."""
    return all(name in names for name, value in node.args.items() if value)


def fold_identifiers(tree: exp.Expr) -> exp.Expr:
    """Folds the unquoted names of the tree to lower case, in place, and returns it."""
    for identifier in tree.find_all(exp.Identifier):
        if not identifier.args.get("quoted"):
            identifier.set("this", str(identifier.this).lower())
    return tree


# A service normalises the same few queries repeatedly: in rounds, in repairs, in votes.
_REMEMBERED = 8192


@lru_cache(_REMEMBERED)
def normal_form(sql: str, dialect: str = "postgres") -> str:
    """The form of a query; if it does not parse, the text with its white space folded.

    >>> normal_form("select T1.A from T as T1 -- note") == normal_form("SELECT a FROM t")
    True
    """
    try:
        tree = read_tree(sql, dialect)
        try:
            return FormWriter(dialect).write(tree)
        except UnresolvedForm:
            return fold_identifiers(tree.copy()).sql(dialect, comments=False, copy=False)
    except (SqlglotError, RecursionError):
        return " ".join(sql.split())
