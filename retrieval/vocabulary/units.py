"""The unit of measure that a column's name ends with."""

from __future__ import annotations

from nl2sql.words import split_words

# Only endings that mean nothing else at the end of a column's name.
_UNITS = {
    "kg": "kg",
    "gram": "grams",
    "lbs": "pounds",
    "lb": "pounds",
    "km": "km",
    "mile": "miles",
    "cm": "cm",
    "mm": "mm",
    "feet": "feet",
    "ft": "feet",
    "sqm": "square metres",
    "liter": "litres",
    "litre": "litres",
    "celsius": "degrees Celsius",
    "fahrenheit": "degrees Fahrenheit",
    "kw": "kW",
    "kwh": "kWh",
    "mb": "MB",
    "gb": "GB",
    "byte": "bytes",
    "kmh": "km/h",
    "mph": "miles per hour",
    "ms": "milliseconds",
    "millisecond": "milliseconds",
    "sec": "seconds",
    "second": "seconds",
    "minute": "minutes",
    "hour": "hours",
    "hr": "hours",
    "day": "days",
    "week": "weeks",
    "month": "months",
    "year": "years",
    "pct": "percent",
    "percent": "percent",
    "eur": "EUR",
    "usd": "USD",
    "gbp": "GBP",
    "chf": "CHF",
    "jpy": "JPY",
    "cent": "cents",
}
# "hire_day" is a day, "lead_days" a number of days.
_PLURAL_ONLY = frozenset("day week month year hour minute second hr cent mile".split())


def find_unit(name: str) -> str:
    """The unit in words; empty if the name ends with none.

    >>> find_unit("net_weight_kg"), find_unit("leadTimeDays"), find_unit("birth_year")
    ('kg', 'days', '')
    """
    words = split_words(name)
    last = words[-1] if len(words) > 1 else ""
    if last in _PLURAL_ONLY and not name.lower().rstrip("_").endswith("s"):
        return ""
    return _UNITS.get(last, "")
