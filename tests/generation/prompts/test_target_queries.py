from __future__ import annotations

import pytest

from generation.prompts.target_queries import spell_query
from nl2sql.catalog import Column, Table

SINGER = Table(
    "main", "Singer", (Column("Singer_ID", "int"), Column("Name", "text"), Column("Group", "text"))
)
SONG = Table("main", "Song List", (Column("Singer_ID", "int"), Column("Title", "text")))
ORDERS = Table("sales", "orders", (Column("order_id", "int8"), Column("Amount", "numeric")))


def spell(sql: str) -> str | None:
    return spell_query(sql, [SINGER, SONG], ["Singer", '"Song List"'], "sqlite")


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (
            "select count(*) , name from SINGER group by NAME having count(*)  >=  2;",
            "SELECT COUNT(*), Name FROM Singer GROUP BY Name HAVING COUNT(*) >= 2",
        ),
        (
            'SELECT T2.title FROM singer AS T1 JOIN "song list" AS T2 ON T1.singer_id = '
            'T2.singer_id WHERE T1."group" = "ABBA"',
            'SELECT T2.Title FROM Singer AS T1 JOIN "Song List" AS T2 ON T1.Singer_ID = '
            "T2.Singer_ID WHERE T1.\"Group\" = 'ABBA'",
        ),
        (
            "SELECT singer.name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM "
            "`song list`)",
            "SELECT Singer.Name FROM Singer WHERE Singer_ID NOT IN (SELECT Singer_ID FROM "
            '"Song List")',
        ),
        (
            "SELECT name FROM singer WHERE NOT name IS NULL AND name NOT LIKE '%a' AND NOT "
            "singer_id BETWEEN 1 AND 2 AND NOT (singer_id = 3)",
            "SELECT Name FROM Singer WHERE Name IS NOT NULL AND Name NOT LIKE '%a' AND Singer_ID "
            "NOT BETWEEN 1 AND 2 AND NOT (Singer_ID = 3)",
        ),
        (
            'SELECT name FROM singer JOIN "song list" USING (singer_id)',
            'SELECT Name FROM Singer JOIN "Song List" USING (Singer_ID)',
        ),
        (
            "WITH few AS (SELECT name AS who FROM singer) SELECT who FROM few",
            "WITH few AS (SELECT Name AS who FROM Singer) SELECT who FROM few",
        ),
        (
            "SELECT n FROM (SELECT count(*) AS n FROM singer) AS t ORDER BY n LIMIT 1",
            "SELECT n FROM (SELECT COUNT(*) AS n FROM Singer) AS t ORDER BY n LIMIT 1",
        ),
    ],
)
def test_names_are_spelled_as_shown(gold: str, expected: str) -> None:
    assert spell(gold) == expected


@pytest.mark.parametrize(
    "gold",
    [
        "SELECT name FROM album",
        "SELECT title FROM singer",
        "SELECT T1.nothing FROM singer AS T1",
        "SELECT nothing FROM singer",
        "SELECT FROM WHERE",
        "DELETE FROM singer",
    ],
)
def test_a_query_that_reads_what_is_not_shown_teaches_nothing(gold: str) -> None:
    assert spell(gold) is None


def test_postgresql_folds_what_is_not_quoted() -> None:
    def read(sql: str) -> str | None:
        return spell_query(sql, [ORDERS], ["sales.orders"], "postgres")

    assert read('SELECT Order_ID, "Amount" FROM Orders') == (
        'SELECT order_id, "Amount" FROM sales.orders'
    )
    assert read("SELECT Amount FROM orders") is None
    assert read('SELECT "order" FROM orders') is None
