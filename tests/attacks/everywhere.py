"""What the tables of several engines share: attacks that read the same, towers of queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Concatenate, ParamSpec

from tests.attacks.attack import HARMLESS, Attack, Evidence, Row, Shows, spread

_Rest = ParamSpec("_Rest")

ENGINES = ("postgres", "sqlite", "duckdb")

_NONE: Mapping[str, str] = MappingProxyType({})


def steal(
    group: str,
    name: str,
    sql: str,
    stolen: tuple[Row, ...],
    yields: tuple[Row, ...] | None = None,
    *,
    refused_as: str = HARMLESS,
    role: str = "manager",
    lacking: Collection[str] = (),
    refusals: Mapping[str, str] = _NONE,
) -> list[Attack]:
    """One attack an engine: ``stolen`` comes back unguarded; guarded ``yields``, or a refusal.

    ``lacking`` are the engines that do not have such a query, ``refusals`` the codes of those that
    refuse it for another reason, or alone.
    """
    return [
        Attack(
            engine,
            group,
            name,
            sql,
            Shows(stolen),
            refusals.get(engine, refused_as),
            None if engine in refusals else yields,
            role,
        )
        for engine in ENGINES
        if engine not in lacking
    ]


def spread_all(
    build: Callable[Concatenate[str, str, _Rest], list[Attack]],
    texts: Mapping[str, str],
    *args: _Rest.args,
    **kwargs: _Rest.kwargs,
) -> list[Attack]:
    """As ``spread``, for a builder of several attacks."""
    return [attack for attacks in spread(build, texts, *args, **kwargs) for attack in attacks]


def share(
    group: str,
    name: str,
    sql: str,
    works: Mapping[str, Evidence],
    *,
    yields: tuple[Row, ...] | None = None,
    refused_as: str = HARMLESS,
) -> list[Attack]:
    """One attack for each engine that ``works`` has, with what shows that it works there."""
    return [
        Attack(
            engine,
            group,
            name,
            sql,
            evidence,
            refused_as,
            yields,
            # Some statements of DuckDB's run in no transaction.
            in_transaction=(engine, group) != ("duckdb", "statements"),
        )
        for engine, evidence in works.items()
    ]


def same(evidence: Evidence, *engines: str) -> dict[str, Evidence]:
    """The same evidence for these engines, for all three if none is named."""
    return dict.fromkeys(engines or ENGINES, evidence)


def build_levels(
    first: str, step: str, levels: int, *, source: str = "", limit: str = " LIMIT 1"
) -> str:
    """Queries upon queries, each of which makes its text ``t`` out of that of the one below.

    LIMIT keeps planners from putting one in the place of another; without it they do.

    >>> build_levels("'x'", "t || t", 1)
    "WITH a0 AS (SELECT 'x' AS t), a1 AS (SELECT t || t AS t FROM a0 LIMIT 1) \
SELECT max(length(t)) AS n FROM a1"
    """
    ctes = [f"a0 AS (SELECT {first} AS t{source})"]
    ctes += [f"a{n + 1} AS (SELECT {step} AS t FROM a{n}{limit})" for n in range(levels)]
    return f"WITH {', '.join(ctes)} SELECT max(length(t)) AS n FROM a{levels}"
