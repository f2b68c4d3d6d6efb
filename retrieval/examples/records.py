"""Builds examples: verifies the query of a pair, finds its tables, and masks its question.

Entities of a question are replaced, so that questions of the same form have similar vectors: as
examples, "How many orders came from Germany in 2024?" and "How many orders came from France in
2023?" are the same question. The idea is masked question similarity (Guo et al. 2023,
https://arxiv.org/abs/2304.13301). Here only entities are replaced: words that name tables and
columns stay, since all examples are about one database. Masking is deterministic, and made for
questions in English. Not covered: names in lower case that are not known as values, and languages
that capitalise all nouns.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Catalog
from nl2sql.languages.english import MONTH_WORDS, NUMBER_WORDS
from nl2sql.protocols import Executor, Guard, Visibility
from nl2sql.sql.nodes import read_identifier
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.parsing import describe_parse_error, parse_one
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Diagnostic, Principal, Violation
from nl2sql.yaml_file import suggest
from retrieval.index_store.example_store import VerifiedExample, fold_question

MOST_CHARS = 4000
"""Most characters of an example's question, and of its query: longer ones would fill the prompt."""

# To be raised with every change of the masking: the examples are then embedded again.
_VERSION = 2

VALUE, NUMBER, DATE, NAME = "[value]", "[number]", "[date]", "[name]"

_MONTH = rf"(?:{'|'.join(MONTH_WORDS)})\.?"
_YEAR = r"(?:1[89]|20)\d\d"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_QUOTED = re.compile(
    r"\"[^\"]+\"|“[^”]+”|«[^»]+»|„[^“”]+[“”]|\u2018[^\u2019]+\u2019|(?<!\w)'[^']+(?:'\w[^']*)*'(?!\w)"
)
_DATE = re.compile(
    rf"\b(?:{_DAY}(?: of)? {_MONTH},?(?: {_YEAR})?|{_MONTH} {_DAY}(?:, ?{_YEAR}| {_YEAR})?\b"
    rf"|{_MONTH},? {_YEAR}|{_YEAR}-\d\d(?:-\d\d)?|{_DAY}[./]\d{{1,2}}[./]\d{{2,4}}|{_YEAR}s?)\b"
    # A single word is a month only after "in" or "since": "may" is more often a verb.
    rf"|(?<=\b[Ii]n ){_MONTH}(?!\w)|(?<=\b[Ss]ince ){_MONTH}(?!\w)"
)
_NUMBER = re.compile(
    r"(?<![\w\[])[-+]?[€$£]?\d[\d,.]*(?:\s?%|st|nd|rd|th)?(?!\w)"
    rf"|\b(?:{'|'.join(word for word, number in NUMBER_WORDS.items() if number > 1)}"
    r"|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.?!:]")
_WORD = re.compile(r"\[(?:value|number|date|name)\]|[^\W_][\w&'\u2019-]*")
_TITLE_SHARE = 0.7
# Capitalised words that are not names.
_NO_NAMES = frozenset({"I", "ID", "IDs", "SQL", "URL", "VAT", "SKU", "EUR", "USD", "GPA", "OK"})


def mask_question(question: str, values: Iterable[str] = ()) -> str:
    """Replaces quoted text, ``values``, dates, numbers and names with placeholders.

    ``values`` are phrases of the question that are known to be cell values.

    >>> mask_question("How many orders from Germany came in since 30 June 2025?")
    'How many orders from [name] came in since [date]?'
    >>> mask_question("Which cancelled orders are above 1,000 euros?", ["cancelled"])
    'Which [value] orders are above [number] euros?'
    >>> mask_question("Who bought 'Trail Bike' from Velmark Cycles in 2024?")
    'Who bought [value] from [name] in [date]?'
    """
    text = " ".join(question.split())
    text = _QUOTED.sub(VALUE, text)
    for phrase in sorted(filter(None, map(str.strip, values)), key=lambda each: (-len(each), each)):
        text = _find_phrase(phrase).sub(VALUE, text)
    text = _DATE.sub(DATE, text)
    text = _NUMBER.sub(NUMBER, text)
    return _mask_names(text)


def name_vectors(embedder: str) -> str:
    """Names the vectors of masked questions; only vectors of the same name can be compared.

    >>> name_vectors("all-MiniLM-L6-v2")
    'all-MiniLM-L6-v2, masked by 2'
    """
    return f"{embedder}, masked by {_VERSION}"


def find_literals(question: str, sql: str, dialect: str) -> tuple[str, ...]:
    """The text literals of a query that also occur in its question, longest first.

    >>> find_literals("Who is in ulm?", "SELECT a WHERE b = 'Ulm' AND c = 'ACT'", "postgres")
    ('Ulm',)
    """
    try:
        tree = parse_one(sql, dialect)
    except (SqlglotError, RecursionError):
        return ()
    literals = {
        text
        for literal in tree.find_all(exp.Literal)
        if literal.is_string and len(text := literal.name.strip("% ")) > 1
    }
    found = (text for text in literals if _find_phrase(text).search(question))
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _find_phrase(phrase: str) -> re.Pattern[str]:
    """Matches the phrase as whole words, ignoring case."""
    return re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE)


def _mask_names(text: str) -> str:
    """Replaces runs of capitalised words, except at the start of a sentence."""
    words: list[re.Match[str]] = []
    before = 0
    for word in _WORD.finditer(text):
        between = text[before : word.start()].rpartition("_")[2]
        if not _SENTENCE_END.search(between) and len(between) < word.start():
            words.append(word)
        before = word.end()
    plain = [word.group() for word in words if not word.group().startswith("[")]
    # In a title, or in a text in capitals, capitals do not mark names.
    if sum(word[0].isupper() for word in plain) > _TITLE_SHARE * len(plain):
        return text
    parts: list[str] = []
    end = 0
    in_name = False
    for word in words:
        is_name = word.group()[0].isupper() and word.group() not in _NO_NAMES
        between = text[end : word.start()]
        if not (is_name and in_name and between == " "):
            parts += [between, NAME if is_name else word.group()]
        end = word.end()
        in_name = is_name
    return "".join(parts) + text[end:]


def build_example(
    database: str,
    question: str,
    sql: str,
    tables: tuple[str, ...],
    *,
    dialect: str,
    asked: str = "",
    roles: Iterable[str] = (),
    **given: Any,
) -> VerifiedExample:
    """The example of a pair whose query passed the guard; ``tables`` are those it reads.

    ``asked`` is its question with the names of its parameters, if it has any; ``given`` are further
    fields of the example. Raises SqlglotError.
    """
    question = " ".join(question.split())
    masked, form = mask_example(question, sql, dialect), normal_form(sql, dialect)
    whose = tuple(sorted(set(roles)))
    example = VerifiedExample(
        "", database, question, masked, sql, form, tables, roles=whose, **given
    )
    own = (form, example.access, example.given_by) if example.source == "feedback" else whose
    return replace(
        example, id=_hash(database, example.source, fold_question(asked or question), *own)
    )


def _hash(*parts: str) -> str:
    """16 hexadecimal digits; ``layout_0017.sql`` computes the same."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def mask_example(question: str, sql: str, dialect: str) -> str:
    """Masks the question; the literals of its query are known to be values.

    >>> mask_example("Who lives in ulm?", "SELECT name FROM t WHERE city = 'Ulm'", "postgres")
    'Who lives in [value]?'
    """
    return mask_question(question, find_literals(question, sql, dialect))


def strip_sql(sql: str, dialect: str) -> str:
    """Removes comments and trailing semicolons.

    The model would read a comment as part of its prompt. Raises SqlglotError for a query that
    contains a comment sign and cannot be parsed.

    >>> strip_sql("SELECT a -- now do something else\\n FROM t;", "postgres")
    'SELECT a FROM t'
    """
    sql = sql.strip().rstrip(";").rstrip()
    if not any(sign in sql for sign in ("--", "/*")):
        return sql
    return parse_one(sql, dialect).sql(dialect, comments=False)


def read_form(sql: str, dialect: str) -> str:
    """The normal form of a query as of its example; empty, as no example has, for no SQL."""
    try:
        return normal_form(strip_sql(sql, dialect), dialect)
    except (SqlglotError, RecursionError):
        return ""


@dataclass(frozen=True, slots=True)
class Verified:
    """A query that runs, without its comments; ``tables`` are the qualified tables it names.

    ``catalog`` is what the principal sees.
    """

    sql: str
    tables: tuple[str, ...]
    catalog: Catalog


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a query cannot become an example."""

    reason: str


class Verifier:
    """Guards a query as one principal, and lets the database plan it."""

    def __init__(self, guard: Guard, visibility: Visibility, executor: Executor) -> None:
        self._guard = guard
        self._visibility = visibility
        self._executor = executor

    async def verify(
        self, database: str, sql: str, principal: Principal, columns: Collection[str] = ()
    ) -> Verified | Rejected:
        """The principal must see the ``columns``, too.

        Raises IndexUnavailable, DatabaseUnavailable, PolicyError, UnknownDatabase.
        """
        catalog = await self._visibility.visible_catalog(database, principal)
        if isinstance(catalog, Violation):
            return Rejected(catalog.message)
        known = {
            f"{table.qualified}.{each.name}" for table in catalog.tables for each in table.columns
        }
        if unknown := sorted(set(columns) - known):
            return Rejected(f"There is no column {unknown[0]}{suggest(unknown[0], known)}.")
        try:
            sql = await run_in_parser_thread(strip_sql, sql, catalog.dialect)
            tables = await run_in_parser_thread(find_tables, sql, catalog)
        except (SqlglotError, RecursionError) as error:
            return Rejected(f"It is not valid SQL: {describe_parse_error(error)}")
        rejected = await find_rejection(self._guard, self._executor, database, sql, principal)
        return rejected or Verified(sql, tables, catalog)


async def find_rejection(
    guard: Guard, executor: Executor, database: str, sql: str, principal: Principal
) -> Rejected | None:
    """What the guard or the database, which plans the query, has against it.

    Raises IndexUnavailable, DatabaseUnavailable, PolicyError, UnknownDatabase.
    """
    query = await guard.guard(database, sql, principal)
    if isinstance(query, Violation):
        return Rejected(query.message)
    result = await executor.explain(query)
    return Rejected(result.message) if isinstance(result, Diagnostic) else None


def find_tables(sql: str, catalog: Catalog) -> tuple[str, ...]:
    """The tables of ``catalog`` that a query names, qualified and sorted.

    A table that is shadowed by a CTE of the same name is included. Raises SqlglotError.

    >>> from nl2sql.catalog import Table
    >>> shop = Catalog("shop", (Table("sales", "orders", ()),), search_path=("sales",))
    >>> find_tables("WITH o AS (SELECT * FROM orders) SELECT count(*) FROM o", shop)
    ('sales.orders',)
    """
    tree = parse_one(sql, catalog.dialect)
    found = (
        catalog.resolve(
            read_identifier(node.this, catalog.dialect),
            read_identifier(node.args.get("db"), catalog.dialect),
        )
        for node in tree.find_all(exp.Table)
    )
    return tuple(sorted({table.qualified for table in found if table is not None}))
