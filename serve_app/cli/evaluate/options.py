"""The options that ``eval run``, ``eval curve`` and ``eval ablate`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BenchmarkName = Annotated[
    str,
    typer.Argument(
        metavar="BENCHMARK",
        help="demo_erp, or a path: Spider's dev.json, BIRD's folder, a defog CSV, a questions.json "
        "beside a dump, JSON lines of your own. FORMAT:PATH says which where it cannot be told.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A flag (bm25=false) or section.key; repeat."),
]
Sample = Annotated[
    int, typer.Option(help="Questions to draw, the same ones for the same seed; 0: all.", min=0)
]
Seed = Annotated[int, typer.Option(help="Seed of the sample and of the model.", min=0)]
Evidence = Annotated[
    bool,
    typer.Option("--evidence/--no-evidence", help="Give the benchmark's hints with the question."),
]
Concurrency = Annotated[int, typer.Option(help="Questions in flight.", min=1, max=1024)]
Service = Annotated[
    str,
    typer.Option(help="URL of a running service; default: the pipeline in this process."),
]
Samples = Annotated[
    Path | None,
    typer.Option(
        help="File that keeps the model's samples: runs that share it compare what comes after "
        "sampling on the same candidates, and fewer of them, without the model."
    ),
]
Output = Annotated[Path, typer.Option(help="Folder that the run's own folder is made in.")]
Times = Annotated[
    bool,
    typer.Option("--time-queries/--no-time-queries", help="Time right answers, for R-VES."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Start over; an earlier run is renamed, not deleted.")
]
DEFAULT_OUTPUT = Path("runs")
