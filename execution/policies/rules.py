"""Checks a policy against a catalog: one rule for each role and table, or a list of problems.

A table without a row filter inherits one over its foreign keys, over any number of hops: a row is
visible if the row that it refers to is visible, so a row whose foreign key is NULL is not. The key
to follow is derived from the catalog; if several lead to a filter, the policy must name one.

What a role may not read in a column it may not read elsewhere: a generated column is withheld with
those that it is computed from, and under PostgreSQL's INHERITS a column with its namesakes.

Knows nothing of SQL that runs: ``wrappers.py`` renders the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from execution.policies.filters import parse_filter
from execution.policies.policy_file import Inheritance, Policy, RolePolicy
from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.errors import PolicyError

_VIEWS = ("view", "materialized view")


@dataclass(frozen=True, slots=True)
class TableRule:
    """What a role sees of one table.

    ``columns`` are the visible ones in the table's order, ``masks`` those of them that are read as
    NULL. ``filter`` is a condition over the row; ``inherits`` the foreign key to the table whose
    rule decides; neither means every row. ``path`` leads from here to the table with the filter.
    ``expands`` marks a view that is replaced by its query, so that the rules of its tables apply.
    """

    table: Table
    columns: tuple[Column, ...]
    masks: frozenset[str] = frozenset()
    filter: exp.Expr | None = None
    inherits: ForeignKey | None = None
    path: tuple[ForeignKey, ...] = ()
    shared: bool = False
    expands: bool = False

    @property
    def is_whole(self) -> bool:
        """True if no row and no column of the table is hidden or masked."""
        return self.shows_every_column and self.shows_every_row

    @property
    def shows_every_column(self) -> bool:
        """True if no column is hidden or masked."""
        return len(self.columns) == len(self.table.columns) and not self.masks

    @property
    def shows_every_row(self) -> bool:
        """True if no row is hidden; False for an expanded view, whose rows other rules decide."""
        return self.filter is None and self.inherits is None and not self.expands


Rules = Mapping[str, TableRule]


def build_rules(policy: Policy, catalog: Catalog) -> dict[str, dict[str, TableRule]]:
    """Role → qualified table name → rule; a table without a rule does not exist for the role.

    Raises PolicyError that lists everything that does not fit.
    """
    problems: list[str] = []
    if policy.database and policy.database != catalog.database:
        problems.append(f"database: it is for {policy.database!r}, not {catalog.database!r}")
    problems += _find_unknown("shared", policy.shared, catalog)
    roles = {}
    for name, role in policy.roles.items():
        builder = _RoleBuilder(policy, role, catalog)
        roles[name] = builder.build()
        problems += [f"roles.{name}.{problem}" for problem in builder.problems]
    if problems:
        raise PolicyError(
            f"The policy does not fit the database {catalog.database!r}: " + "; ".join(problems),
            hint="`quorumsql policy check` lists this; `quorumsql index build` again if the "
            "database has changed.",
        )
    return roles


def render_path(path: Iterable[ForeignKey]) -> str:
    """The hops of a path, for people.

    >>> render_path([ForeignKey("k", "s.lines", ("order_id",), "s.orders", ("id",))])
    's.lines(order_id) → s.orders'
    """
    hops = tuple(path)
    links = " → ".join(f"{hop.table}({', '.join(hop.columns)})" for hop in hops)
    return f"{links} → {hops[-1].target}" if hops else ""


def _find_unknown(where: str, names: Iterable[str], catalog: Catalog) -> list[str]:
    return [f"{where}: there is no table {name}" for name in names if catalog.table(name) is None]


def _find_leading(
    rules: Rules,
    keys: Mapping[str, ForeignKey],
    outgoing: Mapping[str, list[ForeignKey]],
    without: str,
) -> set[str]:
    """The tables with a row filter, and those from which foreign keys lead to one past a table."""
    incoming: dict[str, set[str]] = {}
    for name, rule in rules.items():
        if rule.filter is None and not rule.shared and name != without:
            for key in (keys[name],) if name in keys else outgoing.get(name, ()):
                incoming.setdefault(key.target, set()).add(name)
    leading = {name for name, rule in rules.items() if rule.filter is not None}
    pending = list(leading)
    while pending:
        found = incoming.get(pending.pop(), set()) - leading
        leading |= found
        pending += found
    return leading


class _RoleBuilder:
    """Builds the rules of one role and collects its problems."""

    def __init__(self, policy: Policy, role: RolePolicy, catalog: Catalog) -> None:
        self._policy = policy
        self._role = role
        self._catalog = catalog
        self.problems: list[str] = []

    def build(self) -> dict[str, TableRule]:
        role = self._role
        self.problems += _find_unknown("tables.hidden", role.tables.hidden, self._catalog)
        for key in ("row_filters", "inherit"):
            self.problems += _find_unknown(key, getattr(role, key), self._catalog)
        visible = self._find_visible()
        hidden = self._find_columns("hidden_columns", role.hidden_columns)
        masked = self._find_columns("masked_columns", role.masked_columns)
        rules = {
            table.qualified: TableRule(
                table=table,
                columns=tuple(
                    column
                    for column in table.columns
                    if (table.qualified, column.name) not in hidden
                ),
                masks=frozenset(
                    column for qualified, column in masked if qualified == table.qualified
                ),
                shared=table.qualified in self._policy.shared,
            )
            for table in visible
        }
        for name in [name for name, rule in rules.items() if not rule.columns]:
            del rules[name]
        self._add_filters(rules)
        self._add_inheritance(rules)
        self._check_ancestors(rules)
        return self._settle_views(rules)

    def _find_visible(self) -> list[Table]:
        tables = self._role.tables
        if tables.visible == "*":
            names = {table.qualified for table in self._catalog.tables}
        else:
            self.problems += _find_unknown("tables.visible", tables.visible, self._catalog)
            for name in set(tables.visible) & set(tables.hidden):
                self.problems.append(f"tables: {name} is visible and hidden")
            names = {*tables.visible, *self._policy.shared}
        names -= set(tables.hidden)
        return [table for table in self._catalog.tables if table.qualified in names]

    def _find_columns(self, where: str, names: Iterable[str]) -> set[tuple[str, str]]:
        """The named columns, and all that show their values."""
        found: set[tuple[str, str]] = set()
        for name in names:
            qualified, _, column = name.rpartition(".")
            table = self._catalog.table(qualified)
            if table is None or table.column(column) is None:
                self.problems.append(f"{where}: there is no column {name}")
            else:
                found.add((qualified, column))
        pending = list(found)
        while pending:
            more = set(self._catalog.shown_by.get(pending.pop(), ())) - found
            found |= more
            pending += more
        return found

    def _add_filters(self, rules: dict[str, TableRule]) -> None:
        for name, text in self._role.row_filters.items():
            rule = rules.get(name)
            if rule is None:
                if self._catalog.table(name):
                    self.problems.append(f"row_filters: {name} is not visible for this role")
                continue
            if name in self._role.inherit:
                self.problems.append(f"{name} has a row filter and inherits: name one")
            try:
                condition = parse_filter(
                    text, rule.table, self._policy.attributes, self._catalog.dialect
                )
            except ValueError as error:
                self.problems.append(f"row_filters.{name} {error}")
                continue
            rules[name] = replace(rule, filter=condition, shared=False)

    # -- inheritance ---------------------------------------------------------------------------

    def _add_inheritance(self, rules: dict[str, TableRule]) -> None:
        """Adds the named keys; then, where rows must be filtered, keys derived from the catalog."""
        keys: dict[str, ForeignKey] = {}
        for name, named in self._role.inherit.items():
            if name in rules and (key := self._find_named(name, named, rules)):
                keys[name] = key
            elif name not in rules and self._catalog.table(name):
                self.problems.append(f"inherit: {name} is not visible for this role")
        if self._role.rows == "filtered":
            self._derive(rules, keys)
        for name, key in keys.items():
            rules[name] = replace(rules[name], inherits=key, shared=False)
        for name in keys:
            path = self._follow(name, keys)
            if path is None:
                self.problems.append(f"inherit.{name}: its foreign keys lead in a circle")
            elif rules[path[-1].target].filter is None:
                self.problems.append(f"inherit.{name}: {render_path(path)} leads to no row filter")
            else:
                rules[name] = replace(rules[name], path=path)

    def _find_named(self, name: str, named: Inheritance, rules: Rules) -> ForeignKey | None:
        table, target = rules[name].table, rules.get(named.references)
        if target is None:
            self.problems.append(f"inherit.{name}: {named.references} is not visible for this role")
            return None
        if named.to:
            if len(named.to) != len(named.columns):
                self.problems.append(f"inherit.{name}: columns and to differ in number")
                return None
            missing = [column for column in named.columns if table.column(column) is None]
            missing += [name for name in named.to if target.table.column(name) is None]
            if missing:
                self.problems.append(f"inherit.{name}: there is no column {missing[0]}")
                return None
            return ForeignKey("", name, named.columns, named.references, named.to)
        for key in self._catalog.foreign_keys:
            if (key.table, key.target) == (name, named.references) and set(key.columns) == set(
                named.columns
            ):
                return key
        self.problems.append(
            f"inherit.{name}: there is no foreign key {name}({', '.join(named.columns)}) → "
            f"{named.references}; name its columns there under `to`"
        )
        return None

    def _derive(self, rules: dict[str, TableRule], keys: dict[str, ForeignKey]) -> None:
        """Adds, for each table that the policy does not mention, its only key to a filter."""
        outgoing: dict[str, list[ForeignKey]] = {}
        for key in self._catalog.foreign_keys:
            if key.target != key.table and key.target in rules:
                outgoing.setdefault(key.table, []).append(key)
        open_names = [
            name
            for name, rule in rules.items()
            if rule.filter is None
            and not rule.shared
            and name not in keys
            and rule.table.kind not in _VIEWS
        ]
        named = dict(keys)
        for name in sorted(open_names):
            leading = _find_leading(rules, named, outgoing, name)
            found = [key for key in outgoing.get(name, ()) if key.target in leading]
            if not found:
                self.problems.append(
                    f"{name} is visible, but nothing says which of its rows: give it a row filter, "
                    "an inherit entry, list it under shared, or hide it"
                )
            elif len(found) > 1:
                several = " or ".join(render_path([key]) for key in found)
                self.problems.append(f"{name} could inherit over {several}: name one under inherit")
            else:
                keys[name] = found[0]

    @staticmethod
    def _follow(name: str, keys: Mapping[str, ForeignKey]) -> tuple[ForeignKey, ...] | None:
        path: list[ForeignKey] = []
        while name in keys:
            if keys[name] in path:
                return None
            path.append(keys[name])
            name = keys[name].target
        return tuple(path)

    def _check_ancestors(self, rules: Rules) -> None:
        """A table's rows are found in its ancestors too: neither may show what the other hides.

        The filter of an ancestor decides over the rows of a hidden table too.
        """
        for table in self._catalog.tables:
            name, rule = table.qualified, rules.get(table.qualified)
            hides = rule is None or not rule.shows_every_row
            for other in table.ancestors:
                if other in rules and rules[other].shows_every_row == hides:
                    opened, kept = (other, name) if hides else (name, other)
                    self.problems.append(
                        f"{opened} would show rows that {kept} does not, as {name} INHERITS from "
                        f"{other}: give it a row filter or an inherit entry too, or hide it"
                    )

    # -- views ---------------------------------------------------------------------------------

    def _settle_views(self, rules: dict[str, TableRule]) -> dict[str, TableRule]:
        """Leaves views as they are if nothing is hidden from the role; else marks them to expand.

        The tables of a view without a known query are unknown, and no rule applies to the stored
        rows of a materialized view. Such a view needs a filter of its own, or must be shared.
        """
        views = [rule for rule in rules.values() if rule.table.kind in _VIEWS]
        withheld = len(rules) < len(self._catalog.tables) or not all(
            rule.is_whole for rule in rules.values()
        )
        for rule in views:
            if rule.shared or rule.filter is not None or rule.inherits is not None:
                continue
            if not withheld and self._role.rows == "all":
                continue
            name = rule.table.qualified
            if rule.table.kind == "view" and rule.table.definition:
                rules[name] = replace(rule, expands=True)
            elif self._role.tables.visible == "*":
                del rules[name]
            else:
                self.problems.append(
                    f"{name} is a {rule.table.kind} whose rows no rule reaches: give it a row "
                    "filter over its own columns, list it under shared, or hide it"
                )
        return rules
