"""The access of one principal to one database: the visible part of its catalog, and the wrappers.

A policy is compiled once for each catalog. Everything that depends only on the roles is built at
the first use and cached, so a query only looks up the wrappers of its tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from execution.name_resolution.scopes import NameResolver, Source, Unresolved
from execution.policies.parameters import (
    BoundValue,
    convert_value,
    name_setting,
    render_setting,
)
from execution.policies.policy_file import Policy
from execution.policies.row_level_security.blocks import check_name
from execution.policies.rules import Rules, TableRule, build_rules
from execution.policies.views import expand_view, list_tables
from execution.policies.wrappers import Wrapper, build_wrapper
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.errors import PolicyError
from nl2sql.types import NOT_PERMITTED, Principal, SessionIdentity, Violation

# Cached for each set of roles; a wrapper takes about a kilobyte.
_MOST_WRAPPERS = 10_000


class RoleView:
    """What a set of roles sees together, for any principal that has them.

    ``shown`` names what an assistant shows of it.
    """

    def __init__(
        self, roles: tuple[Rules, ...], catalog: Catalog, shown: NameResolver | None = None
    ) -> None:
        self.roles = roles
        self._whole = catalog
        self.catalog = _restrict(catalog, roles)
        self.resolver = NameResolver(self.catalog, catalog)
        self._shown = shown or self.resolver
        self.restricted = len(self.catalog.tables) < len(catalog.tables) or not all(
            any(table.qualified in rules and rules[table.qualified].is_whole for rules in roles)
            for table in catalog.tables
        )
        self._wrappers: dict[tuple[str, frozenset[str] | None], Wrapper] = {}
        self._leaving_out: dict[str, bool] = {}

    @cached_property
    def open_columns(self) -> frozenset[str]:
        """``schema.table.column`` of every column that is visible in all rows of its table.

        An expanded view has no such column: its rows depend on the rules of other tables.
        """
        return frozenset(
            f"{qualified}.{column.name}"
            for rules in self.roles
            for qualified, rule in rules.items()
            if rule.shows_every_row
            for column in rule.columns
            if column.name not in rule.masks
        )

    def rules_of(self, qualified: str) -> tuple[TableRule, ...]:
        """The rules of a table, one for each role that sees it."""
        return tuple(rules[qualified] for rules in self.roles if qualified in rules)

    def masked_columns(self, qualified: str) -> frozenset[str]:
        """The columns that a role masks, unless another role shows them in every row."""
        masked = {name for rule in self.rules_of(qualified) for name in rule.masks}
        return frozenset(name for name in masked if f"{qualified}.{name}" not in self.open_columns)

    def wrapper(self, qualified: str, columns: frozenset[str] | None = None) -> Wrapper:
        """The derived table that replaces a visible table, with the columns that are needed.

        Raises Unresolved for a view whose query cannot be used.
        """
        key = (qualified, columns)
        wrapper = self._wrappers.get(key)
        if wrapper is None:
            wrapper = build_wrapper(
                qualified,
                self.roles,
                self._whole,
                columns=columns,
                expand=lambda table: expand_view(table, self.resolver, self.wrap),
                fenced=self.leaves_out(qualified),
            )
            if len(self._wrappers) > _MOST_WRAPPERS:
                self._wrappers.clear()
            self._wrappers[key] = wrapper
        return wrapper

    def leaves_out(self, qualified: str) -> bool:
        """Whether a view may read rows or values that nothing else shows to these roles."""
        if qualified not in self._leaving_out:
            # Until more is known: a view may read itself.
            self._leaving_out[qualified] = True
            table = self._whole.table(qualified)
            assert table is not None
            self._leaving_out[qualified] = table.kind == "view" and (
                any(rule.shared for rule in self.rules_of(qualified))
                or any(map(self.leaves_out, list_tables(table, self._shown) or [qualified]))
            )
        return self._leaving_out[qualified]

    def wrap(self, source: Source) -> Wrapper:
        """The wrapper for what a query uses of a physical table."""
        table = source.table
        assert table is not None
        spelled = frozenset(self.resolver.spell_column(table, name) for name in source.used)
        return self.wrapper(table.qualified, spelled)


@dataclass(frozen=True, slots=True)
class Access:
    """What the guard needs to know about a principal. ``view`` is None if there is no policy."""

    catalog: Catalog
    resolver: NameResolver
    view: RoleView | None = None
    policy: Policy | None = None
    values: Mapping[str, BoundValue] = field(default_factory=dict)
    session: SessionIdentity | None = None

    @property
    def restricted(self) -> bool:
        """Whether any table, row or column is hidden from this principal."""
        return self.view is not None and self.view.restricted

    @property
    def open_columns(self) -> frozenset[str] | None:
        """The columns of which this principal may see every stored value; None means all."""
        return None if self.view is None or self.policy is None else self.view.open_columns

    def masked_columns(self, qualified: str) -> frozenset[str]:
        """The columns of a table of which this principal sees some rows masked."""
        return frozenset() if self.view is None else self.view.masked_columns(qualified)


def open_access(catalog: Catalog) -> Access:
    """Access to the whole catalog, for a database without a policy."""
    return Access(catalog, NameResolver(catalog))


class CompiledPolicy:
    """A policy that has been checked against its catalog."""

    def __init__(
        self, policy: Policy, catalog: Catalog, *, row_level_security: bool = False
    ) -> None:
        """Raises PolicyError that lists everything that does not fit."""
        self.policy = policy
        self.catalog = catalog
        self.roles: Mapping[str, Mapping[str, TableRule]] = build_rules(policy, catalog)
        self._row_level_security = row_level_security
        self._views: dict[tuple[str, ...], RoleView] = {}
        self._drop_unreadable_views()

    def access(self, principal: Principal) -> Access | Violation:
        """What ``principal`` may see, or why it may see nothing."""
        roles = tuple(name for name in self.roles if name in principal.roles)
        if not roles:
            known = ", ".join(self.roles)
            return Violation(
                NOT_PERMITTED,
                principal.name,
                f"{principal.name} has none of the roles of this database's policy: {known}.",
            )
        values: dict[str, BoundValue] = {}
        for name, value in principal.attributes:
            if attribute := self.policy.attributes.get(name):
                try:
                    values[name] = convert_value(name, value, attribute)
                except ValueError as error:
                    return Violation(NOT_PERMITTED, name, str(error))
        session = None
        if self._row_level_security:
            if len(roles) > 1:
                return Violation(
                    NOT_PERMITTED,
                    principal.name,
                    "With row-level security, a principal needs exactly one role; "
                    f"{principal.name} has {', '.join(roles)}.",
                )
            session = SessionIdentity(
                name_database_role(self.catalog.database, roles[0]),
                tuple(
                    (name_setting(name), render_setting(value)) for name, value in values.items()
                ),
            )
        view = self.view(roles)
        return Access(view.catalog, view.resolver, view, self.policy, values, session)

    def view(self, roles: tuple[str, ...]) -> RoleView:
        """What these roles see together."""
        if roles not in self._views:
            self._views[roles] = RoleView(tuple(self.roles[name] for name in roles), self.catalog)
        return self._views[roles]

    def _drop_unreadable_views(self) -> None:
        """Removes from a role the views whose queries read what the role may not see.

        Raises PolicyError if the policy names such a view.
        """
        problems = []
        for role, rules in self.roles.items():
            assert isinstance(rules, dict)
            dropped = [role]
            while dropped:
                # Without a view, those that read it cannot be read either.
                view, dropped = RoleView((rules,), self.catalog), []
                for rule in [rule for rule in rules.values() if rule.expands]:
                    name = rule.table.qualified
                    try:
                        expand_view(rule.table, view.resolver, view.wrap)
                    except Unresolved as error:
                        dropped.append(name)
                        if self.policy.roles[role].tables.visible != "*":
                            problems.append(
                                f"roles.{role}.tables.visible: the view {name} reads what the "
                                f"role may not see: {error.violation.message}"
                            )
                for name in dropped:
                    del rules[name]
        if problems:
            raise PolicyError("The policy does not fit the database: " + "; ".join(problems))


def name_database_role(database: str, role: str) -> str:
    """The role of row-level security, of at most 63 bytes, PostgreSQL's limit for names.

    >>> name_database_role("demo_erp", "analyst")
    'quorumsql_demo_erp_analyst'
    """
    return check_name(f"quorumsql_{database}_{role}", "database role")


def _restrict(catalog: Catalog, roles: Iterable[Rules]) -> Catalog:
    """The part of the catalog that any of the roles sees."""
    roles = tuple(roles)
    tables = []
    for table in catalog.tables:
        seeing = [rules[table.qualified] for rules in roles if table.qualified in rules]
        if seeing:
            tables.append(_restrict_table(table, seeing))
    return catalog.keep(tables)


def _restrict_table(table: Table, rules: list[TableRule]) -> Table:
    columns = tuple(
        column for column in table.columns if any(column in rule.columns for rule in rules)
    )
    # A key with a masked column does not identify rows: many would share the value NULL.
    told = {column.name for column in table.columns if _tells_rows_apart(column, rules)}
    return replace(
        table,
        columns=columns,
        primary_key=table.primary_key if told >= set(table.primary_key) else (),
    )


def _tells_rows_apart(column: Column, rules: list[TableRule]) -> bool:
    """Whether every row shows its own value in the column; see ``wrappers.py``."""
    shown = [rule for rule in rules if column in rule.columns and column.name not in rule.masks]
    return len(shown) == len(rules) or any(rule.shows_every_row for rule in shown)
