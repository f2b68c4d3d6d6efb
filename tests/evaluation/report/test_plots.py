"""Drawing: what becomes of labels, ids, and matplotlib's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from evaluation.metrics.figures import Estimate
from evaluation.report import plots
from tests.evaluation.report.builders import HOSTILE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HALF = Estimate(0.5, 0.4, 0.6, 10)


def draw(*rows: str, name: str = "plot", description: str = "") -> str:
    def draw_rows(axes: Axes) -> None:
        plots.draw_intervals(axes, rows, {rows[0]: [HALF] * len(rows)}, (plots.BLUE,))
        plots.show_legend(axes)

    return plots.draw_svg(draw_rows, height=2.0, name=name, description=description)


def read_texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("text")]


@pytest.mark.parametrize("label", ["$x$", "$\\frac{1}{0}$", "a & b <c>", "100 % _x_", "数据库"])
def test_labels_are_text_as_they_stand(label: str) -> None:
    assert read_texts(draw(label)).count(label) == 2


@pytest.mark.parametrize("label", ["a\x00b", "a\ud800b", "a\ufffeb", "a\x1bb"])
def test_what_xml_cannot_hold_is_replaced(label: str) -> None:
    assert "a\ufffdb" in read_texts(draw(label))


def test_markup_in_labels_and_description_stays_text() -> None:
    root = ElementTree.fromstring(draw(HOSTILE, description=HOSTILE))
    assert root.get("aria-label") == HOSTILE
    assert not {"img", "script"} & {element.tag for element in root.iter()}


def test_a_legend_keeps_a_label_that_begins_with_an_underscore() -> None:
    assert [text.strip() for text in read_texts(draw("_x"))].count("_x") == 2


def test_a_long_label_is_cut() -> None:
    assert max(map(len, read_texts(draw("x" * 500)))) < 40


def test_ids_are_those_of_the_plot_and_every_reference_has_its_target() -> None:
    root = ElementTree.fromstring(draw("a", name="mine"))
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    assert all(name and name.startswith("mine-") for name in ids)
    references = {
        value.removeprefix("url(").removesuffix(")").removeprefix("#")
        for element in root.iter()
        for key, value in element.attrib.items()
        if key in ("href", "clip-path")
    }
    assert references <= ids
    assert references


def test_nothing_in_a_plot_reaches_the_page_around_it() -> None:
    svg = draw("a")
    assert svg.startswith("<svg ")
    assert "<style" not in svg
    assert "font-family" not in svg
    assert "://" not in svg


def test_the_same_plot_is_the_same_text() -> None:
    assert draw("a", "b") == draw("a", "b")


def test_settings_of_others_neither_count_nor_change() -> None:
    import matplotlib

    mine = draw("$x$")
    with matplotlib.rc_context({"font.size": 30, "text.parse_math": True}):
        before = dict(matplotlib.rcParams)
        assert draw("$x$") == mine
        assert dict(matplotlib.rcParams) == before
