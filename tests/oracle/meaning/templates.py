"""Statements put together from templates: ``{number} + {number}`` with holes for other templates.

Few parentheses are written, so that precedence decides; spaces around signs are left out at times.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Templates = Mapping[str, Sequence[str]]
"""Templates by the kind of value that they give; a template without holes ends a branch."""

_HOLE = re.compile(r"\{(\w+)\}")
_SPACED_SIGN = re.compile(r" ([^\s\w'\"]+) ")

_MOST_DEPTH = 4
_MOST_OUTPUTS = 3
# How often a hole is filled with a value of any kind, one in parentheses, or without spaces.
_ANY_KIND = 0.08
_IN_PARENTHESES = 0.12
_WITHOUT_SPACES = 0.15


@dataclass(frozen=True)
class Grammar:
    """``values`` are expressions; ``statements`` have holes ``{outputs}`` and of kinds."""

    values: Templates
    statements: Sequence[str]

    def iterate(self, rng: random.Random) -> Iterator[str]:
        """Statements without end."""
        while True:
            statement = rng.choice(self.statements)
            yield _HOLE.sub(lambda hole: self._fill(hole[1], rng), statement)

    def _fill(self, kind: str, rng: random.Random) -> str:
        if kind == "outputs":
            count = rng.randint(1, _MOST_OUTPUTS)
            return ", ".join(self._build_output(rng) for _ in range(count))
        return self._build(kind, rng, _MOST_DEPTH)

    def _build_output(self, rng: random.Random) -> str:
        value = self._build(rng.choice(list(self.values)), rng, _MOST_DEPTH)
        return f"{value} AS named" if rng.random() < 0.1 else value

    def _build(self, kind: str, rng: random.Random, depth: int) -> str:
        if kind == "any" or rng.random() < _ANY_KIND:
            kind = rng.choice(list(self.values))
        templates = self.values[kind]
        if depth <= 1 or rng.random() < 0.2:
            templates = [text for text in templates if not _HOLE.search(text)]
        chosen = rng.choice(templates)
        text = _HOLE.sub(lambda hole: self._build(hole[1], rng, depth - 1), chosen)
        if rng.random() < _WITHOUT_SPACES:
            text = _SPACED_SIGN.sub(r"\1", text)
        return f"({text})" if rng.random() < _IN_PARENTHESES else text
