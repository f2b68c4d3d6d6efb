"""``quorumsql eval``: figures from a benchmark run through the service."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich import box
from rich.table import Table

import data.demo_erp
from evaluation.benchmark import Example, load_examples
from evaluation.metrics import Outcome, Summary, summarize
from evaluation.runner import RunOptions, run_benchmark
from execution.executor import ReadOnlyExecutor
from nl2sql.errors import Unavailable
from serve_app.cli.client import read_answer
from serve_app.cli.context import CliContext
from serve_app.cli.terminal import CONSOLE, TerminalReporter
from serve_app.preparation import prepare
from serve_app.running import is_ready, service_url

app = typer.Typer(no_args_is_help=True)
_TIMEOUT_S = 300


@app.callback()
def group() -> None:
    """Keeps ``run`` a subcommand."""


@app.command("run")
def run(
    context: typer.Context,
    benchmark: Annotated[
        str, typer.Argument(help="demo_erp, or a JSON-lines file {id, database, question, query}.")
    ] = "demo_erp",
    k: Annotated[
        list[int] | None, typer.Option(help="Candidates; repeat for several runs.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.")] = 0,
    concurrency: Annotated[int, typer.Option(help="Questions in flight.", min=1, max=256)] = 1,
    output: Annotated[
        Path | None, typer.Option(help="Folder for a JSON line a question with its trace.")
    ] = None,
) -> None:
    """Ask every question over HTTP, compare with the gold's rows, print the figures."""
    cli: CliContext = context.obj
    path = Path(str(data.demo_erp.QUESTIONS)) if benchmark == "demo_erp" else Path(benchmark)
    examples = load_examples(path)
    url = service_url(cli.settings)
    if not is_ready(url):
        raise Unavailable(f"No service is ready at {url}.", hint="Start one: `make serve`.")
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    summaries = []
    for count in k or [1, 4]:
        options = RunOptions(count, seed, concurrency)
        outcomes = asyncio.run(_run(cli, url, examples, options, output))
        summaries.append((count, outcomes, summarize(outcomes)))
    for count, outcomes, summary in summaries:
        _print_misses(count, outcomes)
        _print_stages(count, summary)
    _print_summaries([(count, summary) for count, _, summary in summaries])


async def _run(
    cli: CliContext,
    url: str,
    examples: tuple[Example, ...],
    options: RunOptions,
    output: Path | None,
) -> list[Outcome]:
    reporter = TerminalReporter()
    databases = sorted({example.database for example in examples})
    wiring = await prepare(cli.settings, reporter, databases=databases)
    executor = ReadOnlyExecutor(wiring.build_databases())
    done: list[Outcome] = []
    try:
        async with httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_S) as client:

            async def ask(body: dict[str, Any]) -> dict[str, Any]:
                return read_answer(await client.post("/query", json=body))

            with reporter.step(f"K={options.k}") as step:

                def count(outcome: Outcome) -> None:
                    done.append(outcome)
                    step.update(len(done), len(examples))

                outcomes = await run_benchmark(
                    examples,
                    ask,
                    wiring.build_guard(),
                    executor,
                    options,
                    output=output / f"k{options.k}.jsonl" if output else None,
                    progress=count,
                )
                step.finish(f"{sum(each.correct for each in outcomes)} correct")
                return outcomes
    finally:
        await executor.close()


def _print_misses(k: int, outcomes: list[Outcome]) -> None:
    for each in outcomes:
        if each.gold_error:
            CONSOLE.print(f"[red]gold of {each.id} fails:[/] {each.gold_error}", highlight=False)
    wrong = [f"{each.id} ({each.outcome})" for each in outcomes if not each.correct]
    CONSOLE.print(f"K={k}: not correct: {', '.join(wrong) or 'none'}", highlight=False)


def _print_stages(k: int, summary: Summary) -> None:
    table = Table(title=f"K={k}: milliseconds a stage", box=box.SIMPLE_HEAD, title_justify="left")
    for column in ("stage", "p50", "p95"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for name, (p50, p95) in summary.stages_ms.items():
        table.add_row(name, f"{p50:,.1f}", f"{p95:,.1f}")
    table.add_row("without the model", f"{summary.own_ms_p50:,.1f}", f"{summary.own_ms_p95:,.1f}")
    CONSOLE.print(table)


def _print_summaries(summaries: list[tuple[int, Summary]]) -> None:
    table = Table(title="Execution accuracy", box=box.SIMPLE_HEAD, title_justify="left")
    for column in ("K", "correct", "95 % interval", "execute", "gold failed", "s p50", "s p95"):
        table.add_column(column)
    for k, summary in summaries:
        table.add_row(
            str(k),
            f"{summary.correct}/{summary.questions} = {summary.accuracy:.1%}",
            f"{summary.accuracy_low:.1%} to {summary.accuracy_high:.1%}",
            f"{summary.executed}/{summary.questions}",
            str(summary.gold_failed),
            f"{summary.seconds_p50:.1f}",
            f"{summary.seconds_p95:.1f}",
        )
    CONSOLE.print(table)
