"""Measuring retrieval over the real parts: the demo's index, its policy-free guard, no model."""

from __future__ import annotations

from dataclasses import replace

from data.benchmarks.types import Benchmark, Configured
from nl2sql.settings.database import AssistantSettings
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import ReadyBenchmark
from serve_app.operations.measuring_retrieval import VARIANTS, choose_variants, measure_retrieval
from serve_app.reporting import SilentReporter
from tests.evaluation.builders import build_example

EXAMPLES = (
    build_example(
        "q1",
        database="demo_erp",
        question="How many employees are there?",
        golds=("SELECT count(*) FROM employees",),
    ),
    build_example("q2", database="demo_erp", golds=("SELECT 1 FROM no_such_table",)),
)
BENCHMARK = Benchmark("mini", "postgres", EXAMPLES, {"demo_erp": Configured()}, "0" * 64)


async def test_all_variants_side_by_side(wiring: Wiring) -> None:
    ready = ReadyBenchmark(BENCHMARK, wiring)
    figures = await measure_retrieval(ready, choose_variants(wiring.settings), SilentReporter())
    assert [found.variant for found in figures.variants] == list(VARIANTS)
    retrieval = wiring.settings.retrieval
    for found in figures.variants:
        assert 0 < found.shown_tables <= retrieval.max_tables + retrieval.whole_tables
        assert not found.errors
    assert figures.variants[-1].all_tables.value == 1.0
    assert [name for name, _ in figures.not_counted] == ["q2"]


async def test_questions_about_an_assistant_find_its_tables_alone(wiring: Wiring) -> None:
    staff = AssistantSettings(database="demo_erp", tables=("hr.employees",))
    settings = wiring.settings.model_copy(update={"assistants": {"staff": staff}})
    golds = ("SELECT count(*) FROM employees", "SELECT count(*) FROM payslips")
    examples = tuple(
        replace(EXAMPLES[0], id=gold, database="staff", golds=(gold,)) for gold in golds
    )
    benchmark = replace(BENCHMARK, examples=examples, databases={"staff": Configured()})
    ready = ReadyBenchmark(benchmark, replace(wiring, settings=settings))
    variants = choose_variants(settings, ["full"])
    figures = await measure_retrieval(ready, variants, SilentReporter())
    (found,) = figures.variants
    assert (found.shown_tables, found.all_tables.value) == (1, 0.5)
