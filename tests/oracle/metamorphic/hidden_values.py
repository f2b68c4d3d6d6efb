"""What hidden cells are changed to: values that make functions fail, or that statistics keep.

Texts that end in the escape of LIKE, that are no number, date, pattern or JSON, and long runs of
one letter, over which a regular expression with back references takes seconds; numbers at which
divisions, roots and sums fail; ranges so far apart that their distance is no float.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TEXTS = (
    "hida7",
    "hidb\\",
    "a" * 901,
    "12x",
    "",
    "(",
    "%",
    "\\",
    "2024-13-45",
    "{",
    "1e400",
    "7777",
    "\u0130\u00df",
    "2024-02-29",
)
INTEGERS = (0, -1, 7777, 1_900_000_000, -2_147_483_648, 5)
_DATES = ("infinity", "-infinity", "0001-01-01", "9999-12-31", "2024-02-29")

POSTGRES_VALUES: Mapping[str, Sequence[str]] = {
    "bool": ("true", "false"),
    "bytea": ("\\x68696461", "\\x5c", "\\x"),
    "date": _DATES,
    "float8": ("0", "-1", "7777", "1e308", "NaN", "Infinity"),
    "inet": ("10.0.0.3", "::1", "10.0.0.0/8"),
    "int4": tuple(map(str, INTEGERS)),
    "int8": (*map(str, INTEGERS), "9223372036854775807"),
    "jsonb": ('{"a": 1}', "[1, 2]", '"x"', "7777", "null"),
    "numrange": ("[-1.7e308,-1.6e308)", "[1.6e308,1.7e308)"),
    "text": TEXTS,
    "timestamp": _DATES,
    "varchar": TEXTS,
    "_text": ("{x}", "{}", "{hida7,NULL}"),
}
"""By the name of the type: input texts, the first of which is the only one where all are to be the
same."""


def list_numerics(digits: int) -> tuple[str, ...]:
    """The values of a numeric column with so many digits before the point; 0 for no bound.

    >>> list_numerics(2)
    ('77', '0', '-1', '99', '-99')
    """
    if not digits:
        return ("7777", "0", "-1", "1e300", "-1e300", "NaN")
    most = "9" * digits
    return ("7777"[:digits], "0", "-1", most, f"-{most}")
