"""The query from which others are derived, read once, and copies of it that rules may change."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from sqlglot import exp

from nl2sql.catalog import Column, Table
from nl2sql.expectations.expectations import Expectations, read_expectations
from nl2sql.sql.nodes import Node, find_all, list_selects
from nl2sql.words import STOP_WORDS, drop_sorting, split_words
from repair.autocorrect.select_scopes import SelectScope, SelectSource, read_scopes
from repair.autocorrect.table_lookup import TableLookup


class QueryDraft:
    """A copy of a query that may be changed. ``of`` finds the copy of a node of the original."""

    def __init__(self, tree: exp.Expr) -> None:
        self.tree = tree.copy()
        nodes = zip(find_all(tree, exp.Expr), find_all(self.tree, exp.Expr), strict=True)
        self._copies = {id(node): copy for node, copy in nodes}

    def of(self, node: Node) -> Node:
        """The copy of the node."""
        return cast(Node, self._copies[id(node)])


@dataclass(eq=False)
class Original:
    """A query that runs, its SELECTs (outermost first), and the question it should answer."""

    tree: exp.Expr
    visible: TableLookup
    question: str = ""

    @cached_property
    def scopes(self) -> list[SelectScope]:
        """All SELECTs of the query."""
        return read_scopes(self.tree, self.visible)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the question that may name something: "Show" at its beginning does not."""
        words = split_words(drop_sorting(self.question))
        return frozenset(words[1:] if words[:1] and words[0] in STOP_WORDS else words)

    @cached_property
    def expected(self) -> Expectations:
        """What the question expects of its answer."""
        return read_expectations(self.question)

    @property
    def outermost(self) -> list[SelectScope]:
        """The SELECTs that make the result's rows: several in a UNION, EXCEPT or INTERSECT."""
        found = {id(select) for select in list_selects(self.tree)}
        return [scope for scope in self.scopes if id(scope.select) in found]

    @cached_property
    def uses(self) -> dict[int, list[exp.Column]]:
        """``id(source)`` → the columns that belong to it; those of unknown owners are left out."""
        found: dict[int, list[exp.Column]] = defaultdict(list)
        for scope in self.scopes:
            for column in scope.columns:
                if (source := self.find_owner(column, scope)) is not None:
                    found[id(source)].append(column)
        return found

    def find_owner(self, column: exp.Column, scope: SelectScope) -> SelectSource | None:
        """The only source that the column can belong to."""
        qualifier = column.args.get("table")
        if qualifier is not None:
            return scope.find_source(self.visible.spell(qualifier))
        owners = scope.find_owners(self.visible.spell(column.this))
        return owners[0] if len(owners) == 1 else None

    def find_column(self, node: exp.Expr, scope: SelectScope) -> Column | None:
        """The column of a visible table that the node is; None if it is another expression."""
        owner = self.find_owner(node, scope) if isinstance(node, exp.Column) else None
        if owner is None or owner.table is None:
            return None
        name = self.visible.list_columns(owner.table).get(self.visible.spell(node.this))
        return owner.table.column(name) if name else None

    def draft(self) -> QueryDraft:
        """A copy of the query, to be changed."""
        return QueryDraft(self.tree)

    def find_key(self, table: Table) -> str | None:
        """The folded name of the table's only key column."""
        return self.visible.fold(table.primary_key[0]) if len(table.primary_key) == 1 else None

    def build_column(self, source: SelectSource, name: str) -> exp.Column:
        """The source's column of that folded name."""
        stored = self.visible.list_columns(source.table)[name] if source.table else name
        return exp.Column(
            this=self.visible.build_identifier(stored), table=source.identifier.copy()
        )


def name_head(table: Table) -> str:
    """The last word of a table's name, by which questions name it: ``event`` of ``party_events``.

    >>> name_head(Table("sales", "party_events", ()))
    'event'
    """
    return next(reversed(split_words(table.name)), "")


def add_condition(select: exp.Select, condition: exp.Expr) -> None:
    """Adds a condition to WHERE, in place."""
    where = select.args.get("where")
    if where is None:
        select.set("where", exp.Where(this=condition))
    else:
        this = where.this
        left = exp.Paren(this=this.copy()) if isinstance(this, exp.Or) else this.copy()
        where.set("this", exp.And(this=left, expression=condition))
