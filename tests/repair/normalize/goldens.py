"""The golden pairs ``fixtures/normalize/MODULE.sql``, and the tables on which they run.

A title is ``TARGET RULE: what``. Behind a second line ``--`` stand the rows that the query gives,
as JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import yaml

from nl2sql.catalog import Column, Table
from tests.golden import FIXTURES, load_pairs, load_text


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

_TABLES: dict[str, Any] = yaml.safe_load(load_text("normalize/tables.yaml"))
_SQLITE = {"numeric(10,2)": "real", "boolean": "integer", "double precision": "real"}

TABLES = tuple(
    Table("main", name, tuple(Column(*each) for each in made["columns"].items()))
    for name, made in _TABLES.items()
)


def build_script(dialect: str) -> list[str]:
    """The statements that make the tables; SQLite keeps dates as text and truth as a number."""
    is_sqlite = dialect == "sqlite"
    words = {"true": "1", "false": "0"} if is_sqlite else {"true": "TRUE", "false": "FALSE"}
    script = []
    for table, made in _TABLES.items():
        kinds = {
            name: _SQLITE.get(kind, "text" if kind in ("date", "timestamp") else kind)
            if is_sqlite
            else kind
            for name, kind in made["columns"].items()
        }
        columns = ", ".join(f'"{name}" {kind}' for name, kind in kinds.items())
        script.append(f'CREATE TABLE "{table}" ({columns})')
        script += [f'INSERT INTO "{table}" VALUES ({row.format(**words)})' for row in made["rows"]]
    return script
