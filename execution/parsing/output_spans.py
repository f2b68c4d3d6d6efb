"""A parser that records where each output of a SELECT stands in the text."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.parser import Parser

_SPAN = "span"


class SpanningParser(Parser):
    """Records the places of outputs, for the names that a database makes of their text."""

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        return self._parse_csv(self._parse_output), None

    def _parse_output(self) -> exp.Expr | None:
        start = self._curr.start
        output: exp.Expr | None = self._parse_expression()
        if output is not None:
            output.meta[_SPAN] = (start, self._prev.end + 1)
        return output


def read_span(output: exp.Expr, sql: str) -> str:
    """The text of an output in ``sql``, from which it was parsed."""
    start, end = output.meta[_SPAN]
    return sql[start:end]
