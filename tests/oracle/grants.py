"""What a policy file grants, read a second time: the oracle's own reading, none of the guard's.

Literal where the guard is careful: a principal's values are pasted into the conditions as SQL
literals, since all of it is written by tests and runs on copies. Covers the policy format, version
1, but derives nothing: in a role with ``rows: filtered`` every table must be mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from nl2sql.catalog import Table
from nl2sql.types import AttributeValue, Principal

_SLOT = re.compile(r"(?<![:\w]):(\w+)")
_ANY_SLOT = re.compile(r"=\s*ANY\s*\(\s*:(\w+)\s*\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Parent:
    """The row of ``table`` that decides: the one that ``columns`` point to.

    ``targets`` are the columns there; empty where the database's foreign key tells.
    """

    columns: tuple[str, ...]
    table: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """What one role sees of one table: every row, or those of a condition or of a parent's.

    ``own`` is true where the policy itself says which rows: a view with such a grant is a table of
    its own; one without shows what its tables show.
    """

    condition: str = ""
    parent: Parent | None = None
    masks: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    own: bool = False

    @property
    def is_whole(self) -> bool:
        """True when the role sees the table as it is."""
        return not (self.condition or self.parent or self.masks or self.hidden)


Grants = Mapping[str, Grant]
"""Qualified table name → grant; a table without one does not exist for the role."""


def read_policy(path: Path) -> dict[str, Any]:
    """The plain mapping in a policy file."""
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def read_principals(described: Mapping[str, Mapping[str, Any]]) -> tuple[Principal, ...]:
    """Principals by name, with ``roles`` and ``attributes``; a list is the tuple that it means."""
    return tuple(read_principal(name, **fields) for name, fields in described.items())


def read_principal(name: str, roles: Sequence[str], attributes: Mapping[str, Any]) -> Principal:
    """One principal."""
    values = {
        key: tuple(value) if isinstance(value, list) else value for key, value in attributes.items()
    }
    return Principal(name, tuple(roles), tuple(values.items()))


def list_grants(
    policy: Mapping[str, Any],
    principal: Principal,
    tables: Sequence[Table],
    dialect: str,
    *,
    derived: Mapping[str, Mapping[str, Any]] | None = None,
    generated: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Grants]:
    """One mapping for each role of the principal's; ``tables`` are all there are, views too.

    ``derived`` has by role the inheritance that a policy leaves to be found out, ``generated`` by
    qualified name the columns of its table that one is computed from. Raises ValueError
    for a filtered role that says nothing of a visible table, KeyError for an attribute that the
    principal lacks.
    """
    found = []
    for name in principal.roles:
        role = policy["roles"][name]
        inherit = role.get("inherit", {}) | (derived or {}).get(name, {})
        withheld = {
            key: [
                *role.get(key, ()),
                *(
                    column
                    for column, inputs in generated.items()
                    for name in inputs
                    if f"{column.rpartition('.')[0]}.{name}" in role.get(key, ())
                ),
            ]
            for key in ("hidden_columns", "masked_columns")
        }
        reader = _RoleReader(
            {**role, **withheld, "inherit": inherit}, policy.get("shared", ()), principal, dialect
        )
        found.append(reader.list_grants(tables))
    return found


class _RoleReader:
    def __init__(
        self, role: Mapping[str, Any], shared: Sequence[str], principal: Principal, dialect: str
    ) -> None:
        self._role = role
        self._shared = shared
        self._values = dict(principal.attributes)
        self._dialect = dialect
        self._masks = role.get("masked_columns", ())

    def list_grants(self, tables: Sequence[Table]) -> Grants:
        visible = self._role["tables"]["visible"]
        hidden = self._role["tables"].get("hidden", ())
        return {
            table.qualified: self._read_grant(table)
            for table in tables
            if (visible == "*" or table.qualified in {*visible, *self._shared})
            and table.qualified not in hidden
        }

    def _read_grant(self, table: Table) -> Grant:
        name = table.qualified
        condition = self._role.get("row_filters", {}).get(name, "")
        parent = self._role["inherit"].get(name)
        is_own = bool(condition or parent) or name in self._shared
        if not is_own and self._role.get("rows") != "all" and "view" not in table.kind:
            raise ValueError(f"which rows of {name} are seen?")
        return Grant(
            condition=_paste_values(condition, self._values, self._dialect),
            parent=_build_parent(parent) if parent else None,
            masks=_columns_of(name, self._masks),
            hidden=_columns_of(name, self._role.get("hidden_columns", ())),
            own=is_own,
        )


def _build_parent(entry: Mapping[str, Any]) -> Parent:
    return Parent(tuple(entry["columns"]), entry["references"], tuple(entry.get("to", ())))


def _columns_of(table: str, names: Iterable[str]) -> frozenset[str]:
    return frozenset(
        column
        for qualified, _, column in (name.rpartition(".") for name in names)
        if qualified == table
    )


def _paste_values(condition: str, values: Mapping[str, AttributeValue], dialect: str) -> str:
    """The condition with literals in it.

    >>> _paste_values("r = ANY(:rs) AND d = :d", {"rs": (1, 2), "d": "x"}, "postgres")
    "r IN (1, 2) AND d = 'x'"
    """
    membership = _ANY_SLOT.sub(r"IN :\1", condition)
    return _SLOT.sub(lambda match: _render_literal(values[match[1]], dialect), membership)


def _render_literal(value: AttributeValue, dialect: str) -> str:
    if isinstance(value, tuple):
        # A list that may be empty is no list of SQL's; NULL is equal to nothing.
        return f"({', '.join(_render_literal(member, dialect) for member in value) or 'NULL'})"
    if isinstance(value, bool):
        return str(value).upper() if dialect == "postgres" else str(int(value))
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
