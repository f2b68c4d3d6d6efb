"""Samples that are kept: given again as they were, fewer of them too, to their own model alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.runs.kept_samples import KeptSamples
from nl2sql.errors import EngineUnavailable
from nl2sql.protocols import Engine
from nl2sql.types import Message, Prompt, SamplingRequest
from tests.fakes import FakeEngine


def _ask(text: str = "How many?", *, k: int = 4, seed: int = 0) -> SamplingRequest:
    prompt = Prompt("generate", (Message("user", text),))
    return SamplingRequest(prompt, k, seed, 0.7, 64)


def _keep(path: Path, engine: Engine, model: str = "small") -> KeptSamples:
    async def open_engine() -> Engine:
        return engine

    return KeptSamples(path, model, open_engine)


async def _no_engine() -> Engine:
    raise AssertionError("The model was opened.")


async def test_what_is_kept_needs_no_model(tmp_path: Path) -> None:
    path = tmp_path / "new" / "samples.jsonl"
    with _keep(path, FakeEngine(("a", "b", "c", "d"))).open() as kept:
        first = await kept.sample(_ask())
        assert await kept.count_tokens(("four", "eight888", "four")) == (1, 2, 1)
    with KeptSamples(path, "small", _no_engine).open() as kept:
        assert await kept.sample(_ask()) == first
        assert (await kept.sample(_ask(k=2))).texts == ("a", "b")
        assert await kept.count_tokens(("eight888", "four")) == (2, 1)


async def test_stored_samples_are_complete_whatever_the_time_limit(tmp_path: Path) -> None:
    engine = FakeEngine(("a", "b", "c", "d"))
    with _keep(tmp_path / "samples.jsonl", engine).open() as kept:
        first = await kept.sample(replace(_ask(), time_limit_s=1.0))
        assert await kept.sample(_ask()) == first
    assert [request.time_limit_s for request in engine.requests] == [None]


async def test_more_samples_than_kept_are_asked_for_anew(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    engine = FakeEngine(("a",), ("b", "c"))
    with _keep(path, engine).open() as kept:
        await kept.sample(_ask(k=1))
        assert (await kept.sample(_ask(k=2))).texts == ("b", "c")
    assert [request.k for request in engine.requests] == [1, 2]
    with KeptSamples(path, "small", _no_engine).open() as kept:
        assert (await kept.sample(_ask(k=2))).texts == ("b", "c")


@pytest.mark.parametrize("other", [_ask("How few?"), _ask(seed=1)], ids=str)
async def test_another_request_is_another(tmp_path: Path, other: SamplingRequest) -> None:
    engine = FakeEngine(("a",) * 4, ("b",) * 4)
    with _keep(tmp_path / "samples.jsonl", engine).open() as kept:
        await kept.sample(_ask())
        assert (await kept.sample(other)).texts == ("b",) * 4


async def test_another_model_has_samples_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    with _keep(path, FakeEngine(("a",) * 4)).open() as kept:
        await kept.sample(_ask())
    with _keep(path, FakeEngine(("b",) * 4), "large").open() as kept:
        assert (await kept.sample(_ask())).texts == ("b",) * 4
    with KeptSamples(path, "small", _no_engine).open() as kept:
        assert (await kept.sample(_ask())).texts == ("a",) * 4


async def test_a_line_that_a_kill_cut_is_asked_anew(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    with _keep(path, FakeEngine(("a",) * 4, ("b",) * 4)).open() as kept:
        await kept.sample(_ask())
        await kept.sample(_ask("How few?"))
    path.write_text(path.read_text()[:-9])
    engine = FakeEngine(("c",) * 4)
    with _keep(path, engine).open() as kept:
        assert (await kept.sample(_ask())).texts == ("a",) * 4
        assert (await kept.sample(_ask("How few?"))).texts == ("c",) * 4
    assert len(engine.requests) == 1


async def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    engine = FakeEngine(EngineUnavailable("It is down."), ("a",) * 4)
    with _keep(tmp_path / "samples.jsonl", engine).open() as kept:
        with pytest.raises(EngineUnavailable):
            await kept.sample(_ask())
        assert (await kept.sample(_ask())).texts == ("a",) * 4
