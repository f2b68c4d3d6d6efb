"""Where the fuzzers' statements come from: the grammar, the seeds and their changes, the corpus.

Each engine makes for every principal statements over what that principal sees, and aims them at
the principal and at another one, who mostly sees other rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from nl2sql.catalog import Catalog
from nl2sql.types import Principal, Violation
from tests.oracle.fuzz import Aimed, Statements, Target
from tests.oracle.grammar.calibration import find_rare
from tests.oracle.grammar.dialect import Dialect, load_dialect
from tests.oracle.grammar.queries import QueryGrammar
from tests.oracle.seeds import load_seeds
from tests.oracle.stage import PostgresStage
from tests.oracle.tree_batches import iterate_tree_mutations
from tests.oracle.verdicts import Guarding

Streams = list[tuple[Target, Statements]]
"""The statements that are meant for each target."""


def aim_statements(streams: Streams, rng: random.Random) -> Aimed:
    """Each statement for the principal of its stream and for one other, drawn at random."""
    targets = [target for target, _ in streams]
    while True:
        target, statements = rng.choice(streams)
        kind, statement = next(statements)
        yield list(dict.fromkeys((target, rng.choice(targets)))), kind, statement


def build_grammars(
    dialect: Dialect,
    catalog: Catalog,
    targets: Sequence[Target],
    list_visible: Callable[[str], set[str]],
    rng: random.Random,
) -> Streams:
    """A grammar for each target, over the tables that it sees; calibrated with the first's guard.

    ``list_visible`` gives the qualified names of what a principal of that name sees.
    """
    streams: Streams = []
    rare: frozenset[str] | None = None
    for target in targets:
        grammar = QueryGrammar(dialect, catalog, rng, list_visible(target.name))
        if rare is None:
            rare = find_rare(grammar, build_acceptance(target.guard))
        grammar.set_rare(rare)
        streams.append((target, grammar.iterate()))
    return streams


def build_acceptance(guard: Guarding) -> Callable[[str], bool]:
    """Whether a statement passes the guard."""
    return lambda statement: not isinstance(guard(statement), Violation)


def _build_demo_grammars(
    stage: PostgresStage,
    principals: Sequence[Principal],
    targets: Sequence[Target],
    rng: random.Random,
) -> Streams:
    visible = {principal.name: stage.list_visible(principal) for principal in principals}
    catalog = stage.subjects[0].catalog
    return build_grammars(load_dialect("postgres"), catalog, targets, visible.__getitem__, rng)


def _build_demo_seeds(
    stage: PostgresStage,
    principals: Sequence[Principal],
    targets: Sequence[Target],
    rng: random.Random,
) -> Streams:
    """The seeds and their changes, the same for every target."""
    catalog = stage.subjects[0].catalog
    seeds = [statement for _, statement in load_seeds()]
    names = [column.name for table in catalog.tables for column in table.columns]
    names += [table.name for table in catalog.tables]
    statements = iterate_tree_mutations(seeds, rng, names)
    return [(target, statements) for target in targets]


ENGINES: Mapping[
    str,
    Callable[[PostgresStage, Sequence[Principal], Sequence[Target], random.Random], Streams],
] = {"grammar": _build_demo_grammars, "seeds": _build_demo_seeds}
"""Where statements for PostgreSQL come from, beside the corpus."""
