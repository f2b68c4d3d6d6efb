"""Runs the variants of retrieval over a benchmark. Loads no language model.

One ranking alone, both fused, with foreign keys, and everything: each variant switches off some
settings of the user; all other settings apply to all. Connects ``evaluation.retrieval`` with the
parts that this folder builds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from evaluation.retrieval.measures import RetrievalFigures, summarize
from evaluation.retrieval.runner import run_retrieval
from evaluation.retrieval.search import SearchSystem
from nl2sql.errors import SettingsError
from serve_app.composition.local import open_parts
from serve_app.operations.benchmarks import ReadyBenchmark
from serve_app.operations.variants import override
from serve_app.reporting import Reporter
from serve_app.settings import Settings

_NO_ROUTER = "flags.module_router=false"
_NO_VALUES = "flags.value_index=false"
_NO_NAMES = "flags.named_tables=false"
_NO_EXPANSION = "retrieval.fk_expansion_limit=0"

VARIANTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "cosine": ("flags.bm25=false", _NO_ROUTER, _NO_VALUES, _NO_NAMES, _NO_EXPANSION),
        "bm25": ("flags.cosine=false", _NO_ROUTER, _NO_VALUES, _NO_NAMES, _NO_EXPANSION),
        "rrf": (_NO_ROUTER, _NO_VALUES, _NO_NAMES, _NO_EXPANSION),
        "rrf+fk": (_NO_ROUTER, _NO_VALUES, _NO_NAMES),
        "full": (),
    }
)
"""Name → overrides of the settings."""


def choose_variants(settings: Settings, names: Sequence[str] = ()) -> dict[str, Settings]:
    """The settings of each named variant, in the order of ``VARIANTS``; no names mean all.

    Raises SettingsError for an unknown name.
    """
    if unknown := [name for name in names if name not in VARIANTS]:
        raise SettingsError(
            f"There is no variant {', '.join(unknown)}.", hint=f"There are: {', '.join(VARIANTS)}."
        )
    return {
        name: override(settings, changes)
        for name, changes in VARIANTS.items()
        if not names or name in names
    }


async def measure_retrieval(
    ready: ReadyBenchmark,
    variants: Mapping[str, Settings],
    reporter: Reporter,
    *,
    evidence: bool = False,
) -> RetrievalFigures:
    """The figures of all questions on all variants.

    The settings of ``variants`` must know the benchmark's databases. Raises SettingsError,
    Unavailable.
    """
    no_engine: Any = object()  # in place of a model, which is not called
    async with open_parts(ready.wiring, reporter, engine=no_engine) as parts:
        systems = {
            name: SearchSystem(stages.retriever, stages.planner)
            for name, settings in variants.items()
            if (stages := parts.build_stages(settings))
        }
        with reporter.step(f"{ready.benchmark.name} retrieval") as step:
            records = await run_retrieval(
                ready.benchmark,
                systems,
                parts.store,
                ready.wiring.settings.identity.principal(),
                evidence=evidence,
                progress=step.update,
                source_of=ready.wiring.settings.source_of,
            )
    return summarize(records)
