"""Measures retrieval for growing schemas: time of a question, memory, indexing.

``python -m bench.retrieval FOLDER [--sizes 86,300,…] [--questions N] [--fake-above N]``
generates a schema of each size, indexes it in a real PostgreSQL with pgvector, and asks questions:
routing, retrieval, linking and join planning, warm, one at a time, without the question's
embedding. Writes ``growth.csv`` and ``growth.svg`` into FOLDER.

Schemas above ``--fake-above`` tables are embedded by hashing, as the output says: a model would
take hours. Generated schemas have no rows, so no cell values are found and no keys inferred. Each
size is indexed in one process and searched in another, so memory is that of searching only. On a
busy machine, wall times are upper bounds; CPU times exclude the database.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bench.catalogs import DATABASE, generate_catalog
from bench.hashing_embedder import HashingEmbedder
from evaluation.metrics.statistics import percentile
from execution.postgres.embedded import EmbeddedServer
from nl2sql.settings import Settings, parse_settings
from nl2sql.types import Principal, Question
from retrieval.embedding.embedder import Embedder
from retrieval.indexing import index_database
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Silence
from tests.fakes import StubEngine

SIZES = "86,300,1000,2377,10000,30000,100000"
_WARM_UP = 20


def main() -> None:
    """Measures every size; or, as a child process, does one step of one size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--fake-above", type=int, default=10_000)
    parser.add_argument("--step", choices=("index", "search"), help=argparse.SUPPRESS)
    parser.add_argument("--socket", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.sizes.split(",")]
    if asked.step:
        wiring = Wiring(_build_settings(), asked.socket)
        fake = sizes[0] > asked.fake_above
        if asked.step == "index":
            found = asyncio.run(_index(wiring, sizes[0], asked.questions, fake, asked.folder))
        else:
            found = asyncio.run(_search(wiring, asked.folder))
        print(json.dumps(found))
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="quorumsql-") as home:
        server = EmbeddedServer(Path(home) / "postgres")
        server.start()
        try:
            rows = [
                _measure(size, asked.questions, asked.fake_above, server, asked.folder)
                for size in sizes
            ]
        finally:
            server.stop()
    with (asked.folder / "growth.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    _draw(rows, asked.folder / "growth.svg")


def _measure(
    tables: int, questions: int, fake_above: int, server: EmbeddedServer, folder: Path
) -> dict[str, Any]:
    row: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for step in ("index", "search"):
            command = [sys.executable, "-m", __spec__.name, scratch, "--step", step]
            command += ["--sizes", str(tables), "--questions", str(questions)]
            command += ["--fake-above", str(fake_above), "--socket", server.socket_folder]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            row |= json.loads(done.stdout.splitlines()[-1])
    print(
        f"{row['tables']:7,} tables ({row['embedder']}): question p50 {row['total_p50']:.1f} ms, "
        f"p95 {row['total_p95']:.1f} ms (CPU {row['cpu_p95']:.1f}); {row['resident_mib']:.0f} MiB; "
        f"found {row['found']:.3f}; load {row['load_s']:.2f} s; index {row['index_s']:.1f} s, "
        f"{row['index_s_per_1000']:.2f} s a 1,000 tables, {row['store_mib']:.0f} MiB on disk",
        flush=True,
    )
    return row


def _draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The time of a question and the memory of the searching process, over the number of tables."""
    figure = Figure(figsize=(6.2, 5.4), layout="constrained")
    times, memory = figure.subplots(2, sharex=True)
    sizes = [row["tables"] for row in rows]
    for key, label in (
        ("total_p95", "p95, wall"),
        ("total_p50", "p50, wall"),
        ("cpu_p95", "p95, CPU"),
    ):
        times.plot(sizes, [row[key] for row in rows], marker="o", label=label)
    times.set(yscale="log", ylabel="milliseconds a question")
    times.legend()
    memory.plot(sizes, [row["resident_mib"] for row in rows], marker="o")
    memory.set(xscale="log", xlabel="tables", ylabel="resident memory, MiB", ylim=(0, None))
    figure.savefig(path, metadata={"Date": None})


async def _index(
    wiring: Wiring, tables: int, questions: int, fake: bool, folder: Path
) -> dict[str, Any]:
    """Generates and indexes a schema; writes the questions and their vectors to ``folder``."""
    start = time.perf_counter()
    generated = generate_catalog(tables)
    generate_s = time.perf_counter() - start
    embedder: Embedder = HashingEmbedder() if fake else wiring.models.build_embedder()
    embedder.embed(["warm-up"])
    store = wiring.build_index_store()
    try:
        start = time.perf_counter()
        report = await index_database(generated.catalog, store, embedder)
        index_s = time.perf_counter() - start
        head = await store.head(DATABASE)
        assert head is not None
        size = await store.measure(head)
    finally:
        await store.close()
    drawn = generated.draw_questions(_WARM_UP + questions)
    np.save(folder / "vectors.npy", embedder.embed([question.text for question in drawn]))
    texts = [[question.text, question.tables] for question in drawn]
    (folder / "questions.json").write_text(json.dumps([embedder.name, texts]))
    seconds = dict(report.seconds)
    return {
        "tables": report.tables,
        "columns": report.columns,
        "embedder": embedder.name,
        "generate_s": round(generate_s, 2),
        "index_s": round(index_s, 2),
        "index_s_per_1000": round(index_s / tables * 1000, 2),
        "embed_s": round(seconds["embedding"], 2),
        "write_s": round(seconds["writing"], 2),
        "store_mib": round(size / 2**20, 1),
    }


async def _search(wiring: Wiring, folder: Path) -> dict[str, Any]:
    """Asks the questions that ``_index`` wrote, one after the other."""
    name, drawn = json.loads((folder / "questions.json").read_text())
    texts = [text for text, _ in drawn]
    embedder = _KnownVectors(name, texts, np.load(folder / "vectors.npy"))
    settings = wiring.settings
    times: dict[str, list[float]] = {"retrieve": [], "plan": [], "total": [], "cpu": []}
    found = 0
    load_s = 0.0
    async with open_parts(wiring, Silence(), engine=StubEngine()) as opened:
        parts = dataclasses.replace(opened, embedder=embedder)
        retriever, planner = parts.build_retriever(settings), parts.build_planner(settings)
        for at, (text, tables) in enumerate(drawn):
            question = Question(text, DATABASE, Principal("benchmark"), k=1, seed=0, max_rows=1)
            cpu, start = time.process_time(), time.perf_counter()
            _, context = await retriever.retrieve(question)
            retrieved = time.perf_counter()
            await planner.plan(question, context)
            end, cpu = time.perf_counter(), time.process_time() - cpu
            if at == 0:
                load_s = end - start
            if at >= _WARM_UP:
                times["retrieve"].append((retrieved - start) * 1000)
                times["plan"].append((end - retrieved) * 1000)
                times["total"].append((end - start) * 1000)
                times["cpu"].append(cpu * 1000)
                found += {*tables} <= {hit.table.qualified for hit in context.tables}
    asked = len(times["total"])
    return {
        "load_s": round(load_s, 2),
        "resident_mib": round(psutil.Process().memory_info().rss / 2**20, 1),
        **{
            f"{what}_p{percent}": round(percentile(values, percent), 2)
            for what, values in times.items()
            for percent in (50, 95)
        },
        "questions": asked,
        "found": round(found / asked, 4),
    }


class _KnownVectors(Embedder):
    """The stored vectors of the questions, so that the searching process loads no model."""

    def __init__(self, name: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        super().__init__(name)
        self._vectors = dict(zip(texts, vectors, strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The rows of those texts."""
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)


def _build_settings() -> Settings:
    embedded = {"url": "embedded"}
    return parse_settings({"databases": {DATABASE: {"reader": embedded, "indexer": embedded}}})


if __name__ == "__main__":
    main()
