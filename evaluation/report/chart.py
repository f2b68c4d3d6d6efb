"""Charts: a plot with its title and caption."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from evaluation.metrics.figures import Estimate
from evaluation.report import plots
from evaluation.report.cells import show_estimate


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot as an ``<svg>`` element with title and caption, whose texts are not escaped."""

    title: str
    svg: Markup
    caption: str


def make_chart(
    anchor: str,
    name: str,
    title: str,
    caption: str,
    draw: plots.Draw,
    *,
    description: str,
    height: float = 3.2,
) -> Chart:
    """Draws a chart of the section ``anchor``, in which ``name`` is unique.

    ``description`` gives the figures in words, as alternative text; ``height`` is in inches.
    """
    svg = plots.draw_svg(
        draw,
        height=height,
        name=f"{anchor}-{name}",
        description=f"{title}. {description}.",
    )
    return Chart(title, svg, caption)


def say_estimate(estimate: Estimate | None) -> str:
    """The share with its interval, in words."""
    cell = show_estimate(estimate)
    return f"{cell.text} ({cell.detail})" if cell.detail else "no questions"
