"""Runs a folder of cases on real databases and compares each answer with the database's own.

    python -m bench.cases FOLDER [--only 15,18] [--server URL]

A case is an SQL script that builds a database: on PostgreSQL (``*_pg.sql``), SQLite
(``*_sqlite.sql``), DuckDB (``*duckdb*.sql``) or, under another name, on all three. Its queries are
the SELECTs of the script and those in its comments, ``-- run query: SELECT … -> expected``. Each
goes through the guard and the executor, and once straight to the database; the rows must be equal,
or the query refused. A script whose first line says ``must be refused`` is not run: the guard has
to refuse every statement. ``-- policy: role R sees TABLE only WHERE CONDITION`` is a row filter,
and the database that it is compared with lacks the other rows.

A file ``*.sqlite`` or ``*.duckdb`` is read as it is: the first rows of each table, or the reason
why it cannot be read.

Questions in scripts (``-- Q:``) are left out.

The databases are made anew in a temporary folder, PostgreSQL's by the embedded server, or by the
``--server`` at the URL of a superuser: some cases need extensions that the embedded one lacks.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from bench.case_databases import FILES, CaseDatabase, CaseServer, Databases, Rows, open_file
from nl2sql.catalog import Catalog
from nl2sql.errors import QuorumError
from nl2sql.results.equivalence import are_equivalent
from nl2sql.results.json_values import to_json_value
from nl2sql.sql.names import quote_name
from nl2sql.types import (
    Diagnostic,
    GuardedQuery,
    Principal,
    ResultSet,
    Violation,
)
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import build_wiring, start_embedded_server
from serve_app.settings import parse_settings

_MOST_ROWS, _MOST_TABLES = 10_000, 20
_PATTERNS = (
    "case*.sql",
    "case*.sqlite",
    "case*/*.sqlite",
    "case*.duckdb",
)
_KINDS = ("postgres", *FILES)
# SQLSTATEs of the product: a query that the session's checks refuse.
_OWN_STATES = "QS"
_ANALYST = Principal("cases", ("analyst",))
_COMMENTED = re.compile(
    r"(?:^--\s*(?:[^:'\"]{1,60}:\s*)?|^--.*run query: )(?P<sql>(?:SELECT|WITH|PIVOT)\b.*?)"
    r"(?:\s+\([^()]*\))?\s*(?:->\s*(?P<expected>.*))?$"
)
_REMARK = re.compile(r"\s{3,}\(.*?\)\s*")
_NEXT = re.compile(r"\s+[;|]\s+(?=SELECT\b|WITH\b|Q:)")
_QUERY = re.compile(r"^(?:SELECT|WITH)\b")


@dataclass(frozen=True, slots=True)
class CaseQuery:
    """One query, and what its case says of the right answer."""

    sql: str
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one query; ``verdict`` is one of ``_VERDICTS``."""

    case: str
    sql: str
    expected: str
    verdict: str
    said: str


# Whether it is as it must be.
_VERDICTS = {
    "same rows": True,
    "only here": True,
    "refused": True,
    "fails on both": True,
    "declined": True,
    "OTHER ROWS": False,
    "FAILS": False,
    "RUNS": False,
    "BROKEN": False,
}


def read_queries(script: str) -> Iterator[CaseQuery]:
    """The queries of a script: its SELECTs, and those in its comments."""
    for line in script.splitlines():
        if _QUERY.match(line):
            yield CaseQuery(line.rstrip(" ;"))
        elif found := _COMMENTED.match(_REMARK.sub("  ", line)):
            for sql in _NEXT.split(found["sql"]):
                if sql.startswith("Q:"):
                    continue
                yield CaseQuery(sql.strip().rstrip(";"), (found["expected"] or "").strip())


def find_kinds(script: Path) -> tuple[str, ...]:
    """The kinds of databases that a script is for, by its name."""
    for kind, mark in zip(_KINDS, ("_pg", "sqlite", "duckdb"), strict=True):
        if mark in script.stem:
            return (kind,)
    return _KINDS


class _SourceCatalogs:
    """The catalogs as the databases are, without an index."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._known: dict[str, Catalog] = {}

    async def catalog(self, database: str) -> Catalog:
        if database not in self._known:
            source = self._wiring.source(database)
            self._known[database] = await asyncio.to_thread(source.read_catalog)
        return self._known[database]


def run_script(
    wiring: Wiring, server: CaseServer, folder: Path, script: Path, kind: str
) -> list[Outcome]:
    """The outcomes of a script on one kind of database."""
    text = script.read_text(encoding="utf-8")
    case = f"{script.stem} ({kind})"
    attacks = "must be refused" in text.partition("\n")[0]
    try:
        plain = folder / script.name
        plain.write_text("SELECT 1;" if attacks else text, encoding="utf-8")
        with chdir(script.parent):
            database = Databases(folder, server).build(kind, plain)
    except (psycopg.Error, sqlite3.Error, duckdb.Error) as error:
        return [Outcome(case, "", "", "BROKEN", _shorten(str(error)))]
    queries = list(read_queries(text))
    if attacks:
        lines = [line for line in text.splitlines() if line and not line.startswith("--")]
        queries = [CaseQuery(line.rstrip(";"), "refused") for line in lines]
    roles = ("reader",) if kind in FILES else ("reader", "indexer")
    connection: dict[str, Any] = dict.fromkeys(roles, database.connection)
    policy = {"policy": str(database.policy)} if database.policy else {}
    wiring = _name_case(wiring, connection | policy)
    return _ask_case(wiring, case, database, queries, attacks)


def run_file(wiring: Wiring, case: str, file: Path) -> list[Outcome]:
    """The outcomes of the first rows of each table of a file."""
    kind = file.suffix[1:]
    database = open_file(kind, file)
    wiring = _name_case(wiring, {"reader": database.connection})
    try:
        catalog = wiring.source("case").read_catalog()
    except QuorumError as error:
        return [Outcome(case, "", "", "declined", _shorten(str(error)))]
    names = [quote_name(table.name, kind) for table in catalog.tables[:_MOST_TABLES]]
    queries = [CaseQuery(f"SELECT * FROM {name} LIMIT 20") for name in names]
    return _ask_case(wiring, case, database, queries)


def _name_case(wiring: Wiring, database: Mapping[str, Any]) -> Wiring:
    named = parse_settings({"databases": {"case": dict(database)}}).databases
    settings = wiring.settings.model_copy(update={"databases": named})
    return Wiring(settings, wiring.socket_folder)


def _ask_case(
    wiring: Wiring,
    case: str,
    database: CaseDatabase,
    queries: Sequence[CaseQuery],
    attacks: bool = False,
) -> list[Outcome]:
    answers = asyncio.run(_ask_all(wiring, [query.sql for query in queries], attacks))
    return [
        Outcome(case, query.sql, query.expected, *_judge(database, query.sql, answer))
        for query, answer in zip(queries, answers, strict=True)
    ]


Answer = ResultSet | Diagnostic | Violation | GuardedQuery | QuorumError


async def _ask_all(wiring: Wiring, queries: Sequence[str], attacks: bool) -> list[Answer]:
    """What the guard and the executor make of each; ``attacks`` are not executed."""
    guard = wiring.build_guard(_SourceCatalogs(wiring))
    executor = wiring.build_executor()
    has_policy = wiring.settings.databases["case"].policy is not None
    principal = _ANALYST if has_policy else wiring.settings.identity.principal()
    answers: list[Answer] = []
    for sql in queries:
        try:
            verdict = await guard.guard("case", sql, principal)
            if isinstance(verdict, Violation) or attacks:
                answers.append(verdict)
            else:
                answers.append(await executor.execute(verdict, _MOST_ROWS))
        except QuorumError as error:
            answers.append(error)
    await executor.close()
    return answers


def _judge(database: CaseDatabase, sql: str, answer: Answer) -> tuple[str, str]:
    """The verdict, and what was said or given."""
    match answer:
        case Violation():
            return "refused", _shorten(answer.message)
        case GuardedQuery():
            return "RUNS", _shorten(answer.sql)
        case QuorumError():
            return "BROKEN", _shorten(str(answer))
    try:
        rows = database.ask(sql)
    except (psycopg.Error, sqlite3.Error, duckdb.Error) as error:
        if isinstance(answer, Diagnostic):
            return "fails on both", _shorten(answer.message)
        return "only here", f"{_write(answer.rows)}; the database: {_shorten(str(error))}"
    if isinstance(answer, Diagnostic):
        verdict = "refused" if answer.sqlstate.startswith(_OWN_STATES) else "FAILS"
        return verdict, _shorten(f"{answer.sqlstate} {answer.message}")
    if are_equivalent(rows, answer.rows) or _write(rows) == _write(answer.rows):
        return "same rows", _write(rows)
    return "OTHER ROWS", f"{_write(answer.rows)}; the database: {_write(rows)}"


def _write(rows: Rows) -> str:
    return _shorten(repr([[str(to_json_value(cell)) for cell in row] for row in rows]))


def _shorten(text: str, most: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def render_table(outcomes: Sequence[Outcome]) -> str:
    """A line for each query, then a Markdown table of the verdicts by case."""
    lines = []
    for each in outcomes:
        mark = "✓" if _VERDICTS[each.verdict] else "✗"
        lines.append(f"{mark} {each.verdict:13} {each.case}: {_shorten(each.sql, 100)}")
        if each.verdict != "same rows":
            lines += [f"    expected: {each.expected}", f"    {each.said}"]
    found = [name for name in _VERDICTS if any(each.verdict == name for each in outcomes)]
    counts = Counter((each.case, each.verdict) for each in outcomes)
    lines += ["", f"| case | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    for case in dict.fromkeys(each.case for each in outcomes):
        cells = (str(counts[case, name] or "") for name in found)
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines)


def run_cases(folder: Path, only: Sequence[str] = (), url: str = "") -> list[Outcome]:
    """The outcomes of all scripts and files of a folder, or of the cases of these numbers."""
    outcomes = []
    with tempfile.TemporaryDirectory() as made:
        nothing = {"reader": {"url": "sqlite:///nothing"}}
        value = {"home": f"{made}/home", "databases": {"nothing": nothing}}
        settings = parse_settings(value)
        server = start_embedded_server(settings)
        assert server is not None, "the index is kept in the embedded server"
        wiring, asked = build_wiring(settings, server), CaseServer(server, url)
        for file in sorted(found for pattern in _PATTERNS for found in folder.glob(pattern)):
            numbers = tuple(f"case{number}" for number in only or ("",))
            name = str(file.relative_to(folder))
            if not name.startswith(numbers):
                continue
            if file.suffix != ".sql":
                outcomes += run_file(wiring, name, file)
            else:
                for kind in find_kinds(file):
                    outcomes += run_script(wiring, asked, Path(made), file, kind)
        server.stop()
    return outcomes


def main() -> None:
    """Runs and prints; ends with 1 if an answer is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--server", default="", help="URL of a superuser on PostgreSQL")
    asked = parser.parse_args()
    outcomes = run_cases(asked.folder.resolve(), asked.only, asked.server)
    print(render_table(outcomes))
    sys.exit(int(not all(_VERDICTS[each.verdict] for each in outcomes)))


if __name__ == "__main__":
    main()
