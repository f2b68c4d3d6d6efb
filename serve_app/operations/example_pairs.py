"""Reads pairs of a question and its query from a benchmark's train set.

The other parts of a benchmark are for evaluation and never become examples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError
from sqlglot import exp
from sqlglot.errors import SqlglotError

from data.benchmarks.types import Benchmark, Example
from nl2sql.errors import SettingsError
from nl2sql.sql.parsing import parse_one
from retrieval.examples.files import Pair

TRAIN = "train"


def select_train_set(benchmark: Benchmark, name: str, database: str) -> Benchmark:
    """The train questions about ``database`` of the benchmark ``name``.

    A train question has the ``split`` train, or is in a file whose name begins with train. Raises
    SettingsError if there is none.
    """
    is_train_file = Path(name.rpartition(":")[2]).stem.startswith(TRAIN)
    examples = tuple(
        example
        for example in benchmark.examples
        if example.database == database
        and (example.split == TRAIN if example.split else is_train_file)
    )
    if not examples:
        raise SettingsError(
            f"{name} has no train questions about {database!r}.",
            hint="Only a train set becomes examples: the model must not see questions of an "
            "evaluation. Its databases: "
            f"{', '.join(sorted({example.database for example in benchmark.examples})[:5])}, …",
        )
    return replace(
        benchmark, examples=examples, databases={database: benchmark.databases[database]}
    )


def build_pairs(examples: Iterable[Example], dialect: str) -> tuple[Pair, ...]:
    """The questions with their first gold queries; leaves out pairs too long for a prompt."""
    pairs = []
    for example in examples:
        sql = (
            qualify_tables(example.golds[0], example.schema, dialect)
            if example.schema
            else example.golds[0]
        )
        try:
            pairs.append(Pair(question=example.question, sql=sql, source="benchmark"))
        except ValidationError:
            continue
    return tuple(pairs)


def qualify_tables(sql: str, schema: str, dialect: str) -> str:
    """The query with ``schema`` before every table that has none.

    A query that cannot be parsed is returned unchanged.

    >>> qualify_tables("WITH a AS (SELECT 1) SELECT * FROM a JOIN b ON true", "s", "postgres")
    'WITH a AS (SELECT 1) SELECT * FROM a JOIN s.b ON TRUE'
    """
    try:
        tree = parse_one(sql, dialect)
    except (SqlglotError, RecursionError):
        return sql
    queries = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and not table.db and table.name not in queries:
            table.set("db", exp.to_identifier(schema))
    return tree.sql(dialect)
