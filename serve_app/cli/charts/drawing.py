"""Draws a chart as lines of text that are at most ``width`` cells wide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from serve_app.cli.charts.choice import Bars, Chart, Series
from serve_app.cli.safe_text import make_safe

_STYLE = "cyan"
_EIGHTHS_ACROSS = " ▏▎▍▌▋▊▉█"
_EIGHTHS_UP = " ▁▂▃▄▅▆▇█"
_HEIGHT = 8
_LEAST_PLOT = 8
_LONGEST = "…"


def draw_chart(chart: Chart, width: int, *, unicode: bool = True) -> list[Text]:
    """The lines of the chart, the first of which is its title.

    Without ``unicode``, bars are of ``#``.
    """
    title = Text(_fit(make_safe(chart.title), width).rstrip(), style="bold")
    if isinstance(chart, Bars):
        return [title, *_draw_bars(chart, width, unicode=unicode)]
    return [title, *_draw_series(chart, width, unicode=unicode)]


def _draw_bars(chart: Bars, width: int, *, unicode: bool) -> list[Text]:
    labels = [" ".join(make_safe(label).split()) for label in chart.labels]
    numbers = [_show(value) for value in chart.values]
    label_width = min(max(map(cell_len, labels)), max(width // 3, 1))
    number_width = max(map(len, numbers))
    plot = max(width - label_width - number_width - 2, _LEAST_PLOT)
    least, most = min(0.0, *chart.values), max(0.0, *chart.values)
    left = round(-least * plot / ((most - least) or 1.0))
    # The same for both sides of zero, and such that the longest bar of each fits.
    sides = [(left, -least), (plot - left, most)]
    per_cell = min((cells / side for cells, side in sides if side), default=0.0)
    lines = []
    for label, value, number in zip(labels, chart.values, numbers, strict=True):
        if value < 0:
            bar = ("█" if unicode else "#") * round(-value * per_cell)
            drawn = bar.rjust(left) + " " * (plot - left)
        else:
            right = _draw_across(value * per_cell, plot - left, unicode=unicode)
            drawn = " " * left + right.ljust(plot - left)
        line = Text(_fit(label, label_width))
        line.append(" ").append(drawn, _STYLE).append(f" {number:>{number_width}}")
        line.truncate(width)
        lines.append(line)
    return lines


def _draw_across(cells: float, most: int, *, unicode: bool) -> str:
    """A bar of so many cells, in eighths of a cell.

    >>> _draw_across(2.5, 9, unicode=True)
    '██▌'
    """
    if not unicode:
        return "#" * min(round(cells), most)
    eighths = min(round(cells * 8), most * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS_ACROSS[rest] if rest else "")


def _draw_series(chart: Series, width: int, *, unicode: bool) -> list[Text]:
    top, bottom = max(chart.values), min(0.0, *chart.values)
    ends = (_show(top), _show(bottom))
    margin = max(map(len, ends))
    plot = max(width - margin - 2, _LEAST_PLOT)
    values = _resample(chart.values, plot)
    wide = max(min(plot // len(values), 4), 1)
    per_eighth = (_HEIGHT * 8) / ((top - bottom) or 1.0)
    heights = [round((value - bottom) * per_eighth) for value in values]
    lines = []
    for row in reversed(range(_HEIGHT)):
        end = ends[0] if row == _HEIGHT - 1 else ends[1] if row == 0 else ""
        line = Text(f"{end:>{margin}} ")
        drawn = (_draw_up(height - row * 8, unicode=unicode) * wide for height in heights)
        line.append("".join(drawn).rstrip(), _STYLE)
        lines.append(line)
    first, last = make_safe(chart.labels[0]), make_safe(chart.labels[-1])
    gap = wide * len(values) - cell_len(first) - cell_len(last)
    span = f"{first}{' ' * gap}{last}" if gap > 0 else f"{first} to {last}"
    lines.append(Text(_fit(f"{' ' * margin} {span}", width).rstrip()))
    for line in lines:
        line.truncate(width)
    return lines


def _draw_up(eighths: int, *, unicode: bool) -> str:
    """One cell of a column that is so many eighths high above the cell's lower edge."""
    if not unicode:
        return "#" if eighths >= 4 else " "
    return _EIGHTHS_UP[min(max(eighths, 0), 8)]


def _resample(values: Sequence[float], most: int) -> list[float]:
    """At most so many values: means of neighbours.

    >>> _resample([1, 3, 5, 7], 2)
    [2.0, 6.0]
    """
    if len(values) <= most:
        return list(values)
    edges = [at * len(values) // most for at in range(most + 1)]
    parts = [values[start:end] for start, end in pairwise(edges)]
    return [sum(part) / len(part) for part in parts]


def _show(value: float) -> str:
    """
    >>> _show(1234567.0), _show(0.125), _show(-3.456789)
    ('1,234,567', '0.125', '-3.457')
    """
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def _fit(text: str, width: int) -> str:
    """``text`` in exactly so many cells."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + _LONGEST, width)
