"""Rewrites each call into one spelling, whatever schema, quotes or dots the query used.

Checks of functions (``growing_calls.py``, ``growth.py``, names of columns) look at sqlglot's nodes,
and sqlglot makes the node of a known function only if its name is unqualified: it reads
``pg_catalog.repeat('x', 9)`` as a field of a schema, and DuckDB's ``'x'.repeat(9)`` as a field of a
text. Both become ``repeat('x', 9)``. A call under any other schema stays as it is: the second check
knows it by its full name.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.parser import Parser

from nl2sql.sql.nodes import find_all, read_identifier

_POSTGRES_SCHEMA = "pg_catalog"
# DuckDB reads a name before a dot as one of these schemas, or else as the first argument.
_DUCKDB_SCHEMAS = frozenset({"main", "pg_catalog", "system", "temp", "information_schema"})

# Nodes that may enclose a call after a dot.
_AROUND = (exp.Filter, exp.Window, exp.WithinGroup)
# The parts of nodes in which an identifier is not a value.
_HOLDERS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Alias: ("alias",),
    exp.Anonymous: ("this",),
    exp.Collate: ("expression",),
    exp.Column: ("this", "table", "db", "catalog"),
    exp.DataType: ("kind",),
    exp.Dot: ("expression",),
    exp.Join: ("using",),
    exp.Lateral: ("this",),
    exp.PropertyEQ: ("this",),
    exp.Table: ("this", "db", "catalog"),
    exp.TableAlias: ("this", "columns"),
    exp.Unnest: ("offset",),
    exp.Window: ("this", "alias"),
}


def spell_calls(tree: exp.Expr, dialect: str, parser: type[Parser]) -> None:
    """Rewrites the calls of a statement into their plain spelling, in place.

    ``parser`` knows which functions have node types of their own. Raises ParseError for a call
    behind a dot on DuckDB whose first argument is neither a column nor a literal nor a call.
    """
    if dialect == "postgres":
        for table in find_all(tree, exp.Table):
            if isinstance(table.this, exp.Func) and _is_postgres_schema(table.args.get("db")):
                table.set("db", None)
    # The inner ones first: calls can be chained.
    for dot in reversed(list(find_all(tree, exp.Dot))):
        if dialect == "duckdb" and isinstance(dot.expression, (exp.Func, *_AROUND)):
            _take_first_argument(dot)
        elif dialect == "postgres" and _is_postgres_schema(dot.this):
            dot.replace(dot.expression)
    for call in list(find_all(tree, exp.Anonymous)):
        if isinstance(call.this, exp.Identifier) and _is_plain(call.this, dialect):
            call.set("this", call.this.name)
        if isinstance(call.this, str) and (builder := parser.FUNCTIONS.get(call.this.upper())):
            call.replace(builder(call.expressions))


def _take_first_argument(dot: exp.Dot) -> None:
    """Rewrites ``x.f(y)`` as ``f(x, y)``. Raises ParseError where ``x`` is not that simple."""
    subject, call = dot.this, dot.expression
    names = list(subject.flatten()) if isinstance(subject, exp.Dot) else [subject]
    if len(names) <= 2 and all(isinstance(name, exp.Identifier) for name in names):
        table = names[0] if len(names) == 2 else None
        is_schema = names[0].name.lower() in _DUCKDB_SCHEMAS
        subject = exp.Dot() if is_schema else exp.Column(this=names[-1], table=table)
    if (
        not isinstance(call, exp.Anonymous)
        # Between two dots there is an empty text.
        or isinstance(subject, exp.Dot | str)
        # sqlglot makes columns before a dot plain names.
        or any(map(is_bare_identifier, subject.find_all(exp.Identifier)))
    ):
        raise ParseError("A call behind a dot: write f(x) for x.f() and for s.f(x).")
    call.set("expressions", [subject, *call.expressions])
    dot.replace(call)


def is_bare_identifier(name: exp.Identifier) -> bool:
    """Whether an identifier is in the place of a value, without a column node to resolve.

    So is an empty name on SQLite, which elsewhere in the query may be an empty string.
    """
    around = name.parent
    if not name.name:
        return not isinstance(around, exp.Column)
    if isinstance(around, exp.Dot) and name.arg_key == "this":
        # The schema of a function or type, which the checks know by its full name.
        while isinstance(around.parent, exp.Dot) and around.arg_key == "this":
            around = around.parent
        is_call = isinstance(around.expression, (exp.Func, *_AROUND))
        return not is_call and not isinstance(around.parent, exp.DataType)
    return not any(
        isinstance(around, kind) and name.arg_key in keys for kind, keys in _HOLDERS.items()
    )


def _is_plain(name: exp.Identifier, dialect: str) -> bool:
    """Whether the name means the same without its quotes."""
    return dialect != "postgres" or name.name == name.name.lower()


def _is_postgres_schema(node: object) -> bool:
    return read_identifier(node, "postgres") == _POSTGRES_SCHEMA
