"""``eval sizing``: predicts replicas, GPUs and latency for a load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evaluation.runs.run_folder import read_run
from evaluation.sizing.estimate import Estimate, find_smallest, predict
from evaluation.sizing.inputs import (
    EngineProfile,
    Workload,
    build_workload,
    list_profiles,
    read_demo,
    read_profile,
)
from serve_app.cli.output import Output, print_table, prints, say

_PROFILE = "h200-qwen2.5-7b"
# Mean processor time of a question of the demo that is new to the service, in milliseconds
# (docs/explanation/sizing.md).
_CPU_MS = 106.0
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
    "engine_share",
    "batch",
)


@prints
def sizing(
    questions_per_minute: Annotated[
        list[float] | None,
        typer.Option(help="The load; repeat for several.  [default: 600]", min=0.1, max=100_000),
    ] = None,
    p95: Annotated[
        float, typer.Option(metavar="SECONDS", help="Target of the 95th percentile.", min=0.01)
    ] = 10.0,
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
    replicas: Annotated[
        int, typer.Option(help="With --engines: predict this deployment, without a search.", min=0)
    ] = 0,
    engines: Annotated[int, typer.Option(help="See --replicas.", min=0)] = 0,
) -> Output:
    """Estimate replicas, GPUs and latency for a load. Beyond the capacity, no latency is shown."""
    if bool(replicas) != bool(engines):
        raise typer.BadParameter("--replicas and --engines are given together.")
    profile = read_profile(engine)
    workload = _read_workload(run, database_ms)
    found = [
        predict(load, replicas, engines, profile, workload)
        if replicas
        else find_smallest(load, p95, profile, workload)
        for load in questions_per_minute or (600.0,)
    ]
    figures = [_describe(one, profile) for one in found]
    return Output(figures, lambda: _print(figures, profile))


def _read_workload(run: Path | None, database_ms: float) -> Workload:
    if run is not None:
        return build_workload(read_run(run)[1], database_ms=database_ms)
    return read_demo(cpu_ms=_CPU_MS, database_ms=database_ms)


def _describe(estimate: Estimate, profile: EngineProfile) -> dict[str, Any]:
    """The figures as JSON values, with units in the names."""
    latencies = {
        f"p{at}_s": round(estimate.latency_s(at), 2) if estimate.latencies_s else None
        for at in (50, 95, 99)
    }
    return {
        "questions_per_minute": round(estimate.per_minute) or estimate.per_minute,
        "replicas": estimate.replicas,
        "engines": estimate.engines,
        "gpus": estimate.engines * profile.gpus,
        **latencies,
        "cpu_share": round(estimate.cpu_share, 2),
        "engine_share": round(estimate.engine_share, 2),
        "batch": round(estimate.batch, 1),
    }


def _print(figures: Sequence[dict[str, Any]], profile: EngineProfile) -> None:
    print_table(figures, _COLUMNS)
    say(f"Engine: {profile.name}")
    say(f"Its figures: {profile.source}")
