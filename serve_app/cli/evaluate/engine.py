"""``eval engine``: checks a model's engine on this machine, and measures it under load."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from evaluation.engine_check.behaviour import EngineCheck, check_behaviour
from evaluation.engine_check.load import LoadGenerator, MeasuredLoad, Shape
from serve_app.cli.context import CliContext, split_list
from serve_app.cli.output import Output, print_table, prints, say
from serve_app.cli.terminal import TerminalReporter
from serve_app.composition.local import open_engine
from serve_app.composition.wiring import Wiring
from serve_app.settings import Settings

_COLUMNS = ("k", "concurrency", "questions_per_minute", "p50_s", "p95_s", "answer_tokens_per_s")


@prints
def engine(
    context: typer.Context,
    k: Annotated[str, typer.Option(help="Numbers of candidates, with commas.")] = "1,8",
    concurrency: Annotated[
        str, typer.Option(help="Numbers of questions in flight, with commas.")
    ] = "1,32",
    seconds: Annotated[float, typer.Option(help="How long each load lasts.", min=0.1)] = 5.0,
) -> Output:
    """Check that the configured engine does what the pipeline needs, and measure its speed."""
    cli: CliContext = context.obj
    loads = [(each, many) for many in _read(concurrency, "concurrency") for each in _read(k, "k")]
    checks, measured = asyncio.run(_measure(cli.settings, loads, seconds))
    document = {
        "checks": [dataclasses.asdict(check) for check in checks],
        "loads": [_describe(load) for load in measured],
    }
    return Output(
        document,
        lambda: print_table(document["loads"], _COLUMNS),
        int(not all(check.passed for check in checks)),
    )


async def _measure(
    settings: Settings, loads: Sequence[tuple[int, int]], seconds: float
) -> tuple[list[EngineCheck], list[MeasuredLoad]]:
    reporter = TerminalReporter()
    checks, measured = [], []
    async with open_engine(Wiring(settings), reporter) as opened:
        async for check in check_behaviour(opened):
            say(f"{'✓' if check.passed else '✗'} {check.name}: {check.seen}")
            checks.append(check)
        generator = await LoadGenerator.build(opened, Shape())
        for k, concurrency in loads:
            with reporter.step(f"K={k}, {concurrency} in flight"):
                measured.append(await generator.measure(k, concurrency, seconds))
    return checks, measured


def _read(text: str, option: str) -> list[int]:
    """Positive numbers from a list with commas. Raises BadParameter."""
    parts = split_list(text)
    numbers = [int(part) for part in parts if part.isdecimal()]
    if len(numbers) < len(parts) or not all(numbers or [0]):
        raise typer.BadParameter(f"--{option} takes positive numbers with commas, as 1,8.")
    return numbers


def _describe(load: MeasuredLoad) -> dict[str, Any]:
    return {
        "k": load.k,
        "concurrency": load.concurrency,
        "questions": load.questions,
        "questions_per_minute": round(load.per_minute, 1),
        "p50_s": round(load.p50_s, 2),
        "p95_s": round(load.p95_s, 2),
        "prompt_tokens_per_s": round(load.prompt_tokens / load.seconds),
        "answer_tokens_per_s": round(load.answer_tokens / load.seconds),
    }
