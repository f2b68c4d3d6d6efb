"""A small warehouse under all three engines, with a column of each type that queries may read.

Of 400 items a member sees those that they own, thirty or none, and their parts; ``pay`` reads as
NULL to them, ``note`` does not exist. An auditor sees every row, names and pay as NULL. Nobody sees
the secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import sql

from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer, grant_reader
from nl2sql.types import Principal
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.oracle.postgres_copies import open_superuser
from tests.oracle.stage import PostgresStage, Subject

NAME = "warehouse"

Row = tuple[object, ...]

PRINCIPALS = (
    Principal("ann", ("member",), (("owner", "ann"),)),
    Principal("zed", ("member",), (("owner", "zed"),)),
    Principal("auditor", ("auditor",)),
)

POLICY: Mapping[str, Any] = {
    "version": 1,
    "database": NAME,
    "attributes": {"owner": {"type": "text"}},
    "shared": ["main.codes"],
    "roles": {
        "member": {
            "tables": {"visible": ["main.items", "main.parts"]},
            "row_filters": {"main.items": "owner = :owner"},
            "inherit": {"main.parts": {"columns": ["item_id"], "references": "main.items"}},
            "hidden_columns": ["main.items.note"],
            "masked_columns": ["main.items.pay"],
        },
        "auditor": {
            "tables": {"visible": "*", "hidden": ["main.secrets"]},
            "rows": "all",
            "hidden_columns": ["main.items.note"],
            "masked_columns": ["main.items.name", "main.items.pay"],
        },
    },
}

SCRIPT = """
CREATE TABLE codes (code text PRIMARY KEY, rate integer);
CREATE TABLE items (
    id integer PRIMARY KEY, owner text, name text, pay integer, note text, amount integer,
    price double precision, day date
);
CREATE TABLE parts (
    id integer PRIMARY KEY, item_id integer REFERENCES items (id), label text, amount integer
);
CREATE TABLE secrets (id integer PRIMARY KEY, memo text);
"""

POSTGRES_SCRIPT = f"""
CREATE SCHEMA main;
SET search_path = main;
{SCRIPT}
ALTER TABLE items
    ADD code varchar(20), ADD cost numeric(12, 2), ADD wide numeric, ADD at timestamp,
    ADD period numrange, ADD document jsonb, ADD address inet, ADD tags text[], ADD image bytea;
"""
# Run when the rows are in: what the other engines have no types for.
POSTGRES_VALUES = """
UPDATE main.items SET code = 'c' || id, cost = id, wide = id, at = day,
    period = numrange(id, id + 1),
    document = jsonb_build_object('a', id), address = '10.0.0.1', tags = ARRAY['t' || id],
    image = convert_to('i' || id, 'UTF8')
"""

GOLDS = (
    ("names", "SELECT name, amount FROM items WHERE amount > 10 ORDER BY name"),
    ("count", "SELECT owner, count(*) AS n, sum(amount) AS total FROM items GROUP BY owner"),
    ("pay", "SELECT name FROM items WHERE pay > 100 OR pay IS NULL ORDER BY id"),
    (
        "parts",
        "SELECT i.name, count(p.id) AS n FROM items AS i LEFT JOIN parts AS p ON p.item_id = i.id "
        "GROUP BY i.name ORDER BY n DESC, i.name",
    ),
    ("labels", "SELECT label FROM parts WHERE item_id IN (SELECT id FROM items WHERE amount > 5)"),
    ("codes", "SELECT code FROM codes WHERE rate < (SELECT count(*) FROM items)"),
    ("first", "SELECT name, day FROM items ORDER BY day, id LIMIT 5"),
    ("mean", "SELECT avg(price) AS mean, min(day) AS first, max(amount) AS most FROM items"),
    ("rank", "SELECT id, rank() OVER (ORDER BY amount DESC, id) AS place FROM items"),
    ("stars", "SELECT * FROM items ORDER BY id"),
)


def build_rows() -> dict[str, list[Row]]:
    """The rows of each table."""
    names = ("Bolt", "Nut", "Gear", "Shaft", "Valve")
    items: list[Row] = []
    for number in range(1, 401):
        owner = "ann" if number % 13 == 0 else "bob"
        name = f"{names[number % 5]} {number}"
        day = f"20{number % 24 + 1:02}-0{number % 9 + 1}-1{number % 9}"
        amount, price = number * 7 % 90 + 1, number * 0.5
        items.append((number, owner, name, 100 + number, f"note {number}", amount, price, day))
    return {
        "codes": [("EUR", 1), ("USD", 2), ("GBP", 500)],
        "items": items,
        "parts": [(n, n % 400 + 1, f"part {n % 50}", n % 17 + 1) for n in range(1, 1201)],
        "secrets": [(n, f"memo {n}") for n in range(1, 50)],
    }


def open_warehouse(server: EmbeddedServer) -> PostgresStage:
    """The stage over it in PostgreSQL, made anew. Raises psycopg.Error."""
    server.drop_database(NAME)
    server.create_database(NAME)
    with open_superuser(server, NAME) as connection:
        connection.execute(POSTGRES_SCRIPT.encode())
        for table, rows in build_rows().items():
            slots = sql.SQL(", ").join(sql.Placeholder() * len(rows[0]))
            columns = sql.SQL("id, owner, name, pay, note, amount, price, day")
            named = sql.SQL("({})").format(columns) if table == "items" else sql.SQL("")
            statement = sql.SQL("INSERT INTO {} {} VALUES ({})").format(
                sql.Identifier("main", table), named, slots
            )
            connection.cursor().executemany(statement, rows)
        connection.execute(POSTGRES_VALUES.encode())
        grant_reader(connection)
        connection.execute("VACUUM ANALYZE")
    catalog = read_postgres_catalog(
        server.url(NAME, SUPERUSER), database=NAME, reader_role=READER, schemas=("main",)
    )
    subject = Subject(NAME, catalog, POLICY, GOLDS)
    return PostgresStage(server, subject)
