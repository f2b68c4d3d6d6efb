"""A plot with what is said about it: made the same way for every chart of a section."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from evaluation.metrics.figures import Estimate
from evaluation.report import plots
from evaluation.report.cells import show_estimate


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot as an ``<svg>`` element with what is said about it; texts are not escaped."""

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
    """``name`` tells it apart in the section of ``anchor``; ``description`` is what
    its figures say in words.
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
