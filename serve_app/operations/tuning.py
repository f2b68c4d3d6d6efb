"""Makes an adapter from a benchmark: prompts through retrieval, training, export.

The prompts are those that the pipeline writes for the questions, so that the adapter learns what it
will be asked: the same schema text, with tables that are not needed, values and hints. Everything
is kept in the run's folder; the same command again continues there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from data.benchmarks.types import Benchmark, Example
from evaluation.runs.environment import describe_machine, find_revision
from evaluation.runs.json_lines import append_line, read_lines
from evaluation.runs.variants import override
from generation.engines.chat_encoder import ChatEncoder
from generation.models.adapters import hash_adapter, read_adapter_rank, read_adapter_scale
from generation.models.files import sha256_of
from generation.models.forms import SAFETENSORS
from generation.models.store import ProgressReporter
from generation.prompts.prompt_builder import PromptBuilder
from generation.tuning.examples import TuningExample, is_held_out, read_examples, write_examples
from generation.tuning.export import AdapterFacts, export_adapter
from generation.tuning.overlap import find_overlaps
from generation.tuning.targets import spell_query
from generation.tuning.training import (
    ALPHA,
    Step,
    Trained,
    Trainer,
    TrainingOptions,
    encode_packs,
)
from generation.tuning.variation import choose_variation, list_words, vary_context, vary_query
from nl2sql.concurrency import gather_all
from nl2sql.errors import SettingsError
from nl2sql.schema_text import TokenCounts
from nl2sql.settings import Settings
from nl2sql.types import Question, SchemaContext
from nl2sql.words import fold_plural
from retrieval.vocabulary.abbreviations import load_names
from retrieval.vocabulary.general_synonyms import related_words
from serve_app.composition.local import LocalParts, open_parts
from serve_app.composition.models import Models
from serve_app.operations.benchmarks import ReadyBenchmark, prepare_benchmark
from serve_app.operations.tuning_curve import draw_curve
from serve_app.reporting import Reporter

_CONCURRENCY = 16
_EXAMPLES, _PLAN = "examples.jsonl", "plan.json"
CURVE = "curve.jsonl"
"""The file of losses in the folder of a run; the picture beside it ends in ``.svg``."""


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """What is trained on what.

    ``apart_from`` names the benchmarks whose databases and questions were left out. ``vary``: each
    database gets other names, and SQLite's another dialect. ``held_out`` is the share of databases
    that is not trained on. ``start`` is the folder of an adapter to go on from. ``strength``
    multiplies what was learned when the adapter is written.
    """

    model: str
    benchmark: str
    benchmark_sha256: str
    questions: tuple[str, ...]
    apart_from: tuple[str, ...]
    vary: bool
    held_out: float
    start: Path | None
    training: TrainingOptions
    strength: float
    licence: str
    command: str

    def identity(self) -> dict[str, Any]:
        """What decides what is learned."""
        plan = asdict(self)
        if self.start is not None:
            plan["start"] = hash_adapter(self.start, named="--start")
        del plan["strength"], plan["licence"], plan["command"]
        del plan["training"]["checkpoint_s"]
        return json.loads(json.dumps(plan))  # type: ignore[no-any-return]


def leave_out(benchmark: Benchmark, measured: Sequence[Benchmark]) -> Benchmark:
    """The benchmark without the databases and the questions that are in one of ``measured``.

    A question is in there if one like it is, see ``find_overlaps``. Raises SettingsError if none is
    left.
    """
    databases = {each.database for other in measured for each in other.examples}
    rest = [each for each in benchmark.examples if each.database not in databases]
    asked = [each.question for other in measured for each in other.examples]
    overlaps = find_overlaps([each.question for each in rest], asked)
    kept = tuple(each for at, each in enumerate(rest) if at not in overlaps)
    if not kept:
        raise SettingsError(
            f"All questions of {benchmark.name} are also among those that are measured.",
            hint="Tune on other questions, or leave out --apart-from.",
        )
    return replace(benchmark, examples=kept)


class TokenCounter:
    """The part of an engine that prompts need: it counts tokens, without a model."""

    def __init__(self, tokenizer: Any) -> None:
        self._encoder = ChatEncoder(tokenizer)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """The number of tokens of each text, without special tokens."""
        return tuple(map(self._encoder.count, texts))

    async def sample(self, request: Any) -> Any:
        raise SettingsError("Examples are made without the model.")

    async def speed(self) -> None:
        """Unknown."""


async def tune(
    settings: Settings,
    benchmark: Benchmark,
    plan: TuningPlan,
    run: Path,
    reporter: Reporter,
    *,
    weights: ProgressReporter | None = None,
) -> Path:
    """Trains on all of ``benchmark`` to the end and returns the folder of the adapter.

    Raises SettingsError, ModelError, Unavailable.
    """
    if plan.start is not None:
        _check_start(plan.start, plan.training.rank)
    _open_run(run, plan)
    store = Models(settings).build_model_store(weights, form=SAFETENSORS)
    folder = await asyncio.to_thread(store.pull, plan.model)
    with reporter.step("Loading the model"):
        trainer = await asyncio.to_thread(Trainer, folder, run, plan.training, plan.start)
    if not (run / _EXAMPLES).exists():
        ready = await prepare_benchmark(settings, benchmark, reporter)
        counter = TokenCounter(trainer.tokenizer)
        found = await collect_examples(ready, counter, plan, reporter)
        write_examples(run / _EXAMPLES, found)
    examples = read_examples(run / _EXAMPLES)
    learned = [each for each in examples if not each.held_out]
    kept_back = [each for each in examples if each.held_out]
    packs, held_out = (
        encode_packs(part, trainer.tokenizer, plan.training) for part in (learned, kept_back)
    )
    with reporter.step(f"Training on {len(learned)} examples") as progress:

        def note(step: Step) -> None:
            append_line(run / CURVE, asdict(step))
            progress.update(step.step, step.steps)

        trained = await asyncio.to_thread(trainer.train, packs, held_out, note)
        progress.finish(_describe_losses(trained))
    # Steps after the last checkpoint of a killed run were taken again.
    steps = [*{line["step"]: Step(**line) for line in read_lines(run / CURVE)}.values()]
    (run / CURVE).with_suffix(".svg").write_text(draw_curve(steps), "utf-8")
    facts = AdapterFacts(
        name=run.name,
        base_model=plan.model,
        base_sha256={file.name: sha256_of(file) for file in sorted(folder.glob("*.safetensors"))},
        benchmark=plan.benchmark,
        benchmark_sha256=plan.benchmark_sha256,
        **_describe(plan),
        licence=plan.licence,
        examples=len(learned),
        databases=len({each.database for each in learned}),
        held_out_examples=len(kept_back),
        held_out_databases=len({each.database for each in kept_back}),
        tokens=trained.tokens,
        seconds=trained.seconds,
        loss_before=trained.before,
        loss_after=trained.after,
        rank=plan.training.rank,
        strength=plan.strength,
        machine=", ".join(describe_machine().values()),
        revision=find_revision(),
        command=plan.command,
    )
    with reporter.step("Writing the adapter"):
        return await asyncio.to_thread(export_adapter, trained.best, folder, run / "adapter", facts)


async def collect_examples(
    ready: ReadyBenchmark, engine: TokenCounter, plan: TuningPlan, reporter: Reporter
) -> list[TuningExample]:
    """The prompts of the benchmark's questions, and their golds spelled as the prompts show names.

    Leaves out questions whose gold reads a table that the prompt does not show, and those whose
    gold another dialect might refuse.
    """
    benchmark = ready.benchmark
    wanted = [each for each in benchmark.examples if each.database not in benchmark.missing]
    found: dict[str, TuningExample] = {}
    async with open_parts(ready.wiring, reporter, engine=engine) as parts:
        writer = _ExampleWriter(parts, plan)
        waiting = iter(wanted)
        with reporter.step("Writing prompts") as progress:
            done = 0

            async def work() -> None:
                nonlocal done
                for example in waiting:
                    if (made := await writer.write(example)) is not None:
                        found[example.id] = made
                    done += 1
                    progress.update(done, len(wanted))

            await gather_all(work() for _ in range(_CONCURRENCY))
            progress.finish(f"{len(found)} of {len(wanted)} questions")
    return [found[example.id] for example in wanted if example.id in found]


class _ExampleWriter:
    def __init__(self, parts: LocalParts, plan: TuningPlan) -> None:
        # The prompt of a question must not contain its own answer.
        settings = override(parts.wiring.settings, ["retrieval.same_question=false"])
        parts.embedder.load()
        self._retriever = parts.build_retriever(settings)
        self._planner = parts.build_planner(settings)
        self._builder = PromptBuilder(TokenCounts(parts.engine), settings)
        self._principal = settings.identity.principal()
        self._plan = plan

    async def write(self, example: Example) -> TuningExample | None:
        question = Question(
            example.question, example.database, self._principal, k=1, seed=0, max_rows=1
        )
        _, context = await self._retriever.retrieve(question)
        tables = [hit.table for hit in context.tables]
        sql = spell_query(example.golds[0], tables, context.names, context.dialect)
        if sql is not None and self._plan.vary:
            context, sql = self._vary(question.database, context, sql)
        if sql is None:
            return None
        plan = await self._planner.plan(question, context)
        prompt, _ = await self._builder.build(question, context, plan, "standard")
        return TuningExample(
            example.id,
            example.database,
            context.dialect,
            prompt.messages,
            sql,
            held_out=is_held_out(example.database, self._plan.held_out),
        )

    def _vary(
        self, database: str, context: SchemaContext, sql: str
    ) -> tuple[SchemaContext, str | None]:
        words = list_words(hit.table for hit in context.tables)
        others = {word: _find_other_words(word) for word in words}
        variation = choose_variation(database, context.dialect, others, self._plan.training.seed)
        if variation.dialect == context.dialect and not variation.changes_names:
            return context, sql
        found = vary_context(context, variation)
        if found is None:
            return context, sql
        varied, names = found
        return varied, vary_query(sql, context.dialect, names)


@cache
def _find_other_words(word: str) -> tuple[str, ...]:
    folded = fold_plural(word)
    shorts = [short for short, long in load_names().items() if long == (folded,)]
    related = sorted(related_words(folded))
    return (*shorts, *(related if folded == word else [f"{each}s" for each in related]))


def _check_start(start: Path, rank: int) -> None:
    """Raises SettingsError if the adapter cannot be gone on from with this rank."""
    found = read_adapter_rank(start, "--start")
    if found != rank:
        raise SettingsError(
            f"--start: the adapter in {start} has rank {found}, not {rank}.",
            hint=f"Go on with --rank {found}.",
        )
    if read_adapter_scale(start, "--start") != ALPHA:
        raise SettingsError(
            f"--start: the adapter in {start} is scaled otherwise than those of `quorumsql tune`.",
            hint="Name an adapter that it made.",
        )


def _open_run(run: Path, plan: TuningPlan) -> None:
    """Creates the folder, or checks that it belongs to the same plan. Raises SettingsError."""
    file = run / _PLAN
    run.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        file.write_text(json.dumps(plan.identity(), indent=1) + "\n", "utf-8")
    elif json.loads(file.read_text("utf-8")) != plan.identity():
        raise SettingsError(
            f"{run} holds another training: other questions, another model or other options.",
            hint="Name another folder with --output, or repeat the options of that training.",
        )


def _describe(plan: TuningPlan) -> dict[str, str]:
    """What the card says of the plan."""
    measured = ", ".join(plan.apart_from)
    start = "the model as it is"
    if plan.start is not None:
        digest = hash_adapter(plan.start)
        start = f"the adapter {plan.start.name} (SHA-256 {digest}), which its own card describes"
    return {
        "apart_from": f"databases of {measured}, and questions like theirs" if measured else "none",
        "start": start,
        "varied": "other ones for most databases" if plan.vary else "as in the databases",
    }


def _describe_losses(trained: Trained) -> str:
    if trained.before is None or trained.after is None:
        return "done"
    return f"loss on held-out databases {trained.before:.3f} → {trained.after:.3f}"
