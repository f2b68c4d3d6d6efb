"""The unit of measure that a column's name or its comment tells."""

from __future__ import annotations

import re

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
# Units whose signs are those of any language.
_SIGNS = {
    "percent": "%",
    "kilograms": "kg",
    "kg": "kg",
    "grams": "g",
    "pounds": "lb",
    "kilometres": "km",
    "km": "km",
    "metres": "m",
    "cm": "cm",
    "mm": "mm",
    "litres": "l",
    "kW": "kW",
    "kWh": "kWh",
    "MB": "MB",
    "GB": "GB",
    "km/h": "km/h",
    "hours": "h",
    "minutes": "min",
    "seconds": "s",
    "milliseconds": "ms",
}
# ISO 4217: the currencies that are traded most.
_CURRENCIES = (
    "EUR|USD|GBP|CHF|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|INR|BRL|MXN|KRW|SGD|HKD|TRY|ZAR"
)
# "Amount, EUR", "weight in kilograms"; not "not in EUR", "EUR for one unit", "in hours a week".
_TOLD = re.compile(
    rf"(?<!\bnot )(?:,\s*|\bin |\()(?P<unit>{_CURRENCIES}|{'|'.join(_SIGNS)})"
    r"(?=\s*(?:[.,;:()]|$))(?!,\s*(?:per|a|an|for)\b)"
)
# "hire_day" is a day, "lead_days" a number of days.
# "price_per_kg" is no weight, "usd_to_eur" no amount.
_OF_ANOTHER = frozenset(("per", "to", "a"))
_PLURAL_ONLY = frozenset("day week month year hour minute second hr cent mile".split())


def find_unit(name: str) -> str:
    """The unit in words; empty if the name ends with none.

    >>> find_unit("net_weight_kg"), find_unit("leadTimeDays"), find_unit("birth_year")
    ('kg', 'days', '')
    >>> find_unit("price_per_kg"), find_unit("usd_to_eur")
    ('', '')
    """
    words = split_words(name)
    last = words[-1] if len(words) > 1 and words[-2] not in _OF_ANOTHER else ""
    if last in _PLURAL_ONLY and not name.lower().rstrip("_").endswith("s"):
        return ""
    return _UNITS.get(last, "")


def read_unit(name: str, comment: str) -> str:
    """The sign of the unit that the comment tells, or else the name; empty if neither does.

    >>> read_unit("amt", "Order total without tax, EUR: the sum"), read_unit("share_pct", "")
    ('EUR', '%')
    >>> read_unit("price", "Price of one unit"), read_unit("amt", "In its currency, not in EUR")
    ('', '')
    >>> read_unit("price", "Price in EUR, per hour")
    ''
    """
    told = _TOLD.search(comment)
    unit = told["unit"] if told else find_unit(name)
    return _SIGNS.get(unit, unit if unit.isupper() else "")
