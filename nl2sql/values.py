"""Cell values as JSON.

Numbers stay numbers, to the precision of a double; a ``numeric`` of 10^15 and above becomes text,
since a double would change it before the decimal point. Dates and times are ISO 8601, intervals
seconds, bytes hexadecimal.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

_DOUBLE_HOLDS = Decimal(10) ** 15


def to_json_value(value: object) -> Any:
    """``value`` as something that ``json.dumps`` takes.

    >>> to_json_value(Decimal("12.50")), to_json_value(dt.date(2025, 6, 30))
    (12.5, '2025-06-30')
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() and abs(value) < _DOUBLE_HOLDS else str(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    return str(value)
