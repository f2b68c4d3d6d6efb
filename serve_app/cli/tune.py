"""``quorumsql tune``: trains an adapter for the model from questions with the right queries."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from data.benchmarks.halves import take_half
from data.benchmarks.load import load_benchmark
from generation.engines.choice import has_gpu, resolve_model
from generation.models.progress import RichProgress
from generation.models.registry import default_model
from generation.tuning.training import TrainingOptions
from nl2sql.errors import SettingsError
from nl2sql.settings import ModelSettings
from serve_app.cli.context import CliContext
from serve_app.cli.evaluate import options as opt
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.operations.benchmarks import select
from serve_app.operations.measuring import draw_sample
from serve_app.operations.tuning import CURVE, TuningPlan, leave_out
from serve_app.operations.tuning import tune as run_tuning

_DEFAULTS = TrainingOptions()


@prints
def tune(
    context: typer.Context,
    benchmark: opt.BenchmarkName,
    output: Annotated[
        Path,
        typer.Option(help="Folder of the run: examples, checkpoints, curve, and the adapter."),
    ] = Path("tuned"),
    model: Annotated[
        str,
        typer.Option(
            help="The model to tune: a registered name, a hub id or a folder; empty: model.name.",
            show_default=False,
        ),
    ] = "",
    start: Annotated[
        Path | None, typer.Option(help="Folder of an adapter to go on from, of the same rank.")
    ] = None,
    half: opt.Half = "",
    sample: opt.Sample = 0,
    seed: opt.Seed = 0,
    held_out: Annotated[
        float,
        typer.Option(
            help="Share of the databases not trained on; the loss there tells when to stop.",
            min=0.0,
            max=0.9,
        ),
    ] = 0.1,
    epochs: Annotated[
        float, typer.Option(help="How often each example is seen.", min=0.01)
    ] = _DEFAULTS.epochs,
    rank: Annotated[
        int, typer.Option(help="Rank of the adapter; its size grows with it.", min=1, max=64)
    ] = _DEFAULTS.rank,
    learning_rate: Annotated[
        float, typer.Option(help="Highest learning rate.", min=1e-6, max=1e-1)
    ] = _DEFAULTS.learning_rate,
    apart_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BENCHMARK",
            help="Leave out the databases of this benchmark and questions like its own; repeat.",
        ),
    ] = None,
    vary: Annotated[
        bool,
        typer.Option(
            "--vary",
            help="Train each database under other names, and SQLite's in other dialects too: for "
            "an adapter that meets schemas which it has not seen.",
        ),
    ] = False,
    strength: Annotated[
        float,
        typer.Option(
            help="Multiply what was learned by this when the adapter is written, also of a "
            "finished training: 0.5 forgets less of what the model could do before.",
            min=0.05,
            max=1.0,
        ),
    ] = 1.0,
    licence: Annotated[
        str, typer.Option(help="Licence and attribution of the questions, for the adapter's card.")
    ] = "",
) -> Output:
    """Train an adapter for the model on a benchmark.

    The same command again continues it.
    """
    cli: CliContext = context.obj
    configured = cli.settings.databases
    loaded = load_benchmark(benchmark, configured=configured)
    loaded = take_half(loaded, half) if half else loaded
    measured = [load_benchmark(path, configured=configured) for path in apart_from or ()]
    loaded = leave_out(loaded, measured)
    chosen = draw_sample(loaded, sample, seed)
    plan = TuningPlan(
        model=model or find_model(cli.settings.model),
        benchmark=loaded.name,
        benchmark_sha256=loaded.sha256,
        questions=tuple(example.id for example in chosen),
        apart_from=tuple(each.name for each in measured),
        vary=vary,
        held_out=held_out,
        start=start,
        training=TrainingOptions(rank=rank, learning_rate=learning_rate, epochs=epochs, seed=seed),
        strength=strength,
        licence=licence or "Not given: see the licence of the questions.",
        command=shlex.join(["quorumsql", *sys.argv[1:]]),
    )
    adapter = asyncio.run(
        run_tuning(
            cli.settings,
            select(loaded, plan.questions),
            plan,
            output,
            TerminalReporter(),
            weights=RichProgress(),
        )
    )
    curve = (output / CURVE).with_suffix(".svg")
    told = f"Adapter: {adapter}\nUse it: `model: {{ adapter: {adapter} }}` in quorumsql.yaml."
    return Output(
        {"adapter": adapter, "curve": curve},
        lambda: CONSOLE.print(escape(told), highlight=False, soft_wrap=True),
    )


def find_model(settings: ModelSettings) -> str:
    """The model that the settings name. Raises SettingsError if it cannot be trained."""
    name = resolve_model(settings, on_gpu=has_gpu()).name
    if name.endswith(".gguf"):
        raise SettingsError(
            f"{name} is packed for llama.cpp and cannot be trained.",
            hint="Name the model with --model: a registered name, a hub id, or a folder in the "
            "format of transformers.",
        )
    return default_model(has_gpu()) if name == "auto" else name
