"""Judgements of golds reach the questions that they name, and no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.benchmarks.entries import read_json_line_entries
from data.benchmarks.judgements import BOTH, GOLD_WRONG, add_judgements, digest_question
from data.benchmarks.types import Benchmark, Example
from nl2sql.errors import SettingsError
from tests.conftest import ROOT

EXAMPLES = (
    Example("1", "d", "How many?", ("SELECT 1",)),
    Example("2", "d", "Who?", ("SELECT 2",)),
    Example("3", "d", "When?", ("SELECT 3",)),
)


def judge(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *lines: dict[str, object]
) -> dict[str, tuple[str, ...]]:
    """The accepted queries by question, with these judgements of the benchmark."""
    (folder / "judged").mkdir()
    (folder / "judged" / "own_set.jsonl").write_text("\n".join(map(json.dumps, lines)))
    monkeypatch.setattr("data.benchmarks.judgements.files", lambda package: folder)
    benchmark = add_judgements(Benchmark("own set", "sqlite", EXAMPLES, {}, ""))
    return {example.id: example.accepted for example in benchmark.examples}


def test_a_wrong_gold_is_replaced_and_a_narrow_one_extended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wrong = {"id": "1", "digest": digest_question("How many?"), "verdict": GOLD_WRONG}
    narrow = {"id": "2", "digest": digest_question("Who?"), "verdict": BOTH}
    accepted = judge(
        monkeypatch, tmp_path, {**wrong, "query": "SELECT 10"}, {**narrow, "query": ["SELECT 20"]}
    )
    assert accepted == {"1": ("SELECT 10",), "2": ("SELECT 2", "SELECT 20"), "3": ()}


@pytest.mark.parametrize(
    ("field", "value"), [("digest", digest_question("Where?")), ("verdict", "right")]
)
def test_a_judgement_of_another_question_or_kind_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, field: str, value: str
) -> None:
    good = {"id": "1", "digest": digest_question("How many?"), "verdict": BOTH, "query": "SELECT 1"}
    with pytest.raises(SettingsError, match=field):
        judge(monkeypatch, tmp_path, {**good, field: value})


def test_the_judgements_that_come_with_the_product_can_be_read() -> None:
    files = sorted((ROOT / "data" / "benchmarks" / "judged").glob("*.jsonl"))
    assert files
    for file in files:
        entries = read_json_line_entries(file)
        assert len({entry.text("id") for entry in entries}) == len(entries)
        for entry in entries:
            assert entry.text("verdict") in (BOTH, GOLD_WRONG)
            assert entry.golds()
            assert len(entry.text("digest")) == 8
            assert entry.text("reason")
