"""Says which definitions of the semantic layer an answer uses."""

from __future__ import annotations

from nl2sql.answers import Answered


def name_definitions(answer: Answered) -> str:
    """``Revenue as defined in semantics.yaml.``; empty if the winner uses no definition."""
    trace = answer.trace
    winner = trace.ranking.winner if trace.ranking else None
    if winner is None or trace.context is None:
        return ""
    used = [
        definition
        for definition in trace.context.definitions
        if definition.name in winner.definitions
    ]
    if not used:
        return ""
    *others, last = dict.fromkeys(definition.name for definition in used)
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{names[0].upper()}{names[1:]} as defined in {used[0].source}."
