"""Looks for texts whose reading takes time that grows faster than their length.

``python -m tests.oracle.slow_texts --seconds 600 --seed 1`` builds texts of up to 20,000 characters
by repeating and nesting pieces of each dialect (its keywords, operators, types and functions, and
the openings and endings below), reads them in every way in which the service does, and prints the
slowest of each way with how much longer each doubling took. The time is the processor's, of one
thread. Exits with 1 where any text took longer than 500 ms.
"""

from __future__ import annotations

import argparse
import logging
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

from sqlglot.dialects.dialect import Dialect

from tests.oracle.text_stages import DIALECTS, build_stages

LONGEST = 20_000
_MOST_MS = 500.0
_WORTH_SHOWING_MS = 100.0
_PATIENCE_S = 5.0
_SHOWN = 12

HEADS = (
    "", "SELECT ", "SELECT * FROM ", "SELECT * FROM orders WHERE ", "SELECT 1 FROM orders o ",
    "SELECT id FROM orders GROUP BY ", "SELECT id FROM orders ORDER BY ", "WITH ", "WITH a AS (",
    "SELECT CASE ", "SELECT x FROM orders o JOIN ", "SELECT 1 + ", "SELECT count(*) OVER (",
    "VALUES ",
    "SELECT id FROM orders WHERE id IN (", "(", "SELECT '", 'SELECT "', "SELECT $$",
    "SELECT CAST(id AS ", "SELECT id::", "SELECT id -> ", "SELECT INTERVAL ", "SELECT * FROM (",
)  # fmt: skip
"""Where a query may be when a piece begins to repeat."""

PIECES = (
    "(", ")", "[", "]", "{", "}", ",", ".", ";", ":", "::", "'", '"', "`", "$", "$$", "$a$", "--",
    "/*", "*/", "\n", " ", "\t", "\\", "%", "?", "@", "#", "&", "|", "||", "->", "->>", "=>", ":=",
    "<", ">", "=", "<>", "!=", "~", "!", "^", "+", "-", "*", "/", "1", "1.", ".1", "1e", "0x", "a",
    "é", "E'", "X'", "a.", ".a", "a,", "(a", "a)", "'a'", "'a',", '"a"', '"a".', "1,", "1+", "1=",
    "(1", "(1)", "(1),", "[1]", "[1,", "[1:", "{'a': ", "a(", "a()", "a(1,", "a.b(", ".b()", "(a,",
    "NOT ", "- ", "+ ", "~ ", "AND ", "OR ", "1 AND ", "1 OR ", "a = 1 AND ", "a = 1 OR ", "a IS ",
    "CASE ", "CASE WHEN ", "CASE a WHEN ", "WHEN 1 THEN ", "ELSE ", "END ", " IS NULL", " IS NOT ",
    "x IN (", " IN (1)", "a BETWEEN ", " AND ", " LIKE ", " ESCAPE 'a'", " ILIKE ANY (", "EXISTS (",
    "CAST(", "CAST(a AS ", " AS INT)", "::int", "::int[]", "::numeric(1,", "::\"a\"", "DATE ",
    "DATE(", "INTERVAL ", "INTERVAL '1' ", "INTERVAL '1 day' ", "TIMESTAMP ", "ARRAY[", "ARRAY(",
    "STRUCT(", "MAP {", "MAP(", "ROW(", "DECIMAL(", "VARCHAR(", "INT(", "TIME(", "JSON(", "LIST(",
    "UNION ", "UNION ALL ", "SELECT ", "SELECT 1 UNION ", "(SELECT ", "(SELECT 1) ", "SELECT (",
    "SELECT * FROM (", ") a", "AS a", " a ", "a AS (", "a AS (SELECT 1), ", "WITH a AS (", "FROM ",
    "SELECT id FROM orders UNION ALL ", "FROM orders ", "orders, ", "orders o, ", "JOIN ", "JOIN (",
    "JOIN orders ", "JOIN orders ON ", "JOIN orders USING (id) ", "CROSS JOIN ", "LEFT JOIN ",
    "NATURAL JOIN orders ", "LATERAL ", "LATERAL (", "VALUES (1), ", "VALUES (", "(VALUES (",
    "WHERE ", "GROUP BY ", "HAVING ", "ORDER BY ", "LIMIT ", "OFFSET ", "FETCH FIRST ", "WINDOW ",
    "OVER (", "OVER (PARTITION BY ", "OVER w ", "FILTER (WHERE ", "WITHIN GROUP (ORDER BY ",
    "ROWS ",
    "count(", "sum(", "max(", "coalesce(", "nullif(", "extract(", "extract(year FROM ", "trim(",
    "substring(", "substring(a FROM ", "position(", "overlay(", "json_object(", "json_table(",
    "unnest(", "generate_series(", "date_trunc(", "lower(", "concat(", "if(", "x -> ", "-> 'a' ",
    "->> '$.a'", "x -> '$[", "COLLATE ", "AT TIME ZONE ", "DISTINCT ", "DISTINCT ON (", "ALL ",
    "ANY(", "SOME (", "PIVOT (", "UNPIVOT (", "TABLESAMPLE (", "id ", "id, ", "o.id, ",
    "orders.id ",
    "total + ", "total * ", "total || ", "id = id ", "name = 'a' AND ", "customer_id IN (SELECT ",
    "x -> x + ", "lambda x: ", "x.y.", "\"x\".\"y\".", "a[1]", "a['b'].", "/**/", "-- a\n", "`a`.",
    "```", "```sql\n", "<think>", "</think>", "{\"sql\": \"", "Answer: ", "\n\n", "\n \n", "&lt;",
    "SELECT\n", "(SELECT\n", "\nWITH ", "LIMIT 1 ", "a COLLATE b ", "QUALIFY ", "EXCLUDE (",
    "REPLACE (", "* EXCEPT (", "COLUMNS(", "GROUPING SETS (", "CUBE(", "ROLLUP(", "ORDER BY 1 ",
    "orders o#, ", "JOIN orders o# ON o#.id = o.id ", "JOIN orders o# USING (id) ", "id AS a#, ",
    "a# AS (SELECT id FROM orders), ", "a# AS (SELECT * FROM a), ", "SELECT * FROM orders o#, (",
    "a# AS (SELECT a.id FROM a AS b#, a), ", "NATURAL JOIN orders o# ", "(SELECT id) AS a#, ",
    "id IN (SELECT o#.id FROM orders o#) OR ", "customers c#, orders o#, ",
    "LATERAL (SELECT o.id) b#, ", "EXISTS (SELECT 1 FROM orders o# WHERE o#.id = o.id AND ",
    "(SELECT * FROM orders) s#, ",
)  # fmt: skip
"""What is repeated, alone or by twos and threes; ``#`` is the number of the repetition."""

TAILS = (
    "", " FROM orders", " FROM orders o", ") FROM orders", " 1", " a FROM orders", ")", "'", "]",
    " END FROM orders", " SELECT 1", " SELECT * FROM a", "1) SELECT * FROM a", " FROM",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """How a text is built, of any length: a head, pieces to open, a middle, pieces to close."""

    head: str
    opening: str
    middle: str
    closing: str
    tail: str

    def build(self, length: int) -> str:
        """The text with as many repetitions as ``length`` characters hold."""
        room = length - len(self.head) - len(self.middle) - len(self.tail)
        opened: list[str] = []
        while room > 0:
            opened.append(self.opening.replace("#", str(len(opened))))
            room -= len(opened[-1]) + len(self.closing)
        opened = opened[:-1] or opened
        closed = self.closing * len(opened)
        return f"{self.head}{''.join(opened)}{self.middle}{closed}{self.tail}"[:length]


class TooSlow(BaseException):
    """Reading was stopped. Not an Exception, so that no code under test catches it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A slow text: how it was read, how long it took, and what half of it took."""

    dialect: str
    stage: str
    shape: Shape
    ms: float
    growth: float


def list_words(dialect: str) -> tuple[str, ...]:
    """The words of the dialect that mean anything to sqlglot, and each as a call."""
    reader = Dialect.get_or_raise(dialect)
    words = {
        *(word for word in reader.tokenizer_class.KEYWORDS if word.replace(" ", "").isalpha()),
        *reader.parser_class.FUNCTIONS,
        *reader.parser_class.FUNCTION_PARSERS,
    }
    return tuple(sorted(f"{word}{end}" for word in words for end in (" ", "(", "[", " (", "()")))


def draw_shape(draw: random.Random, words: tuple[str, ...]) -> Shape:
    """A shape at random."""

    def pick() -> str:
        return draw.choice(words) if draw.random() < 0.3 else draw.choice(PIECES)

    opening = "".join(pick() for _ in range(draw.choice((1, 1, 2, 2, 3, 4))))
    closing = draw.choice(("", "", ")", "]", "}", " END", ") a", pick(), pick() + pick()))
    return Shape(
        draw.choice(HEADS),
        opening,
        draw.choice(("", "1", "a", "id", pick())),
        closing,
        draw.choice(TAILS),
    )


def list_shapes() -> Iterator[Shape]:
    """Every piece by itself behind every head, and every bracket around."""
    for piece in PIECES:
        for head in HEADS:
            yield Shape(head, piece, "1", "", " FROM orders")
        for closing in (")", "]", ") a", " END"):
            yield Shape("SELECT ", piece, "1", closing, " FROM orders")


def measure(read: Callable[[str], object], text: str) -> float:
    """Milliseconds of processor time of this thread; infinite where reading was stopped."""

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    signal.signal(signal.SIGALRM, give_up)
    start = time.thread_time()
    try:
        # The alarm may come between the end of the reading and its own.
        try:
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S)
            read(text)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooSlow:
        return float("inf")
    return (time.thread_time() - start) * 1000


def search(seconds: float, seed: int, sweep: bool) -> tuple[list[Finding], int]:
    """The slow texts that were found, the slowest first, and how many texts were read."""
    draw = random.Random(seed)
    stages = {dialect: build_stages(dialect) for dialect in DIALECTS}
    words = {dialect: list_words(dialect) for dialect in DIALECTS}
    for dialect in DIALECTS:
        for read in stages[dialect].values():
            read("SELECT id FROM orders")
    swept = ((shape, dialect) for shape in list_shapes() for dialect in DIALECTS)
    found: dict[tuple[str, str, str], Finding] = {}
    texts, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        if sweep:
            if (following := next(swept, None)) is None:
                break
            shape, dialect = following
        else:
            dialect = draw.choice(DIALECTS)
            shape = draw_shape(draw, words[dialect])
        text = shape.build(LONGEST)
        for stage, read in stages[dialect].items():
            texts += 1
            if (ms := measure(read, text)) < _WORTH_SHOWING_MS:
                continue
            ms = min(ms, measure(read, text))
            growth = ms / max(measure(read, shape.build(LONGEST // 2)), 0.1)
            key = (dialect, stage, shape.opening)
            if ms >= _WORTH_SHOWING_MS and (key not in found or found[key].ms < ms):
                found[key] = Finding(dialect, stage, shape, ms, growth)
    return sorted(found.values(), key=lambda finding: -finding.ms), texts


def main() -> int:
    """Searches and prints; gives 1 where a text took too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--sweep", action="store_true", help="every piece once instead of by chance"
    )
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    found, texts = search(options.seconds, options.seed, options.sweep)
    stages = sorted({(finding.dialect, finding.stage) for finding in found})
    print(f"{texts} readings; slower than {_WORTH_SHOWING_MS:.0f} ms:")
    for dialect, stage in stages:
        of_stage = [
            finding for finding in found if (finding.dialect, finding.stage) == (dialect, stage)
        ]
        print(f"{dialect}, {stage}: {len(of_stage)}")
        for finding in of_stage[:_SHOWN]:
            shape = finding.shape
            print(
                f"  {finding.ms:7.0f} ms, x{finding.growth:.1f} of half: {shape.head!r} "
                f"{shape.opening!r} {shape.middle!r} {shape.closing!r} {shape.tail!r}"
            )
    return int(any(finding.ms > _MOST_MS for finding in found))


if __name__ == "__main__":
    sys.exit(main())
