"""The options that the commands of ``eval`` share, and the questions that they choose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from data.benchmarks.halves import take_half
from data.benchmarks.types import Benchmark
from nl2sql.errors import SettingsError
from serve_app.operations.benchmarks import draw_sample

BenchmarkName = Annotated[
    str,
    typer.Argument(
        metavar="BENCHMARK",
        help="demo_erp, demo_erp_business, demo_erp_definitions, demo_erp_first, or a path: "
        "Spider's dev.json, BIRD's folder, a defog CSV, a folder of questions.json and databases, "
        "JSON lines of your own. FORMAT:PATH names an ambiguous format.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A flag (bm25=false) or section.key; repeat."),
]
Sample = Annotated[
    int, typer.Option(help="Questions to draw, the same ones for the same seed; 0: all.", min=0)
]
Half = Annotated[
    str,
    typer.Option(
        metavar="look|hold",
        help="Only one half of the databases, by a hash of their names: look to develop on, hold "
        "to measure on.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the sample and of the model.", min=0)]
Evidence = Annotated[
    bool,
    typer.Option("--evidence/--no-evidence", help="Give the benchmark's hints with the question."),
]
Output = Annotated[Path, typer.Option(help="Folder in which the run's folder is created.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Start over; an earlier run is renamed, not deleted.")
]
DEFAULT_OUTPUT = Path("runs")


def choose_questions(
    loaded: Benchmark, *, half: str = "", sample: int = 0, seed: int = 0, evidence: bool = False
) -> Benchmark:
    """The questions of a half, a sample of them, and only the databases they need.

    Raises SettingsError if there are none, or no evidence.
    """
    if half:
        loaded = take_half(loaded, half)
    if evidence and not any(example.evidence for example in loaded.examples):
        raise SettingsError(f"{loaded.name} has no evidence.", hint="Omit --evidence.")
    return draw_sample(loaded, sample, seed)
