"""The parts of a query that are the same for every schema: space, literals, functions of a dialect.

Every repetition is bounded: where a sure end is not near, a model held to a grammar rambles on.
"""

from __future__ import annotations

from generation.grammar.ebnf import RuleBook, any_of, quote

_STRING_WORDS = 12
_IN_COMMON = (
    "ABS COALESCE LENGTH LOWER MAX MIN NULLIF REPLACE ROUND SUBSTR TRIM UPPER LTRIM RTRIM".split()
)
_FUNCTIONS = {
    "sqlite": "DATE DATETIME IFNULL INSTR JULIANDAY STRFTIME TIME".split(),
    "postgres": "AGE CEIL CONCAT DATE DATE_PART DATE_TRUNC FLOOR INITCAP LEFT MAKE_DATE MOD "
    "NOW POSITION POWER RIGHT SPLIT_PART SQRT SUBSTRING TO_CHAR TO_DATE TRUNC".split(),
    "duckdb": "AGE CEIL CONCAT DATE DATE_DIFF DATE_PART DATE_TRUNC FLOOR LEFT MAKE_DATE MOD MONTH "
    "NOW POWER RIGHT SPLIT_PART SQRT STRFTIME SUBSTRING YEAR".split(),
}
_TYPES = {
    "sqlite": "INTEGER REAL TEXT NUMERIC FLOAT".split(),
    "postgres": "INTEGER INT BIGINT NUMERIC FLOAT TEXT VARCHAR DATE TIMESTAMP".split(),
    "duckdb": "INTEGER BIGINT DECIMAL DOUBLE FLOAT TEXT VARCHAR DATE TIMESTAMP".split(),
}
_AGGREGATES = {
    "sqlite": "AVG COUNT MAX MIN SUM TOTAL GROUP_CONCAT".split(),
    "postgres": "AVG COUNT MAX MIN SUM STDDEV VARIANCE STRING_AGG".split(),
    "duckdb": "AVG COUNT MAX MIN SUM MEDIAN STDDEV STRING_AGG".split(),
}
# How names that a query gives to its own columns begin: only those may be referred to again.
_MEASURES = (
    "avg average cnt count diff difference first highest last latest least lowest max maximum mean "
    "median min minimum most n num number pct percent percentage rank ratio share sum total value"
).split()


def add_terminals(book: RuleBook, dialect: str) -> None:
    """``ws``, ``ow``, ``comma``, ``literal``, ``string``, ``function``, ``type`` and their like."""
    book.add("ws", '(" " | "\\n" [ \\t]{0,12})')
    book.add("ow", "ws?")
    book.add("comma", '"," ow')
    book.add("number", '"-"? [0-9]{1,12} ("." [0-9]{1,6})?')
    book.add("count", "[0-9]{1,4}")
    # Bounded by words: to count signs costs 60 ms a token.
    book.add("text", "([^' \\r\\n] | \"''\")*")
    book.add("string", f'"\'" text (" " text){{0,{_STRING_WORDS - 1}}} "\'"')
    # One rule with its own space: what may follow a space is known beforehand then, and not tried
    # for every word of the vocabulary when a token is drawn.
    book.add("label", '("AS" | "as") " " [a-z_] [a-zA-Z0-9_]*')
    book.any_word("measure", _MEASURES)
    book.add("measure_name", 'measure ("_" [a-zA-Z0-9_]+)?')
    book.add("compare", any_of(map(quote, ("=", "!=", "<>", "<=", ">=", "<", ">"))))
    signs = ("+", "-", "*", "/", "%", "||")
    book.add("arithmetic", any_of(map(quote, signs)))
    book.any_word("function", (*_IN_COMMON, *_FUNCTIONS[dialect]))
    book.any_word("aggregate", _AGGREGATES[dialect])
    book.any_word("type", _TYPES[dialect])
    literals = ["number", "string", book.word("NULL")]
    likes = ["LIKE"]
    if dialect != "sqlite":
        likes.append("ILIKE")
        dated = any_of(map(book.word, ("DATE", "TIMESTAMP", "INTERVAL")))
        literals += [book.word("TRUE"), book.word("FALSE"), f"{dated} ws string"]
    book.any_word("like", likes)
    book.add("literal", any_of(literals))
    book.any_word(
        "moment",
        ("CURRENT_DATE", "CURRENT_TIMESTAMP") if dialect != "sqlite" else ("CURRENT_DATE",),
    )
    book.any_word("part", "YEAR MONTH DAY QUARTER WEEK HOUR MINUTE DOW DOY EPOCH".split())
