"""The script of row-level security: one transaction for psql, with notes as comments.

Also the statements before those of a policy (settings of the transaction) and those that undo them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from execution.policies.row_level_security.blocks import render_removal, render_version_check
from execution.policies.row_level_security.index_role import render_return, render_revocation
from nl2sql.errors import PolicyError
from nl2sql.sql.names import enquote

_LONGEST_NAME_BYTES = 63


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, without its semicolon, and a ``note`` for the reader of the script.

    ``text`` is empty if there is only a note.
    """

    text: str
    note: str = ""


def name_group(database: str) -> str:
    """The role whose members are the roles of the policy. Raises PolicyError if it is too long.

    >>> name_group("demo_erp")
    'quorumsql_demo_erp'
    """
    return check_name(f"quorumsql_{database}", "database role")


def name_index_role(database: str) -> str:
    """The role that keeps the SELECT rights that the login has without row-level security.

    >>> name_index_role("demo_erp")
    'quorumsql_index_demo_erp'
    """
    return f"quorumsql_index_{database}"


def build_removal(database: str) -> tuple[Statement, ...]:
    """The statements that remove row-level security from the database."""
    note = f"Removes row-level security from {database}; the tables become as they were before it."
    return (
        Statement(render_removal(name_group(database)), note),
        Statement(
            render_return(name_index_role(database), database),
            "Returns SELECT to the reader, and to PUBLIC the functions that were revoked from it.",
        ),
    )


def build_revocation(database: str) -> Statement:
    """Revokes from PUBLIC the functions that a query should not reach; needs a superuser."""
    return Statement(
        render_revocation(name_index_role(database)),
        "From now on only their owner may execute these functions. Other logins of this database "
        "need a GRANT to use them; pg_dump without superuser rights needs set_config.",
    )


def build_preamble(search_path: Iterable[str]) -> tuple[Statement, ...]:
    """Settings of the transaction on which the meaning of the statements depends."""
    path = ", ".join(enquote(name) for name in search_path) or "''"
    return (
        Statement(render_version_check()),
        Statement("SET LOCAL standard_conforming_strings = on"),
        Statement(f"SET LOCAL search_path = {path}", "The search path of the guard's queries."),
        Statement("SET LOCAL createrole_self_grant = ''", "The roles are not granted to you."),
    )


def render_script(statements: Iterable[Statement], *, head: str = "") -> str:
    """The statements as one transaction for psql, with their notes as comments."""
    parts = [_render_comment(head)] if head else []
    parts.append("BEGIN;\n")
    for statement in statements:
        text = f"{statement.text};\n" if statement.text else ""
        parts.append((_render_comment(statement.note) if statement.note else "") + text)
    parts.append("COMMIT;\n")
    return "".join(parts)


def _render_comment(text: str) -> str:
    # A name may contain a line break, which would end the comment.
    return "".join(f"-- {line}\n" for line in text.splitlines())


def check_name(name: str, what: str) -> str:
    """Returns ``name``. Raises PolicyError if it is so long that PostgreSQL would truncate it."""
    if len(name.encode()) > _LONGEST_NAME_BYTES:
        raise PolicyError(
            f"The name of the {what} {name} is longer than {_LONGEST_NAME_BYTES} bytes."
        )
    return name
