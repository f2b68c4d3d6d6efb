"""Draws plots with matplotlib as SVG elements for the page. Knows nothing of runs.

matplotlib is imported at the first plot, without pyplot and so without a backend; its settings are
restored afterwards. Labels are untrusted text: they are never parsed as mathtext, and characters
that XML does not allow are removed. SVG texts remain texts, in the font of the page.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from evaluation.metrics.figures import Estimate
from evaluation.report.cells import show_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[["Axes"], None]

# Okabe and Ito's palette, suitable for every kind of colour blindness.
BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, GREY = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#E69F00",
    "#CC79A7",
    "#56B4E9",
    "#8A8F98",
)
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "D", "s", "^", "v", "P")
_INK = "#2B2F36"

_WIDTH_INCHES = 6.2
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    # Names of shared shapes are hashes with this salt: equal plots give equal texts.
    "svg.hashsalt": "quorumsql",
    "font.size": 9.5,
    "text.color": _INK,
    "axes.edgecolor": "#C4C8CE",
    "axes.labelcolor": _INK,
    "axes.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E8EB",
    "grid.linewidth": 0.8,
    "xtick.color": "#C4C8CE",
    "ytick.color": "#C4C8CE",
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCE = re.compile(r"url\(#|^#")
_FONT_FAMILY = re.compile(r"font-family:[^;]*;? ?")
_LONGEST_LABEL = 34


def draw_svg(draw: Draw, *, height: float, name: str, description: str) -> Markup:
    """Returns what ``draw`` draws, ``height`` inches high, as an ``<svg>`` element.

    ``name`` is the prefix of its ids; ``description`` is its alternative text.
    """
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=(_WIDTH_INCHES, height), layout="constrained")
        draw(figure.subplots())
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return _make_embeddable(file.getvalue(), name, description)


def clean_label(text: str) -> str:
    """``text`` on one line, shortened, without characters that XML does not allow.

    >>> clean_label("a\\x00b\\n c")
    'a�b c'
    """
    line = " ".join(_NOT_XML.sub("\ufffd", text).split())
    line = line if len(line) <= _LONGEST_LABEL else f"{line[: _LONGEST_LABEL - 1]}…"
    # Legends leave out labels that begin with an underscore.
    return f" {line}" if line.startswith("_") else line


def draw_intervals(
    axes: Axes,
    rows: Sequence[str],
    series: Mapping[str, Sequence[Estimate | None]],
    colors: Sequence[str],
    *,
    spread: float = 0.0,
) -> None:
    """A dot with its interval for each row and series, the first row on top.

    ``spread`` is the distance between the series of one row.
    """
    for at, (name, estimates) in enumerate(series.items()):
        offset = spread * (at - (len(series) - 1) / 2)
        found = [
            (y, estimate)
            for y, estimate in enumerate(estimates)
            if estimate is not None and estimate.count
        ]
        axes.errorbar(
            [estimate.value for _, estimate in found],
            [y + offset for y, _ in found],
            xerr=_errors([estimate for _, estimate in found]),
            label=clean_label(name),
            color=colors[at % len(colors)],
            marker=MARKERS[at % len(MARKERS)],
            markersize=6 if at == 0 or spread else 5.5,
            linestyle="none",
            elinewidth=1.8,
            capsize=0,
            zorder=3 + len(series) - at,
        )
    _name_rows(axes, rows)
    show_percents(axes, "x")


def draw_line(
    axes: Axes,
    x: Sequence[float],
    estimates: Sequence[Estimate],
    label: str,
    at: int,
    *,
    band: bool = True,
) -> None:
    """A line through the estimates, in the ``at``-th colour, with its interval as a band."""
    color = CYCLE[at % len(CYCLE)]
    axes.plot(
        x,
        [estimate.value for estimate in estimates],
        color=color,
        marker=MARKERS[at % len(MARKERS)],
        markersize=5.5,
        linestyle=DASHES[at % len(DASHES)],
        label=clean_label(label),
        zorder=4,
    )
    if band:
        axes.fill_between(
            x,
            [estimate.low for estimate in estimates],
            [estimate.high for estimate in estimates],
            color=color,
            alpha=0.13,
            linewidth=0,
        )


def draw_differences(axes: Axes, rows: Sequence[str], differences: Sequence[Estimate]) -> None:
    """Bars from zero with intervals; pale if the interval includes zero."""
    values = [difference.value for difference in differences]
    certain = [difference.low > 0 or difference.high < 0 for difference in differences]
    colors = [VERMILLION if value < 0 else BLUE for value in values]
    for y, (value, color, sure) in enumerate(zip(values, colors, certain, strict=True)):
        axes.barh(y, value, height=0.56, color=color, alpha=1.0 if sure else 0.35)
    axes.errorbar(
        values,
        range(len(rows)),
        xerr=_errors(differences),
        linestyle="none",
        color=_INK,
        elinewidth=1.3,
        capsize=0,
    )
    axes.axvline(0, color=_INK, linewidth=1)
    _name_rows(axes, rows)
    axes.xaxis.set_major_formatter(lambda value, _: _show_tick(value))


def draw_durations(
    axes: Axes, rows: Sequence[str], pairs: Sequence[tuple[float, float]], texts: Sequence[str]
) -> None:
    """Two bars in each row, the smaller before the larger, with their figures beside them."""
    for y, ((small, large), text) in enumerate(zip(pairs, texts, strict=True)):
        first = y == 0
        axes.barh(y, small, 0.6, color=BLUE, label="p50" if first else None, zorder=3)
        axes.barh(y, large, 0.6, color=SKY, alpha=0.5, label="p95" if first else None)
        axes.annotate(
            text,
            (large, y),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    _name_rows(axes, rows)
    axes.grid(visible=False, axis="y")
    # Room for the figures beside the longest bar.
    axes.set_xlim(0, 1.4 * max((large for _, large in pairs), default=1.0) or 1.0)


def show_percents(axes: Axes, axis: str) -> None:
    """Shows percentages at the ticks of ``axis`` (x or y) and limits it to 0 to 100."""
    chosen = axes.xaxis if axis == "x" else axes.yaxis
    chosen.set_major_formatter(lambda value, _: f"{round(100 * value, 1):g} %")
    low, high = axes.get_xlim() if axis == "x" else axes.get_ylim()
    limits = (max(low, -0.02), min(high, 1.02))
    if axis == "x":
        axes.set_xlim(*limits)
    else:
        axes.set_ylim(*limits)


def show_legend(axes: Axes) -> None:
    """Puts the legend in a line above the plot."""
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=min(len(labels), 4),
        borderaxespad=0,
        columnspacing=1.6,
        handletextpad=0.5,
    )


def _name_rows(axes: Axes, rows: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), [clean_label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _show_tick(difference: float) -> str:
    """Points, with a decimal place where the tick has one.

    >>> _show_tick(0.025), _show_tick(0.05)
    ('+2.5', '+5')
    """
    whole = abs(100 * difference - round(100 * difference)) < 1e-6
    return show_points(difference, places=0 if whole else 1, signed=True)


def _errors(estimates: Sequence[Estimate]) -> list[list[float]]:
    # matplotlib refuses negative lengths, which rounding can cause.
    return [
        [max(estimate.value - estimate.low, 0.0) for estimate in estimates],
        [max(estimate.high - estimate.value, 0.0) for estimate in estimates],
    ]


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Glyphs that DejaVu lacks (such as Chinese) come from the reader's fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def _make_embeddable(svg: str, name: str, description: str) -> Markup:
    """Returns only the ``<svg>`` element, with prefixed ids and without XML namespaces."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            # The style sheet inside would apply to the whole page.
            if _local(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        attributes = {_local(key): value for key, value in element.attrib.items()}
        if "style" in attributes:
            attributes["style"] = _FONT_FAMILY.sub("", attributes["style"])
        if "id" in attributes:
            attributes["id"] = f"{name}-{attributes['id']}"
        for key in ("href", "clip-path"):
            if key in attributes:
                attributes[key] = _REFERENCE.sub(
                    lambda found: f"{found.group()}{name}-", attributes[key]
                )
        element.attrib.clear()
        element.attrib.update(attributes)
    root.set("role", "img")
    root.set("aria-label", _NOT_XML.sub("\ufffd", description))
    # Safe: ElementTree has escaped all texts and attributes.
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _local(name: str) -> str:
    return name.rpartition("}")[2]
