"""Which tables and columns a query reads."""

from __future__ import annotations

import pytest

from evaluation.metrics.gold_schema import find_gold_schema
from nl2sql.catalog import Catalog, Column, Table


def build_table(schema: str, name: str, *columns: str) -> Table:
    return Table(schema, name, tuple(Column(column, "text") for column in columns))


SHOP = Catalog(
    "shop",
    (
        build_table("sales", "orders", "id", "customer_id", "amt"),
        build_table("sales", "customers", "id", "name"),
        build_table("hr", "people", "id", "name", "Full Name"),
    ),
    search_path=("sales", "hr"),
)
ORDERS = ("sales.orders.amt", "sales.orders.customer_id", "sales.orders.id")

CONCERTS = Catalog(
    "concerts",
    (
        build_table("main", "Singer", "Singer_ID", "Name", "Country"),
        build_table("main", "concert", "Singer_ID", "Year"),
    ),
    search_path=("main",),
    dialect="sqlite",
)


def find(sql: str, catalog: Catalog = SHOP) -> tuple[str, str]:
    """Tables and columns, each as one line."""
    tables, columns = find_gold_schema(sql, catalog)
    return " ".join(tables), " ".join(columns)


@pytest.mark.parametrize(
    ("sql", "tables", "columns"),
    [
        ("SELECT amt FROM orders", "sales.orders", "sales.orders.amt"),
        ("select AMT from ORDERS;", "sales.orders", "sales.orders.amt"),
        ("SELECT name FROM hr.people", "hr.people", "hr.people.name"),
        ("SELECT sales.orders.amt FROM sales.orders", "sales.orders", "sales.orders.amt"),
        ("SELECT COUNT(*) FROM orders", "sales.orders", ""),
        ("SELECT * FROM orders", "sales.orders", " ".join(ORDERS)),
        ("SELECT o.* FROM orders o, customers c", "sales.customers sales.orders", " ".join(ORDERS)),
        (
            "SELECT c.name FROM orders o JOIN customers c ON c.id = o.customer_id",
            "sales.customers sales.orders",
            "sales.customers.id sales.customers.name sales.orders.customer_id",
        ),
        ("SELECT amt FROM orders JOIN customers USING (id)", "sales.customers sales.orders",
         "sales.customers.id sales.orders.amt sales.orders.id"),
        # Of a derived table, what it reads, not what is read of it.
        ("SELECT * FROM (SELECT amt FROM orders) AS s", "sales.orders", "sales.orders.amt"),
        # An output may be named where rows are grouped and ordered.
        ("SELECT amt * 2 AS twice FROM orders GROUP BY twice ORDER BY twice", "sales.orders",
         "sales.orders.amt"),
        ("SELECT 1 FROM orders GROUP BY customer_id HAVING SUM(amt) > 1", "sales.orders",
         "sales.orders.amt sales.orders.customer_id"),
        ("SELECT id FROM orders UNION SELECT id FROM customers ORDER BY id",
         "sales.customers sales.orders", "sales.customers.id sales.orders.id"),
        # A subquery reads of the query around it.
        (
            "SELECT 1 FROM customers c WHERE EXISTS"
            " (SELECT * FROM orders WHERE customer_id = c.id)",
            "sales.customers sales.orders",
            "sales.customers.id sales.orders.customer_id",
        ),
        (
            "SELECT (SELECT MAX(amt) FROM orders o WHERE o.customer_id = c.id) FROM customers c",
            "sales.customers sales.orders",
            "sales.customers.id sales.orders.amt sales.orders.customer_id",
        ),
        ('SELECT "Full Name" FROM people', "hr.people", "hr.people.Full Name"),
        ("SELECT SUM(amt) OVER (PARTITION BY customer_id) FROM orders", "sales.orders",
         "sales.orders.amt sales.orders.customer_id"),
        ("SELECT 1", "", ""),
        ("SELECT n FROM generate_series(1, 3) AS n", "", ""),
        # A CTE that has a table's name is no table, and a recursive one is followed.
        ("WITH orders AS (SELECT id, name FROM customers) SELECT name FROM orders",
         "sales.customers", "sales.customers.id sales.customers.name"),
        ("WITH RECURSIVE up AS (SELECT id FROM orders UNION ALL SELECT c.id FROM customers c"
         " JOIN up ON up.id = c.id) SELECT * FROM up",
         "sales.customers sales.orders", "sales.customers.id sales.orders.id"),
        *((sql, "", "") for sql in ("", ";", "SELECT FROM WHERE (", "hm", "SELECT 'open")),
    ],
)  # fmt: skip
def test_what_a_query_reads(sql: str, tables: str, columns: str) -> None:
    assert find(sql) == (tables, columns)


@pytest.mark.parametrize(
    ("sql", "tables", "columns"),
    [
        ("select NAME from SINGER", "main.Singer", "main.Singer.Name"),
        ('SELECT T1."name" FROM singer AS T1', "main.Singer", "main.Singer.Name"),
        # A quoted word is a column where there is one, and a string where there is none.
        ('SELECT "Year" FROM concert WHERE Singer_ID = "France"', "main.concert",
         "main.concert.Singer_ID main.concert.Year"),
        (
            'SELECT name FROM singer WHERE country = "France" AND singer_id IN'
            " (SELECT singer_id FROM concert)",
            "main.Singer main.concert",
            "main.Singer.Country main.Singer.Name main.Singer.Singer_ID main.concert.Singer_ID",
        ),
        ("WITH Top AS (SELECT name FROM singer) SELECT * FROM TOP", "main.Singer",
         "main.Singer.Name"),
        # A column that cannot be traced is left out.
        ("SELECT s.rowid, s.name FROM singer AS s", "main.Singer", "main.Singer.Name"),
    ],
)  # fmt: skip
def test_sqlite_ignores_case_and_reads_words_as_strings(
    sql: str, tables: str, columns: str
) -> None:
    assert find(sql, CONCERTS) == (tables, columns)
