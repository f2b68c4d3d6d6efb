"""Infers undeclared foreign keys: candidates by names and types, confirmed on sampled values.

A key is inferred if nearly all of a sample of a column's distinct values occur in the column that
its name refers to, and that column is a key. Values alone would not suffice, since small integers
occur in many columns; nor would names.

Not covered: columns whose name does not mention the target, views, and types other than numbers,
text and UUIDs. Inferred keys are used for joining, never for access control.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from operator import attrgetter

from nl2sql.catalog import Catalog, ForeignKey
from retrieval.introspection.containment import Sampler
from retrieval.joins.candidates import KeyCandidate, find_candidates

# Share of the sampled values that must be found: a few may refer to deleted rows.
_LEAST_FOUND = 0.95
# The least number of distinct values: for an exact name, for any other name, and for a target in
# another schema.
_LEAST_SAMPLED_EXACT = 2
_LEAST_SAMPLED = 3
_LEAST_SAMPLED_OTHER_SCHEMA = 20


def infer_keys(
    catalog: Catalog,
    sampler: Sampler,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[ForeignKey, ...]:
    """The inferred keys, sorted by table and columns; ``progress(done, total)`` counts columns.

    A column gets at most one target: the only confirmed one among those with the best rank. Raises
    DatabaseUnavailable.
    """
    groups = find_candidates(catalog)
    confirmed: dict[tuple[str, tuple[str, ...]], ForeignKey] = {}
    for done, group in enumerate(groups, start=1):
        for _, equal in groupby(group, key=attrgetter("rank")):
            keys = [
                key
                for candidate in equal
                if not _refers_back(key := _build_key(candidate), confirmed)
                and _is_confirmed(candidate, sampler)
            ]
            if len(keys) == 1:
                confirmed[keys[0].table, keys[0].columns] = keys[0]
            if keys:
                break
        progress(done, len(groups))
    return tuple(confirmed[place] for place in sorted(confirmed))


def _refers_back(
    key: ForeignKey, confirmed: Mapping[tuple[str, tuple[str, ...]], ForeignKey]
) -> bool:
    """Whether a confirmed key from the target's columns refers to this table."""
    other = confirmed.get((key.target, key.target_columns))
    return other is not None and other.target == key.table


def _is_confirmed(candidate: KeyCandidate, sampler: Sampler) -> bool:
    least = _LEAST_SAMPLED_EXACT if candidate.is_exact else _LEAST_SAMPLED
    if candidate.target.schema != candidate.table.schema:
        least = _LEAST_SAMPLED_OTHER_SCHEMA
    containment = sampler.contain(
        candidate.table, candidate.columns, candidate.target, candidate.target_columns
    )
    return (
        containment is not None
        and containment.sampled >= least
        and containment.found >= _LEAST_FOUND * containment.sampled
        and (candidate.is_key or sampler.is_unique(candidate.target, candidate.target_columns))
    )


def _build_key(candidate: KeyCandidate) -> ForeignKey:
    name = "_".join((candidate.table.name, *candidate.columns, "inferred"))
    return ForeignKey(
        name,
        candidate.table.qualified,
        candidate.columns,
        candidate.target.qualified,
        candidate.target_columns,
        inferred=True,
    )
