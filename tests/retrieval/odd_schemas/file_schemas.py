"""Odd schemas of SQLite and DuckDB, which are files."""

from __future__ import annotations

from tests.retrieval.odd_schemas.odd_schema import (
    INJECTION,
    ODD_NAMES,
    OddSchema,
    build_odd_names,
    build_wide,
    quote,
)

_LEADS_OUT = "its target is not indexed"
_BROKEN = "it does not work"
_MODULE = "a module computes its rows"
_TWIN = "its name contains dots and cannot be told from that of another table or column"

_NAMES, _NAMED = build_odd_names("main")

# All words that mean something to either (sqlite.org/lang_keywords.html, duckdb_keywords()), and
# some that mean something to their parsers.
_WORDS = """
abort action add after all alter always analyze and anti any array as asc asof at attach between by
case cast check collate collation column columns commit conflict constraint create cross current
current_date current_time current_timestamp database date default deferrable deferred delete desc
describe detach distinct do drop each else end escape except exclude exists explain extract fail
false filter first following for foreign from full generated glob group groups having if ignore in
index indexed initially inner insert instead intersect interval into is isnull join key lambda last
lateral left like limit list map match materialized natural no not nothing notnull null nulls of
offset on only or order others outer over overlaps partition pivot plan positional pragma preceding
primary qualify query raise range recursive references regexp reindex release rename replace
restrict returning right rollback row rows savepoint select semi set show similar some struct
summarize table tablesample temp then ties time timestamp to trailing transaction trigger true
try_cast unbounded union unique unpivot update using vacuum values variadic view virtual when where
window with without year
""".split()
_KEYWORDS = f"""
BEGIN; CREATE TABLE keywords ({", ".join(f"{quote(word)} INT" for word in _WORDS)});
{"".join(f"CREATE TABLE {quote(word)} (id INT);" for word in _WORDS)} COMMIT;
"""
_KEYWORD_TABLES = ("main.keywords", *(f"main.{word}" for word in _WORDS))

_CYCLES = """
CREATE TABLE pair (x INT, y INT, px INT, py INT, PRIMARY KEY (x, y),
  FOREIGN KEY (px, py) REFERENCES pair (x, y));
CREATE TABLE of_pair (y INT, x INT, FOREIGN KEY (x, y) REFERENCES pair (x, y));
CREATE TABLE tree (id INTEGER PRIMARY KEY, up INT REFERENCES tree (id));
"""
_MANY_KEYS = "CREATE TABLE target (id INTEGER PRIMARY KEY); CREATE TABLE source (" + (
    ", ".join(f"c{number} INT REFERENCES target (id)" for number in range(161)) + ");"
)

ODD_SQLITE_SCHEMAS = (
    OddSchema("odd_names", _NAMES, _NAMED),
    OddSchema("keywords", _KEYWORDS, _KEYWORD_TABLES),
    OddSchema("wide", build_wide("wide", 1600), ("main.wide",)),
    OddSchema("no_keys", "CREATE TABLE a (id); CREATE TABLE b (id, a_id)", ("main.a", "main.b")),
    OddSchema(
        "cycles",
        _CYCLES
        + """
        CREATE TABLE a (id INTEGER PRIMARY KEY, b INT REFERENCES b);
        CREATE TABLE b (id INTEGER PRIMARY KEY, c INT REFERENCES c);
        CREATE TABLE c (id INTEGER PRIMARY KEY, a INT REFERENCES a);
        """,
        ("main.a", "main.b", "main.c", "main.of_pair", "main.pair", "main.tree"),
    ),
    OddSchema("many_keys", _MANY_KEYS, ("main.source", "main.target")),
    OddSchema(
        "keys_to_nowhere",
        "CREATE TABLE a (x INT REFERENCES gone (id), y INT REFERENCES b (gone)); "
        "CREATE TABLE b (id INT); "
        # Without a primary key, or with one of another number of columns.
        "CREATE TABLE c (x INT REFERENCES b); CREATE TABLE d (x INT REFERENCES e); "
        "CREATE TABLE e (i INT, j INT, PRIMARY KEY (i, j))",
        ("main.a", "main.b", "main.c", "main.d", "main.e"),
        tuple((f"foreign key main.{key}", _LEADS_OUT) for key in ("a_0", "a_1", "c_0", "d_0")),
    ),
    OddSchema(
        "kinds",
        """
        CREATE TABLE base (id INT, twice INT AS (id * 2), kept INT AS (id + 1) STORED);
        CREATE TABLE lean (id INT PRIMARY KEY, x TEXT) WITHOUT ROWID;
        CREATE TABLE strict_ (id INT, any_ ANY) STRICT;
        CREATE VIRTUAL TABLE words USING fts5 (text); CREATE VIRTUAL TABLE boxes USING rtree
          (id, x0, x1);
        CREATE VIEW seen AS SELECT id FROM base; CREATE VIEW constant (one) AS SELECT 1;
        CREATE VIEW broken AS SELECT id FROM gone; CREATE VIEW of_broken AS SELECT * FROM broken;
        CREATE VIEW itself AS SELECT * FROM itself;
        CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);
        CREATE TABLE sqlitecousin (id INT); CREATE INDEX by_id ON base (id); ANALYZE;
        """,
        (
            "main.base",
            "main.constant",
            "main.counted",
            "main.lean",
            "main.seen",
            "main.sqlitecousin",
            "main.strict_",
        ),
        (
            ("virtual table main.words", _MODULE),
            ("virtual table main.boxes", _MODULE),
            ("view main.broken", _BROKEN),
            ("view main.of_broken", _BROKEN),
            ("view main.itself", _BROKEN),
        ),
    ),
    OddSchema(
        "types",
        f"""CREATE TABLE types (none, a INT, "b" "any text
        CREATE TABLE x (", c DECIMAL(10, 5), d {quote(INJECTION)}, e VARCHAR(2000000000),
        f {quote("long " * 20_000)})""",
        ("main.types",),
    ),
    OddSchema(
        "dots",
        'CREATE TABLE b (id INT, "c.d" INT); CREATE TABLE "b.c" (d INT, e INT)',
        ("main.b", "main.b.c"),
        (('column main.b."c.d"', _TWIN), ('column main."b.c".d', _TWIN)),
    ),
    OddSchema(
        "no_utf_8",
        f"""
        CREATE TABLE good (id INT, bad_ INT); CREATE TABLE bad (x INT);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET name = CAST(x'626164ff' AS TEXT), tbl_name = CAST(x'626164ff' AS
          TEXT), sql = CAST(x'{b'CREATE TABLE "bad'.hex()}ff{b'" (x INT)'.hex()}' AS TEXT)
          WHERE name = 'bad';
        UPDATE sqlite_schema SET sql = CAST(x'{b'CREATE TABLE good (id INT, "bad'.hex()}ff{
            b'" INT)'.hex()
        }' AS TEXT) WHERE name = 'good';
        """,
        ("main.good",),
        (
            ("table main.bad\ufffd", "its name is not UTF-8"),
            ("column main.good.bad\ufffd", "its name is not UTF-8"),
        ),
    ),
    OddSchema(
        "odd_values",
        """
        CREATE TABLE "it's" ("two words" TEXT);
        INSERT INTO "it's" VALUES ('plain'), ('a' || char(0) || 'b'), (CAST(x'61ff62' AS TEXT)),
          (x'00ff'), (NULL), (''), (7), ('🙂' || char(10) || '"'), (printf('%.*c', 500000, 'x'));
        CREATE VIEW v AS SELECT "two words" AS "th""ree" FROM "it's";
        """,
        ("main.it's", "main.v"),
    ),
    OddSchema("empty", ""),
)

_BRANCHES = tuple(f"branch_{number:02}" for number in range(30))

ODD_DUCKDB_SCHEMAS = (
    OddSchema("odd_names", _NAMES, _NAMED),
    OddSchema("keywords", _KEYWORDS, _KEYWORD_TABLES),
    OddSchema("wide", build_wide("wide", 1600), ("main.wide",)),
    OddSchema(
        "no_keys",
        "CREATE TABLE a (id INT); CREATE TABLE b (id INT, a_id INT)",
        ("main.a", "main.b"),
    ),
    OddSchema("cycles", _CYCLES, ("main.of_pair", "main.pair", "main.tree")),
    OddSchema("many_keys", _MANY_KEYS, ("main.source", "main.target")),
    OddSchema(
        "kinds",
        """
        CREATE TABLE base (id INT, twice INT AS (id * 2)); CREATE SEQUENCE numbers;
        CREATE MACRO plus_one(x) AS x + 1; CREATE MACRO numbered(n) AS TABLE SELECT n AS x;
        CREATE TABLE gone (id INT);
        CREATE VIEW seen AS SELECT id FROM base; CREATE VIEW by_macro AS SELECT plus_one(id) AS y
          FROM base;
        CREATE VIEW broken AS SELECT id FROM gone; CREATE VIEW of_broken AS SELECT * FROM broken;
        DROP TABLE gone; CREATE INDEX by_id ON base (id);
        """,
        ("main.base", "main.by_macro", "main.seen"),
        (
            ("macro main.numbered", "a macro is not a table"),
            ("view main.broken", _BROKEN),
            ("view main.of_broken", _BROKEN),
        ),
    ),
    OddSchema(
        "types",
        """
        CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy'); CREATE TYPE place AS
          STRUCT(street VARCHAR, "zip code" VARCHAR);
        CREATE TABLE types (
          mood mood, place place, places place[], grid INT[3], deep MAP(VARCHAR, STRUCT(a INT[])),
          either UNION(num INT, str VARCHAR), huge HUGEINT, moment TIMESTAMPTZ, gone INTERVAL,
          bits BIT, raw BLOB, id UUID, price DECIMAL(12, 2));
        CREATE TABLE many_values (v ENUM ("""
        + ", ".join(f"'value number {number}'" for number in range(2000))
        + "));",
        ("main.many_values", "main.types"),
    ),
    OddSchema(
        "same_names",
        "".join(
            f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.customers (id INT);"
            f"CREATE TABLE {schema}.Orders (id INT);"
            for schema in _BRANCHES
        ),
        tuple(f"{schema}.{name}" for schema in _BRANCHES for name in ("Orders", "customers")),
    ),
    OddSchema(
        "same_names_but_for_case",
        "CREATE SCHEMA a; CREATE TABLE Orders (id INT); CREATE TABLE a.orders (other INT)",
        ("a.orders", "main.Orders"),
        (("schema nowhere", "there is no schema of that name"),),
        schemas=("a", "main", "nowhere"),
    ),
    OddSchema(
        "comments",
        "CREATE TABLE t (id INT, note TEXT); CREATE TABLE big (id INT);"
        f"COMMENT ON TABLE t IS '{INJECTION.replace(chr(39), chr(39) * 2)}';"
        f"COMMENT ON COLUMN t.note IS 'a\r\n\u2028\u0085CREATE TABLE x (';"
        f"COMMENT ON TABLE big IS '{'all work and no play ' * 50_000}';"
        "COMMENT ON COLUMN big.id IS e'no\\x00text'",
        ("main.big", "main.t"),
    ),
    OddSchema(
        "dots",
        'CREATE SCHEMA "a.b"; CREATE SCHEMA a; CREATE TABLE "a.b".c (id INT); '
        'CREATE TABLE a."B.c" (id INT); CREATE TABLE a.d (id INT)',
        ("a.d",),
        (('table "a.b".c', _TWIN), ('table a."B.c"', _TWIN)),
    ),
    OddSchema(
        "odd_values",
        """
        CREATE TABLE "it's" ("two words" VARCHAR, kind ENUM ('a', 'b'), tags VARCHAR[]);
        INSERT INTO "it's" VALUES ('plain', 'a', ['x']), ('a' || chr(0) || 'b', 'b', NULL),
          (NULL, NULL, NULL), ('', 'a', []), ('🙂' || chr(10) || '"', 'a', ['y']),
          (repeat('x', 500000), 'a', ['z']);
        CREATE VIEW v AS SELECT "two words" AS "th""ree" FROM "it's";
        """,
        ("main.it's", "main.v"),
    ),
    OddSchema("empty", ""),
)

# DuckDB compares names without case, so twins but for case cannot be.
assert len({name.lower() for name in ODD_NAMES}) == len(ODD_NAMES)
