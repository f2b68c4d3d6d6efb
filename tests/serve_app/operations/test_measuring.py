"""Runs over the real parts, but for the model: names, samples, sittings."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from data.benchmarks.types import Benchmark, Configured, LocalFile, PostgresFile, Source
from evaluation.runs.run_folder import read_run
from nl2sql.settings.database import AssistantSettings
from nl2sql.types import Completions, SamplingRequest
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import (
    ReadyBenchmark,
    add_databases,
    draw_sample,
    prepare_benchmark,
)
from serve_app.operations.measuring import (
    MeasureOptions,
    build_manifest,
    measure,
    name_run,
)
from serve_app.operations.variants import build_variants, override
from serve_app.reporting import SilentReporter
from tests.evaluation.builders import build_example
from tests.fakes import build_settings
from tests.serve_app.echo_engine import EchoEngine

EXAMPLES = tuple(build_example(f"q{number:02}") for number in range(20))
BENCHMARK = Benchmark("shop set", "postgres", EXAMPLES, {"shop": Configured()}, "0" * 64)
SETTINGS = build_settings()


class CountingEngine(EchoEngine):
    """Counts its requests."""

    requests = 0

    async def sample(self, request: SamplingRequest) -> Completions:
        """See the base."""
        self.requests += 1
        return await super().sample(request)


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    one, again, other = (draw_sample(BENCHMARK, 5, seed).examples for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert [each.id for each in one] == sorted(each.id for each in one)
    for sample in (0, 20, 99):
        assert draw_sample(BENCHMARK, sample, 0).examples == EXAMPLES


def test_a_run_is_named_for_people_and_unlike_any_other(tmp_path: Path) -> None:
    options = MeasureOptions(tmp_path, "shop.jsonl", sample=5, seed=3, evidence=True)
    (variant,) = build_variants(SETTINGS, [4])
    name = name_run(build_manifest(BENCHMARK, variant, options))
    assert name.startswith("shop-set-5s3-evidence-k4-")
    (other,) = build_variants(override(SETTINGS, ["bm25=false"]), [4])
    assert name != name_run(build_manifest(BENCHMARK, other, options))
    assert name == name_run(build_manifest(BENCHMARK, variant, options))


def test_databases_are_added_under_their_own_names() -> None:
    benchmark = dataclasses.replace(
        BENCHMARK,
        databases={
            "shop": Configured(),
            "pets": LocalFile(Path("/data/pets.sqlite")),
            "erp_d1": PostgresFile(Path("/data/ERP.dump"), schemas=("d1",)),
        },
    )
    databases = add_databases(SETTINGS, benchmark).databases
    assert databases["shop"] == SETTINGS.databases["shop"]
    assert databases["pets"].reader.sqlite_path == Path("/data/pets.sqlite")
    assert databases["erp_d1"].reader.url.startswith("embedded:benchmark_erp_")
    assert databases["erp_d1"].schemas == ("d1",)


def test_only_the_databases_of_the_sample_are_needed() -> None:
    examples = (build_example("a"), build_example("b", database="pets"))
    databases: dict[str, Source] = {"shop": Configured(), "pets": LocalFile(Path("p"))}
    benchmark = dataclasses.replace(BENCHMARK, examples=examples, databases=databases)
    chosen = draw_sample(benchmark, 1, 0)
    assert list(chosen.databases) == [chosen.examples[0].database]


async def test_variants_run_through_pipeline_and_baseline(wiring: Wiring, tmp_path: Path) -> None:
    counts = "SELECT count(*) FROM {} "
    examples = tuple(
        build_example(
            f"q{at}",
            database="demo_erp",
            question=counts.format(table),
            golds=(counts.format("orders"),),
        )
        for at, table in enumerate(("orders", "employees", "no_such_table"))
    )
    benchmark = Benchmark("mini", "postgres", examples, {"demo_erp": Configured()}, "0" * 64)
    variants = build_variants(wiring.settings, [2], "plain")
    options = MeasureOptions(tmp_path, "mini.jsonl", concurrency=2)
    model = CountingEngine()
    ready = ReadyBenchmark(benchmark, wiring)
    folders = await measure(ready, variants, options, SilentReporter(), engine=model)
    for folder in folders:
        manifest, (right, wrong, failed) = read_run(folder)
        assert manifest.finished
        assert [each.correct for each in (right, wrong, failed)] == [True, False, False]
        assert [each.outcome for each in (right, wrong, failed)] == [
            "answered",
            "answered",
            "failed",
        ]
    _, (plain, _, _) = read_run(folders[0])
    _, (voted, _, _) = read_run(folders[1])
    assert plain.trace["tables"] == []
    assert "sales.orders" in {hit["table"] for hit in voted.trace["tables"]}
    assert voted.quorum
    assert voted.candidates[0].samples == 2

    asked = model.requests
    assert await measure(ready, variants, options, SilentReporter(), engine=model) == folders
    assert model.requests == asked

    fresh = dataclasses.replace(options, fresh=True)
    assert await measure(ready, variants[:1], fresh, SilentReporter(), engine=model) == folders[:1]
    assert folders[0].with_name(f"{folders[0].name}.old1").exists()
    # A gate asks a complete run again, and goes on with one that was interrupted.
    again = dataclasses.replace(options, repeat=True)
    lines = folders[0] / "questions.jsonl"
    lines.write_text(lines.read_text().partition("\n")[0] + "\n")
    for aside in (1, 2):
        await measure(ready, variants[:1], again, SilentReporter(), engine=model)
        assert len(list(folders[0].parent.glob(f"{folders[0].name}.old*"))) == aside


async def test_samples_are_kept_for_runs_that_differ_in_what_follows(
    wiring: Wiring, tmp_path: Path
) -> None:
    question = "SELECT count(*) FROM orders"
    example = build_example("q", database="demo_erp", question=question, golds=(question,))
    benchmark = Benchmark("mini", "postgres", (example,), {"demo_erp": Configured()}, "0" * 64)
    ready = ReadyBenchmark(benchmark, wiring)
    model = CountingEngine()
    options = MeasureOptions(tmp_path, "mini.jsonl", samples=tmp_path / "samples.jsonl")
    for settings, k in (
        (wiring.settings, 4),
        (override(wiring.settings, ["autocorrect=false"]), 4),
        (wiring.settings, 2),
    ):
        (variant,) = build_variants(settings, [k])
        (folder,) = await measure(ready, (variant,), options, SilentReporter(), engine=model)
        manifest, (record,) = read_run(folder)
        assert record.correct
        assert record.candidates[0].samples == k
        assert manifest.samples == str(options.samples)
    # One for each of the two prompts of the first run.
    assert model.requests == 2


async def test_questions_about_an_assistant_are_measured_through_it(
    wiring: Wiring, tmp_path: Path
) -> None:
    desk = AssistantSettings(database="demo_erp", tables=("sales.*",))
    settings = wiring.settings.model_copy(update={"assistants": {"desk": desk}})
    question = "SELECT count(*) FROM orders"
    examples = tuple(
        build_example(f"q{at}", database="desk", question=question, golds=(gold,))
        for at, gold in enumerate((question, "SELECT count(*) FROM employees"))
    )
    benchmark = Benchmark("mini", "postgres", examples, {"desk": Configured()}, "0" * 64)
    ready = await prepare_benchmark(settings, benchmark, SilentReporter())
    assert ready.benchmark.dialect == "postgres"
    options = MeasureOptions(tmp_path, "mini.jsonl")
    (folder,) = await measure(
        ready, build_variants(settings, [2]), options, SilentReporter(), engine=EchoEngine()
    )
    _, (right, hidden) = read_run(folder)
    assert right.correct
    assert "not_permitted" in hidden.gold_error
