"""Counts what every generator produces on each database, and renders the counts as a page."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from execution.allowlists import load_allowlist
from nl2sql.catalog import Catalog
from nl2sql.types import Principal
from tests.golden import load_pairs
from tests.oracle.coverage import duckdb_features, postgres_features, sqlite_features
from tests.oracle.coverage.counting import Counts, Coverage, count_features
from tests.oracle.engines import build_acceptance
from tests.oracle.grammar.calibration import find_rare
from tests.oracle.grammar.dialect import load_dialect
from tests.oracle.grammar.queries import QueryGrammar
from tests.oracle.mutations import iterate_mutations
from tests.oracle.runs import list_queries
from tests.oracle.seeds import load_seeds
from tests.oracle.shop import BUILD
from tests.oracle.stage import Subject, build_guarding
from tests.oracle.tree_batches import iterate_tree_mutations
from tests.oracle.verdicts import Guarding

_OPEN = {
    "version": 1,
    "roles": {"all": {"tables": {"visible": "*"}, "rows": "all"}},
}
_EVERYBODY = Principal("everybody", ("all",))
_HEAD = """# What the oracle's generators produce

Which constructs of each grammar stand in the statements that the fuzzers throw at the guard. They
are counted as *produced / admitted*: in how many statements a construct stands, and in how many of
those that the guard lets through for somebody who may see every table.
Printed by `python -m tests.oracle coverage --statements {most} --seed {seed}`.
"""


def cover_databases(subject: Subject, *, most: int, seed: int) -> list[Coverage]:
    """The coverage of each database by ``most`` statements of each generator.

    ``subject`` is the demo ERP. Raises PolicyError, OSError.
    """
    return [
        cover_postgres(subject, most=most, seed=seed),
        cover_shop("SQLite", "sqlite", most=most, seed=seed),
        cover_shop("DuckDB", "duckdb", most=most, seed=seed),
    ]


def render_page(coverages: Iterable[Coverage], *, most: int, seed: int) -> str:
    """The counts as Markdown, a table for each database."""
    head = _HEAD.format(most=most, seed=seed)
    return "\n".join([head, *(f"{coverage.render()}\n" for coverage in coverages)])


def cover_postgres(subject: Subject, *, most: int, seed: int) -> Coverage:
    """The coverage of the grammar, of the changed seeds and of the changed corpus."""
    catalog = subject.catalog
    names = [column.name for table in catalog.tables for column in table.columns]
    seeds = [statement for _, statement in load_seeds()]
    golds = [query.sql for query in list_queries(catalog, subject.golds)]
    rng = random.Random(seed)
    streams = {
        "seeds": (text for _, text in iterate_tree_mutations(seeds, rng, names)),
        "corpus": (text for _, text in iterate_mutations(golds, rng)),
    }
    return _cover(
        "PostgreSQL",
        catalog,
        streams,
        postgres_features.list_features,
        postgres_features.expect_features(load_allowlist("postgres")),
        most,
        rng,
    )


def cover_shop(name: str, dialect: str, *, most: int, seed: int) -> Coverage:
    """The coverage of a file's grammar and of the changed harmless queries of the tests."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        catalog = BUILD[dialect](Path(folder) / f"shop.{dialect}")
    pairs = [pair.before for pair in load_pairs(f"guard_{dialect}")]
    streams = {"corpus": (text for _, text in iterate_mutations(pairs, rng, dialect=dialect))}
    features = sqlite_features if dialect == "sqlite" else duckdb_features
    expected = features.expect_features(load_allowlist(dialect))
    return _cover(name, catalog, streams, features.list_features, expected, most, rng)


def _cover(
    name: str,
    catalog: Catalog,
    streams: Mapping[str, Iterable[str]],
    list_features: Callable[[str], set[str]],
    expected: Mapping[str, str],
    most: int,
    rng: random.Random,
) -> Coverage:
    guard = build_guarding(_OPEN, catalog, _EVERYBODY)
    counts: dict[str, Counts] = {}
    grammar = {"grammar": _write_grammar(catalog, guard, rng)}
    for generator, statements in (grammar | dict(streams)).items():
        counts[generator] = count_features(islice(statements, most), guard, list_features)
    return Coverage(name, expected, counts)


def _write_grammar(catalog: Catalog, guard: Guarding, rng: random.Random) -> Iterator[str]:
    grammar = QueryGrammar(load_dialect(catalog.dialect), catalog, rng)
    grammar.set_rare(find_rare(grammar, build_acceptance(guard)))
    return (text for _, text in grammar.iterate())
