"""Queries broken at random: parts of one put into another, names and tokens moved, odd characters.

Most of what comes out is no SQL any more; the rest is SQL that no person would write.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.parsing import parse_one

_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*\n|/\*.*?\*/|\w+|\s+|.""", re.DOTALL)

# Names of functions and tables that none may reach, which become names of sources and columns.
DANGEROUS: Mapping[str, tuple[str, ...]] = {
    "postgres": tuple(
        "pg_typeof pg_column_size num_nulls record_out ts_stat pg_sleep lo_create regclass "
        "pg_advisory_lock pg_terminate_backend pg_cancel_backend pg_ls_dir pg_read_file nextval "
        "current_setting set_config query_to_xml version pg_notify lastval pg_backend_pid "
        "to_json row_to_json lower upper text unnest count generate_series name int4 json".split()
    ),
    "sqlite": tuple(
        "rowid oid _rowid_ load_extension readfile writefile randomblob zeroblob sqlite_master "
        "sqlite_version changes last_insert_rowid count lower upper text main temp secrets "
        "pragma_table_info json_each fts3_tokenizer".split()
    ),
    "duckdb": tuple(
        "rowid read_csv read_text glob getvariable current_setting nextval with_tax query "
        "query_table pg_typeof duckdb_tables duckdb_settings sqlite_master secrets error count "
        "lower upper text main unnest range getenv stats numbers struct_extract".split()
    ),
}
# Lower case: words of SQL are mostly in upper case.
_NAME = re.compile(r"\b[a-z_][a-z0-9_]+\b")
_DANGEROUS = 0.5

# Kinds of nodes that may take one another's place.
_KINDS: tuple[tuple[type[exp.Expr], ...], ...] = (
    (exp.Column, exp.Literal, exp.Func, exp.Case),
    (exp.Predicate, exp.Connector, exp.Not),
    (exp.Table,),
    (exp.Subquery, exp.Table),
    (exp.Select,),
    (exp.Join,),
    (exp.Where, exp.Having),
    (exp.Order,),
    (exp.TableAlias,),
    (exp.Identifier,),
    (exp.With,),
)

_TOKENS = (
    "; -- /* */ $$ , ( ) * . = <> || :: UNION ALL INTERSECT EXCEPT OR AND NOT NULL TRUE LATERAL "
    "ONLY NATURAL CROSS FULL USING ROW ARRAY DISTINCT OVER FILTER AS IN ANY EXISTS TABLE VALUES "
    "WITH RECURSIVE INTO FROM WHERE SELECT LIMIT OFFSET ctid tableoid xmin current_user "
    "session_user pg_class pg_catalog.pg_class pg_stats information_schema.tables pg_sleep(1) "
    "version() pg_read_file('PG_VERSION') set_config('a.b','c',false) nextval('x') 1=1 E'\\'' "
    "U&\"t\" $1 ?1 :a @x {{x}} 1e9 0x1F '1'::regclass query_to_xml('select',true,true,'') "
    "employees hr.employees salary t.* DELETE UPDATE INSERT COPY SET DO CALL rowid sqlite_master "
    "->'a' ->>'a' ESCAPE'!' VARIADIC [1:2] [2:] $a$x$a$ pg_catalog.lower('A') "
    "jsonb_each_text(to_jsonb(t)) jsonb_array_elements('[1]') any_value(1) least(1,2) "
    "format('%s',1) json_each('[1]') SIMILAR "
    "main.sqlite_schema PRAGMA ATTACH load_extension('x') readfile('x') randomblob(9) GLOB NULLS"
).split(" ")

# Zero-width, no-break and full-width signs, a mark that turns text around, letters whose lower or
# upper case is an ASCII letter, a combining accent, half of a surrogate pair, NUL.
_SIGNS = (
    "\u200b\u200d\u00a0\ufeff\u202e\uff07\uff08\uff1b\u2028\u0301\u0130\u0131\u017f\u212a\uff33\u0000"
    "\u2019\u02bc\u00ad\ud800\U000e0041\u3000\u1680\x0b\x0c\x1a\\"
)


def splice_queries(query: str, other: str, rng: random.Random, dialect: str) -> str:
    """A part of ``query`` replaced by a part of ``other`` of the same kind; empty if none fits."""
    try:
        left, right = (parse_one(text, dialect) for text in (query, other))
    except (SqlglotError, RecursionError):
        return ""
    kinds = rng.choice(_KINDS)
    places = [node for node in left.find_all(*kinds) if node.parent is not None]
    parts = list(right.find_all(*kinds))
    if not places or not parts:
        return ""
    rng.choice(places).replace(rng.choice(parts).copy())
    return left.sql(dialect)


def edit_tokens(query: str, other: str, rng: random.Random, dialect: str) -> str:
    """One to three tokens dropped, doubled, moved, or taken from elsewhere."""
    tokens = _TOKEN.findall(query)
    others = _TOKEN.findall(other)
    for _ in range(rng.randint(1, 3)):
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        match rng.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[at])
            case 2:
                tokens.insert(rng.randrange(len(tokens)), tokens.pop(at))
            case 3:
                tokens.insert(at, f" {rng.choice(_TOKENS)} ")
            case _:
                tokens[at] = rng.choice(others)
    return "".join(tokens)


def insert_signs(query: str, other: str, rng: random.Random, dialect: str) -> str:
    """One to three odd characters somewhere, or in the place of a letter."""
    text = list(query)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text) + 1)
        text[at : at + rng.randrange(2)] = [rng.choice(_SIGNS)]
    return "".join(text)


def swap_names(query: str, other: str, rng: random.Random, dialect: str) -> str:
    """A name becomes that of a dangerous function, or another of the two queries', everywhere."""
    names = _NAME.findall(query)
    if not names:
        return ""
    new = rng.choice(
        DANGEROUS[dialect] if rng.random() < _DANGEROUS else [*names, *_NAME.findall(other)]
    )
    return re.sub(rf"\b{rng.choice(names)}\b", new, query)


def qualify_names(query: str, other: str, rng: random.Random, dialect: str) -> str:
    """A name gets another one, of a source or of a dangerous function, before or behind it."""
    names = _NAME.findall(query)
    if not names:
        return ""
    name, added = rng.choice(names), rng.choice((*names, *DANGEROUS[dialect]))
    qualified = f"{name}.{added}" if rng.random() < 0.5 else f"{added}.{name}"
    return re.sub(rf"\b{name}\b", qualified, query, count=1)


_RULES: tuple[tuple[str, Callable[[str, str, random.Random, str], str], int], ...] = (
    ("splice", splice_queries, 6),
    ("names", swap_names, 3),
    ("qualify", qualify_names, 2),
    ("tokens", edit_tokens, 3),
    ("signs", insert_signs, 1),
)


def iterate_mutations(
    queries: Sequence[str], rng: random.Random, *, dialect: str = "postgres"
) -> Iterator[tuple[str, str]]:
    """(kind, statement) without end; a third of them changed more than once."""
    names, rules, weights = zip(*_RULES, strict=True)
    while True:
        text = rng.choice(queries)
        kinds: list[str] = []
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.choices(range(len(rules)), weights)[0]
            if changed := rules[at](text, rng.choice(queries), rng, dialect):
                text = changed
                kinds.append(names[at])
        if kinds:
            yield " ".join(kinds), text
