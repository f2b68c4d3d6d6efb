"""Renders figures as text: shares as percentages, differences as points, times with units."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics.figures import Estimate

NONE = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Cell:
    """``text`` is the figure; ``detail`` is its interval or another remark in smaller print."""

    text: str
    detail: str = ""
    best: bool = False


def show_percent(share: float) -> str:
    """A share as a percentage.

    >>> show_percent(0.615).split()
    ['61.5', '%']
    """
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def show_points(difference: float, *, signed: bool = False, places: int = 1) -> str:
    """A difference of shares in percentage points, with a true minus sign.

    >>> show_points(0.03, signed=True), show_points(0.095)
    ('+3.0', '9.5')
    """
    # Adding zero removes the sign of a negative zero.
    points = round(100 * difference, places) + 0.0
    return f"{points:{'+' if signed and points else ''}.{places}f}".replace("-", _MINUS)


def show_estimate(estimate: Estimate | None) -> Cell:
    """A share with its interval, both in percent; a dash without any question."""
    if estimate is None or not estimate.count:
        return Cell(NONE)
    return Cell(
        show_percent(estimate.value), f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
    )


def show_difference(difference: Estimate) -> Cell:
    """A paired difference with its interval, in percentage points.

    >>> show_difference(Estimate(0.03, -0.01, 0.07, 100)).text
    '+3.0 pts'
    """
    return Cell(
        f"{show_points(difference.value, signed=True)} pts",
        f"{show_points(difference.low, signed=True)} to "
        f"{show_points(difference.high, signed=True)}",
    )


def show_p_value(p_value: float) -> str:
    """A p-value to two digits.

    >>> show_p_value(0.0123), show_p_value(0.00001), show_p_value(1.0)
    ('0.012', '< 0.001', '1.00')
    """
    if p_value < 0.001:
        return "< 0.001"
    return f"{p_value:.3f}" if p_value < 0.1 else f"{p_value:.2f}"


def show_ms(milliseconds: float) -> str:
    """Milliseconds, or seconds from ten seconds on.

    >>> show_ms(3.14159), show_ms(842.0), show_ms(12_345)
    ('3.1 ms', '842 ms', '12.3 s')
    """
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.1f} ms" if milliseconds < 10 else f"{milliseconds:,.0f} ms"
