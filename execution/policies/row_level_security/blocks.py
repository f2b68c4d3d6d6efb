"""The statements of row-level security that depend on what is in the database, and their script.

The roles are created, cleared and removed by PL/pgSQL blocks, which do the same in psql as in
``quorumsql policy apply``. The parts are found in the database itself (the roles that are members
of the group, their grants and policies), because the policy file may have changed since.

Queries run as the roles of the policy. The login itself may SELECT nothing, so a query that leaves
its role reads nothing. The index role keeps what the login could SELECT: the catalog shows what it
may read, the indexer assumes it to read the values of the index, and the removal of row-level
security returns its rights to the login. Nobody logs in as it. Knows nothing
of policies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

from nl2sql.errors import PolicyError
from nl2sql.sql.names import enquote, quote_literal

# The policy that shows every row to other logins: with row-level security, a row is visible only
# if some permissive policy shows it.
OTHERS = "quorumsql_others"

# The prefix of the group's comment; a role of that name without it was not made by us.
GROUP_COMMENT = "quorumsql policy of "

# The roles of row-level security: members of the group, named after it, that cannot log in.
MEMBERS = """SELECT r.oid, r.rolname
  FROM pg_roles g JOIN pg_auth_members m ON m.roleid = g.oid JOIN pg_roles r ON r.oid = m.member
 WHERE g.rolname = {group} AND NOT r.rolcanlogin AND starts_with(r.rolname, g.rolname || '_')
 GROUP BY r.oid, r.rolname ORDER BY r.rolname"""


def _read(name: str) -> str:
    """A block with places in braces, as ``NAME.sql`` has it.

    The order in them matters: dependent objects are dropped first, and revoking SELECT on a table
    revokes it on its columns too. ``known`` is what the comment on a role that we made holds.
    """
    return files(__package__).joinpath(f"{name}.sql").read_text(encoding="utf-8").rstrip("\n")


def render_clearing(group: str, kept: Iterable[str]) -> str:
    """A block that revokes everything from the group's roles and drops those not in ``kept``.

    A kept role keeps the roles granted to it and the logins that may assume it. Only objects of
    row-level security are dropped.
    """
    return render_block(
        _read("clear").format(
            members=MEMBERS.format(group=quote_literal(group)),
            kept=", ".join(map(quote_literal, kept)),
            others=quote_literal(OTHERS),
        )
    )


def render_roles(group: str, roles: Iterable[str], database: str) -> str:
    """A block that creates the missing roles; fails if one exists that was not made by us."""
    name, comment = quote_literal(group), quote_literal(f"{GROUP_COMMENT}{database}:")
    return render_block(
        _read("make_roles").format(
            make=_read("make_role").format(role=name, comment=comment, known=f"^@ {comment}"),
            group=name,
            roles=", ".join(map(quote_literal, roles)),
            members=MEMBERS.format(group=name),
        )
    )


def render_block(body: str) -> str:
    """The body as one DO statement, with a dollar quote that does not occur in it."""
    tag = "quorumsql"
    while f"${tag}$" in body:
        tag += "_"
    return f"DO ${tag}$\n{body}\n${tag}$"


# The prefix of the role's comment; a role of that name without it was not made by us.
INDEX_COMMENT = "quorumsql index role of "


def render_index_role(role: str, database: str, reader: str) -> str:
    """A block that creates the index role; fails if one exists for another database or reader."""
    comment = quote_literal(f"{INDEX_COMMENT}{database}: {reader}")
    make = _read("make_role").format(
        role=quote_literal(role), comment=comment, known=f"= {comment}"
    )
    return render_block(f"BEGIN\n  {make}\nEND")


def render_withdrawal(role: str, reader: str, schemas: Iterable[str]) -> str:
    """A block that moves the SELECT rights of ``reader`` in the schemas to the index role."""
    listed = ", ".join(map(quote_literal, schemas))
    move = _read("move").format(where=f"n.nspname = ANY (ARRAY[{listed}]::text[])")
    return render_block(
        _read("withdraw").format(reader=quote_literal(reader), role=quote_literal(role), move=move)
    )


_LONGEST_NAME_BYTES = 63


@dataclass(frozen=True, slots=True)
class ScriptStatement:
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


def build_removal(database: str) -> tuple[ScriptStatement, ...]:
    """The statements that remove row-level security from the database."""
    note = f"Removes row-level security from {database}; the tables become as they were before it."
    group = name_group(database)
    drop = _read("drop_group").format(
        group=quote_literal(group),
        comment=quote_literal(GROUP_COMMENT),
        members=MEMBERS.format(group=quote_literal(group)),
    )
    back = _read("return").format(
        role=quote_literal(name_index_role(database)),
        comment=quote_literal(f"{INDEX_COMMENT}{database}: "),
        move=_read("move").format(where="true"),
    )
    return (
        ScriptStatement(render_clearing(group, ()), note),
        ScriptStatement(render_block(drop)),
        ScriptStatement(render_block(back), "Returns SELECT to the reader."),
    )


def build_preamble(search_path: Iterable[str]) -> tuple[ScriptStatement, ...]:
    """Settings of the transaction on which the meaning of the statements depends."""
    path = ", ".join(enquote(name) for name in search_path) or "''"
    return (
        ScriptStatement(render_block(_read("check_version"))),
        ScriptStatement("SET LOCAL standard_conforming_strings = on"),
        ScriptStatement(
            f"SET LOCAL search_path = {path}", "The search path of the guard's queries."
        ),
        ScriptStatement(
            "SET LOCAL createrole_self_grant = ''", "The roles are not granted to you."
        ),
    )


def render_script(statements: Iterable[ScriptStatement], *, head: str = "") -> str:
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
