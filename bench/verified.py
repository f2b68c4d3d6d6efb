"""Measures when verified queries with parameters answer: paraphrases found, and wrong uses.

    python -m bench.verified

``data/benchmarks/verified/queries.jsonl`` are twenty queries over the demo as ``examples import``
reads them, ``questions.jsonl`` their paraphrases with the values that they give, and near misses,
which no query may answer. The rules were made on every second query (``look``).
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from nl2sql.types import Question, Violation
from retrieval.examples.pairs import read_pairs
from retrieval.examples.selector import ExampleSelector
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.value_store import ValueStore
from retrieval.values.dictionary import ValueMemory
from retrieval.values.search import IndexedValueSearch
from serve_app.composition.examples import add_examples
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import prepare
from serve_app.reporting import SilentReporter
from serve_app.settings import parse_settings
from tests.demo import MODULES

FOLDER = Path(__file__).parents[1] / "data" / "benchmarks" / "verified"
DATABASE = "demo_erp"
PAIRS = read_pairs(FOLDER / "queries.jsonl")
TITLES = [pair.title for pair in PAIRS]
HALVES = {"look": TITLES[::2], "hold": TITLES[1::2]}


@dataclass(frozen=True)
class Figures:
    """Of the questions of a half: the paraphrases, those found, all questions, wrong uses."""

    paraphrases: int
    found: int
    questions: int
    wrong: tuple[str, ...]


async def measure(wiring: Wiring, titles: Collection[str]) -> Figures:
    """Imports all queries, and asks the questions that were written for those of ``titles``."""
    lines = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [each for each in map(json.loads, lines) if each["title"] in titles]
    principal = wiring.settings.identity.principal()
    report = await add_examples(wiring, DATABASE, PAIRS, principal, SilentReporter())
    assert not report.left_out, report.left_out
    store, executor = wiring.build_index_store(), wiring.build_executor()
    try:
        guard = wiring.build_guard(store)
        memory = ValueMemory(ValueStore(store))
        values = IndexedValueSearch(memory, guard, guard, executor)
        embedder = wiring.models.build_embedder()
        search = ExampleSelector(store, embedder, guard, guard, wiring.settings.retrieval)
        catalog = await guard.visible_catalog(DATABASE, principal)
        assert not isinstance(catalog, Violation)
        found, wrong = 0, []
        for each in asked:
            question = Question(each["question"], DATABASE, principal, k=1, seed=0, max_rows=1)
            verified = await search.find_verified(question, catalog, values)
            if verified is None:
                continue
            wanted = each.get("values")
            given = {name: _read(value) for name, value in verified.parameters}
            if verified.title == each["title"] and wanted is not None and given == _all(wanted):
                found += 1
            else:
                wrong.append(f"{question.text} → {verified.label}")
        stored = ExampleStore(store)
        titled = [each.id for each in await stored.list_examples(DATABASE) if each.title]
        await stored.remove(DATABASE, titled)
    finally:
        await asyncio.gather(executor.close(), store.close())
    return Figures(sum("values" in each for each in asked), found, len(asked), tuple(wrong))


def _all(values: dict[str, Any]) -> dict[str, object]:
    return {name: _read(str(value)) for name, value in values.items()}


def _read(value: str) -> object:
    try:
        return Decimal(value)
    except InvalidOperation:
        return value


async def _main() -> None:
    embedded = {"url": "embedded"}
    with tempfile.TemporaryDirectory(prefix="quorumsql-") as home:
        demo = {"demo": True, "reader": embedded, "indexer": embedded, "schemas": list(MODULES)}
        settings = parse_settings({"home": home, "databases": {DATABASE: demo}})
        wiring = await prepare(settings, SilentReporter(), databases=[DATABASE])
        for half, titles in HALVES.items():
            figures = await measure(wiring, titles)
            print(
                f"{half}: {figures.found} of {figures.paraphrases} paraphrases found,"
                f" {len(figures.wrong)} of {figures.questions} questions wrongly answered"
            )
            print("\n".join(figures.wrong))


if __name__ == "__main__":
    asyncio.run(_main())
