"""Whether the text that runs means what the original text means, on the database itself.

Statements over operators, literals, casts and precedence are guarded with a policy that hides
nothing, or with none; then original and rewritten text run on the same rows. Types, values, their
order and the columns' names must be the same, or both must fail.

What they are made of is in ``tests/fixtures/oracle/meaning_*.yaml``: templates by the kind of value
that they give, one in a line, with holes for other templates and «alternatives ; like these». Few
parentheses are written, so that precedence decides; spaces around signs are left out at times.
"""

from __future__ import annotations

import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Any

import duckdb
import psycopg
import yaml
from psycopg.pq import ExecStatus

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from execution.postgres.embedded import SUPERUSER, EmbeddedServer
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.conftest import ROOT
from tests.oracle.stage import build_guarding
from tests.oracle.tally import KindCounts
from tests.oracle.verdicts import Guarding

Answer = tuple[object, ...] | Exception
"""Names, types and rows of a result, in a form that compares values of different types unequal."""

Run = Callable[[str, tuple[object, ...]], Answer]
"""Runs a text with parameters."""

_HOLE = re.compile(r"\{(\w+)\}")
_ALTERNATIVES = re.compile(r"«(.*?)»")
_SPACED_SIGN = re.compile(r" ([^\s\w'\"]+) ")
_SPACES = ("", "", "  ", "\n", " /* < */ ")

_MOST_DEPTH = 4
_MOST_OUTPUTS = 3
# How often a hole is filled with a value of any kind, or one in parentheses; how often spaces
# around signs are others; how often an operator is any sequence of signs, where that is read as
# one whether it exists or not.
_ANY_KIND = 0.08
_IN_PARENTHESES = 0.12
_OTHER_SPACES = 0.2
_ANY_SIGNS = 0.03

_MOST_EXAMPLES = 3
_ANYBODY = Principal("anybody", ("all",))
_NAMES: Mapping[str, tuple[str, str]] = {
    "postgres": ("meaning", "things"),
    "sqlite": ("main", "t"),
    "duckdb": ("main", "t"),
}


class Grammar:
    """The statements of one dialect, and the table that they are about."""

    def __init__(self, dialect: str) -> None:
        """Raises OSError, YAMLError."""
        path = ROOT / "tests" / "fixtures" / "oracle" / f"meaning_{dialect}.yaml"
        described = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.script: str = described["script"]
        schema, name = _NAMES[dialect]
        columns = (Column(name, kind) for name, kind in described["columns"].items())
        table = Table(schema, name, tuple(columns))
        self.catalog = Catalog("meaning", (table,), search_path=(schema,), dialect=dialect)
        self._signs: str = described.get("signs", "")
        self._statements = described["statements"].splitlines()
        self._values = {
            kind: [text for line in lines.splitlines() for text in _spread(line)]
            for kind, lines in described["values"].items()
        }
        self._leaves = {
            kind: [text for text in texts if not _HOLE.search(text)]
            for kind, texts in self._values.items()
        }

    def iterate(self, rng: random.Random) -> Iterator[str]:
        """Statements without end."""
        while True:
            statement = rng.choice(list(_spread(rng.choice(self._statements))))
            yield _HOLE.sub(lambda hole: self._fill(hole[1], rng), statement)

    def _fill(self, kind: str, rng: random.Random) -> str:
        if kind == "outputs":
            count = rng.randint(1, _MOST_OUTPUTS)
            return ", ".join(self._build_output(rng) for _ in range(count))
        return self._build(kind, rng, _MOST_DEPTH)

    def _build_output(self, rng: random.Random) -> str:
        value = self._build(rng.choice(list(self._values)), rng, _MOST_DEPTH)
        return f"{value} AS named" if rng.random() < 0.1 else value

    def _build(self, kind: str, rng: random.Random, depth: int) -> str:
        # Where types are strict, a value of any kind would mostly be an error.
        if kind == "any" or (not self._signs and rng.random() < _ANY_KIND):
            kind = rng.choice(list(self._values))
        is_leaf = depth <= 1 or rng.random() < 0.2
        chosen = rng.choice(self._leaves[kind] if is_leaf else self._values[kind])
        if self._signs and rng.random() < _ANY_SIGNS:
            signs = "".join(rng.choices(self._signs, k=rng.randint(1, 4)))
            chosen = _SPACED_SIGN.sub(lambda _: f" {signs} ", chosen, count=1)
        text = _HOLE.sub(lambda hole: self._build(hole[1], rng, depth - 1), chosen)
        if rng.random() < _OTHER_SPACES:
            before, after = rng.choice(_SPACES), rng.choice(_SPACES)
            text = _SPACED_SIGN.sub(lambda sign: f"{before}{sign[1]}{after}", text)
        return f"({text})" if rng.random() < _IN_PARENTHESES else text


def _spread(line: str) -> Iterator[str]:
    """The line with each of its alternatives."""
    if (found := _ALTERNATIVES.search(line)) is None:
        yield line
        return
    for chosen in found[1].split(" ; "):
        yield from _spread(f"{line[: found.start()]}{chosen}{line[found.end() :]}")


# -- the verdicts ----------------------------------------------------------------------------------


class Kind(StrEnum):
    """What original and rewritten text give: the same, errors both, or something else."""

    SAME = "same"
    FAILED = "failed"
    REFUSED = "refused"
    DIFFERENT = "different"


@dataclass
class MeaningTally(KindCounts[Kind]):
    """Counts by guard; differences are kept, of refusals of queries that run a few examples."""

    differences: list[str] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def render(self) -> str:
        """The table by guard, harmless refusals by reason, and every difference in full."""
        return "\n".join(self._render_lines())

    def _render_lines(self) -> Iterator[str]:
        yield from self.render_table("guard", "statements", Kind)
        for reason, number in self.refusals.most_common():
            yield f"refused {number:,} that run: {reason}"
            yield from (f"  {text}" for text in self.examples[reason])
        yield from self.differences

    def judge(self, statement: str, guarded: GuardedQuery | Violation, run: Run) -> Kind:
        """What one statement comes to."""
        expected = run(statement, ())
        if isinstance(guarded, Violation):
            if not isinstance(expected, Exception):
                reason = f"{guarded.code}: {guarded.message[:50]}"
                self.refusals[reason] += 1
                examples = self.examples.setdefault(reason, [])
                if len(examples) < _MOST_EXAMPLES:
                    examples.append(statement)
            return Kind.REFUSED
        actual = run(guarded.sql, guarded.params)
        if isinstance(expected, Exception) and isinstance(actual, Exception):
            return Kind.FAILED
        if not isinstance(expected, Exception) and expected == actual:
            return Kind.SAME
        shown = (repr(answer)[:400] for answer in (expected, actual))
        self.differences.append(
            "\n  ".join((f"original:  {statement}", f"rewritten: {guarded.sql}", *shown))
        )
        return Kind.DIFFERENT


def judge_meaning(
    dialect: str, rng: random.Random, *, statements: int, server: EmbeddedServer | None = None
) -> MeaningTally:
    """Judges so many statements, each with one of the guards; ``server`` is for PostgreSQL.

    Raises the errors of the drivers where the table cannot be made.
    """
    grammar = Grammar(dialect)
    guards = build_guards(grammar.catalog)
    tally, names = MeaningTally(), list(guards)
    with open_table(dialect, grammar, server) as run:
        for statement in islice(grammar.iterate(rng), statements):
            name = rng.choice(names)
            tally.counts[name, tally.judge(statement, guards[name](statement), run)] += 1
    return tally


def build_guards(catalog: Catalog) -> Mapping[str, Guarding]:
    """By name: no policy, one without filters, one whose filter of the table always holds."""
    role: dict[str, Any] = {"tables": {"visible": "*"}}
    whole = {"version": 1, "roles": {"all": {**role, "rows": "all"}}}
    name = catalog.tables[0].qualified
    filtered = {"version": 1, "roles": {"all": {**role, "row_filters": {name: "id > 0"}}}}
    return {
        "no policy": partial(guard_query, access=open_access(catalog)),
        "all rows": build_guarding(whole, catalog, _ANYBODY),
        "filtered": build_guarding(filtered, catalog, _ANYBODY),
    }


# -- the databases ---------------------------------------------------------------------------------


@contextmanager
def open_table(dialect: str, grammar: Grammar, server: EmbeddedServer | None) -> Iterator[Run]:
    """Makes the grammar's table in a database of its own; gives what runs texts there."""
    if dialect == "sqlite":
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(grammar.script)
            yield partial(_run_sqlite, connection)
    elif dialect == "duckdb":
        with closing(duckdb.connect(":memory:", config={"threads": 1})) as duck:
            duck.execute(grammar.script)
            yield partial(_run_duckdb, duck)
    else:
        assert server is not None
        with psycopg.connect(server.url("postgres", SUPERUSER), autocommit=True) as admin:
            admin.execute("DROP DATABASE IF EXISTS meaning WITH (FORCE)")
            admin.execute("CREATE DATABASE meaning")
        with psycopg.connect(server.url("meaning", SUPERUSER), autocommit=True) as postgres:
            postgres.execute(grammar.script.encode())
            postgres.execute("SET search_path = meaning, public; SET statement_timeout = '2s'")
            yield partial(_run_postgres, postgres)


def _run_sqlite(
    connection: sqlite3.Connection, statement: str, params: tuple[object, ...]
) -> Answer:
    try:
        cursor = connection.execute(statement, params)
        rows = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as error:
        return error
    # The text of a value tells its type, and -0.0 from 0.0.
    return (*(name for name, *_ in cursor.description), repr(rows))


def _run_duckdb(
    connection: duckdb.DuckDBPyConnection, statement: str, params: Sequence[object]
) -> Answer:
    try:
        cursor = connection.execute(statement, list(params) or None)
        rows = cursor.fetchall()
    except (duckdb.Error, RuntimeError, ValueError, OverflowError) as error:
        return error
    # The guard names outputs that have no name.
    described = (str(kind) for _, kind, *_ in cursor.description or ())
    return (*described, repr(rows))


def _run_postgres(
    connection: psycopg.Connection[Any], statement: str, params: Sequence[object]
) -> Answer:
    assert not params
    # As the server writes them: a time that Python cannot hold is one all the same.
    result = connection.pgconn.exec_(statement.encode())
    if result.status != ExecStatus.TUPLES_OK:
        return psycopg.DatabaseError(result.error_message)
    places = range(result.nfields)
    described = ((result.fname(at), result.ftype(at)) for at in places)
    rows = [tuple(result.get_value(row, at) for at in places) for row in range(result.ntuples)]
    return (*described, repr(rows))
