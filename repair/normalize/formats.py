"""Formats of dates: parsed from four notations, written in those of the targets.

The notations are that of ``strftime`` (C, SQLite, DuckDB, BigQuery), MySQL's, that of ``to_char``
(PostgreSQL, Oracle) and .NET's (T-SQL). The common form is a tuple of the letters of C's, with
``c`` and ``e`` for a month and a day without a leading zero and ``q`` for a quarter; any longer
part is text.
"""

from __future__ import annotations

import re

_MYSQL = {
    **{sign: sign for sign in "YymdHjpabw"},
    "c": "c", "e": "e", "i": "M", "s": "S", "S": "S", "M": "B", "W": "A", "h": "I", "I": "I",
    "k": "H", "v": "V", "u": "V",
}  # fmt: skip
_C = {**{sign: sign for sign in "YymdHMSjpabwABIeV"}, "u": "u", "-d": "e", "-m": "c"}
_ORACLE = {
    "YYYY": "Y", "YY": "y", "MM": "m", "MONTH": "B", "MON": "b", "DDD": "j", "DD": "d",
    "DAY": "A", "DY": "a", "HH24": "H", "HH12": "I", "HH": "I", "MI": "M", "SS": "S", "AM": "p",
    "PM": "p", "Q": "q", "IW": "V", "IYYY": "Y", "WW": "V", "FMDD": "e", "FMMM": "c",
    "FMMONTH": "B", "FMDAY": "A",
}  # fmt: skip
_DOTNET = {
    "yyyy": "Y", "yy": "y", "MMMM": "B", "MMM": "b", "MM": "m", "M": "c", "dddd": "A", "ddd": "a",
    "dd": "d", "d": "e", "HH": "H", "hh": "I", "mm": "M", "ss": "S", "tt": "p",
}  # fmt: skip
_POSTGRES = {
    "Y": "YYYY", "y": "YY", "m": "MM", "d": "DD", "H": "HH24", "I": "HH12", "M": "MI", "S": "SS",
    "p": "AM", "B": "FMMonth", "b": "Mon", "A": "FMDay", "a": "Dy", "j": "DDD", "e": "FMDD",
    "c": "FMMM", "q": "Q", "V": "IW",
}  # fmt: skip
_WRITTEN = {
    "postgres": _POSTGRES,
    "sqlite": {sign: f"%{sign}" for sign in "YmdHMSjw"},
    "duckdb": {**{sign: f"%{sign}" for sign in "YymdHMSjpabwABIV"}, "e": "%-d", "c": "%-m"},
}
_WHOLE = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "r": "%I:%M:%S %p"}
_PERCENT = re.compile(r"%(-?.)|([^%]+)", re.DOTALL)


def read_format(text: str, notation: str) -> tuple[str, ...] | None:
    """The parts of a format in the notation ``c``, ``mysql``, ``oracle`` or ``dotnet``.

    None if it has an unknown part.

    >>> read_format("%Y-%m", "c"), read_format("YYYY/MM", "oracle"), read_format("%Q", "c")
    (('Y', ' -', 'm'), ('Y', ' /', 'm'), None)
    """
    if notation in ("c", "mysql"):
        return _read_percents(text, _C if notation == "c" else _MYSQL, notation)
    return _read_letters(text, _ORACLE if notation == "oracle" else _DOTNET, notation)


def write_format(parts: tuple[str, ...], target: str) -> str | None:
    """The format in the target's notation; None if that cannot express a part.

    >>> write_format(("Y", " -", "m"), "postgres"), write_format(("B",), "sqlite")
    ('YYYY-MM', None)
    """
    written = []
    for part in parts:
        if part[0] == " ":
            text = part[1:]
            has_letters = target == "postgres" and any(sign.isalpha() for sign in text)
            written.append(f'"{text}"' if has_letters else text.replace("%", "%%"))
        elif part in _WRITTEN[target]:
            written.append(_WRITTEN[target][part])
        else:
            return None
    return "".join(written)


def _read_percents(text: str, known: dict[str, str], notation: str) -> tuple[str, ...] | None:
    for sign, meant in _WHOLE.items():
        if notation == "mysql":
            meant = meant.replace("%M", "%i")
        text = text.replace(f"%{sign}", meant)
    parts = []
    for found in _PERCENT.finditer(text):
        sign, plain = found.groups()
        if plain:
            parts.append(f" {plain}")
        elif sign == "%":
            parts.append(" %")
        elif sign in known:
            parts.append(known[sign])
        else:
            return None
    return tuple(parts)


def _read_letters(text: str, known: dict[str, str], notation: str) -> tuple[str, ...] | None:
    names = sorted(known, key=len, reverse=True)
    parts: list[str] = []
    while text:
        folded = text.upper() if notation == "oracle" else text
        name = next((name for name in names if folded.startswith(name)), "")
        if name:
            parts.append(known[name])
            text = text[len(name) :]
        elif notation == "oracle" and folded.startswith("FM"):
            text = text[2:]
        elif notation == "oracle" and text[0] == '"' and '"' in text[1:]:
            quoted, _, text = text[1:].partition('"')
            parts.append(f" {quoted}")
        elif text[0].isalpha():
            return None
        else:
            parts.append(f" {text[0]}")
            text = text[1:]
    return tuple(parts)
