"""Pairs to train a model on: prompts as the pipeline writes them, and the right queries as answers.

So what is learned is what will be asked: the same schema text, with tables that are not needed,
with values and hints.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from data.benchmarks.types import Benchmark, Example
from generation.prompts.prompt_builder import PromptBuilder
from nl2sql.catalog import Table
from nl2sql.concurrency import gather_all
from nl2sql.prompts import ANSWER_END, ANSWER_START
from nl2sql.protocols import Engine
from nl2sql.sql.parsing import parse_one
from nl2sql.sql.scopes import fold_case, name_ctes
from nl2sql.types import Message, Question
from serve_app.composition.local import open_parts
from serve_app.composition.stages import CpuStages
from serve_app.operations.benchmarks import prepare_benchmark
from serve_app.operations.variants import override
from serve_app.reporting import Reporter
from serve_app.settings import Settings

_CONCURRENCY = 16

Pair = Mapping[str, Any]
"""A pair in the form of its line: ``id`` and ``database`` of the question, and ``messages``, the
last of which is the assistant's."""


async def export_pairs(
    settings: Settings,
    benchmark: Benchmark,
    file: Path,
    reporter: Reporter,
    *,
    engine: Engine | None = None,
) -> int:
    """Writes the pairs of all questions of ``benchmark`` and returns how many there are.

    The configured model counts the tokens of prompts, unless ``engine`` does. Left out are
    questions whose right query reads a table that the prompt does not show: they would teach to
    invent names. Raises SettingsError, ModelError, Unavailable.
    """
    ready = await prepare_benchmark(settings, benchmark, reporter)
    wanted = [each for each in benchmark.examples if each.database not in ready.benchmark.missing]
    slots = asyncio.Semaphore(_CONCURRENCY)
    async with open_parts(ready.wiring, reporter, engine=engine) as parts:
        # A prompt must not contain its own answer as an example.
        settings = override(ready.wiring.settings, ["retrieval.same_question=false"])
        stages, builder = parts.build_stages(settings), PromptBuilder(parts.engine, settings)
        with reporter.step("Writing prompts") as progress:
            done = 0

            async def write(example: Example) -> Pair | None:
                nonlocal done
                async with slots:
                    pair = await _build_pair(example, stages, builder, settings)
                done += 1
                progress.update(done, len(wanted))
                return pair

            written = await gather_all(map(write, wanted))
            pairs = [pair for pair in written if pair is not None]
            progress.finish(f"{len(pairs)} of {len(wanted)} questions")
    _write_lines(file, pairs)
    return len(pairs)


def _write_lines(file: Path, pairs: Iterable[Pair]) -> None:
    """Writes the file, whole or not at all."""
    fresh = file.with_name(f"{file.name}.new")
    with fresh.open("w", encoding="utf-8") as lines:
        for pair in pairs:
            lines.write(json.dumps(pair, ensure_ascii=False) + "\n")
    fresh.replace(file)


async def _build_pair(
    example: Example, stages: CpuStages, builder: PromptBuilder, settings: Settings
) -> Pair | None:
    """The pair; None if the query reads what the prompt does not show."""
    principal = settings.identity.principal()
    question = Question(example.question, example.database, principal, k=1, seed=0, max_rows=1)
    _, context = await stages.retriever.retrieve(question)
    tables = [hit.table for hit in context.tables]
    sql = example.golds[0].strip().rstrip(";")
    if not _reads_only(sql, tables, context.dialect):
        return None
    plan = await stages.planner.plan(question, context)
    prompt, _ = await builder.build(question, context, plan, "standard")
    answer = Message("assistant", f"{ANSWER_START}{sql}\n{ANSWER_END}")
    return {
        "id": example.id,
        "database": example.database,
        "messages": [asdict(message) for message in (*prompt.messages, answer)],
    }


def _reads_only(sql: str, shown: Iterable[Table], dialect: str) -> bool:
    """Whether the query reads these tables and no others."""
    try:
        tree = parse_one(sql, dialect)
    except (SqlglotError, RecursionError):
        return False
    known = name_ctes(tree, fold_case) | {table.name.lower() for table in shown}
    return all(table.name.lower() in known for table in tree.find_all(exp.Table))
