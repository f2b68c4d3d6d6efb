"""Measuring retrieval over the real parts: the demo's index, its policy-free guard, no model."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from data.benchmarks.types import Benchmark, Configured
from evaluation.retrieval.records import RetrievalManifest, RetrievalRecord
from evaluation.retrieval.variants import VARIANTS, choose_variants
from evaluation.runs.run_folder import read_records
from serve_app.composition.wiring import Wiring
from serve_app.operations.benchmarks import ReadyBenchmark
from serve_app.operations.measuring_retrieval import (
    RetrievalOptions,
    measure_retrieval,
    read_figures,
)
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


async def test_all_variants_side_by_side_in_one_run(wiring: Wiring, tmp_path: Path) -> None:
    ready = ReadyBenchmark(BENCHMARK, wiring)
    variants = choose_variants(wiring.settings)
    options = RetrievalOptions(tmp_path, "mini.jsonl")
    folder = await measure_retrieval(ready, variants, options, SilentReporter())
    assert folder.name.startswith("retrieval-mini-")
    manifest, (found, unresolved) = read_records(folder, RetrievalManifest, RetrievalRecord)
    assert manifest.finished
    assert list(found.findings) == list(VARIANTS)
    retrieval = wiring.settings.retrieval
    most = retrieval.max_tables + retrieval.whole_tables
    for finding in found.findings.values():
        assert len(finding.tables) <= most
        assert not finding.error
    assert found.findings["full"].missed_tables == ()
    assert "no table" in unresolved.gold_error
    _, figures = read_figures(folder)
    assert len(figures.variants) == len(VARIANTS)
    assert "hr.employees" in (folder / "questions.jsonl").read_text()
    assert "# Retrieval: mini" in (folder / "report.md").read_text()
    assert json.loads((folder / "figures.json").read_text())["variants"][0]["variant"] == "cosine"

    written = (folder / "questions.jsonl").read_bytes()
    assert await measure_retrieval(ready, variants, options, SilentReporter()) == folder
    assert (folder / "questions.jsonl").read_bytes() == written

    again = dataclasses.replace(options, fresh=True)
    assert await measure_retrieval(ready, variants, again, SilentReporter()) == folder
    assert folder.with_name(f"{folder.name}.old1").exists()
