"""Draws the learning curve of a tuning run as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluation.report.plots import BLUE, GREY, VERMILLION, draw_svg
from generation.tuning.training import Step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The mean over this share of the steps smooths the losses of single steps.
_SMOOTHING = 0.05


def draw_curve(steps: Sequence[Step]) -> str:
    """The loss of a token against the steps: of each, their running mean, and held out."""

    def draw(axes: Axes) -> None:
        learned = [(each.step, each.loss) for each in steps if each.loss is not None]
        measured = [(each.step, each.held_out) for each in steps if each.held_out is not None]
        numbers, losses = [step for step, _ in learned], [loss for _, loss in learned]
        axes.plot(numbers, losses, ".", color=GREY, markersize=3, label="a step")
        axes.plot(numbers, smooth(losses), color=BLUE, label="mean")
        if measured:
            axes.plot(
                [step for step, _ in measured],
                [loss for _, loss in measured],
                "D-",
                color=VERMILLION,
                label="held-out databases",
            )
        axes.set_xlabel("steps")
        axes.set_ylabel("loss of a token")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)

    last = steps[-1]
    text = f"The loss over {last.step} steps, {last.tokens:,} tokens in {last.seconds:,.0f} s"
    return draw_svg(draw, height=3.2, name="curve", description=text)


def smooth(losses: Sequence[float]) -> list[float]:
    """The mean of each loss and those shortly before it.

    >>> smooth([4.0, 2.0, 0.0])
    [4.0, 2.0, 0.0]
    """
    window = max(1, round(len(losses) * _SMOOTHING))
    return [
        sum(losses[max(0, at + 1 - window) : at + 1]) / min(window, at + 1)
        for at in range(len(losses))
    ]
