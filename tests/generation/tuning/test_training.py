"""Training a random model of two layers; the whole way is in serve_app's test_tuning."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from generation.tuning.examples import TuningExample
from generation.tuning.packing import Encoded, pack_examples
from generation.tuning.training import (
    BEST,
    Step,
    Trainer,
    TrainingOptions,
    encode_examples,
    encode_packs,
)
from nl2sql.errors import SettingsError
from nl2sql.types import Message

pytestmark = [pytest.mark.vllm, pytest.mark.model]
OPTIONS = TrainingOptions(learning_rate=1e-2, epochs=20.0, batch=1, checkpoint_s=0.0)


def build_example(number: int) -> TuningExample:
    schema = "Schema:\nCREATE TABLE singers (id INT, name TEXT);\n\nQuestion: "
    messages = (Message("system", "Write SQL."), Message("user", f"{schema}Name {number}?"))
    sql = f"SELECT name FROM singers WHERE id = {number}"
    return TuningExample(f"q{number}", "shop", "sqlite", messages, sql)


EXAMPLES = [build_example(number) for number in range(6)]


@pytest.fixture
def folder(tiny_model: tuple[Path, Path]) -> Path:
    return tiny_model[1]


def test_a_pack_has_the_loss_of_its_examples(folder: Path, tmp_path: Path) -> None:
    trainer = Trainer(folder, tmp_path, OPTIONS)
    encoded = encode_examples(EXAMPLES, trainer.tokenizer)
    packed = pack_examples(encoded, most_tokens=1000, most_branches=8)
    alone = [
        pack for each in encoded for pack in pack_examples([each], most_tokens=1, most_branches=1)
    ]
    assert (len(packed), len(alone)) == (1, 6)
    assert len(packed[0].ids) < sum(each.length for each in encoded) * 0.6
    expected = trainer.measure_loss(alone)
    assert trainer.measure_loss(packed) == pytest.approx(expected, rel=0.02)


def test_it_learns_and_ends_early_where_held_out_examples_gain_nothing(
    folder: Path, tmp_path: Path
) -> None:
    trainer = Trainer(folder, tmp_path, dataclasses.replace(OPTIONS, patience=9))
    packs = encode_packs(EXAMPLES, trainer.tokenizer, OPTIONS)
    # What nobody could learn: the end of turns in place of a query.
    held_out = pack_examples([Encoded((5, 6, 7), (151645,) * 3)], most_tokens=100, most_branches=1)
    steps: list[Step] = []
    trained = trainer.train(packs, packs, steps.append)
    assert trained.before is not None
    assert trained.after is not None
    assert trained.after < trained.before * 0.9
    assert (trained.best / "adapter_model.safetensors").is_file()
    ended = Trainer(folder, tmp_path / "other", dataclasses.replace(OPTIONS, patience=1))
    found: list[Step] = []
    ended.train(packs, held_out, found.append)
    assert len(found) < len(steps)


def test_a_killed_run_goes_on_as_if_nothing_had_happened(folder: Path, tmp_path: Path) -> None:
    def run(name: str, killed_at: int | None = None) -> list[float | None]:
        trainer = Trainer(folder, tmp_path / name, OPTIONS)
        packs = encode_packs(EXAMPLES, trainer.tokenizer, OPTIONS)
        losses: list[float | None] = []

        def follow(step: Step) -> None:
            losses.append(step.loss)
            if step.step == killed_at:
                raise KeyboardInterrupt

        trainer.train(packs, [], follow)
        return losses

    whole = run("whole")
    with pytest.raises(KeyboardInterrupt):
        run("killed", killed_at=3)
    rest = run("killed")
    assert rest == pytest.approx(whole[3:])
    first, second = (tmp_path / name / BEST for name in ("whole", "killed"))
    name = "adapter_config.json"
    assert (first / name).read_text() == (second / name).read_text()


def test_training_goes_on_from_an_adapter_of_the_same_rank(folder: Path, tmp_path: Path) -> None:
    first = Trainer(folder, tmp_path / "first", OPTIONS)
    packs = encode_packs(EXAMPLES, first.tokenizer, OPTIONS)
    trained = first.train(packs, packs)
    second = Trainer(folder, tmp_path / "second", OPTIONS, trained.best)
    assert second.measure_loss(packs) == pytest.approx(trained.after, rel=0.02)
    assert Trainer(folder, tmp_path / "third", OPTIONS).measure_loss(packs) == pytest.approx(
        trained.before, rel=0.02
    )


def test_a_start_that_gets_no_better_is_the_result(folder: Path, tmp_path: Path) -> None:
    first = Trainer(folder, tmp_path / "first", OPTIONS)
    packs = encode_packs(EXAMPLES, first.tokenizer, OPTIONS)
    start = first.train(packs, packs)
    wild = dataclasses.replace(OPTIONS, learning_rate=10.0, epochs=3.0, patience=9)
    second = Trainer(folder, tmp_path / "second", wild, start.best)
    trained = second.train(packs, packs)
    assert trained.before == trained.after == pytest.approx(start.after, rel=0.02)
    third = Trainer(folder, tmp_path / "third", OPTIONS, trained.best)
    assert third.measure_loss(packs) == pytest.approx(trained.after, rel=0.02)


def test_without_an_example_nothing_is_trained(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no example to train on"):
        Trainer(folder, tmp_path, OPTIONS).train([], [])
