"""Renders a policy as PostgreSQL roles, grants and row-level security.

Each role of the policy file becomes a database role that can read exactly what the role may see.
A table of which some role may not see every row gets row-level security: one policy that shows
other logins every row as before, and for each role a RESTRICTIVE policy with its condition. If
rows inherit their visibility, the policy looks up the row in the parent table, where the parent's
own policy applies; so conditions are neither nested nor computed twice.

While row-level security is applied, the login that assumes these roles has no SELECT of its own;
the index role keeps it (``blocks.py``).

A table that already has row-level security is an error: two sets of policies would decide together.

Limits. Attributes are settings of the session, which anybody connected as one of the roles can
change: such a person is still restricted to tables and columns, but not to rows by attribute. A
query that reaches ``set_config`` can assume any role of the policy, as the login may; the guard
prevents that, and so does revoking the function from PUBLIC. Views that
the guard expands are not granted. Views with a filter of their own, materialized views and foreign
tables are granted, but PostgreSQL has no row-level security for them.

Knows nothing of connections: ``apply.py`` runs the statements.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from execution.name_resolution.scopes import MADE_UP
from execution.policies.access import CompiledPolicy, name_database_role
from execution.policies.parameters import fill_from_settings
from execution.policies.policy_file import Attribute
from execution.policies.row_level_security.blocks import (
    GROUP_COMMENT,
    OTHERS,
    ScriptStatement,
    build_preamble,
    check_name,
    name_group,
    name_index_role,
    render_clearing,
    render_index_role,
    render_roles,
    render_withdrawal,
)
from execution.policies.rules import Rules, TableRule
from execution.policies.wrappers import (
    name_table,
    render_condition,
    render_filter,
)
from nl2sql.catalog import Table
from nl2sql.errors import PolicyError
from nl2sql.sql.names import enquote, quote_literal

_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# The spelling of format_type() for a type outside pg_catalog.
_TYPE_SCHEMA = re.compile(r'(?:"((?:[^"]|"")+)"|(\w+))\.')

_HEAD = """\
The row policies of {database} as row-level security. Run it as the owner of the tables, with the
right to create roles. It can be run again;
`quorumsql policy apply --sql --remove` prints the statements that undo it.
Logins without one of these roles see the same rows as before. But PostgreSQL refuses COPY FROM
into a table with row-level security, and pg_dump reads it only as a superuser or with BYPASSRLS."""


@dataclass(frozen=True, slots=True)
class RowSecurity:
    """The row-level security of one database.

    ``group`` is the role that all of ``roles`` are members of. ``owned`` are the tables that the
    login that runs the statements must own, as schema.name; ``guarded`` those of them that get
    row-level security. The roles may use the ``schemas``; in those of ``withdrawn`` the reader
    itself loses SELECT.
    """

    database: str
    group: str
    roles: tuple[str, ...]
    reader: str
    statements: tuple[ScriptStatement, ...]
    owned: tuple[str, ...]
    guarded: tuple[str, ...]
    schemas: tuple[str, ...]
    withdrawn: tuple[str, ...]

    @property
    def digest(self) -> str:
        """SHA-256 over the statements; it changes with the policy."""
        texts = "\0".join(statement.text for statement in self.statements)
        return hashlib.sha256(texts.encode()).hexdigest()

    @property
    def script(self) -> tuple[ScriptStatement, ...]:
        """All statements, and one that records in the group's comment which they were."""
        text = quote_literal(f"{GROUP_COMMENT}{self.database}: statements {self.digest}")
        comment = ScriptStatement(f"COMMENT ON ROLE {enquote(self.group)} IS {text}")
        return (*self.statements, comment)


def build_row_security(compiled: CompiledPolicy, *, reader: str, indexer: str) -> RowSecurity:
    """The row-level security of a policy. ``reader`` is the login that runs the queries.

    ``indexer`` is the login that reads values for the index. Raises PolicyError if the
    database is not PostgreSQL, if the two logins are the same, and if a name would be too long.
    """
    catalog = compiled.catalog
    check_dialect(catalog.database, catalog.dialect)
    if reader == indexer:
        raise PolicyError(
            f"{reader} is both the reader and the indexer of {catalog.database}.",
            hint="With row-level security the reader itself may SELECT nothing, so the index needs "
            f"another login: databases.{catalog.database}.indexer.",
        )
    _check_attributes(compiled.policy.attributes)
    return _RowSecurityBuilder(compiled).build(reader, indexer)


def check_dialect(database: str, dialect: str) -> None:
    """Raises PolicyError for a database that is not PostgreSQL."""
    if dialect != "postgres":
        raise PolicyError(
            f"{database} is not a PostgreSQL database: only PostgreSQL has row-level security.",
            hint="The guard enforces the policy on every database, without row-level security.",
        )


def render_head(security: RowSecurity) -> str:
    """The comment at the head of the script."""
    return _HEAD.format(database=security.database)


def _check_attributes(attributes: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for name in attributes:
        if not _ATTRIBUTE.fullmatch(name):
            raise PolicyError(
                f"The attribute {name!r} cannot be a PostgreSQL setting: use letters, digits and "
                "underscores."
            )
        if (other := seen.setdefault(name.lower(), name)) != name:
            raise PolicyError(
                f"The attributes {other} and {name} would be the same setting in PostgreSQL."
            )


class _RowSecurityBuilder:
    """Builds the statements of all roles."""

    def __init__(self, compiled: CompiledPolicy) -> None:
        self._attributes: Mapping[str, Attribute] = compiled.policy.attributes
        self._catalog = compiled.catalog
        self._database = compiled.catalog.database
        self._tables = compiled.catalog.tables
        self._roles = {
            name_database_role(self._database, name): rules
            for name, rules in compiled.roles.items()
        }
        self._guarded = [
            table
            for table in self._tables
            if table.kind == "table"
            and any(
                table.qualified in rules and _is_filtered(rules[table.qualified])
                for rules in self._roles.values()
            )
        ]
        self._guarded_names = {table.qualified for table in self._guarded}

    def build(self, reader: str, indexer: str) -> RowSecurity:
        group = name_group(self._database)
        index_role = check_name(name_index_role(self._database), "database role")
        withdrawn = tuple(dict.fromkeys(table.schema for table in self._tables))
        used = (schema for rules in self._roles.values() for schema in _list_schemas(rules))
        schemas = dict.fromkeys((*withdrawn, *used))
        statements = [
            *build_preamble(self._catalog.search_path),
            ScriptStatement(
                render_clearing(group, self._roles), "Removes what an earlier run made."
            ),
            ScriptStatement(render_roles(group, self._roles, self._database)),
        ]
        for table in self._guarded:
            statements += self._build_policies(table)
        for role, rules in self._roles.items():
            statements.append(
                ScriptStatement(
                    f"GRANT {enquote(role)} TO {enquote(reader)} WITH INHERIT FALSE, SET TRUE",
                    f"The role {role}. The reader assumes it for one query, and has none of its "
                    "rights otherwise.",
                )
            )
            statements += self._build_grants(role, rules)
        statements += _build_withdrawal(index_role, self._database, reader, indexer, withdrawn)
        return RowSecurity(
            database=self._database,
            group=group,
            roles=tuple(self._roles),
            reader=reader,
            statements=tuple(statements),
            owned=tuple(table.qualified for table in self._tables),
            guarded=tuple(table.qualified for table in self._guarded),
            schemas=tuple(schemas),
            withdrawn=withdrawn,
        )

    # -- rows ----------------------------------------------------------------------------------

    def _build_policies(self, table: Table) -> Iterator[ScriptStatement]:
        name = name_table(table)
        yield ScriptStatement(f"DROP POLICY IF EXISTS {OTHERS} ON {name}")
        yield ScriptStatement(
            f"CREATE POLICY {OTHERS} ON {name} FOR ALL TO PUBLIC USING (true) WITH CHECK (true)"
        )
        yield ScriptStatement(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        yield ScriptStatement(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
        for role, rules in self._roles.items():
            condition = self._render_rows(rules, table.qualified)
            if condition:
                yield ScriptStatement(
                    f"CREATE POLICY {enquote(role)} ON {name} AS RESTRICTIVE FOR ALL"
                    f" TO {enquote(role)} USING ({condition})"
                )

    def _render_rows(self, rules: Rules, qualified: str) -> str:
        """The condition of a role's policy; empty if the role sees every row."""
        rule = rules.get(qualified)
        if rule is None:
            # The role has no grant either; but the table may be granted to PUBLIC.
            return "false"
        if rule.filter is not None:
            return fill_from_settings(render_filter(rule.filter, "", "postgres"), self._attributes)
        if rule.inherits is None:
            return ""
        key, parent = rule.inherits, rules[rule.inherits.target].table
        alias = f"{MADE_UP}1"
        conditions = [
            # With its schema, since an alias could have the same name.
            f"{alias}.{enquote(theirs)} = {name_table(rule.table)}.{enquote(ours)}"
            for ours, theirs in zip(key.columns, key.target_columns, strict=True)
        ]
        if parent.qualified not in self._guarded_names:
            conditions.append(f"({render_condition(rules, parent.qualified, 1, self._catalog)})")
        where = fill_from_settings(" AND ".join(conditions), self._attributes)
        return f"EXISTS (SELECT 1 FROM {name_table(parent)} AS {alias} WHERE {where})"

    # -- columns -------------------------------------------------------------------------------

    def _build_grants(self, role: str, rules: Rules) -> Iterator[ScriptStatement]:
        for schema in _list_schemas(rules):
            yield ScriptStatement(f"GRANT USAGE ON SCHEMA {enquote(schema)} TO {enquote(role)}")
        for name, rule in rules.items():
            if rule.expands:
                yield ScriptStatement(
                    "", f"Not granted: {name}, a view, which the guard replaces by its query."
                )
                continue
            columns, note = self._choose_columns(rules, rule)
            if rule.table.kind != "table" and _is_filtered(rule):
                note = f"{note}\n{name} is a {rule.table.kind}: only the guard filters its rows."
            if columns:
                names = ", ".join(enquote(column) for column in columns)
                yield ScriptStatement(
                    f"GRANT SELECT ({names}) ON {name_table(rule.table)} TO {enquote(role)}",
                    note.strip(),
                )

    def _choose_columns(self, rules: Rules, rule: TableRule) -> tuple[list[str], str]:
        """The columns to grant, in the table's order, and why hidden ones are among them."""
        seen = {column.name for column in rule.columns if column.name not in rule.masks}
        reasons: dict[str, str] = {}
        if rule.filter is not None:
            used = (column.name for column in rule.filter.find_all(exp.Column))
            reasons |= dict.fromkeys(used, "the filter reads it")
        if rule.inherits is not None:
            reasons |= dict.fromkeys(rule.inherits.columns, "it leads to the parent row")
        for child in rules.values():
            if child.inherits is not None and child.inherits.target == rule.table.qualified:
                reasons |= dict.fromkeys(
                    child.inherits.target_columns, f"{child.table.qualified} inherits over it"
                )
        columns = [
            column.name
            for column in rule.table.columns
            if column.name in seen or column.name in reasons
        ]
        notes = [
            f"{rule.table.qualified}.{name} is granted although the role does not see it: {reason}."
            for name, reason in reasons.items()
            if name not in seen
        ]
        return columns, "\n".join(notes)


def _build_withdrawal(
    role: str, database: str, reader: str, indexer: str, schemas: Iterable[str]
) -> Iterator[ScriptStatement]:
    yield ScriptStatement(
        render_index_role(role, database, reader),
        f"{role} keeps what {reader} may SELECT without row-level security. Grant and revoke "
        "SELECT for this role, or grant to the reader and apply again.",
    )
    for schema in schemas:
        yield ScriptStatement(f"GRANT USAGE ON SCHEMA {enquote(schema)} TO {enquote(role)}")
    yield ScriptStatement(
        f"GRANT {enquote(role)} TO {enquote(indexer)} WITH INHERIT FALSE, SET TRUE"
    )
    yield ScriptStatement(
        render_withdrawal(role, reader, schemas),
        "The reader itself may SELECT nothing, so a query that leaves its role reads nothing.",
    )


def _is_filtered(rule: TableRule) -> bool:
    return rule.filter is not None or rule.inherits is not None


def _list_schemas(rules: Rules) -> list[str]:
    """The schemas of the tables, and of the types to which the guard casts NULL."""
    found = {}
    for rule in rules.values():
        if not rule.expands:
            found[rule.table.schema] = True
        for column in rule.columns:
            if column.name in rule.masks and (schema := _TYPE_SCHEMA.match(column.type)):
                found[schema[1].replace('""', '"') if schema[1] else schema[2]] = True
    return list(found)
