"""The golden pairs ``fixtures/normalize/MODULE.sql``, and the tables on which they run.

A title is ``TARGET RULE: what``. Behind a second line ``--`` stand the rows that the query gives,
as JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from nl2sql.catalog import Column, Table
from tests.golden import FIXTURES, load_pairs


@dataclass(frozen=True, slots=True)
class Golden:
    """One case of a rule, and the rows that its query gives."""

    target: str
    rule: str
    title: str
    before: str
    after: str
    rows: list[list[object]]


def load_goldens() -> tuple[Golden, ...]:
    """All cases of all rules."""
    found = []
    for path in sorted((FIXTURES / "normalize").glob("*.sql")):
        for pair in load_pairs(f"normalize/{path.stem}"):
            after, _, rows = pair.after.partition("\n--\n")
            target, _, rest = pair.title.partition(" ")
            rule, _, title = rest.partition(": ")
            found.append(Golden(target, rule, title, pair.before, after.strip(), json.loads(rows)))
    return tuple(found)


GOLDENS = load_goldens()
IDS = [f"{golden.rule}-{golden.target}-{golden.title}" for golden in GOLDENS]

_COLUMNS = {
    "people": {
        "id": "integer",
        "name": "text",
        "city": "text",
        "salary": "numeric(10,2)",
        "height": "double precision",
        "born": "date",
        "hired": "timestamp",
        "active": "boolean",
        "year": "text",
        "flag": "integer",
        "boss_id": "integer",
    },
    "orders": {
        "id": "integer",
        "person_id": "integer",
        "amount": "numeric(10,2)",
        "qty": "integer",
        "placed_at": "timestamp",
        "day": "date",
        "status": "text",
        "note": "text",
    },
}
_ROWS = {
    "people": (
        "1, 'Ann Lee', 'Bern', 1000.00, 1.75, '1990-05-17', '2020-01-15 09:30:00', {true}, '2014',"
        " 1, NULL",
        "2, 'Bob Ray', 'Oslo', 2000.50, 1.8, '1985-12-31', '2021-06-30 17:45:10', {false}, '2015',"
        " 0, 1",
        "3, 'Cyd Orr', 'Bern', 3000.25, 1.62, '2000-02-29', '2022-03-01 00:00:00', {true}, '2014',"
        " 1, 1",
    ),
    "orders": (
        "1, 1, 100.00, 3, '2024-01-15 10:20:30', '2024-01-10', 'open', 'A-1'",
        "2, 1, 50.50, 1, '2024-02-29 23:59:59', '2024-02-01', 'paid', NULL",
        "3, 2, 20.00, 2, '2023-12-31 00:00:00', '2023-12-31', 'open', 'B-2'",
    ),
}
_SQLITE = {"numeric(10,2)": "real", "boolean": "integer", "double precision": "real"}

TABLES = tuple(
    Table("main", name, tuple(Column(column, kind) for column, kind in columns.items()))
    for name, columns in _COLUMNS.items()
)


def build_script(dialect: str) -> list[str]:
    """The statements that make both tables; SQLite keeps dates as text and truth as a number."""
    is_sqlite = dialect == "sqlite"
    words = {"true": "1", "false": "0"} if is_sqlite else {"true": "TRUE", "false": "FALSE"}
    script = []
    for table, columns in _COLUMNS.items():
        kinds = {
            name: _SQLITE.get(kind, "text" if kind in ("date", "timestamp") else kind)
            if is_sqlite
            else kind
            for name, kind in columns.items()
        }
        script.append(f"CREATE TABLE {table} ({', '.join(f'{a} {b}' for a, b in kinds.items())})")
        script += [f"INSERT INTO {table} VALUES ({row.format(**words)})" for row in _ROWS[table]]
    return script
