"""Classifies a column by its declared type, as its database spells the type.

sqlglot knows the databases' own types. Other names are user-defined types, which can hold anything.
SQLite accepts any text as a type and derives the affinity from parts of it
(https://www.sqlite.org/datatype3.html, 3.1).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.parsing import parse_type

Kind = Literal[
    "integer",
    "number",
    "float",
    "money",
    "text",
    "enum",
    "boolean",
    "date",
    "timestamp",
    "time",
    "interval",
    "uuid",
    "other",
    "",
]
"""``number`` is exact and may have decimals; empty if no type is declared."""

NUMBERS: frozenset[Kind] = frozenset({"integer", "number", "float", "money"})
TEXTS: frozenset[Kind] = frozenset({"text", "enum"})
TIMES: frozenset[Kind] = frozenset({"date", "timestamp", "time"})

_TYPES = exp.DataType
_D = exp.DType
# Later lines win.
_KINDS: dict[exp.DType, Kind] = {
    **dict.fromkeys(_TYPES.INTEGER_TYPES - {_D.BIT}, "integer"),
    **dict.fromkeys((_D.SMALLSERIAL, _D.SERIAL, _D.BIGSERIAL, _D.BIGNUM), "integer"),
    **dict.fromkeys(_TYPES.REAL_TYPES, "number"),
    **dict.fromkeys((*_TYPES.FLOAT_TYPES, _D.UDOUBLE), "float"),
    **dict.fromkeys((_D.MONEY, _D.SMALLMONEY), "money"),
    **dict.fromkeys((*_TYPES.TEXT_TYPES, _D.BPCHAR), "text"),
    **dict.fromkeys(_TYPES.TEMPORAL_TYPES, "timestamp"),
    **dict.fromkeys((_D.DATE, _D.DATE32), "date"),
    **dict.fromkeys((_D.TIME, _D.TIMETZ, _D.TIME_NS), "time"),
    _D.ENUM: "enum",
    _D.BOOLEAN: "boolean",
    _D.INTERVAL: "interval",
    _D.UUID: "uuid",
}
# SQLite tables often keep the type names of another database.
_READERS = {"sqlite": ("sqlite", "postgres", "tsql")}
# Text under names that sqlglot does not know.
_POSTGRES = {"citext": _D.TEXT, '"char"': _D.CHAR}
# SQLite's affinities by parts of other type names, in this order.
_AFFINITIES = (
    ("int", _D.INT),
    ("char", _D.TEXT),
    ("clob", _D.TEXT),
    ("text", _D.TEXT),
    ("blob", _D.BLOB),
    ("real", _D.DOUBLE),
    ("floa", _D.DOUBLE),
    ("doub", _D.DOUBLE),
)


def find_kind(declared: str, dialect: str) -> Kind:
    """The kind of a column by its declared type.

    >>> [find_kind(name, "postgres") for name in ("numeric(12,2)", "point", "update_status")]
    ['number', 'other', 'other']
    >>> find_kind("UNSIGNED BIG INT", "sqlite"), find_kind("ENUM('update')", "duckdb")
    ('integer', 'enum')
    """
    return _KINDS.get(read_type(declared, dialect), "other") if declared.strip() else ""


def kind_of(type_: exp.Expr) -> Kind:
    """The kind of a type in a query's tree."""
    return _KINDS.get(_read_tree(type_), "other")


@lru_cache(maxsize=1 << 12)
def read_type(declared: str, dialect: str) -> exp.DType:
    """sqlglot's name of the type, without its parameters; ``USERDEFINED`` if it has none."""
    for reader in _READERS.get(dialect, (dialect,)):
        try:
            return _read_tree(parse_type(declared, reader))
        except (SqlglotError, RecursionError):
            continue
    name = declared.lower()
    if dialect == "sqlite":
        # The values of a SET('point') do not belong to its name.
        name = name.partition("(")[0]
        return next((type_ for part, type_ in _AFFINITIES if part in name), _D.USERDEFINED)
    return _POSTGRES.get(name.rpartition(".")[2], _D.USERDEFINED)


def _read_tree(tree: exp.Expr | None) -> exp.DType:
    if isinstance(tree, exp.DataType):
        if isinstance(tree.this, exp.DType):
            return tree.this
        if isinstance(tree.this, exp.Interval):
            return _D.INTERVAL
    return _D.USERDEFINED
