"""A small warehouse under all three engines, and it with what is hidden from somebody changed.

On PostgreSQL it has a column of each type that queries may read. Of 400 items a member sees those
that they own, thirty or none, with their parts and the batches of these; ``pay`` reads as NULL to
them, ``note`` does not exist. An auditor sees every row, names and pay as NULL. Somebody may be
both: then names are shown in the rows that they own. Nobody sees the secrets. All of it is
described in ``warehouse.yaml``, and what is hidden is told apart here a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from nl2sql.types import Principal
from tests.oracle.grants import read_policy, read_principals

NAME = "warehouse"

Row = tuple[object, ...]
Tables = dict[str, list[Row]]
"""The rows of each table."""

_DESCRIBED = read_policy(Path(__file__).with_suffix(".yaml"))
PRINCIPALS = read_principals(_DESCRIBED["principals"])
POLICY: Mapping[str, Any] = _DESCRIBED["policy"]
GOLDS: Sequence[tuple[str, str]] = tuple(_DESCRIBED["golds"].items())
SCRIPT: str = _DESCRIBED["script"]
POSTGRES_SCRIPT = "\n".join((_DESCRIBED["postgres_before"], SCRIPT, _DESCRIBED["postgres_after"]))
COLUMNS: Mapping[str, Sequence[str]] = {
    table: names.split() for table, names in _DESCRIBED["columns"].items()
}
POSTGRES_COLUMNS = {**COLUMNS, "items": [*COLUMNS["items"], *_DESCRIBED["further"].split()]}
"""Rows have the values of these; the other engines leave out those at the end."""

# What each role does not show of a row of the items that it sees.
_WITHHELD = {"member": {"pay", "note"}, "auditor": {"name", "pay", "note"}}


def build_rows() -> Tables:
    """The rows of each table."""
    names = ("Bolt", "Nut", "Gear", "Shaft", "Valve")
    items: list[Row] = []
    for number in range(1, 401):
        owner = "ann" if number % 13 == 0 else "bob"
        name = f"{names[number % 5]} {number}"
        day = f"20{number % 24 + 1:02}-0{number % 9 + 1}-1{number % 9}"
        amount, price = number * 7 % 90 + 1, number * 0.5
        own = (number, owner, name, 100 + number, f"note {number}", amount, price, day)
        period, document = f"[{number},{number + 1})", f'{{"a": {number}}}'
        rest = (f"c{number}", number, number, day, period, document, "10.0.0.1")
        items.append((*own, *rest, f"{{t{number}}}", f"i{number}"))
    return {
        "codes": [("EUR", 1), ("USD", 2), ("GBP", 500)],
        "items": items,
        "parts": [(n, n % 400 + 1, f"part {n % 50}", n % 17 + 1) for n in range(1, 1201)],
        "batches": [(n, n % 1200 + 1, f"batch {n % 30}", n % 11) for n in range(1, 601)],
        "secrets": [(n, f"memo {n}") for n in range(1, 50)],
    }


# -- what is hidden, changed -----------------------------------------------------------------------


class Change(StrEnum):
    """What happens to all that is hidden."""

    ODD = "odd"
    SAME = "same"
    NULLS = "nulls"
    DELETED = "deleted"
    ADDED = "added"


# Values that make functions fail, or that statistics keep: texts that end in the escape of LIKE,
# that are no number, date, pattern or JSON, and long runs of one letter, over which a regular
# expression with back references takes seconds; numbers at which divisions, roots and sums fail;
# ranges so far apart that their distance is no float. The first one is all that there is where all
# are to be the same.
TEXTS = (
    *("hida7", "hidb\\", "a" * 901, "12x", "", "(", "%", "\\", "2024-13-45", "{", "1e400", "7777"),
    *("\u0130\u00df", "2024-02-29"),
)
INTEGERS = (0, -1, 7777, 1_900_000_000, -2_147_483_648, 5)
_POOLS: Mapping[str, Sequence[object]] = {
    **dict.fromkeys(("name", "note", "label", "memo"), TEXTS),
    **dict.fromkeys(("pay", "amount"), INTEGERS),
    "price": (7777.0, 0.0, -1.0, 1e308),
    "day": ("9999-12-31", "0001-01-01", "2024-02-29"),
    "code": tuple(text[:20] for text in TEXTS),
    "cost": (7777, 0, -1, 9_999_999_999, -9_999_999_999),
    "wide": ("7777", "0", "-1", "1e300", "-1e300", "NaN"),
    "at": ("infinity", "-infinity", "0001-01-01", "9999-12-31", "2024-02-29"),
    "period": ("[-1.7e308,-1.6e308)", "[1.6e308,1.7e308)"),
    "document": ('{"a": 1}', "[1, 2]", '"x"', "7777", "null"),
    "address": ("10.0.0.3", "::1", "10.0.0.0/8"),
    "tags": ("{x}", "{}", "{hida7,NULL}"),
    "image": ("\\x68696461", "\\x5c", "\\x"),
}
"""By column; other columns decide who sees a row."""
_ADDED = 10_000


def change_rows(rows: Tables, principal: Principal, change: Change) -> Tables:
    """The warehouse's rows with what is hidden from the principal changed."""
    owner = dict(principal.attributes).get("owner")
    is_auditor = "auditor" in principal.roles
    owned = {"items": {row[0] for row in rows["items"] if row[1] == owner}}
    for table, parent in (("parts", "items"), ("batches", "parts")):
        owned[table] = {row[0] for row in rows[table] if row[1] in owned[parent]}
    changed = {"codes": rows["codes"]}
    for table in ("items", "parts", "batches", "secrets"):
        changed[table] = []
        for row in rows[table]:
            roles = {"member"} if row[0] in owned.get(table, ()) else set[str]()
            if is_auditor and table != "secrets":
                roles.add("auditor")
            changed[table] += _change_row(table, row, roles, change)
    return changed


def _change_row(table: str, row: Row, roles: set[str], change: Change) -> Iterator[Row]:
    """What takes the place of a row that these roles see."""
    if change is Change.DELETED:
        if roles:
            yield row
        return
    if change is Change.ADDED:
        yield row
        if not roles:
            number, *rest = row
            assert isinstance(number, int)
            yield (number + _ADDED, *rest)
        return
    columns = POSTGRES_COLUMNS[table]
    hidden = set(columns)
    for role in roles:
        hidden &= _WITHHELD[role] if table == "items" else set()
    yield tuple(
        _draw(_POOLS[column], row[0], change) if column in hidden and column in _POOLS else value
        for column, value in zip(columns, row, strict=True)
    )


def _draw(pool: Sequence[object], number: object, change: Change) -> object:
    assert isinstance(number, int)
    if change is Change.NULLS:
        return None
    return pool[0 if change is Change.SAME else number % len(pool)]
