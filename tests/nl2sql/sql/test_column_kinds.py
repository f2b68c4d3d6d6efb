"""What a declared type holds, database by database."""

from __future__ import annotations

import pytest

from nl2sql.sql.column_kinds import Kind, find_kind

TYPES: dict[str, dict[Kind, list[str]]] = {
    "postgres": {
        "integer": ["integer", "int4", "smallint", "bigint", "serial", "bigserial"],
        "number": ["numeric", "numeric(10,2)", "DECIMAL"],
        "float": ["real", "double precision", "float8"],
        "money": ["money"],
        "text": [
            *("text", "character varying(20)", "character(2)", "char", "bpchar", "name", '"char"'),
            *("citext", "public.citext"),
        ],
        "boolean": ["boolean", "bool"],
        "date": ["date"],
        "timestamp": [
            *("timestamp", "timestamp(3) without time zone", "timestamp with time zone"),
            "timestamptz",
        ],
        "time": ["time", "time without time zone", "time with time zone"],
        "interval": ["interval", "interval(3)", "interval year to month"],
        "uuid": ["uuid"],
        "other": [
            *("integer[]", "text[]", "timestamp without time zone[]", "point", "int4range"),
            *("daterange", "jsonb", "xml", "bytea", "inet", "bit(8)", "oid", "tsvector", "hstore"),
            *("vector(384)", "geometry(Point,4326)"),
            # Types and domains that users made may hold anything, whatever they are called.
            *(
                "update_status",
                "pinterval",
                "blueprint",
                "sales.date_text",
                '"Text Kind"',
                '"date"',
            ),
        ],
        "": ["", " "],
    },
    "sqlite": {
        "integer": [
            *("INTEGER", "int(11)", "int(10) unsigned", "MEDIUMINT", "UNSIGNED BIG INT", "INT8"),
            *("serial", "CHARINT", "FLOATING POINT"),
        ],
        "number": ["NUMERIC", "DECIMAL(10,5)", "NUMBER(9)"],
        "float": ["REAL", "DOUBLE", "DOUBLE PRECISION", "FLOAT", "double(10,2)", "REALISTIC"],
        "money": ["MONEY"],
        "text": [
            *("TEXT", "VARCHAR(255)", "NVARCHAR(100)", "CLOB", "STRING", "LONG VARCHAR"),
            *("NATIVE CHARACTER(70)", "VARYING CHARACTER(255)", "varchar2(20)", "mediumtext"),
        ],
        "enum": ["ENUM('open','update pending')"],
        "boolean": ["BOOLEAN", "bool", "bool(1)"],
        "date": ["DATE"],
        "timestamp": ["DATETIME", "TIMESTAMP", "timestamp(6)", "datetime2"],
        "time": ["TIME"],
        "interval": ["interval"],
        "uuid": ["UUID", "uniqueidentifier"],
        "other": ["BLOB", "XBLOBX", "YEAR", "currency", "set('point')", "ANY", "hello world"],
        "": [""],
    },
    "duckdb": {
        "integer": ["INTEGER", "UTINYINT", "UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM"],
        "number": ["DECIMAL(18,3)"],
        "float": ["FLOAT", "DOUBLE"],
        "text": ["VARCHAR"],
        "enum": ["ENUM('open','update pending')", "ENUM('int', 'it''s a date')"],
        "boolean": ["BOOLEAN"],
        "date": ["DATE"],
        "timestamp": ["TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"],
        "time": ["TIME", "TIME_NS", "TIME WITH TIME ZONE"],
        "interval": ["INTERVAL"],
        "uuid": ["UUID"],
        "other": [
            *("INTEGER[]", "INTEGER[3]", "VARCHAR[][]", "ENUM('a')[]", "STRUCT(a INTEGER)"),
            *('STRUCT("a b" INTEGER, d DATE)', "MAP(VARCHAR, INTEGER)", "BLOB", "JSON", "BIT"),
            *("UNION(num INTEGER, str VARCHAR)", "GEOMETRY('EPSG:4326')", '"NULL"', "ANY"),
        ],
        "": [""],
    },
}


@pytest.mark.parametrize(
    ("dialect", "kind"), [(dialect, kind) for dialect, kinds in TYPES.items() for kind in kinds]
)
def test_a_declared_type_is_of_one_kind(dialect: str, kind: Kind) -> None:
    names = TYPES[dialect][kind]
    assert {name: find_kind(name, dialect) for name in names} == dict.fromkeys(names, kind)


@pytest.mark.parametrize("dialect", TYPES)
@pytest.mark.parametrize(
    "declared", ["'", '"', ")(", ":", "a.b.c", "STRUCT(", "[]", "(" * 100, "é", "\0"]
)
def test_what_is_no_type_is_never_an_error(dialect: str, declared: str) -> None:
    assert find_kind(declared, dialect) == "other"


def test_what_can_be_read_in_too_many_ways_is_of_no_known_type() -> None:
    assert find_kind(f"{'STRUCT(' * 35}1{')' * 35}", "duckdb") == "other"
