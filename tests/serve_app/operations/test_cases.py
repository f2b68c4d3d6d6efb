"""Cases of own making on the three kinds of databases: each answer is held against the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.case_databases import CaseServer
from bench.cases import Outcome, read_queries, render_table, run_script
from execution.postgres.embedded import EmbeddedServer
from serve_app.composition.wiring import Wiring

SCRIPT = """
CREATE TABLE pot (id INT, "select" INT);
INSERT INTO pot VALUES (1, 10), (2, 20);
-- run query: SELECT "select" FROM pot ORDER BY id      -> 10, 20
-- Q: "How many?" -> 2   run query: SELECT count(*) FROM pot -> 2
-- SELECT max(id) FROM pot   (a remark) ; SELECT nothing FROM pot
-- a remark, and no query
SELECT 1 AS one;
"""
FILTERED = """CREATE TABLE pot (id INT, owner INT);
INSERT INTO pot VALUES (1, 1), (2, 2);
-- policy: role analyst sees public.pot only WHERE owner = 1  (one row)
-- SELECT count(*) FROM pot -> 1
"""
ATTACK = "-- these must be refused\nSELECT pg_sleep(9);\nDELETE FROM pot;\n"


def test_queries_are_those_of_the_script_and_of_its_comments() -> None:
    found = [(query.sql, query.expected) for query in read_queries(SCRIPT)]
    assert found == [
        ('SELECT "select" FROM pot ORDER BY id', "10, 20"),
        ("SELECT count(*) FROM pot", "2"),
        ("SELECT max(id) FROM pot", ""),
        ("SELECT nothing FROM pot", ""),
        ("SELECT 1 AS one", ""),
    ]


@pytest.mark.parametrize(
    ("kind", "script", "verdicts"),
    [
        *(
            (kind, SCRIPT, [*["same rows"] * 3, "refused", "same rows"])
            for kind in ("postgres", "sqlite", "duckdb")
        ),
        ("postgres", FILTERED, ["same rows"]),
        ("postgres", ATTACK, ["refused", "refused"]),
        ("sqlite", "CREATE nonsense", ["BROKEN"]),
    ],
)
def test_a_script_is_run_and_compared(
    wiring: Wiring,
    embedded_server: EmbeddedServer,
    tmp_path: Path,
    kind: str,
    script: str,
    verdicts: list[str],
) -> None:
    path = tmp_path / "folder" / "case1_pots.sql"
    path.parent.mkdir()
    path.write_text(script)
    outcomes = run_script(wiring, CaseServer(embedded_server), tmp_path, path, kind)
    assert [each.verdict for each in outcomes] == verdicts


def test_other_rows_are_a_fault() -> None:
    table = render_table([Outcome("case1", "SELECT 1", "", "OTHER ROWS", "[[2]] of [[1]]")])
    assert table.startswith("✗ OTHER ROWS")
