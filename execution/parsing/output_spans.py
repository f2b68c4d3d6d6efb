"""A parser that records where each output of a SELECT stands in the text."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.parser import Parser

_SPAN = "span"
_SPACES = " \t\n\r\f\v"


class SpanningParser(Parser):
    """Records the places of outputs, for the names that a database makes of their text."""

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        return self._parse_csv(self._parse_output), None

    def _parse_output(self) -> exp.Expr | None:
        start = self._curr.start
        output: exp.Expr | None = self._parse_expression()
        if output is not None:
            output.meta[_SPAN] = (start, self._find_next())
        return output

    def _find_next(self) -> int:
        """Where the next word or sign begins, or the statement ends."""
        if self._index < len(self._tokens):
            return int(self._curr.start)
        end = self.sql.find(";", self._prev.end + 1)
        return len(self.sql) if end < 0 else end


def read_span(output: exp.Expr, sql: str) -> str:
    """The text of an output in ``sql``, from which it was parsed, up to the next word or sign."""
    start, end = output.meta[_SPAN]
    return sql[start:end].rstrip(_SPACES)
