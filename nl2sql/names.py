"""Names as PostgreSQL wants them written."""

from __future__ import annotations

# Reserved, as PostgreSQL 18 has them (documentation, appendix C), those that only a function or a
# type may bear included.
_RESERVED = frozenset(
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


def quote_name(name: str) -> str:
    """The name as SQL: quoted where PostgreSQL would fold or refuse it.

    >>> quote_name("amt"), quote_name("Order Total"), quote_name("user")
    ('amt', '"Order Total"', '"user"')
    """
    plain = name.isidentifier() and name.isascii() and name == name.lower()
    if plain and name not in _RESERVED:
        return name
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
