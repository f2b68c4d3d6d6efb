"""Statements over operators, literals, casts and precedence on PostgreSQL, made up at random.

Operands have types, so that many of the statements run; a part of the operators is any sequence of
operator signs, which PostgreSQL's lexer reads as one operator whether it exists or not. Spaces and
parentheses around operands are left out at random, so that lexer and precedence decide.
"""

from __future__ import annotations

import random
import re

SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA meaning;
CREATE TABLE meaning.things (i int, k int, n numeric, x float8, s text, b bool, j jsonb, a int[],
    d date, t timestamptz, y interval, r int4range, p point, o box, ip inet, v vector(2));
INSERT INTO meaning.things VALUES
 (1, 5, 2.50, 0.1, 'abc', true, '{"a": {"b": [1, 2]}, "k": 1}', '{1,2}', '2024-01-31',
  '2024-03-31 00:30+01', '1 day', '[1,5)', '(1,2)', '((0,0),(3,3))', '10.1.2.3', '[1,0]'),
 (-2, 3, -7, 1e5, 'A_c', false, '[1, "a"]', '{3}', '2023-12-01', '2024-10-27 00:30+00', '-2 hours',
  '[5,9)', '(5,5)', '((4,4),(6,6))', '192.168.0.1', '[0,1]'),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
TYPES = {
    "i": (
        "i",
        "k",
        "1",
        "-2",
        "1_000",
        "0xFF",
        "0o17",
        "0b11",
        "'7'::int",
        "int '3'",
        "char_length(s)",
    ),
    "n": ("n", "x", "2.5", ".5", "1e3", "1_0.2_5", "numeric '1.50'", "i::numeric", "5."),
    "s": (
        *("s", "'a'", "E'a\\'b\\x41'", "U&'d\\0061t'", "U&'d!0061' UESCAPE '!'", "$$it's$$"),
        *("$q$x$$y$q$", "text 'a'", "'a'::varchar(2)", "upper(s)", 's COLLATE "C"', "'it''s'"),
    ),
    "b": ("b", "true", "NULL", "i = 1", "s LIKE 'a%'", "s IS NULL", "'t'::bool"),
    "j": ("j", "'{\"a\": 1}'::jsonb", "jsonb '[1, 2]'", "to_jsonb(i)"),
    "a": ("a", "ARRAY[1, 2]", "'{1,2}'::int[]", "ARRAY[i]", "ARRAY[]::int[]"),
    "d": ("d", "date '2024-01-31'", "'2024-02-01'::date"),
    "t": ("t", "timestamptz '2024-01-31 10:00+01'", "d::timestamptz"),
    "y": ("y", "interval '1 day'", "interval '1.5' hour", "INTERVAL '1-2' YEAR TO MONTH"),
    "r": ("r", "int4range(1, 3)", "'[2,6)'::int4range"),
    "p": ("p", "point '(1,2)'"),
    "o": ("o", "box '((0,0),(2,2))'"),
    "ip": ("ip", "inet '10.0.0.0/8'", "'10.1.0.0/16'::cidr"),
    "v": ("v", "'[0,1]'::vector", "vector '[1,1]'"),
    "bits": ("B'101'", "X'1F'", "b'1'::bit(3)"),
}
# Left type, operators, right type, type of the result.
INFIX = (
    *(("i", "+ - * / % & | # << >>", "i", "i"), ("n", "+ - * / ^ %", "n", "n")),
    *(("i", "^", "i", "n"), ("s", "||", "s", "s"), ("s", "||", "i", "s")),
    ("s", "~ ~* !~ !~* ~~ !~~ ~~* !~~* ^@ = <> != < > <= >= ~<~ ~>=~ @@", "s", "b"),
    *(("i", "= <> < > <= >= !=", "i", "b"), ("n", "< >= =", "n", "b"), ("b", "= <>", "b", "b")),
    *(("j", "-> ->>", "s", "j"), ("j", "->", "i", "j"), ("j", "@> <@", "j", "b")),
    *(("j", "?", "s", "b"), ("j", "||", "j", "j"), ("j", "-", "s", "j"), ("a", "||", "a", "a")),
    *(("a", "@> <@ && =", "a", "b"), ("d", "+ -", "i", "d"), ("d", "-", "d", "i")),
    *(("t", "+ -", "y", "t"), ("t", "-", "t", "y"), ("y", "*", "n", "y"), ("y", "+ -", "y", "y")),
    *(("d", "< =", "d", "b"), ("r", "@> <@ && << >> -|- &< &> =", "r", "b")),
    *(("r", "+ * -", "r", "r"), ("r", "@>", "i", "b"), ("p", "<->", "p", "n")),
    *(("p", "~= <<| |>> << >>", "p", "b"), ("o", "@>", "p", "b"), ("ip", "+", "i", "ip")),
    ("o", "&& &<| |&> << >> ~= @> <@", "o", "b"),
    *(("ip", "<<= << >>= >> && =", "ip", "b"), ("ip", "& |", "ip", "ip")),
    *(("v", "<-> <=> <#> <+>", "v", "n"), ("v", "+ -", "v", "v")),
    *(("bits", "& | #", "bits", "bits"), ("bits", "<< >>", "i", "bits")),
)
PREFIX = (
    *(("-", "n", "n"), ("+", "i", "i"), ("-", "i", "i"), ("~", "i", "i"), ("@", "i", "i")),
    *(("@", "n", "n"), ("|/", "n", "n"), ("||/", "n", "n"), ("@-@", "o", "n"), ("@@", "o", "p")),
    ("~", "bits", "bits"),
)
FORMS = {
    "b": (
        *("{b} AND {b}", "{b} OR {b}", "NOT {b}", "{i} IN ({i}, {i})", "{i} NOT IN ({i})"),
        *("{n} BETWEEN {n} AND {n}", "{i} NOT BETWEEN {i} AND {i}", "{s} LIKE {s} ESCAPE '!'"),
        *("{s} NOT LIKE {s}", "{s} ILIKE {s}", "{s} NOT ILIKE {s}", "{s} SIMILAR TO {s}"),
        *("{b} IS TRUE", "{b} IS NOT FALSE", "{b} IS UNKNOWN", "{s} IS NOT NULL", "{i} ISNULL"),
        *("{i} IS DISTINCT FROM {i}", "{n} IS NOT DISTINCT FROM {n}", "{i} = ANY ({a})"),
        *("{i} <> ALL ({a})", "({i}, {i}) < ({i}, {i})", "{i} OPERATOR(pg_catalog.<) {i}"),
        *("{s} ~ ANY (ARRAY[{s}, {s}])", "EXISTS (SELECT {i})", "{s} NOT SIMILAR TO 'a%'"),
        *("{i} BETWEEN SYMMETRIC {i} AND {i}", "{i} IN (SELECT k FROM things)"),
    ),
    "i": (
        *(
            "({n})::int",
            "CAST({n} AS int)",
            "coalesce({i}, {i})",
            "({a})[{i}]",
            "extract(day FROM {d})",
        ),
        *("CASE WHEN {b} THEN {i} ELSE {i} END", "nullif({i}, {i})", "position({s} IN {s})"),
        *("{i} OPERATOR(pg_catalog.+) {i}", "(SELECT max({i}) FROM things)", "{i}::text::int"),
    ),
    "n": ("abs({n})", "round({n}, 1)", "greatest({n}, {i})", "{i}::numeric(9,2)", "-{n}"),
    "s": (
        *(
            "({j}) ->> 'a'",
            "coalesce(j ->> 'k', {s})",
            "substring({s} FROM {i} FOR 2)",
            "{i}::text",
        ),
        *("trim(BOTH 'x' FROM {s})", "overlay({s} PLACING 'z' FROM 1)", "concat({s}, {i})"),
        *('{s} COLLATE "C"', "(a)[1:2]::text", "to_char({t}, 'YYYY')"),
    ),
    "j": (
        "jsonb_build_object('a', {i})",
        "coalesce(j -> 'a', {j})",
        "({j}) -> 'a' -> 'b'",
        "j #> '{{a,b}}'",
    ),
    "a": ("array_append({a}, {i})", "ARRAY(SELECT {i})", "(a)[1:{i}]"),
    "t": (
        "{t} AT TIME ZONE 'Europe/Berlin' AT TIME ZONE 'UTC'",
        "date_trunc('month', {t})",
        "{t} AT LOCAL AT LOCAL",
    ),
    "d": ("({t})::date", "{d} + 1"),
}
STATEMENTS = (
    "SELECT {any} FROM things",
    "SELECT {any}, {any} AS z FROM things AS things WHERE {b}",
    "SELECT i FROM things WHERE {b} ORDER BY {any}, {n} DESC NULLS LAST LIMIT 3",
    "SELECT i FROM things WHERE {b} ORDER BY {n} USING >, i",
    "SELECT count(*) FILTER (WHERE {b}), array_agg({i} ORDER BY {s} DESC) FROM things",
    "WITH c AS (SELECT {i} AS i, {s} AS s, {b} AS b FROM things) SELECT i, s FROM c WHERE {b0}",
    "SELECT {i}, sum({n}) OVER (PARTITION BY {b} ORDER BY {i} ROWS 1 PRECEDING) FROM things",
    "SELECT q.z FROM (SELECT {any} AS z FROM things) AS q",
    "SELECT {i} AS g, count(*) FROM things GROUP BY {i} HAVING count(*) > 0",
    "SELECT m.i FROM things AS m LEFT JOIN things AS w ON m.i = w.k AND m.b",
    "SELECT l.z FROM things CROSS JOIN LATERAL (SELECT {any} AS z) AS l",
    "VALUES ({any0}), ({any0})",
    "SELECT {i} FROM things UNION ALL SELECT {i} FROM things",
)
_SIGNS = "+-*/<>=~!@#%^&|?"
_SLOT = re.compile(r"\{(\w+)\}")


class TextMaker:
    """Makes statements; equal seeds make equal ones."""

    def __init__(self, seed: int, *, odd: float = 0.05) -> None:
        """``odd`` is the share of infix operators that are any sequence of signs."""
        self._rng = random.Random(seed)
        self._odd = odd

    def make(self) -> str:
        """A statement over the table ``things``."""
        text = self._fill(self._rng.choice(STATEMENTS), self._rng.randint(1, 4))
        return text if self._rng.random() < 0.9 else f"{text} -- {{'}}"

    def _fill(self, form: str, depth: int) -> str:
        return (
            _SLOT.sub(lambda slot: self._express(slot[1], depth), form.replace("{{", "\0"))
            .replace("\0", "{")
            .replace("}}", "}")
        )

    def _express(self, kind: str, depth: int) -> str:
        rng = self._rng
        if kind.endswith("0"):
            # Without columns.
            return {"b0": "i > 0 AND NOT b", "any0": rng.choice(("1", "-1", "2^3", "'a' || 'b'"))}[
                kind
            ]
        kind = rng.choice(list(TYPES)) if kind == "any" else kind
        way = rng.random()
        if depth <= 0 or way < 0.2:
            return rng.choice(TYPES[kind])
        if way < 0.4 and kind in FORMS:
            return self._enclose(self._fill(rng.choice(FORMS[kind]), depth - 1))
        if way < 0.5 and (prefixes := [row for row in PREFIX if row[2] == kind]):
            operator, operand, _ = rng.choice(prefixes)
            return f"{operator}{self._space()}{self._express(operand, depth - 1)}"
        if infixes := [row for row in INFIX if row[3] == kind]:
            left, operators, right, _ = rng.choice(infixes)
            operator = rng.choice(operators.split())
            if rng.random() < self._odd:
                operator = "".join(rng.choices(_SIGNS, k=rng.randint(1, 4)))
            one, other = self._express(left, depth - 1), self._express(right, depth - 1)
            return self._enclose(f"{one}{self._space()}{operator}{self._space()}{other}")
        return rng.choice(TYPES[kind])

    def _enclose(self, text: str) -> str:
        return f"({text})" if self._rng.random() < 0.3 else text

    def _space(self) -> str:
        return self._rng.choice((" ", " ", "", "  ", "\n", " /* < */ "))
