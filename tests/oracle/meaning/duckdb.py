"""DuckDB's operators, literals and casts, and the rows over which they are compared."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import islice

import duckdb

from nl2sql.catalog import Catalog, Column, Table
from tests.oracle.meaning.comparison import Answer, MeaningTally, compare_meanings
from tests.oracle.meaning.guards import build_guards
from tests.oracle.meaning.templates import Grammar

_COLUMNS = (
    ("id", "INTEGER"),
    ("i", "INTEGER"),
    ("h", "BIGINT"),
    ("r", "DOUBLE"),
    ("n", "DECIMAL(8,2)"),
    ("s", "VARCHAR"),
    ("c", "VARCHAR"),
    ("b", "BLOB"),
    ("ok", "BOOLEAN"),
    ("d", "DATE"),
    ("ts", "TIMESTAMP"),
    ("l", "INTEGER[]"),
    ("v", "DOUBLE[2]"),
    ("st", "STRUCT(a INTEGER, s VARCHAR)"),
    ("m", "MAP(VARCHAR, INTEGER)"),
    ("j", "JSON"),
    ("Od d", "VARCHAR"),
)
_ROWS = """
(1, 3, 12, 1.5, 7.25, 'abc', 'ABC', 'abc', true, '2024-02-29', '2024-02-29 12:30:00', [1, 2, 3],
 [0.5, 1], {'a': 1, 's': 'x'}, MAP {'k': 1}, '{"a": 1, "b": [1, 2]}', 'o'),
(2, -7, 9007199254740993, -0.0, -2.50, 'a%b', 'abc', '\\x00\\x01', false, '1999-12-31',
 '1999-12-31 23:59:59', [], [2, 3], {'a': NULL, 's': ''}, MAP {}, '[1, "x"]', ''),
(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
(4, 0, 5, 2, 10, '10', '%a_', '', true, '2024-01-01', '2024-01-01 00:00:00', [NULL, 5], [1, 0],
 {'a': 7, 's': 'abc'}, MAP {'a': 2, 'b': 3}, '5', '10')
"""
_COMPARED = "= == <> != < <= > >=".split()
_TYPES = (
    "INTEGER,BIGINT,int,DOUBLE,float,VARCHAR,text,DECIMAL(8, 1),BOOLEAN,DATE,timestamp,BLOB,"
    "INTEGER[],VARCHAR[],utinyint,hugeint,JSON,time,interval"
).split(",")
_GRAMMAR = Grammar(
    values={
        "number": (
            *"id i h r n i t.i st.a t.st.a i n 0 1 2 3 5 10 1_000 1e3 1E-2 .5 5. 1.50 0x1F".split(),
            *"9223372036854775807 123456789012345678901234567890 0b101 NULL".split(),
            "(SELECT max(i) FROM t)",
            *(f"{{number}} {sign} {{number}}" for sign in "+ - * / // % ** ^ & | << >>".split()),
            *(f"{sign}{{number}}" for sign in ("-", "+", "~", "@", "- ", "@ ")),
            *("2!", "3 !", "{number}!", "{number} !"),
            *("v <-> v", "v <=> v", "v <-> {list}", "{list}[{number}]", "l[1]", "m['k']"),
            *("length({text})", "abs({number})", "{number}.abs()", "l[-1]", "{list}[1]"),
            *("EXTRACT(year FROM {date})", "date_part('month', {date})", "{date} - {date}"),
            "CASE WHEN {truth} THEN {number} ELSE {number} END",
            "CASE {number} WHEN {number} THEN {number} END",
            *("coalesce({number}, {number})", "st['a']", "(st).a", "({struct}).a"),
            *("i IS DISTINCT FROM {number}", "greatest({number}, {number})"),
        ),
        "text": (
            *"s c s t.s st.s 'abc' '1' '' 'it''s' e'a\\nb' $$a'b$$ NULL".split(),
            *('"Od d"', 't."Od d"', "'2024-01-31'"),
            *("{text} || {text}", "{any} || {text}", "upper({text})", "{text}.lower()"),
            *("{text}[{number}]", "{text}[1:2]", "{text}[:{number}]", "{text} COLLATE NOCASE"),
            *(
                "CAST({any} AS VARCHAR)",
                "{any}::text",
                "j ->> {text}",
                "j ->> '$.a'",
                "typeof({any})",
            ),
            *(
                "substring({text} FROM {number} FOR {number})",
                "trim({text})",
                "replace({text}, 'a', 'b')",
            ),
            *(
                "CASE WHEN {truth} THEN {text} END",
                "j -> {text}",
                "j -> 'b' -> 0",
                "{any} -> {text}",
            ),
        ),
        "truth": (
            *"ok TRUE FALSE NULL true".split(),
            *(f"{{number}} {sign} {{number}}" for sign in _COMPARED),
            *(f"{{text}} {sign} {{text}}" for sign in _COMPARED),
            *(f"{{date}} {sign} {{date}}" for sign in ("=", "<", ">=")),
            *(
                f"{{text}} {word} {{text}}"
                for word in (
                    "LIKE,NOT LIKE,ILIKE,NOT ILIKE,GLOB,SIMILAR TO,NOT SIMILAR TO,~,!~,~~,!~~,~~*,"
                    "!~~*,~~~,^@"
                ).split(",")
            ),
            "{text} LIKE {text} ESCAPE '!'",
            *(f"{{list}} {sign} {{list}}" for sign in ("&&", "@>", "<@", "=", "<")),
            *("NOT {truth}", "{truth} AND {truth}", "{truth} OR {truth}", "not {truth}"),
            *(f"{{any}} IS {word}" for word in ("NULL", "NOT NULL", "DISTINCT FROM {any}")),
            *("{truth} IS TRUE", "{truth} IS NOT FALSE", "{truth} IS UNKNOWN", "{any} ISNULL"),
            *("{any} NOTNULL", "{any} IS NOT DISTINCT FROM {any}"),
            *(
                "{number} BETWEEN {number} AND {number}",
                "{number} NOT BETWEEN {number} AND {number}",
            ),
            *("{number} IN ({number}, {number})", "{text} NOT IN ({text})", "{number} IN {list}"),
            "{number} IN (SELECT i FROM t)",
            "EXISTS (SELECT 1 FROM t WHERE i > {number})",
            "{number} > ALL (SELECT i FROM t)",
            "{number} = ANY ({list})",
            "({number}, {text}) = ({number}, {text})",
        ),
        "list": (
            *("l", "[1, 2]", "[]", "[1, NULL]", "t.l"),
            *("[{number}, {number}]", "{list}[{number}:{number}]", "{list} || {list}", "l[2:]"),
            *("list_value({number})", "array_append({list}, {number})", "list_distinct({list})"),
            *("ARRAY[{number}]", "{list}::INTEGER[]", "list_sort({list})"),
            *("[x + 1 for x in {list}]", "list_transform({list}, lambda x: x + {number})"),
            "CAST({list} AS VARCHAR[])",
        ),
        "struct": (
            *("st", "{'a': 1}", "MAP {'k': 1}", "m", "t.st", "j"),
            *("{'a': {number}, 's': {text}}", "row({number}, {text})", "({number}, {text})"),
            "struct_pack(a := {number})",
        ),
        "date": (
            *(
                "d",
                "DATE '2024-01-31'",
                "date '2024-01-31'",
                "ts",
                "TIMESTAMP '2024-01-31 10:00:00'",
            ),
            *("{date} + INTERVAL 1 DAY", "{date} - INTERVAL '1' month", "{date} + {number}"),
            *("INTERVAL '1 day' + {date}", "{date} + interval 2 hours * {number}"),
            *("INTERVAL ({number}) DAY + {date}", "date_trunc('month', {date})"),
            *(
                "'2024-01-31'::date",
                "CAST({text} AS DATE)",
                "{date}::date",
                "make_date(2024, 1, 1)",
            ),
            "DATE '2024-01-31'::timestamp",
        ),
        "cast": tuple(
            text.format(kind)
            for kind in _TYPES
            for text in (
                "{{any}}::{}",
                "CAST({{any}} AS {})",
                "TRY_CAST({{any}} AS {})",
                "-{{number}}::{}",
                "NULL::{}",
            )
        ),
    },
    statements=(
        "SELECT {outputs} FROM t",
        "SELECT {outputs} FROM t",
        "FROM t SELECT {outputs}",
        "SELECT {outputs} FROM t AS t WHERE {truth}",
        "SELECT {outputs} FROM t ORDER BY {any}, id",
        "SELECT DISTINCT {outputs} FROM t ORDER BY ALL",
        "SELECT count(*), {any}, max({any}) FROM t GROUP BY ALL ORDER BY ALL",
        "SELECT count( * ), sum({number}) FILTER (WHERE {truth}) FROM t HAVING {truth}",
        "SELECT * FROM (SELECT {outputs} FROM t) AS q",
        "WITH w AS (SELECT {outputs} FROM t) SELECT * FROM w",
        "SELECT {any} UNION ALL SELECT {any} FROM t",
        "SELECT {outputs} UNION ALL BY NAME SELECT {outputs} FROM t",
        "SELECT t.id, {any} FROM t JOIN t AS u ON u.id = {number} ORDER BY ALL",
        "SELECT id, row_number() OVER (ORDER BY {any}, id) FROM t QUALIFY {truth} ORDER BY id",
        "VALUES ({any}, {any}), (1, 2)",
    ),
)


def judge_meaning(rng: random.Random, *, statements: int) -> MeaningTally:
    """The verdicts on so many statements. Raises duckdb.Error."""
    with closing(duckdb.connect(":memory:", config={"threads": 1})) as connection:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in _COLUMNS)
        connection.execute(f"CREATE TABLE t ({columns}); INSERT INTO t VALUES {_ROWS}")

        def run(statement: str, params: tuple[object, ...]) -> Answer:
            try:
                cursor = connection.execute(statement, list(params) or None)
                rows = cursor.fetchall()
            except (duckdb.Error, RuntimeError, ValueError, OverflowError) as error:
                return error
            # The text of a value tells -0.0 from 0.0.
            described = ((name, str(kind)) for name, kind, *_ in cursor.description or ())
            return (*described, repr(rows))

        table = Table("main", "t", tuple(Column(name, kind) for name, kind in _COLUMNS))
        catalog = Catalog("t", (table,), search_path=("main",), dialect="duckdb")
        texts = islice(_GRAMMAR.iterate(rng), statements)
        return compare_meanings(texts, build_guards(catalog), run, rng)
