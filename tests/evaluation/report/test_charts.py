"""Which charts a section has, and that they can be drawn whatever was written."""

from __future__ import annotations

from pathlib import Path

import matplotlib

from evaluation.metrics.pairing import compare_runs
from evaluation.report import Run, write_report
from evaluation.report.charts import build_charts, clean_label
from tests.evaluation.report.builders import HOSTILE, build_rich_records, build_run, build_section


def titles(*runs: Run) -> list[str]:
    return [chart.title for chart in build_charts(build_section(*runs))]


def test_each_chart_is_there_where_there_are_data_for_it() -> None:
    assert titles(build_run()) == []
    runs = [
        build_run("plain", baseline="plain"),
        build_run("K=1", *build_rich_records(1)),
        build_run("K=4", *build_rich_records(4, right=7)),
    ]
    assert titles(*runs) == [
        "Accuracy over K",
        "Accuracy and coverage",
        "Reliability of the confidence, K=4",
        "Accuracy by difficulty",
        "Accuracy by database",
        "Accuracy by words in the question",
    ]
    assert "Accuracy over K" not in titles(runs[0], runs[2])


def test_a_curve_is_of_runs_that_differ_in_k_alone() -> None:
    section = build_section(
        build_run("K=1", revision="old"),
        build_run("K=2", revision="new"),
        build_run("K=4", revision="new"),
    )
    assert [run.label for run in section.curve] == ["K=2", "K=4"]
    assert "K=1 is not in the curve over K" in section.notes[0]


def test_whatever_was_written_the_report_and_its_pictures_are(tmp_path: Path) -> None:
    text = f"{HOSTILE}\ud800\x00数据库"
    shared = {"benchmark": HOSTILE}
    full = build_run("all stages", *build_rich_records(4, right=8, text=text), k=4, **shared)
    less = build_rich_records(4, right=3, text=text)
    runs = [
        full,
        build_run(f"without {text}", *less, k=4, **shared),
        build_run("K=1", *build_rich_records(1, text=text), **shared),
        build_run("K=2", *build_rich_records(2, text=text), **shared),
    ]
    pairs = [compare_runs(full.name, full.records, run.name, run.records) for run in runs[1:]]
    with matplotlib.rc_context({"text.usetex": True}):
        before = dict(matplotlib.rcParams)
        report = write_report(tmp_path / "report", runs, pairs)
        assert dict(matplotlib.rcParams) == before
    pictures = {path.name for path in report.parent.glob("*.png")}
    assert {f"benchmark-0-{name}.png" for name in ("curve", "ablation", "selective")} < pictures
    written = report.read_text(encoding="utf-8")
    assert all(f"]({name})" in written for name in pictures)


def test_a_label_is_short_and_a_legend_keeps_it() -> None:
    assert len(clean_label("x" * 500)) < 40
    assert not clean_label("_x").startswith("_")
