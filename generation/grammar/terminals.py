"""The rules that are the same for every schema: white space, literals, functions of a dialect.

Every repetition is bounded, because a model with an unbounded grammar may not stop.
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
# Beginnings of column aliases; only such aliases can be used in ORDER BY.
_MEASURES = (
    "avg average cnt count diff difference first highest last latest least lowest max maximum mean "
    "median min minimum most n num number pct percent percentage rank ratio share sum total value"
).split()


def add_terminals(book: RuleBook, dialect: str) -> None:
    """Adds ``ws``, ``ow``, ``comma``, ``literal``, ``string``, ``function``, ``type`` and more."""
    book.add("ws", '(" " | "\\n" [ \\t]{0,12})')
    book.add("ow", "ws?")
    book.add("comma", '"," ow')
    book.add("number", '"-"? [0-9]{1,12} ("." [0-9]{1,6})?')
    book.add("count", "[0-9]{1,4}")
    # Bounded by words, because counting characters costs 60 ms for each token.
    book.add("text", "([^' \\r\\n] | \"''\")*")
    book.add("string", f'"\'" text (" " text){{0,{_STRING_WORDS - 1}}} "\'"')
    # One rule that includes the space, so that its continuations are computed in advance instead of
    # for every token.
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
