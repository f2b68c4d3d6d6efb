"""The gate of an exam: what is kept, what counts as worse, and what is told."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from evaluation.metrics.metrics import summarize
from evaluation.report import Run
from evaluation.runs.exam import read_kept
from evaluation.runs.records import QuestionRecord
from nl2sql.errors import SettingsError
from serve_app.cli.evaluate.run import pass_gate
from serve_app.cli.output import Output
from serve_app.settings import Settings
from tests.evaluation.builders import build_manifest, build_record
from tests.execution.sqlite.shop import build_shop
from tests.serve_app.cli.conftest import Call, run, write_config

NAMES = [f"q{number}" for number in range(40)]


def build_run(*wrong: str, **first: Any) -> Run:
    """A run over 40 questions; ``first`` changes the record of the first."""
    records = [build_record(name, correct=name not in wrong) for name in NAMES]
    return wrap(records[0].model_copy(update=first), *records[1:])


def wrap(*records: QuestionRecord) -> Run:
    return Run(
        "run", build_manifest(*NAMES), records, summarize(records, seconds=1.0, threshold=0.0)
    )


def gate(path: Path, before: Run, now: Run) -> Output:
    assert pass_gate(before, path, None).exit_code == 0
    return pass_gate(now, path, read_kept(path))


@pytest.mark.parametrize(
    ("before", "now", "status"),
    [
        ((), NAMES[:3], 0),
        ((), NAMES[:4], 1),
        (NAMES[:2], NAMES[2:6], 0),
        (NAMES, NAMES[:20], 0),
    ],
)
def test_a_loss_beyond_its_interval_fails(
    tmp_path: Path, before: Collection[str], now: Collection[str], status: int
) -> None:
    compared = gate(tmp_path / "kept.json", build_run(*before), build_run(*now))
    assert compared.exit_code == status


def test_lost_and_won_questions_are_told_with_both_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = build_run(correct=False, outcome="refused", reason="secret")
    compared = gate(tmp_path / "kept.json", build_run("q1"), now)
    (lost,), (won,) = compared.document["lost"], compared.document["won"]
    assert list(lost.values()) == ["q0", "How many q0?", "right", "refused", "secret"]
    assert list(won.values())[2:4] == ["no candidate right", "right"]
    compared.tell()
    told = capsys.readouterr().out
    assert "secret" in told
    assert "Passed. 39 of 40 questions are right." in told


def test_what_cannot_be_judged_any_more_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    compared = gate(path, build_run(), build_run(gold_error="gone", correct=False))
    (lost,) = compared.document["lost"]
    assert list(lost.values())[2:] == ["right", "not judged", "gone"]
    # It was so before.
    same = gate(path, build_run(gold_error="gone"), build_run())
    assert (same.document["won"], same.document["comparison"].shared) == ([], 39)
    with pytest.raises(SettingsError, match="share no question"):
        pass_gate(wrap(build_record("new")), path, read_kept(path))


def test_the_kept_file_has_no_question_query_or_value(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    gold = "SELECT 1 FROM orders WHERE city = 'Ayr'"
    wrong = build_record("q1", gold=gold, question="From Ayr?", sql="", correct=False)
    assert pass_gate(wrap(wrong, build_record("q2", confidence=0.12345)), path, None)
    kept = json.loads(path.read_text())
    assert kept["q1"] == {"verdict": "table not found", "confidence": 0.0, "sql": "e3b0c44298fc"}
    assert (len(kept["q2"]["sql"]), kept["q2"]["confidence"]) == (12, 0.123)
    path.write_text('{"q1": {}}')
    for unreadable in (path, tmp_path / "none.json"):
        with pytest.raises(SettingsError, match="no kept results"):
            read_kept(unreadable)


@pytest.mark.parametrize("options", [("--gate", "kept.json", "--k", "1,4"), ("--update",)])
def test_a_gate_takes_one_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = run(write_config(tmp_path), "eval", "run", *options)
    assert result.exit_code == 2
    assert "judges one run" in result.output


def test_kept_results_are_of_a_run_made_now(
    tmp_path: Path, demo_settings: Settings, call: Call
) -> None:
    build_shop(tmp_path / "shop.sqlite")
    model = {"engine": "openai", "name": "none", "base_url": "http://127.0.0.1:9/v1"}
    config = write_config(tmp_path, home=str(demo_settings.home), model=model)
    exam = tmp_path / "exam.jsonl"
    # It is refused without the model.
    question = {"id": "1", "database": "shop", "question": "DROP TABLE Orders", "query": "SELECT 1"}
    exam.write_text(json.dumps(question))
    arguments = ("eval", "run", str(exam), "--gate", str(tmp_path / "kept.json"), "--update")
    for _ in range(2):
        code, out, error = call(config, *arguments, "--output", str(tmp_path / "runs"))
        assert (code, error) == (0, ""), out
    assert len(list((tmp_path / "runs").iterdir())) == 2
