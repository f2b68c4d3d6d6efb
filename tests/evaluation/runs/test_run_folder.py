"""Runs on disk: nothing done is lost, nothing counts twice, nothing is mixed."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from evaluation.runs.environment import collect_versions, describe_machine, find_revision
from evaluation.runs.run_folder import RunFolder, read_run
from nl2sql.errors import SettingsError
from tests.evaluation.builders import build_manifest, build_record


def write(folder: Path, *ids: str) -> RunFolder:
    run = RunFolder(folder, build_manifest("q1", "q2", "q3"))
    with run.open():
        for name in ids:
            run.append(build_record(name))
    return run


def test_records_come_back_in_the_order_of_the_sample(tmp_path: Path) -> None:
    write(tmp_path / "run", "q3", "q1")
    manifest, records = read_run(tmp_path / "run")
    assert [record.id for record in records] == ["q1", "q3"]
    assert not manifest.finished
    assert manifest.seconds >= 0


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    write(tmp_path / "run", "q1")
    again = RunFolder(tmp_path / "run", build_manifest("q1", "q2", "q3", started_at="later"))
    with again.open():
        assert again.done() == {"q1"}
        again.append(build_record("q2"))
        again.append(build_record("q3"))
    manifest, records = read_run(tmp_path / "run")
    assert len(records) == 3
    assert manifest.finished
    assert manifest.started_at == ""


def test_the_question_of_a_truncated_line_is_asked_again(tmp_path: Path) -> None:
    write(tmp_path / "run", "q1", "q2")
    path = tmp_path / "run" / "questions.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    run = RunFolder(tmp_path / "run", build_manifest("q1", "q2", "q3"))
    with run.open():
        assert run.done() == {"q1"}
        run.append(build_record("q2", outcome="failed", correct=False))
    _, records = read_run(tmp_path / "run")
    assert {record.id: record.outcome for record in records} == {"q1": "answered", "q2": "failed"}


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "run", "q1")
    settings = {"ranking": {"min_confidence": 0.5}}
    manifest = build_manifest("q1", "q2", "q3", k=4, configuration=settings)
    other = RunFolder(tmp_path / "run", manifest)
    message = r"k: 1 → 4; configuration.ranking.min_confidence"
    with pytest.raises(SettingsError, match=message), other.open():
        pass


def test_two_processes_do_not_write_one_run(tmp_path: Path) -> None:
    one, two = (RunFolder(tmp_path / "run", build_manifest("q1")) for _ in range(2))
    with one.open(), pytest.raises(SettingsError, match="Another process"), two.open():
        pass


def test_a_folder_without_a_run_and_a_manifest_of_another_form_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="holds no run"):
        read_run(tmp_path)
    (tmp_path / "manifest.json").write_text('{"what": "ever"}')
    with pytest.raises(SettingsError, match="cannot be read"):
        read_run(tmp_path)


def test_the_environment_is_described_and_the_machine_not_named(tmp_path: Path) -> None:
    machine = describe_machine()
    assert int(machine["cores"]) >= 1
    assert socket.gethostname() not in " ".join(machine.values())
    assert {"python", "quorumsql", "sqlglot", "sqlite-library"} <= set(collect_versions())
    assert find_revision(tmp_path) == ""
