"""Attacks that read the same under all three engines: building them once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from tests.attacks.attack import HARMLESS, Attack, Row, Shows

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
