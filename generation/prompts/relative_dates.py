"""The hint for questions with a relative date, on a database that ends before today.

"Last quarter" of data that ends in June 2025 is a quarter of 2025, which neither the model nor the
database's clock knows. The hint says which day is today, and which days the question's words mean,
so that the model writes dates and needs neither CURRENT_DATE nor date arithmetic. Weeks begin on
Monday. Knows nothing of fiscal years.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from nl2sql.languages.english import NUMBER_WORDS, read_number
from nl2sql.languages.phrases import read_phrases

_UNIT = r"(?P<unit>day|week|month|quarter|year)"
_COUNT = rf"(?P<count>\d{{1,4}}|{'|'.join(NUMBER_WORDS)})"
_PERIOD = re.compile(
    rf"\b(?P<which>last|past|previous|prior|preceding|this|current|next)\s+"
    rf"(?:{_COUNT}\s+{_UNIT}s|{_UNIT.replace('unit', 'one')})\b",
    re.IGNORECASE,
)
_TO_DATE = re.compile(r"\b(?P<unit>year|quarter|month)[\s-]to[\s-]date\b", re.IGNORECASE)
_DAY = re.compile(r"\b(today|yesterday|tomorrow)\b", re.IGNORECASE)
_TODAY_ALONE = re.compile(
    rf"\b(?:\d+\s+{_UNIT}s?\s+ago|overdue|past\s+due|so\s+far|(?:right\s+)?now|ytd|mtd|qtd"
    r"|(?:last|this|current|next|previous)\s+fiscal\s+\w+)\b",
    re.IGNORECASE,
)
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}
_AROUND_TODAY = {"yesterday": -1, "today": 0, "tomorrow": 1}


def render_today(question: str, today: date) -> str:
    """The hint, without a line break; empty if the question has no relative date.

    >>> render_today("Orders of last quarter?", date(2025, 6, 30))
    'Today is 2025-06-30. "last quarter" is from 2025-01-01 to 2025-03-31.'
    >>> render_today("Bestellungen im letzten Quartal?", date(2025, 6, 30))
    'Today is 2025-06-30. "letzten quartal" is from 2025-01-01 to 2025-03-31.'
    >>> render_today("Which invoices are overdue?", date(2025, 6, 30))
    'Today is 2025-06-30.'
    >>> render_today("Orders of 2024?", date(2025, 6, 30))
    ''
    """
    spans: dict[str, tuple[date, date]] = {}
    is_told = False
    # What can be read in English, and the question's own words, which the hint quotes.
    phrases = [(phrase.english, phrase.said) for phrase in read_phrases(question)]
    for text, own in phrases or [(question, "")]:
        for found in _PERIOD.finditer(text):
            span = _find_period(found, today)
            if span is not None:
                spans[own or found.group().lower()] = span
        for found in _TO_DATE.finditer(text):
            start = _find_start(today, found["unit"].lower())
            spans[own or found.group().lower()] = start, today
        for found in _DAY.finditer(text):
            day = found.group().lower()
            is_told = True
            if day != "today":
                spans[own or day] = (today + timedelta(days=_AROUND_TODAY[day]),) * 2
        is_told = is_told or _TODAY_ALONE.search(text) is not None
    if not spans and not is_told:
        return ""
    told = [f'"{words}" is {_render_span(*span)}.' for words, span in spans.items()]
    return " ".join([f"Today is {today}.", *told])


def _find_period(found: re.Match[str], today: date) -> tuple[date, date] | None:
    """The first and the last day meant; None if the calendar ends before them.

    "Last month" is a month of the calendar; "past month" and "last 3 months" end today.
    """
    which = found["which"].lower()
    unit = (found["unit"] or found["one"]).lower()
    count = read_number(found["count"] or "1")
    try:
        if found["count"] and which == "next":
            return today + timedelta(days=1), _shift(today, unit, count)
        if found["count"] or which == "past":
            return _shift(today, unit, -count), today
        later = {"next": 1, "this": 0, "current": 0}.get(which, -1)
        first = _shift(_find_start(today, unit), unit, later)
        return first, _shift(first, unit, 1) - timedelta(days=1)
    except (OverflowError, ValueError):
        return None


def _find_start(day: date, unit: str) -> date:
    """The first day of the day's week, month, quarter or year."""
    if unit in _DAYS:
        return day - timedelta(days=day.weekday() if unit == "week" else 0)
    months = _MONTHS[unit]
    return day.replace(month=(day.month - 1) // months * months + 1, day=1)


def _shift(day: date, unit: str, count: int) -> date:
    """The day ``count`` units later; the month's last day if the month is shorter.

    >>> _shift(date(2024, 3, 31), "month", -1)
    datetime.date(2024, 2, 29)
    """
    if unit in _DAYS:
        return day + timedelta(days=count * _DAYS[unit])
    year, month = divmod(day.year * 12 + day.month - 1 + count * _MONTHS[unit], 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _render_span(first: date, last: date) -> str:
    return str(first) if first == last else f"from {first} to {last}"
