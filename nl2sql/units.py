"""The unit of measure that a column's name or its comment tells."""

from __future__ import annotations

import re

from nl2sql.words import split_words

# Endings of names that mean nothing else → the unit in words, and its sign in any language.
_UNITS = {
    "kg": ("kilograms", "kg"),
    "gram": ("grams", "g"),
    "lbs": ("pounds", "lb"),
    "lb": ("pounds", "lb"),
    "km": ("kilometres", "km"),
    "mile": ("miles", ""),
    "metre": ("metres", "m"),
    "cm": ("centimetres", "cm"),
    "mm": ("millimetres", "mm"),
    "feet": ("feet", ""),
    "ft": ("feet", ""),
    "sqm": ("square metres", ""),
    "liter": ("litres", "l"),
    "litre": ("litres", "l"),
    "celsius": ("degrees Celsius", ""),
    "fahrenheit": ("degrees Fahrenheit", ""),
    "kw": ("kilowatts", "kW"),
    "kwh": ("kilowatt hours", "kWh"),
    "mb": ("megabytes", "MB"),
    "gb": ("gigabytes", "GB"),
    "byte": ("bytes", ""),
    "kmh": ("kilometres per hour", "km/h"),
    "mph": ("miles per hour", ""),
    "ms": ("milliseconds", "ms"),
    "millisecond": ("milliseconds", "ms"),
    "sec": ("seconds", "s"),
    "second": ("seconds", "s"),
    "minute": ("minutes", "min"),
    "hour": ("hours", "h"),
    "hr": ("hours", "h"),
    "day": ("days", ""),
    "week": ("weeks", ""),
    "month": ("months", ""),
    "year": ("years", ""),
    "pct": ("percent", "%"),
    "percent": ("percent", "%"),
    "cent": ("cents", ""),
}
# ISO 4217: the currencies that are traded most; the first five also end names.
_CURRENCIES = (
    "EUR USD GBP CHF JPY CNY SEK NOK DKK PLN CZK HUF CAD AUD NZD INR BRL MXN KRW SGD HKD TRY ZAR"
).split()
_UNITS |= {name.lower(): (name, name) for name in _CURRENCIES[:5]}
# What a comment may call a unit → its sign.
_SIGNS = {words: sign for words, sign in _UNITS.values() if sign} | {
    sign: sign for sign in (*_CURRENCIES, *"kg km cm mm kW kWh MB GB km/h".split())
}
# "Amount, EUR", "weight in kilograms"; not "not in EUR", "EUR for one unit", "in hours a week".
_TOLD = re.compile(
    rf"(?<!\bnot )(?:,\s*|\bin |\()(?P<unit>{'|'.join(_SIGNS)})"
    r"(?=\s*(?:[.,;:()]|$))(?!,\s*(?:per|a|an|for)\b)"
)
# "hire_day" is a day, "lead_days" a number of days.
# "price_per_kg" is no weight, "usd_to_eur" no amount.
_OF_ANOTHER = frozenset(("per", "to", "a"))
_PLURAL_ONLY = frozenset("day week month year hour minute second hr cent mile".split())


def find_unit(name: str) -> str:
    """The unit in words; empty if the name ends with none.

    >>> find_unit("net_weight_kg"), find_unit("leadTimeDays"), find_unit("birth_year")
    ('kilograms', 'days', '')
    >>> find_unit("price_per_kg"), find_unit("usd_to_eur")
    ('', '')
    """
    return _find_ending(name)[0]


def _find_ending(name: str) -> tuple[str, str]:
    words = split_words(name)
    last = words[-1] if len(words) > 1 and words[-2] not in _OF_ANOTHER else ""
    if last in _PLURAL_ONLY and not name.lower().rstrip("_").endswith("s"):
        return "", ""
    return _UNITS.get(last, ("", ""))


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
    return _SIGNS[told["unit"]] if told else _find_ending(name)[1]
