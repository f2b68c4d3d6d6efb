"""Finds out which templates the guard refuses, so that few queries hold one of them.

A query of twenty expressions would otherwise nearly always hold one, and show nothing but that.
They stay in the grammar, rarely: should the guard let one through by mistake, it is seen.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.grammar.queries import QueryGrammar

_TRIES = 6


def find_rare(grammar: QueryGrammar, accepts: Callable[[str], bool]) -> frozenset[str]:
    """The templates and literals of which no query was accepted."""
    return frozenset(
        template
        for template in dict.fromkeys(grammar.list_templates())
        if not any(accepts(grammar.write_example(template)) for _ in range(_TRIES))
    )
