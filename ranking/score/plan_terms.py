"""Measures where a query comes from, and how well it agrees with retrieval and planning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from sqlglot import exp

from nl2sql.types import Candidate, GuardedQuery, Plan, ValueMatch, spell_value
from ranking.conditions import list_conditions, list_texts
from ranking.definition_use import DefinitionUse
from ranking.query import Query
from ranking.score.points import Measure

ASKED_RULES = frozenset(
    """asked_rounding nulls_last compared_values asked_units oldest_first present_rows
    counted_tables unmatched_rows stored_flags whole_days named_days""".split()
)
"""The rules that derive what the question's words or the query's conditions say and the query does
not do: ``ASKED`` of ``repair/derive``, since stages do not import one another."""


def measure_origin(candidate: Candidate) -> Iterator[Measure]:
    """Yields ``repaired``; ``derived``, and with it the rule.

    >>> list(measure_origin(Candidate("c1r", "SELECT 1", origin="repair", repairs="c1")))
    [('repaired', 1.0)]
    >>> derived = Candidate("d1", "SELECT 1", 0, "derived", derived_from="c1", rule="nulls_last")
    >>> list(measure_origin(derived))
    [('derived', 1.0), ('derived:nulls_last', 1.0)]
    """
    if candidate.origin == "repair":
        yield "repaired", 1.0
    if candidate.origin == "derived":
        yield "derived", 1.0
        yield f"derived:{candidate.rule}", 1.0


# A link with a lower score matches only a small part of a table's or column's name.
_SURE_LINK = 0.8


def measure_plan(query: Query, guarded: GuardedQuery, plan: Plan) -> Iterator[Measure]:
    """Yields measures of linked and planned tables, and of phrases that the query ignores."""
    tables = set(guarded.tables)
    linked = {link.table for link in plan.links}
    if tables & linked:
        yield "schema_adherence", len(tables & linked) / len(tables)
    planned = set(plan.joins.tables)
    if len(planned) > 1 and tables & planned:
        yield "join_match", len(tables & planned) / len(tables | planned)
    columns = {use.name for column in query.find_all(exp.Column) if (use := query.resolve(column))}
    sure = [link for link in plan.links if link.method == "name" and link.score >= _SURE_LINK]
    yield from _measure_missed(
        "tables_missed", [(link.phrase, link.table) for link in sure if not link.column], tables
    )
    yield from _measure_missed(
        "links_missed",
        [(link.phrase, f"{link.table}.{link.column}") for link in sure if link.column],
        columns,
    )


def measure_values(query: Query, values: Sequence[ValueMatch]) -> Iterator[Measure]:
    """Shares of the question's cell values: compared with other columns, or not in all spellings.

    The spellings of a text in a column differ in case and spacing.
    """
    known: dict[str, list[ValueMatch]] = {}
    for match in values:
        if match.score == 1:
            known.setdefault(match.phrase.lower(), []).append(match)
    conditions = [each for each in list_conditions(query) if each.literal.is_string]
    compared: dict[str, set[str]] = {}
    for use, text in list_texts(query):
        compared.setdefault(use.name, set()).add(text)
    misplaced = missed = 0
    for matches in known.values():
        texts = {match.value.strip().lower() for match in matches}
        columns = {f"{match.table}.{match.column}" for match in matches}
        uses = [
            condition.use for condition in conditions if condition.text.strip(" %").lower() in texts
        ]
        if uses and all(use is not None and use.name not in columns for use in uses):
            misplaced += 1
        missed += any(_misses_spelling(match, matches, compared) for match in matches)
    if misplaced:
        yield "values_misplaced", misplaced / len(known)
    if missed:
        yield "spellings_missed", missed / len(known)


def _misses_spelling(
    match: ValueMatch, matches: Sequence[ValueMatch], texts: Mapping[str, Set[str]]
) -> bool:
    """Whether the column of a match is compared with its text, but not in all its spellings."""
    compared = texts.get(f"{match.table}.{match.column}", set())
    folded = {text.strip().casefold() for text in compared}
    is_meant = match.value.strip().casefold() in folded
    return is_meant and not set(spell_value(match, matches)) <= compared


def measure_definitions(uses: Sequence[DefinitionUse]) -> Iterator[Measure]:
    """The share of the question's definitions that the query uses, with all their conditions."""
    if used := sum(use.is_whole for use in uses):
        yield "definition_used", used / len(uses)


def _measure_missed(
    name: str, links: Sequence[tuple[str, str]], used: set[str]
) -> Iterator[Measure]:
    """The share of phrases that name things of which the query uses none."""
    named: dict[str, set[str]] = {}
    for phrase, thing in links:
        named.setdefault(phrase, set()).add(thing)
    if missed := [phrase for phrase, things in named.items() if not things & used]:
        yield name, len(missed) / len(named)
