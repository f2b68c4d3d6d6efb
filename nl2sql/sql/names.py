"""Quotes names and texts as the databases require, and folds them for comparison.

Knows the dialects by their sqlglot names. Does not resolve a name to a table: ``catalog.py`` does.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

DIALECT_NAMES = {"postgres": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB"}
"""The usual names of the dialects."""

# The reserved words of PostgreSQL 18 (documentation, appendix C), including those that can name a
# function or a type.
_POSTGRES_RESERVED = frozenset(
    "all analyse analyze and any array as asc asymmetric authorization binary both case cast check "
    "collate collation column concurrently constraint create cross current_catalog current_date "
    "current_role current_schema current_time current_timestamp current_user default deferrable "
    "desc distinct do else end except false fetch for foreign freeze from full grant group having "
    "ilike in initially inner intersect into is isnull join lateral leading left like limit "
    "localtime localtimestamp natural not notnull null offset on only or order outer overlaps "
    "placing primary references returning right select session_user similar some symmetric "
    "system_user table tablesample then to trailing true union unique user using variadic verbose "
    "when where window with".split()
)

# All keywords (sqlite.org/lang_keywords.html): which of them need quotes depends on the place.
# True and false are not in that list, but unquoted they are not names.
_SQLITE_KEYWORDS = frozenset(
    "abort action add after all alter always analyze and as asc attach autoincrement before begin "
    "between by cascade case cast check collate column commit conflict constraint create cross "
    "current current_date current_time current_timestamp database default deferrable deferred "
    "delete desc detach distinct do drop each else end escape except exclude exclusive exists "
    "explain fail false filter first following for foreign from full generated glob group groups "
    "having if ignore immediate in index indexed initially inner insert instead intersect into is "
    "isnull join key last left like limit match materialized natural no not nothing notnull null "
    "nulls of offset on or order others outer over partition plan pragma preceding primary query "
    "raise range recursive references regexp reindex release rename replace restrict returning "
    "right rollback row rows savepoint select set table temp temporary then ties to transaction "
    "trigger true unbounded union unique update using vacuum values view virtual when where window "
    "with without".split()
)

# The keywords of DuckDB 2.0 (duckdb_keywords()): reserved, and those that can only name a function
# or a type.
_DUCKDB_RESERVED = frozenset(
    "all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by "
    "case cast check collate collation column columns concurrently constraint create cross default "
    "deferrable desc describe distinct do else end except false fetch for foreign freeze from full "
    "generated glob group having ilike in initially inner intersect into is isnull join lambda "
    "lateral leading left like limit map natural not notnull null offset on only or order outer "
    "overlaps pivot pivot_longer pivot_wider placing positional primary qualify references "
    "returning right select semi show similar some struct summarize symmetric table tablesample "
    "then to trailing true try_cast tuple union unique unpack unpivot using variadic verbose when "
    "where window with".split()
)


# Unquoted names that some of the databases accept, but sqlglot misreads in some place of a query
# (found by parsing columns and tables named like every word that it knows).
_MISREAD = frozenset(
    "alter array between connect_by_root cube describe drop fetch force glob grant if ilike insert "
    "install interval lateral list lock map nullable object partitioned_by qualify range regexp "
    "revoke rlike rollback rollup row struct tablesample uncache values xor".split()
)


def quote_literal(text: str) -> str:
    """The text as a string literal, valid while ``standard_conforming_strings`` is on.

    >>> quote_literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str, dialect: str = "postgres") -> str:
    """The name as SQL: quoted if the database would fold or refuse it, or sqlglot misread it.

    >>> quote_name("amt"), quote_name("Order Total"), quote_name("user"), quote_name("values")
    ('amt', '"Order Total"', '"user"', '"values"')
    >>> quote_name("Country", "sqlite"), quote_name("Order", "sqlite")
    ('Country', '"Order"')
    >>> quote_name("Country", "duckdb"), quote_name("Pivot", "duckdb")
    ('Country', '"Pivot"')
    """
    if dialect == "sqlite":
        plain, reserved = fold_name(name, dialect), _SQLITE_KEYWORDS
    elif dialect == "duckdb":
        plain, reserved = fold_name(name, dialect), _DUCKDB_RESERVED
    else:
        plain, reserved = name, _POSTGRES_RESERVED
    is_plain = plain.isidentifier() and plain.isascii() and plain == plain.lower()
    if is_plain and plain not in reserved and plain not in _MISREAD:
        return name
    return enquote(name)


def enquote(*names: str) -> str:
    """The name, or the names with a dot between them, in double quotes, for all three dialects.

    >>> print(enquote("sales", "Order Total"))
    "sales"."Order Total"
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def fold_name(name: str, dialect: str) -> str:
    """A key that is equal for names that the database considers equal.

    PostgreSQL compares stored names exactly; SQLite and DuckDB ignore the case of ASCII letters,
    quoted or not.

    >>> fold_name("Ürün ID", "sqlite"), fold_name("ID", "postgres")
    ('Ürün id', 'ID')
    """
    if dialect not in ("sqlite", "duckdb"):
        return name
    if name.isascii():
        return name.lower()
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def build_sqlite_uri(path: Path) -> str:
    """The URI under which SQLite opens a file read-only, with all characters of its path escaped.

    >>> build_sqlite_uri(Path("/data/100% sure?mode=rwc#.db"))
    'file:///data/100%25%20sure%3Fmode%3Drwc%23.db?mode=ro'
    """
    return f"file://{quote(os.fsencode(path.absolute()))}?mode=ro"
