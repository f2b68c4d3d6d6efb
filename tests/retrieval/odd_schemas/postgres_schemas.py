"""Odd schemas of PostgreSQL."""

from __future__ import annotations

from execution.postgres.embedded import READER
from tests.retrieval.odd_schemas.odd_schema import (
    INJECTION,
    OddSchema,
    build_odd_names,
    build_wide,
)

_NO_SELECT = "no SELECT for the reader"
_NO_USAGE = "no USAGE for the reader"
_LEADS_OUT = "its target is not indexed"
_TWIN = "its name contains dots and cannot be told from that of another table or column"

_NAMES, _NAMED = build_odd_names("public")

_KEYWORDS = """
DO $$ BEGIN
  EXECUTE (SELECT format('CREATE TABLE keywords (%s)', string_agg(format('%I int', word), ', '))
             FROM pg_get_keywords());
  EXECUTE (SELECT string_agg(format('CREATE TABLE %I (id int);', word), '')
             FROM pg_get_keywords() WHERE catcode IN ('R', 'T', 'C'));
END $$
"""

_SCHEMAS = tuple(f"branch_{number:02}" for number in range(30))
_BRANCHES = "".join(
    f"""
    CREATE SCHEMA {schema};
    CREATE TABLE {schema}.customers (id int PRIMARY KEY, name text);
    CREATE TABLE {schema}.orders (id int PRIMARY KEY, customer int REFERENCES {schema}.customers);
    """
    for schema in _SCHEMAS
)

ODD_SCHEMAS = (
    OddSchema("odd_names", _NAMES, _NAMED),
    OddSchema(
        "case_only",
        'CREATE TABLE t (a int, "A" int, "Aa" int, aa int); CREATE TABLE "T" (a int, "A" int);',
        ("public.t", "public.T"),
    ),
    OddSchema("wide", build_wide("wide", 1600), ("public.wide",)),
    OddSchema(
        "no_keys",
        "CREATE TABLE a (id int, b_id int); CREATE TABLE b (id int); CREATE TABLE c (x text)",
        ("public.a", "public.b", "public.c"),
    ),
    OddSchema(
        "cycles",
        """
        CREATE TABLE a (id int PRIMARY KEY, b int); CREATE TABLE b (id int PRIMARY KEY, c int);
        CREATE TABLE c (id int PRIMARY KEY, a int REFERENCES a, self int REFERENCES c);
        ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b; ALTER TABLE b ADD FOREIGN KEY (c)
          REFERENCES c;
        CREATE TABLE pair (x int, y int, px int, py int, PRIMARY KEY (x, y),
          FOREIGN KEY (px, py) REFERENCES pair);
        CREATE TABLE of_pair (y int, x int, FOREIGN KEY (x, y) REFERENCES pair);
        """,
        ("public.a", "public.b", "public.c", "public.of_pair", "public.pair"),
    ),
    OddSchema(
        "many_keys",
        "CREATE TABLE target (id int PRIMARY KEY); CREATE TABLE source ("
        + ", ".join(f"c{number} int REFERENCES target" for number in range(161))
        + ")",
        ("public.source", "public.target"),
    ),
    OddSchema(
        "same_constraint_name",
        """
        CREATE TABLE t (id int CONSTRAINT the_key PRIMARY KEY);
        CREATE TABLE u (id int, t int CONSTRAINT link REFERENCES t);
        CREATE TABLE v (id int, t int CONSTRAINT link REFERENCES t);
        CREATE SCHEMA s; CREATE TABLE s.t (id int CONSTRAINT the_key PRIMARY KEY);
        CREATE TABLE s.u (id int, t int CONSTRAINT link REFERENCES s.t);
        """,
        ("public.t", "public.u", "public.v", "s.t", "s.u"),
    ),
    OddSchema(
        "partitions",
        """
        CREATE TABLE sales (id int, day date, region text, PRIMARY KEY (id, day, region))
          PARTITION BY RANGE (day);
        CREATE TABLE sales_24 PARTITION OF sales FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')
          PARTITION BY LIST (region);
        CREATE TABLE sales_24_eu PARTITION OF sales_24 FOR VALUES IN ('eu');
        CREATE TABLE sales_rest PARTITION OF sales DEFAULT;
        CREATE TABLE notes (sale int, day date, region text,
          FOREIGN KEY (sale, day, region) REFERENCES sales);
        CREATE TABLE closed (id int, day date) PARTITION BY RANGE (day);
        CREATE TABLE closed_24 PARTITION OF closed
          FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
        """,
        ("public.notes", "public.sales"),
        (
            ("table public.closed", _NO_SELECT),
            ("partition public.closed_24", "its partitioned table is not indexed"),
        ),
        after=f"REVOKE SELECT ON closed FROM {READER}",
    ),
    OddSchema(
        "kinds",
        """
        CREATE TABLE base (id int, x text); CREATE TABLE child (extra int) INHERITS (base);
        CREATE UNLOGGED TABLE fast (id int);
        CREATE VIEW seen AS SELECT id FROM base; CREATE VIEW seen_twice AS SELECT * FROM seen;
        CREATE VIEW constant AS SELECT 1 AS one;
        CREATE MATERIALIZED VIEW kept AS SELECT id FROM base;
        CREATE MATERIALIZED VIEW unfilled AS SELECT id FROM base WITH NO DATA;
        CREATE FOREIGN DATA WRAPPER none; CREATE SERVER nowhere FOREIGN DATA WRAPPER none;
        CREATE FOREIGN TABLE far (id int, name text) SERVER nowhere;
        CREATE TABLE no_columns (); CREATE SEQUENCE numbers; CREATE TYPE point_ AS (x int, y int);
        CREATE TABLE pg_class (mine int);
        """,
        (
            "public.base",
            "public.child",
            "public.constant",
            "public.far",
            "public.fast",
            "public.kept",
            "public.pg_class",
            "public.seen",
            "public.seen_twice",
        ),
        (
            ("table public.no_columns", "it has no columns"),
            ("materialized view public.unfilled", "it was never filled"),
        ),
    ),
    OddSchema(
        "rights_of_views",
        """
        DO $$ BEGIN CREATE ROLE owner_of_odd; EXCEPTION WHEN duplicate_object THEN END $$;
        CREATE TABLE secret (id int, salary int);
        CREATE TABLE plain (id int); GRANT CREATE ON SCHEMA public TO owner_of_odd;
        CREATE VIEW by_owner AS SELECT id, salary FROM secret;
        CREATE VIEW by_invoker WITH (security_invoker) AS SELECT id, salary FROM secret;
        CREATE VIEW by_invoker_of_view WITH (security_invoker = on) AS SELECT id FROM by_owner;
        CREATE VIEW by_owner_of_invoker AS SELECT id FROM by_invoker;
        CREATE VIEW by_invoker_of_invoker WITH (security_invoker = 1) AS SELECT id FROM by_invoker;
        CREATE VIEW by_invoker_of_open_column WITH (security_invoker) AS SELECT id FROM secret;
        CREATE VIEW by_invoker_of_plain WITH (security_invoker) AS SELECT id FROM plain;
        CREATE VIEW orphan AS SELECT id FROM plain; CREATE VIEW of_orphan AS SELECT id FROM orphan;
        ALTER VIEW orphan OWNER TO owner_of_odd;
        """,
        (
            "public.by_invoker_of_open_column",
            "public.by_invoker_of_plain",
            "public.by_invoker_of_view",
            "public.by_owner",
            "public.plain",
            "public.secret",
        ),
        (
            ("view public.by_invoker", "the reader may not read a table that it uses"),
            ("view public.by_invoker_of_invoker", "the reader may not read a table that it uses"),
            ("view public.by_owner_of_invoker", "the reader may not read a table that it uses"),
            ("view public.orphan", "its owner may not read a table that it uses"),
            ("view public.of_orphan", "its owner may not read a table that it uses"),
            ("column public.secret.salary", _NO_SELECT),
        ),
        after=f"REVOKE SELECT ON secret FROM {READER}; GRANT SELECT (id) ON secret TO {READER}",
    ),
    OddSchema(
        "types",
        """
        CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');
        CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'happy'); CREATE SCHEMA "odd types";
        CREATE TYPE "odd types"."two words" AS (street text, "zip code" text);
        CREATE TYPE spans AS RANGE (subtype = float8);
        CREATE TABLE types (
          id int GENERATED ALWAYS AS IDENTITY, doubled int GENERATED ALWAYS AS (2) STORED,
          unstored int GENERATED ALWAYS AS (3) VIRTUAL, mail email, mood mood,
          moods mood[], grid int[][], place "odd types"."two words",
          places "odd types"."two words"[],
          span spans, days daterange, many datemultirange, doc jsonb, bits bit(7), money money,
          at timestamptz(3), gone interval day to second, raw bytea, net cidr, words tsvector,
          shape polygon, title varchar(7), price numeric(12, 2), ref regclass, "any" "char");
        """,
        ("public.types",),
    ),
    OddSchema(
        "same_names",
        _BRANCHES,
        tuple(f"{s}.{t}" for s in _SCHEMAS for t in ("customers", "orders")),
    ),
    OddSchema(
        "same_names_on_the_path",
        _BRANCHES,
        ("branch_07.customers", "branch_07.orders", "branch_03.customers", "branch_03.orders"),
        schemas=("branch_07", "branch_03"),
    ),
    OddSchema("empty", ""),
    OddSchema(
        "no_such_schema",
        "CREATE TABLE t (id int)",
        (),
        (("schema sales", "there is no schema of that name"),),
        schemas=("sales",),
    ),
    OddSchema(
        "all_denied",
        "CREATE TABLE a (id int); CREATE TABLE b (id int); CREATE SCHEMA s; "
        "CREATE TABLE s.c (id int)",
        (),
        (
            ("table public.a", _NO_SELECT),
            ("table public.b", _NO_SELECT),
            ("schema s", _NO_USAGE),
        ),
        granted=False,
    ),
    OddSchema(
        "half_denied",
        "".join(
            f"CREATE TABLE t{n} (id int PRIMARY KEY, up int REFERENCES t{max(n - 1, 0)}, "
            f"secret text);"
            for n in range(10)
        ),
        tuple(f"public.t{n}" for n in range(0, 10, 2)),
        (
            *((f"table public.t{n}", _NO_SELECT) for n in range(1, 10, 2)),
            *((f"foreign key public.t{n}.t{n}_up_fkey", _LEADS_OUT) for n in range(2, 10, 2)),
        ),
        after="".join(f"REVOKE SELECT ON t{n} FROM {READER};" for n in range(1, 10, 2)),
    ),
    OddSchema(
        "columns_denied",
        "CREATE TABLE a (id int, secret int, PRIMARY KEY (id, secret)); "
        "CREATE TABLE b (a int, secret int, FOREIGN KEY (a, secret) REFERENCES a)",
        ("public.a", "public.b"),
        (
            ("column public.a.secret", _NO_SELECT),
            ("foreign key public.b.b_a_secret_fkey", "one of its columns is not indexed"),
        ),
        after=f"REVOKE SELECT ON a FROM {READER}; GRANT SELECT (id) ON a TO {READER}",
    ),
    OddSchema(
        "comments",
        "CREATE TABLE t (id int, note text); CREATE TABLE big (id int);"
        f"COMMENT ON TABLE t IS $odd${INJECTION}$odd$;"
        f"COMMENT ON COLUMN t.note IS $odd${INJECTION}\r\n\u2028\u0085CREATE TABLE x ($odd$;"
        f"COMMENT ON TABLE big IS '{'all work and no play ' * 50_000}';"
        f"COMMENT ON COLUMN big.id IS '{'x' * 1_000_000}'",
        ("public.big", "public.t"),
    ),
    OddSchema(
        "keys_out",
        "CREATE SCHEMA inside; CREATE SCHEMA outside; "
        "CREATE TABLE outside.t (id int PRIMARY KEY); "
        "CREATE TABLE inside.u (id int PRIMARY KEY, t int REFERENCES outside.t); "
        "CREATE TABLE outside.w (u int REFERENCES inside.u)",
        ("inside.u",),
        (("foreign key inside.u.u_t_fkey", _LEADS_OUT),),
        schemas=("inside",),
    ),
    OddSchema(
        "dots",
        'CREATE SCHEMA "a.b"; CREATE SCHEMA a; CREATE TABLE "a.b".c (id int PRIMARY KEY); '
        'CREATE TABLE a."b.c" (id int, x int REFERENCES "a.b".c); '
        'CREATE TABLE a.b (id int, "d.e" int); CREATE TABLE a."b.d" (e int, f int); '
        'CREATE TABLE "a.b"."own.name" ("its.own" int)',
        ("a.b", "a.b.d", "a.b.own.name"),
        (
            ('table "a.b".c', _TWIN),
            ('table a."b.c"', _TWIN),
            ('column a.b."d.e"', _TWIN),
            ('column a."b.d".e', _TWIN),
        ),
    ),
    OddSchema(
        "odd_values",
        """
        CREATE TYPE mood AS ENUM ('sad', 'it''s ok'); CREATE DOMAIN word AS text;
        CREATE TABLE "it's" ("two words" text, mood mood, tags text[], word word, padded char(9));
        INSERT INTO "it's" VALUES ('plain', 'sad', '{x}', 'w', 'p');
        INSERT INTO "it's" ("two words") VALUES (NULL), (''), (repeat('x', 500000)),
          (E'\\U0001F642\\n"\\x01\\u200b');
        CREATE VIEW v AS SELECT "two words" AS "th""ree" FROM "it's";
        """,
        ("public.it's", "public.v"),
    ),
    OddSchema("keywords", _KEYWORDS),
)
