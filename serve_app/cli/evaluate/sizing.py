"""``eval sizing``: predicts replicas, GPUs and latency for a load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evaluation.runs.run_folder import read_run
from evaluation.sizing.inputs import (
    EngineProfile,
    Workload,
    build_workload,
    list_profiles,
    read_demo,
    read_profile,
)
from evaluation.sizing.search import Sizing, Targets, find_smallest, predict
from evaluation.sizing.simulation import Deployment
from nl2sql.settings import Settings
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, print_table, prints, say
from serve_app.service.admission import Load

_PROFILE = "h200-qwen2.5-7b"
# Mean processor time of a question of the demo that is new to the service, in milliseconds, before
# and after the model (docs/explanation/sizing.md).
_CPU_BEFORE_MS, _CPU_AFTER_MS = 49.0, 57.0
_DATABASE_MS = 20.0
_COLUMNS = (
    "questions_per_minute",
    "replicas",
    "engines",
    "gpus",
    "p50_s",
    "p95_s",
    "p99_s",
    "cpu_share",
    "batch",
    "refused_share",
)


@prints
def sizing(
    context: typer.Context,
    questions_per_minute: Annotated[
        list[float] | None,
        typer.Option(help="The load; repeat for several.  [default: 600]", min=0.1, max=100_000),
    ] = None,
    p95: Annotated[
        float, typer.Option(metavar="SECONDS", help="Target of the 95th percentile.", min=0.01)
    ] = 10.0,
    refused: Annotated[
        float, typer.Option(help="Target of the share of refused questions.", min=0, max=1)
    ] = 0.01,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Run folder of eval run, for the questions' times and tokens; best measured with "
            "--concurrency 1 on an idle machine. Default: the demo's."
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help=f"Engine profile: {', '.join(list_profiles())}, or a YAML file like these.",
        ),
    ] = _PROFILE,
    database_ms: Annotated[
        float, typer.Option(help="Milliseconds for which a question waits for the database.", min=0)
    ] = _DATABASE_MS,
    principals: Annotated[int, typer.Option(help="People who ask, at random.", min=1)] = 100,
    replicas: Annotated[
        int, typer.Option(help="With --engines: predict this deployment, without a search.", min=0)
    ] = 0,
    engines: Annotated[int, typer.Option(help="See --replicas.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.", min=0)] = 0,
) -> Output:
    """Predict replicas, GPUs and latency for a load, by simulating the service."""
    if bool(replicas) != bool(engines):
        raise typer.BadParameter("--replicas and --engines are given together.")
    cli: CliContext = context.obj
    profile = read_profile(engine)
    workload = _read_workload(run, database_ms)
    deployment = _build_deployment(cli.settings, profile, replicas, engines)
    targets = Targets(p95, refused)
    found = [
        predict(load, deployment, workload, principals=principals, seed=seed)
        if replicas
        else find_smallest(load, targets, deployment, workload, principals=principals, seed=seed)
        for load in questions_per_minute or (600.0,)
    ]
    return Output([_describe(one) for one in found], lambda: _print(found, profile))


def _read_workload(run: Path | None, database_ms: float) -> Workload:
    if run is not None:
        return build_workload(read_run(run)[1], database_ms=database_ms)
    return read_demo(
        cpu_before_ms=_CPU_BEFORE_MS, cpu_after_ms=_CPU_AFTER_MS, database_ms=database_ms
    )


def _build_deployment(
    settings: Settings, profile: EngineProfile, replicas: int, engines: int
) -> Deployment:
    serve = settings.serve
    return Deployment(
        replicas,
        engines,
        profile,
        lambda: Load(serve.max_slowdown),
        serve.max_ongoing_requests,
        serve.max_waiting_requests,
    )


def _describe(sizing: Sizing) -> dict[str, Any]:
    """The figures as JSON values, with units in the names."""
    prediction, deployment = sizing.prediction, sizing.deployment
    latencies = {f"p{at}_s": round(prediction.latency_s(at), 4) for at in (50, 95, 99)}
    return {
        "questions_per_minute": sizing.per_minute,
        "replicas": deployment.replicas,
        "engines": deployment.engines,
        "gpus": deployment.engines * deployment.profile.gpus,
        **latencies,
        "cpu_share": round(prediction.cpu_share, 4),
        "engine_share": round(prediction.engine_share, 4),
        "batch": round(prediction.batch, 2),
        "refused_share": round(prediction.refused_share, 4),
        "simulated_questions": prediction.asked,
    }


def _print(found: Sequence[Sizing], profile: EngineProfile) -> None:
    print_table([_describe(one) for one in found], _COLUMNS)
    say(f"Engine: {profile.name}")
    say(f"Its figures: {profile.source}")
