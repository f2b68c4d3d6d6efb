"""Charts of rows in the terminal: chosen by rule, drawn with blocks of Unicode.

The drawing is our own hundred lines rather than a library: what is drawn must fit in a given width,
count the cells of wide characters, and be text that rich prints like any other.
"""

from serve_app.cli.charts.choice import Bars, Chart, Series, choose_chart, is_numeric
from serve_app.cli.charts.drawing import draw_chart

__all__ = ["Bars", "Chart", "Series", "choose_chart", "draw_chart", "is_numeric"]
