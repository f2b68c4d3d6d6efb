"""A script of statements for PostgreSQL: one transaction, with notes for whoever reads it.

What stands around row-level security's own statements: the settings that they are run under, their
notes as comments, and the statements that undo them.
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
    """One statement, without its semicolon; ``note`` is what a reader should know about it.

    ``text`` is empty where there is only a note.
    """

    text: str
    note: str = ""


def name_group(database: str) -> str:
    """The role whose members are the roles of the policy. Raises PolicyError when it is too long.

    >>> name_group("demo_erp")
    'quorumsql_demo_erp'
    """
    return check_name(f"quorumsql_{database}", "database role")


def name_index_role(database: str) -> str:
    """The role that keeps what the login may SELECT without row-level security.

    >>> name_index_role("demo_erp")
    'quorumsql_index_demo_erp'
    """
    return f"quorumsql_index_{database}"


def build_removal(database: str) -> tuple[Statement, ...]:
    """The statements that undo row-level security of that database."""
    note = f"Undoes row-level security of {database}; the tables are as they were before it."
    return (
        Statement(render_removal(name_group(database)), note),
        Statement(
            render_return(name_index_role(database), database),
            "The reader gets back its SELECT, and PUBLIC the functions that were taken from it.",
        ),
    )


def build_revocation(database: str) -> Statement:
    """Takes from PUBLIC the functions that a query should not reach; needs a superuser."""
    return Statement(
        render_revocation(name_index_role(database)),
        "Only their owner executes these functions from now on. Other logins of this database that "
        "need one need a GRANT; pg_dump run by anybody but a superuser needs set_config.",
    )


def build_preamble(search_path: Iterable[str]) -> tuple[Statement, ...]:
    """What is set for the transaction, so that each statement means what it says."""
    path = ", ".join(enquote(name) for name in search_path) or "''"
    return (
        Statement(render_version_check()),
        Statement("SET LOCAL standard_conforming_strings = on"),
        Statement(f"SET LOCAL search_path = {path}", "As where the guard's own queries run."),
        Statement("SET LOCAL createrole_self_grant = ''", "Whoever runs this is not secured in."),
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
    # A name may hold a line end, which would end the comment too.
    return "".join(f"-- {line}\n" for line in text.splitlines())


def check_name(name: str, what: str) -> str:
    """``name``, which PostgreSQL would cut. Raises PolicyError when it is too long."""
    if len(name.encode()) > _LONGEST_NAME_BYTES:
        raise PolicyError(
            f"The name of the {what} {name} is longer than {_LONGEST_NAME_BYTES} bytes."
        )
    return name
