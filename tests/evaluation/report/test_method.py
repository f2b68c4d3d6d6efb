"""How runs can be made again."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
import yaml

from evaluation.report.method import build_method, derive_command
from evaluation.report.sections import build_sections
from tests.evaluation.builders import build_manifest
from tests.evaluation.report.builders import build_run


@pytest.mark.parametrize(
    ("values", "command"),
    [
        ({}, "--k 1 --seed 0 --concurrency 1"),
        ({"baseline": "plain"}, "--baseline plain --seed 0 --concurrency 1"),
        (
            {"k": 8, "seed": 7, "sample": 50, "sample_seed": 7, "evidence": True},
            "--k 8 --sample 50 --seed 7 --evidence --concurrency 1",
        ),
        (
            {"service": "http://gpu:8000"},
            "--k 1 --seed 0 --concurrency 1 --service http://gpu:8000",
        ),
    ],
)
def test_the_command_of_a_run(values: dict[str, Any], command: str) -> None:
    found = derive_command(build_manifest("q1", **values), {})
    assert found == f"quorumsql eval run shop.jsonl {command}"


def test_paths_are_quoted_for_the_shell() -> None:
    found = derive_command(build_manifest("q1", benchmark_path="/a b/$(x).json"), {})
    assert shlex.split(found)[3] == "/a b/$(x).json"


def test_there_is_no_command_where_sample_and_model_had_other_seeds() -> None:
    assert not derive_command(build_manifest("q1", sample=5, sample_seed=1, seed=2), {})


def test_settings_are_given_once_and_then_as_changes() -> None:
    base = {"flags": {"bm25": True, "glosses": True}}
    changed = {"flags": {"bm25": False, "glosses": True}}
    runs = [
        build_run("all stages", configuration=base),
        build_run("without bm25", configuration=changed),
    ]
    method = build_method(build_sections(runs, ()))
    assert yaml.safe_load(method.settings) == base
    assert [run.changes for run in method.runs] == [(), ("flags.bm25: false",)]
    assert method.runs[1].command.endswith("--set flags.bm25=false")


def test_a_setting_that_is_gone_cannot_be_set_back_by_a_command() -> None:
    runs = [
        build_run("K=1", configuration={"flags": {"bm25": True}}),
        build_run("K=2", configuration={"flags": {}}),
    ]
    method = build_method(build_sections(runs, ()))
    assert method.runs[1].changes == ("flags.bm25: not set",)
    assert not method.runs[1].command


def test_what_all_runs_have_in_common_is_said_once() -> None:
    runs = [build_run("K=1", revision="abc"), build_run("K=2", revision="abc", seed=3)]
    method = build_method(build_sections(runs, ()))
    assert ("revision", "abc") in method.shared
    assert [key for key, _ in method.runs[0].facts] == ["sampling"]
