"""What runs amount to, as the command line puts them together."""

from __future__ import annotations

from pathlib import Path

from evaluation.run_folder import RunFolder
from serve_app.cli.evaluate.show import compare_within, load_run, report_order
from tests.evaluation.builders import build_manifest, build_record


def write(folder: Path, name: str, **manifest: object) -> Path:
    run = RunFolder(folder / name, build_manifest("q1", **manifest))
    with run.open():
        run.append(build_record("q1"))
    return run.folder


def test_runs_stand_in_the_order_of_a_report(tmp_path: Path) -> None:
    folders = [
        write(tmp_path, "a", k=4, variant="without bm25"),
        write(tmp_path, "b", k=8),
        write(tmp_path, "c", k=4),
        write(tmp_path, "d", k=1, variant="plain", baseline="plain"),
        write(tmp_path, "e", k=1),
        write(tmp_path, "f", k=1, evidence=True),
        write(tmp_path, "g", k=1, benchmark="another"),
    ]
    runs = sorted(map(load_run, folders), key=report_order)
    assert [run.name for run in runs] == ["g", "d", "e", "c", "a", "b", "f"]


def test_each_run_is_held_against_the_baseline_of_its_own_benchmark(tmp_path: Path) -> None:
    folders = [
        write(tmp_path, "one", k=1),
        write(tmp_path, "plain", variant="plain", baseline="plain"),
        write(tmp_path, "other", benchmark="another"),
    ]
    runs = sorted(map(load_run, folders), key=report_order)
    assert [(each.left, each.right) for each in compare_within(runs)] == [("plain", "one")]
