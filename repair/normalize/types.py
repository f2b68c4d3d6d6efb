"""Translates the type names of other dialects into the targets'."""

from __future__ import annotations

# Functions that cast, and their names in the targets.
CASTS = {
    "SAFE_CAST": {"postgres": "CAST", "sqlite": "CAST", "duckdb": "TRY_CAST"},
    "TRY_CAST": {"postgres": "CAST", "sqlite": "CAST", "duckdb": "TRY_CAST"},
}
_MEANT = {
    **dict.fromkeys(("SIGNED", "UNSIGNED", "INT64", "LONG"), "BIGINT"),
    **dict.fromkeys(("TINYINT", "MEDIUMINT", "BYTEINT", "INT32"), "INTEGER"),
    **dict.fromkeys(("FLOAT64", "DOUBLE", "BINARY_DOUBLE"), "DOUBLE PRECISION"),
    **dict.fromkeys(("NUMBER", "BIGNUMERIC", "MONEY", "SMALLMONEY"), "NUMERIC"),
    **dict.fromkeys(("STRING", "NTEXT", "CLOB", "LONGTEXT", "MEDIUMTEXT"), "TEXT"),
    **dict.fromkeys(("NVARCHAR", "VARCHAR2", "NVARCHAR2"), "VARCHAR"),
    **dict.fromkeys(("DATETIME", "DATETIME2", "SMALLDATETIME"), "TIMESTAMP"),
    "NCHAR": "CHAR",
    "BIT": "BOOLEAN",
}
# Types that every target has under the same name.
_OWN = {
    "postgres": frozenset({"BIT", "MONEY"}),
    "sqlite": frozenset({"DATETIME", "TINYINT", "MEDIUMINT", "DOUBLE", "CLOB"}),
    "duckdb": frozenset(
        {"STRING", "DATETIME", "TINYINT", "DOUBLE", "SIGNED", "LONG", "NVARCHAR", "BIT"}
    ),
}
_SPELLED = {
    "sqlite": {
        "BIGINT": "INTEGER",
        "DOUBLE PRECISION": "REAL",
        "TIMESTAMP": "DATETIME",
        "BOOLEAN": "INTEGER",
    },
    "duckdb": {"DOUBLE PRECISION": "DOUBLE"},
}
_ANY = frozenset(
    "INT INTEGER BIGINT SMALLINT VARCHAR CHAR TEXT DATE TIMESTAMP TIME NUMERIC DECIMAL REAL FLOAT "
    "BOOLEAN BOOL".split()
)


def translate_type(name: str, target: str, *, is_sized: bool = False) -> str:
    """The target's name of a type, in capitals; empty if the type is unknown.

    CHAR without a length is one letter by the standard, but models mean any text.

    >>> translate_type("NUMBER", "postgres"), translate_type("DATETIME", "sqlite")
    ('NUMERIC', 'DATETIME')
    >>> translate_type("CHAR", "postgres"), translate_type("CHAR", "postgres", is_sized=True)
    ('TEXT', 'CHAR')
    """
    if name in _OWN[target]:
        return name
    meant = _MEANT.get(name, name if name in _ANY else "")
    if meant == "CHAR" and not is_sized:
        return "TEXT"
    return _SPELLED.get(target, {}).get(meant, meant) if name in _MEANT else meant
