"""Updates the value index of one database, as a phase of the indexing job.

A column is read again only if its table, limits, comment or synonyms changed. Each column is stored
as soon as it is read, so that an interrupted run continues where it stopped. Columns that cannot be
read are reported, and tried again after the next change; columns with private content by their
name are not read.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from nl2sql.catalog import Catalog
from nl2sql.words import count, split_words
from nl2sql.yaml_file import read_packaged
from retrieval.index_store.value_store import ValueStore
from retrieval.introspection.source_database import SourceDatabase, TextColumn, Unreadable
from retrieval.values.phrases import fold_text
from retrieval.vocabulary.terms import NO_SYNONYMS, Synonyms, load_codes

# A column is private if its name contains all words of one of these, next to one another.
_PRIVATE = (
    "password passwd pwd passphrase pin secret token hash salt credential api_key apikey "
    "access_key private_key public_key cookie otp iban bic swift bank_account ssn sin nino "
    "social_security national_id passport driver_license driving_license tax_id tax_no tax_nr "
    "tax_number vat_id vat_no vat_nr vat_number email e_mail mail phone telephone tel mobile "
    "cellphone fax credit_card card_no card_nr card_number cvv cvc ip_address mac_address "
    "user_agent signature fingerprint"
).split()
# An account number is private in a table of bank accounts, but not in a ledger.
_BANK_NUMBERS = frozenset(("number", "no", "nr", "num"))


def find_objection(qualified: str, column: str, skip: Sequence[str]) -> str:
    """Why the column ``schema.table.column`` may not be read; empty if it may.

    >>> find_objection("hr.employees.iban", "iban", ())
    'looks private'
    >>> find_objection("crm.customers.city", "city", ("*.customers.*",))
    'skipped by the settings'
    """
    folded = qualified.lower()
    if any(fnmatchcase(folded, pattern.lower()) for pattern in skip):
        return "skipped by the settings"
    words = split_words(column)
    is_of_bank = not _BANK_NUMBERS.isdisjoint(words[-1:]) and "bank" in split_words(qualified)
    name = f"_{'_'.join(words)}_"
    is_private = is_of_bank or any(f"_{private}_" in name for private in _PRIVATE)
    return "looks private" if is_private else ""


# To be raised if the same rows give other values or aliases.
_FORMAT_VERSION = 5
MOST_DISTINCT = 10_000
"""Columns with more distinct values are left out."""
# Longer values, in characters, are left out.
_LONGEST_VALUE = 100
# A table that takes longer keeps the columns that were read until then.
_TABLE_TIMEOUT_MS = 5000

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ValuesReport:
    """The result of a run. ``skipped`` has pairs of ``schema.table.column`` and a reason.

    ``columns`` and ``values`` count everything stored.
    """

    columns: int
    values: int
    skipped: Sequence[tuple[str, str]] = ()

    def describe(self) -> str:
        """One line with the counts, and the reasons for columns without values.

        >>> ValuesReport(2, 1500, skipped=[("s.t.email", "looks private")]).describe()
        '1,500 values of 2 columns (without values: 1 looks private)'
        """
        line = f"{count(self.values, 'value')} of {count(self.columns, 'column')}"
        reasons = Counter(reason for _, reason in self.skipped).most_common()
        if not reasons:
            return line
        without = ", ".join(f"{number:,} {reason}" for reason, number in reasons)
        return f"{line} (without values: {without})"


async def refresh_values(
    catalog: Catalog,
    store: ValueStore,
    reader: SourceDatabase[Any],
    synonyms: Synonyms = NO_SYNONYMS,
    *,
    skip: Sequence[str] = (),
    progress: Progress = lambda done, total: None,
) -> ValuesReport:
    """Reads changed columns; ``progress(done, total)`` counts columns.

    ``skip`` are patterns of columns that are not read. Raises IndexUnavailable, and
    DatabaseUnavailable if the database does not answer.
    """
    database = catalog.database
    stored = await store.marks(database)
    skipped: list[tuple[str, str]] = []
    chosen: list[TextColumn] = []
    # How long each table has taken so far.
    spent_ms: Counter[str] = Counter()
    with reader:
        for column in await asyncio.to_thread(
            reader.survey, catalog.tables, most=MOST_DISTINCT, longest=_LONGEST_VALUE
        ):
            if objection := find_objection(column.qualified, column.column, skip):
                skipped.append((column.qualified, objection))
            else:
                chosen.append(column)
        wanted = {(column.table.qualified, column.column) for column in chosen}
        if gone := [key for key in stored if key not in wanted]:
            await store.forget(database, gone)
        for done, column in enumerate(chosen, start=1):
            words = synonyms.values.get(column.qualified, {})
            mark = _mark(column, words)
            known, note = stored.get((column.table.qualified, column.column), ("", ""))
            if not mark or mark != known:
                found = await _read(column, reader, spent_ms)
                note = found.reason if isinstance(found, Unreadable) else ""
                values = () if isinstance(found, Unreadable) else found
                # The column `name` is called like its table.
                is_name = split_words(column.column) == ["name"]
                called = column.table.name if is_name else column.column
                aliases = find_aliases(called, values, _read_comment(column), words)
                place = (column.table.qualified, column.column)
                await store.put(database, place, mark, values, aliases, note=note)
            if note:
                skipped.append((column.qualified, note))
            progress(done, len(chosen))
    await store.publish(database)
    return ValuesReport(*await store.count(database), skipped)


def _mark(column: TextColumn, synonyms: Mapping[str, Sequence[str]]) -> str:
    """A hash of all that determines the stored values; empty if changes are unknown."""
    if not column.mark:
        return ""
    parts = (
        str(_FORMAT_VERSION),
        column.mark,
        column.objection,
        f"{MOST_DISTINCT} {_LONGEST_VALUE} {_TABLE_TIMEOUT_MS}",
        _read_comment(column),
        repr(sorted(synonyms.items())),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


async def _read(
    column: TextColumn, reader: SourceDatabase[Any], spent_ms: Counter[str]
) -> tuple[str, ...] | Unreadable:
    """The column's values, sorted."""
    table = column.table.qualified
    left_ms = _TABLE_TIMEOUT_MS - spent_ms[table]
    if column.objection:
        return Unreadable(column.objection)
    if left_ms <= 0:
        return Unreadable(f"its table took longer than {_TABLE_TIMEOUT_MS} ms")
    start = time.monotonic()
    found = await asyncio.to_thread(
        reader.read,
        column.table,
        column.column,
        most=MOST_DISTINCT + 1,
        longest=_LONGEST_VALUE,
        timeout_ms=left_ms,
    )
    spent_ms[table] += int((time.monotonic() - start) * 1000)
    if isinstance(found, Unreadable):
        if found.timed_out:
            spent_ms[table] = _TABLE_TIMEOUT_MS
        return found
    if len(found) > MOST_DISTINCT:
        return Unreadable(f"more than {MOST_DISTINCT} distinct values")
    return tuple(sorted(value for value in found if _is_storable(value)))


def _read_comment(column: TextColumn) -> str:
    found = column.table.column(column.column)
    assert found is not None
    return found.comment


def _is_storable(value: str) -> bool:
    """False for blank values, and for null characters and surrogates, which cannot be stored."""
    return (
        bool(value.strip())
        and "\0" not in value
        and not any("\ud800" <= letter <= "\udfff" for letter in value)
    )


# "CXL = cancelled, SHP = shipped on time": a code, a sign, and words up to the next separator.
_MEANING = re.compile(
    r"""(?<!\w)['"]?(?P<code>\w[\w+/-]{0,19})['"]?\s*(?:=|:|→|\s-\s|\bmeans\b|\bfor\b)\s*
        (?P<words>[^\d\W][^=;:,.()|/\n]{1,80}+)(?!=)""",
    re.VERBOSE,
)
_OR = re.compile(r"\s+or\s+")
_LONGEST_CODE = 12


def find_aliases(
    column: str, values: Sequence[str], comment: str, synonyms: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Words → the value that they mean. The user's synonyms come before the comment's words.

    >>> find_aliases("status", ["CXL", "OPN"], "CXL = annulled or void, SHP = shipped", {})
    {'annulled': 'CXL', 'void': 'CXL', 'cancelled': 'CXL', 'canceled': 'CXL', 'open': 'OPN'}
    """
    own = {value.lower(): value for value in values}
    found: dict[str, str] = {}
    for stored, words in synonyms.items():
        if (value := own.get(stored.lower())) is not None:
            found.update(dict.fromkeys(words, value))
    for code, meaning in _read_meanings(comment):
        if (value := own.get(code.lower())) is not None:
            for words in _OR.split(meaning):
                found.setdefault(words, value)
    named = split_words(column)
    is_country = not set(_load()["country_columns"]).isdisjoint(named)
    lists = [load_codes(), _list_countries(with_codes=is_country)]
    if not set(_load()["sexes"]["columns"]).isdisjoint(named):
        lists.insert(0, _load()["sexes"]["values"])
    if not set(_load()["state_columns"]).isdisjoint(named):
        lists.insert(0, _list_states())
    for folded, value in own.items():
        for list_ in lists:
            for words in list_.get(folded, ()):
                found.setdefault(words, value)
    return {words: value for words, value in found.items() if fold_text(words) != fold_text(value)}


def _read_meanings(comment: str) -> list[tuple[str, str]]:
    return [
        (match["code"], match["words"].strip(" '\""))
        for match in _MEANING.finditer(comment)
        if len(match["code"]) <= _LONGEST_CODE
    ]


@cache
def _list_countries(*, with_codes: bool) -> Mapping[str, Sequence[str]]:
    """Name of a country, or its code, in lower case → words that mean it.

    Of its codes a name has only that of two letters, which is looked up in capitals alone: "can"
    and "are" are codes too.
    """
    ambiguous = _load()["ambiguous_codes"]
    found: dict[str, Sequence[str]] = {}
    for country in _load()["countries"]:
        names, of = country["names"], country.get("of", ())
        codes = [code.lower() for code in country.get("codes", ())] if with_codes else []
        found.update(dict.fromkeys(codes, (*names, *of)))
        for name in names:
            asked_for = [code for code in codes[:1] if code not in ambiguous]
            found[name] = (*(other for other in names if other != name), *of, *asked_for)
    return found


@cache
def _list_states() -> Mapping[str, Sequence[str]]:
    """Name of a state, or its code, in lower case → the other of the two."""
    ambiguous = _load()["ambiguous_codes"]
    found: dict[str, Sequence[str]] = {}
    for name, code in _load()["states"].items():
        found[code.lower()] = (name,)
        if code.lower() not in ambiguous:
            found[name] = (code.lower(),)
    return found


@cache
def _load() -> Mapping[str, Any]:
    lists: Mapping[str, Any] = read_packaged(__package__, "meanings.yaml")
    return lists
