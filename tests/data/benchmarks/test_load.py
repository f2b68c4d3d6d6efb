"""Finding a benchmark by its name, halves of its databases, and those of the machine, if any."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from data.benchmarks.formats import FORMATS
from data.benchmarks.halves import HALVES, name_half, take_half
from data.benchmarks.load import TRANSLATED, load_benchmark
from data.benchmarks.types import Benchmark, Configured, LocalFile
from nl2sql.errors import SettingsError
from nl2sql.languages.detection import find_language
from tests.evaluation.builders import build_example

NAMES = tuple(f"shop_{number}" for number in range(200))
SHOPS = Benchmark(
    "shops",
    "sqlite",
    tuple(dataclasses.replace(build_example(name), database=name) for name in NAMES),
    {name: LocalFile(Path(name)) for name in NAMES},
    "0" * 64,
)


@pytest.mark.parametrize(("name", "questions"), [("demo_erp", 40), ("demo_erp_business", 28)])
def test_the_sets_of_the_demo_have_names(name: str, questions: int) -> None:
    benchmark = load_benchmark(name, configured={"demo_erp"})
    assert (benchmark.name, len(benchmark.examples)) == (name, questions)
    assert benchmark.databases == {"demo_erp": Configured()}


def test_what_cannot_be_found_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"There is no benchmark .*demo_erp.*spider:"):
        load_benchmark(str(tmp_path / "absent"), configured=())
    with pytest.raises(SettingsError) as caught:
        load_benchmark(str(tmp_path), configured=())
    for format_ in FORMATS:
        assert f"{format_.name}: {format_.layout}" in str(caught.value)


def test_a_prefix_takes_the_place_of_looking_and_a_path_may_hold_a_colon(tmp_path: Path) -> None:
    entry = {"db_id": "a", "question": "b", "query": "SELECT 1"}
    (tmp_path / "questions.json").write_text(json.dumps([entry]))
    (tmp_path / "tables.json").write_text("[]")
    (tmp_path / "x.dump").touch()
    questions = str(tmp_path / "questions.json")
    assert load_benchmark(questions, configured=()).name == "spider questions"
    assert load_benchmark(f"files:{questions}", configured=()).name == "x"
    with pytest.raises(SettingsError, match=r"Looked for bird: [^;]*$"):
        load_benchmark(f"bird:{questions}", configured=())
    path = tmp_path / "own:set.jsonl"
    path.write_text(json.dumps({"id": 1, "database": "a", "question": "b", "query": "SELECT 1"}))
    assert load_benchmark(str(path), configured={"a"}).name == "own:set"


def test_the_demo_in_another_language_has_the_same_golds() -> None:
    whole = {example.id: example for example in load_benchmark("demo_erp", configured=()).examples}
    for name, language in TRANSLATED.items():
        translated = load_benchmark(name, configured=())
        assert (translated.name, len(translated.examples)) == (name, 20)
        for example in translated.examples:
            assert example.golds == whole[example.id].golds
            assert find_language(example.question) == language


def test_each_database_is_in_one_half_whatever_the_others_are() -> None:
    look, hold = (take_half(SHOPS, half) for half in HALVES)
    assert {*look.examples, *hold.examples} == set(SHOPS.examples)
    assert len(look.examples) + len(hold.examples) == len(NAMES)
    assert 70 < len(look.examples) < 130
    assert hold.name == "shops hold"
    some = dataclasses.replace(SHOPS, examples=SHOPS.examples[::7])
    assert set(take_half(some, "hold").examples) == set(hold.examples) & set(some.examples)


def test_an_unknown_half_and_one_without_examples_are_refused() -> None:
    with pytest.raises(SettingsError, match="no half 'dev'"):
        take_half(SHOPS, "dev")
    one = dataclasses.replace(SHOPS, examples=SHOPS.examples[:1])
    other = "hold" if name_half(NAMES[0]) == "look" else "look"
    with pytest.raises(SettingsError, match=f"in the half {other}"):
        take_half(one, other)
