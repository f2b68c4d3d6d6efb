"""SQLite's operators, literals and casts, and the rows over which they are compared."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from itertools import islice

from nl2sql.catalog import Catalog, Column, Table
from tests.oracle.meaning.comparison import Answer, MeaningTally, compare_meanings
from tests.oracle.meaning.guards import build_guards
from tests.oracle.meaning.templates import Grammar

_COLUMNS = (
    ("id", "INTEGER"),
    ("i", "INTEGER"),
    ("r", "REAL"),
    ("n", "NUMERIC"),
    ("s", "TEXT"),
    ("c", "TEXT"),
    ("b", "BLOB"),
    ("j", "TEXT"),
    ("x", ""),
    ("Od d", "TEXT"),
)
_ROWS = (
    (1, 3, 1.5, "7", "abc", "ABC", b"abc", '{"a": 1, "b": [1, 2, "x"]}', 1, "o"),
    (2, -7, -0.0, "2.50", "12abc", "abc", b"\x00\x01", '{"a": null}', "1", "d"),
    (3, None, 1e300, "x", "10", "10", None, "[1, 2]", 10.0, "10"),
    (4, 0, None, None, "", "%a_", b"", "not json", None, None),
    (5, 9007199254740993, 0.1, 3, "a%b", "Ä", b"9", "5", b"1", ""),
)
_SIGNS = "|| + - * / % << >> & | < <= > >= = == <> !=".split()
_WORDS = (
    "IS,IS NOT,IS DISTINCT FROM,IS NOT DISTINCT FROM,AND,OR,LIKE,NOT LIKE,GLOB,NOT GLOB,REGEXP,"
    "MATCH"
).split(",")
_GRAMMAR = Grammar(
    values={
        "value": (
            *"id i r n s c b x i s t.i t.s".split(),
            *'`Od d`|"Od d"|[Od d]|"none such"|t.j'.split("|"),
            *"0 1 2 7 10 0x1F 0XaB 1e5 1E-2 .5 5. 1.50 1_000 9223372036854775807".split(),
            *"'abc' '1' '' 'it''s' x'61' X'' x'00' NULL TRUE FALSE true".split(),
            "(SELECT max(i) FROM t)",
            "EXISTS (SELECT 1 FROM t WHERE i > 100)",
            *(f"{{value}} {sign} {{value}}" for sign in _SIGNS),
            *(f"{{value}} {word} {{value}}" for word in _WORDS),
            *(f"{sign}{{value}}" for sign in ("-", "+", "~", "- ", "NOT ", "not ")),
            *(f"{{value}} {word}" for word in ("IS NULL", "ISNULL", "NOTNULL", "NOT NULL")),
            *(f"{{value}} COLLATE {name}" for name in ("NOCASE", "binary", "RTRIM")),
            *(
                f"CAST({{value}} AS {name})"
                for name in (
                    "INTEGER,TEXT,REAL,BLOB,NUMERIC,int,varchar(3),double precision,boolean,date,"
                    "decimal(4, 1),unsigned big int,float"
                ).split(",")
            ),
            "{value} BETWEEN {value} AND {value}",
            "{value} NOT BETWEEN {value} AND {value}",
            "{value} IN ({value}, {value})",
            "{value} NOT IN ({value})",
            "{value} IN (SELECT i FROM t)",
            "{value} LIKE {value} ESCAPE {value}",
            "{value} LIKE 'a!%%' ESCAPE '!'",
            "j -> {value}",
            "j ->> {value}",
            "j -> 'b' ->> {value}",
            "j ->> '$.a'",
            "CASE WHEN {value} THEN {value} ELSE {value} END",
            "CASE {value} WHEN {value} THEN {value} END",
            "({value}, {value}) = ({value}, {value})",
            *(f"{name}({{value}})" for name in "typeof abs length upper quote hex date".split()),
            "substr({value}, {value})",
            "coalesce({value}, {value})",
            "iif({value}, {value}, {value})",
        )
    },
    statements=(
        "SELECT {outputs} FROM t",
        "SELECT {outputs} FROM t",
        "SELECT {outputs} FROM t AS t WHERE {value}",
        "SELECT {outputs} FROM t ORDER BY {value}, id",
        "SELECT DISTINCT {outputs} FROM t",
        "SELECT count(*), {value}, max({value}) FROM t GROUP BY {value}",
        "SELECT count( * ), sum({value}) FROM t HAVING {value}",
        "SELECT * FROM (SELECT {outputs} FROM t) AS d",
        "WITH w AS (SELECT {outputs} FROM t) SELECT * FROM w",
        "SELECT {value} UNION ALL SELECT {value} FROM t",
        "SELECT t.id, {value} FROM t JOIN t AS u ON u.id = {value}",
        "VALUES ({value}, {value}), (1, 2)",
    ),
)


def judge_meaning(rng: random.Random, *, statements: int) -> MeaningTally:
    """The verdicts on so many statements. Raises sqlite3.Error."""
    with closing(sqlite3.connect(":memory:")) as connection:
        columns = ", ".join(f"`{name}` {kind}" for name, kind in _COLUMNS)
        collated = columns.replace("`c` TEXT", "`c` TEXT COLLATE NOCASE")
        connection.execute(f"CREATE TABLE t ({collated}, PRIMARY KEY (id))")
        slots = ", ".join("?" * len(_COLUMNS))
        connection.executemany(f"INSERT INTO t VALUES ({slots})", _ROWS)

        def run(statement: str, params: tuple[object, ...]) -> Answer:
            try:
                cursor = connection.execute(statement, params)
                rows = cursor.fetchall()
            except (sqlite3.Error, sqlite3.Warning) as error:
                return error
            # The text of a value tells its type, and -0.0 from 0.0.
            return (*(name for name, *_ in cursor.description), repr(rows))

        table = Table("main", "t", tuple(Column(name, kind) for name, kind in _COLUMNS))
        catalog = Catalog("t", (table,), search_path=("main",), dialect="sqlite")
        texts = islice(_GRAMMAR.iterate(rng), statements)
        return compare_meanings(texts, build_guards(catalog), run, rng)
