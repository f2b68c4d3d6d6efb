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
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, TypeAlias

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.names import enquote, quote_literal
from nl2sql.sql.nodes import find_all, read_identifier
from nl2sql.sql.parsing import read_tree, write_tree
from nl2sql.sql.scopes import find_name, find_outer, list_sources


class UnresolvedForm(Exception):
    """The query's names cannot be resolved, so its form is its own text."""


_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# Names with another meaning when they are not quoted.
_KEYWORDS = frozenset(
    "current_catalog current_date current_role current_schema current_time current_timestamp "
    "current_user default localtime localtimestamp session_user system_user user".split()
)


Rule: TypeAlias = Callable[[Any, exp.Expr, exp.Select | None], str]
"""A method that writes a node inside a SELECT."""


class FormWriter:
    """Writes one query, whose tables are called by numbers."""

    def __init__(self, tree: exp.Expr, dialect: str) -> None:
        """Raises UnresolvedForm."""
        self._tree = tree
        self._dialect = dialect
        # The sources of each SELECT by folded name, its named outputs, and those that can order it.
        self._sources: dict[int, dict[str, str]] = {}
        self._outputs: dict[int, dict[str, exp.Expr]] = {}
        self._ordering: dict[int, dict[str, exp.Expr]] = {}
        numbered = 0
        for select in find_all(tree, exp.Select):
            sources = list(list_sources(select, self._fold))
            if any(source.bracketed or not (source.table or source.query) for source in sources):
                raise UnresolvedForm
            names = [self._fold(source.identifier) for source in sources]
            if "" in names or len(set(names)) < len(names):
                raise UnresolvedForm
            self._sources[id(select)] = {
                name: f"#{number}" for number, name in enumerate(names, start=numbered + 1)
            }
            outputs = {
                self._fold(output.args["alias"]): output.this
                for output in select.expressions
                if isinstance(output, exp.Alias)
            }
            called = Counter(output.alias_or_name.lower() for output in select.expressions)
            self._outputs[id(select)] = outputs
            # A number in its place would be the position of an output.
            self._ordering[id(select)] = {
                name: output
                for name, output in outputs.items()
                if called[name.lower()] == 1 and not output.unnest().is_number
            }
            numbered += len(names)

    def write(self) -> str:
        """The normal form. Raises UnresolvedForm."""
        return self._node(self._tree, None)

    def _fold(self, identifier: object) -> str:
        return read_identifier(identifier, self._dialect)

    def _node(self, node: Any, select: exp.Select | None) -> str:
        """The form of a node inside ``select``."""
        if isinstance(node, exp.Expr):
            rule = self.RULES.get(type(node))
            return rule(self, node, select) if rule else self._plain(node, select)
        if isinstance(node, list):
            return ",".join([self._node(child, select) for child in node])
        return str(getattr(node, "value", node))

    def _plain(self, node: exp.Expr, select: exp.Select | None, leave: Sequence[str] = ()) -> str:
        parts = [
            f"{name}={self._node(value, select)}"
            for name, value in sorted(node.args.items())
            if value is not None and value is not False and value != [] and name not in leave
        ]
        return f"{type(node).__name__}({' '.join(parts)})"

    # -- leaves --------------------------------------------------------------------------------

    def _literal(self, node: exp.Expr, select: exp.Select | None) -> str:
        text = str(node.this)
        return quote_literal(text) if node.args.get("is_string") else text.lower()

    def _var(self, node: exp.Expr, select: exp.Select | None) -> str:
        return str(node.this).upper()

    def _identifier(self, node: exp.Expr, select: exp.Select | None) -> str:
        name = self._fold(node)
        if node.args.get("quoted") and (not _PLAIN_NAME.fullmatch(name) or name in _KEYWORDS):
            return enquote(name)
        return name

    def _column(self, node: exp.Expr, select: exp.Select | None) -> str:
        column, table = node.this, node.args.get("table")
        if node.args.get("db") or node.args.get("catalog"):
            raise UnresolvedForm
        number = self._number(table, select) if table is not None else ""
        if not isinstance(column, exp.Identifier):
            return f"{number}.*" if number else self._plain(node, select)
        name, folded = self._identifier(column, select), self._fold(column)
        if number:
            is_only = (
                select is not None
                and len(self._sources[id(select)]) == 1
                and folded not in self._outputs[id(select)]
                and find_outer(select) is None
            )
            return name if is_only else f"{number}.{name}"
        if row := self._find_number(folded, select):
            # The whole row, or a column with the table's name.
            return f"row {enquote(folded)} {row}"
        if column.args.get("quoted") and self._dialect == "sqlite":
            # SQLite reads it as a text if there is no such column.
            return enquote(str(column.this))
        return name

    def _number(self, table: object, select: exp.Select | None) -> str:
        if number := self._find_number(self._fold(table), select):
            return number
        raise UnresolvedForm

    def _find_number(self, name: str, select: exp.Select | None) -> str:
        """The number of the table that is called so inside ``select``; empty if there is none."""
        while select is not None:
            if number := self._sources[id(select)].get(name):
                return number
            select = find_outer(select)
        return ""

    # -- commutative nodes ---------------------------------------------------------------------

    def _paren(self, node: exp.Expr, select: exp.Select | None) -> str:
        return self._node(node.this, select)

    def _symmetric(self, node: exp.Expr, select: exp.Select | None) -> str:
        if any(value for name, value in node.args.items() if name not in ("this", "expression")):
            return self._plain(node, select)
        operands = sorted((self._node(node.this, select), self._node(node.expression, select)))
        return f"{type(node).__name__}({' '.join(operands)})"

    # -- queries -------------------------------------------------------------------------------

    def _source(self, node: exp.Expr, select: exp.Select | None) -> str:
        """A table or subquery under its number, with the names that its alias gives columns."""
        name = find_name(node)
        number = self._number(name, select) if name is not None else ""
        alias = node.args.get("alias")
        columns = alias.columns if alias is not None else []
        rest = self._plain(node, select, ("this", "alias"))
        inner = self._node(node.this, select)
        return f"{number}={inner} {rest}({self._node(columns, select)})"

    def _refuse(self, node: exp.Expr, select: exp.Select | None) -> str:
        raise UnresolvedForm

    def _join(self, node: exp.Expr, select: exp.Select | None) -> str:
        kind, side = node.args.get("kind"), node.args.get("side")
        bound = node.args.get("on") is not None or bool(node.args.get("using"))
        implied = (kind == "INNER" and bound) or (kind == "OUTER" and bool(side))
        return self._plain(node, select, ("kind",) if implied else ())

    def _select(self, node: exp.Expr, outer: exp.Select | None) -> str:
        assert isinstance(node, exp.Select)
        outputs = self._outputs[id(node)]
        kept = set(outputs)
        if node is self._tree:
            # The names of the result's columns do not count, unless the query itself uses one.
            kept &= {
                self._fold(column.this)
                for column in find_all(node, exp.Column)
                if not column.table and self._find_ordering(column, node) is None
            }
        columns = [
            f"{self._node(output.unalias(), node)} AS {enquote(name)}"
            if (name := self._fold(output.args.get("alias"))) in kept
            else self._node(output.unalias(), node)
            for output in node.expressions
        ]
        return f"SELECT {','.join(columns)} {self._plain(node, node, ('expressions',))}"

    def _ordered(self, node: exp.Expr, select: exp.Select | None) -> str:
        """One term of ORDER BY; the name of an output is replaced by its expression."""
        meant = self._find_ordering(node.this, select) if select is not None else None
        term = self._node(meant or node.this, select)
        return f"{term} {self._plain(node, select, ('this',))}"

    def _find_ordering(self, column: exp.Expr, select: exp.Select) -> exp.Expr | None:
        """The output of ``select`` by whose name alone it is ordered."""
        order = column.parent.parent if isinstance(column.parent, exp.Ordered) else None
        if order is None or order.parent is not select or not isinstance(column, exp.Column):
            return None
        return None if column.table else self._ordering[id(select)].get(self._fold(column.this))

    RULES: ClassVar[dict[type[exp.Expr], Rule]] = {
        exp.Literal: _literal,
        exp.Var: _var,
        exp.Identifier: _identifier,
        exp.Column: _column,
        exp.Paren: _paren,
        exp.EQ: _symmetric,
        exp.NEQ: _symmetric,
        exp.Table: _source,
        exp.Subquery: _source,
        exp.Join: _join,
        exp.Ordered: _ordered,
        exp.Select: _select,
        exp.With: _refuse,
    }


# A service normalises the same few queries repeatedly: in rounds, in repairs, in votes.
_REMEMBERED = 8192


@lru_cache(_REMEMBERED)
def normal_form(sql: str, dialect: str = "postgres") -> str:
    """The form of a query; of what sqlglot cannot read or write, the text without extra spaces.

    >>> normal_form("select T1.A from T as T1 -- note") == normal_form("SELECT a FROM t")
    True
    """
    try:
        tree = read_tree(sql, dialect)
        try:
            return FormWriter(tree, dialect).write()
        except UnresolvedForm:
            folded = tree.copy()
            for identifier in find_all(folded, exp.Identifier):
                if not identifier.args.get("quoted"):
                    identifier.set("this", str(identifier.this).lower())
            return write_tree(folded, dialect)
    except (SqlglotError, RecursionError):
        return " ".join(sql.split())
