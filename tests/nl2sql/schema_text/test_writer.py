"""A schema within the model's window: what is counted, what goes first, and what never goes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from generation.engines.chat_encoder import ChatEncoder
from generation.engines.openvino_model import OpenVinoTokenizer
from generation.models.forms import OPENVINO
from generation.models.store import ModelStore
from nl2sql.catalog import Catalog
from nl2sql.schema_text import SchemaWriter, WrittenSchema, render_schema
from nl2sql.schema_text.view import SchemaView
from nl2sql.schema_text.writer import rank_columns
from nl2sql.settings import ModelSettings
from nl2sql.types import (
    Plan,
    RetrievedTable,
    SchemaContext,
    SchemaLink,
    ValueMatch,
)
from tests.conftest import ROOT
from tests.fakes import FakeEngine, build_context, build_key, build_table
from tests.retrieval.semantics.files import REVENUE

CONTEXT = build_context()
BESIDE = ("You are an expert.", "Schema:\n\nQuestion: How many?")
ODD = Catalog(
    "odd",
    (
        build_table(
            "s.Größe der 🚲",
            "id bigint",
            'a"b text -- „quoted“ 注释',
            "  two  spaces text",
            "日本語 numeric(12,2)",
            "x\ty text",
            *(f"Column {number} varchar(20) -- the {number}th thing" for number in range(200)),
            key=("id",),
            comment="line\nbreaks",
        ),
        build_table("s.plain", "id integer", "note text", key=("id",)),
    ),
    search_path=("s",),
)


async def write(
    engine: FakeEngine,
    context: SchemaContext = CONTEXT,
    *,
    window: int = 6144,
    plan: Plan | None = None,
    beside: tuple[str, ...] = BESIDE,
) -> WrittenSchema:
    return await SchemaWriter(engine, ModelSettings(max_model_len=window)).write(
        context, beside=beside, answer_tokens=100, plan=plan
    )


async def test_what_surely_fits_costs_no_call() -> None:
    engine = FakeEngine()
    assert await write(engine) == WrittenSchema(render_schema(CONTEXT))
    assert engine.counted == []


async def test_what_may_not_fit_is_counted_in_one_call_and_shown_whole_where_it_does() -> None:
    engine = FakeEngine()
    assert await write(engine, window=1024) == WrittenSchema(render_schema(CONTEXT))
    assert len(engine.counted) == 1
    assert set(BESIDE) <= set(engine.counted[0])


async def test_what_does_not_fit_is_left_out_and_named() -> None:
    context = build_context(ODD)
    written = await write(FakeEngine(), context, window=640)
    assert written.left_out
    assert all(name.startswith("s.Größe der 🚲.Column ") for name in written.left_out)
    for name in written.left_out:
        assert f'"{name.rpartition(".")[2]}"' not in written.text
    assert (written.text.count('"Column ')) == 200 - len(written.left_out)


async def test_a_key_to_a_table_that_is_left_out_is_not_shown() -> None:
    context = build_context(tables=("sales.orders", "stock.products", "sales.customers"))
    long = ("x" * 4 * 330,)
    written = await write(FakeEngine(), context, window=512, beside=long)
    assert "sales.customers" in written.left_out
    assert "customers" not in written.text.replace("What customers ordered", "")
    assert "REFERENCES" not in written.text


async def test_no_room_at_all_leaves_the_keys_and_links_of_the_best_table() -> None:
    context = build_context(tables=("sales.orders", "sales.customers", "stock.products"))
    plan = Plan((SchemaLink("spent", "sales.orders", "total", 1.0),))
    written = await write(FakeEngine(), context, window=512, beside=("x" * 4000,), plan=plan)
    names = [line.split()[0] for line in written.text.splitlines()[1:-1]]
    assert names == ["id", "customer_id", "total"]
    assert written.left_out[-2:] == ("stock.products", "sales.customers")


async def test_tables_of_definitions_are_never_left_out() -> None:
    tables = ("sales.orders", "sales.customers", "sales.order_lines", "stock.products")
    context = build_context(tables=tables, definitions=(REVENUE,))
    written = await write(FakeEngine(), context, window=512, beside=("x" * 4000,))
    assert {"sales.customers", "stock.products"} <= set(written.left_out)
    assert {"sales.order_lines", "sales.order_lines.price"}.isdisjoint(written.left_out)
    bare = replace(context, definitions=())
    assert (
        "sales.order_lines"
        in (await write(FakeEngine(), bare, window=512, beside=("x" * 4000,))).left_out
    )


async def test_two_questions_share_the_schema_byte_for_byte_even_when_it_is_cut() -> None:
    texts = [
        (await write(FakeEngine(), build_context(ODD), window=1024, beside=(words,))).text
        for words in ("Which one?", "How far?")
    ]
    assert texts[0] == texts[1]


# -- the real tokenizer --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real() -> RealTokens:
    """The default model's own tokenizer."""
    folder = ModelStore(ROOT / ".quorumsql" / "models", OPENVINO).find(
        "qwen2.5-coder-0.5b-instruct"
    )
    assert folder is not None, "run `make weights` first"
    return RealTokens(ChatEncoder(OpenVinoTokenizer(folder)))


class RealTokens(FakeEngine):
    """Counts as the default model does."""

    def __init__(self, chat: ChatEncoder) -> None:
        super().__init__()
        self._chat = chat

    def count(self, text: str) -> int:
        return self._chat.count(text)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(self.count(text) for text in texts)


@pytest.mark.model
async def test_the_whole_prompt_keeps_to_the_window_and_uses_it(real: RealTokens) -> None:
    lengths = []
    for window in range(512, 4096, 512):
        written = await write(real, build_context(ODD), window=window)
        chat = (
            f"<|im_start|>system\n{BESIDE[0]}<|im_end|>\n<|im_start|>user\nSchema:\n{written.text}\n"
            "\nQuestion: How many?<|im_end|>\n<|im_start|>assistant\n```sql\n"
        )
        tokens = real.count(chat)
        assert tokens <= window - 100
        if written.left_out:
            # What is left free: the reserve for the chat's marks, and less than one column.
            assert tokens >= window - 100 - 80
        lengths.append(len(written.text))
    assert all(one <= other for one, other in pairwise(lengths))


WIDE = build_table("s.wide", *(f"c{number} integer" for number in range(1, 41)), key=("c30",))
SMALL = build_table("s.small", "id integer", "name text", "note text", key=("id",))
CATALOG = Catalog("shop", (WIDE, SMALL), (build_key("s.wide(c20)", "s.small(id)"),), ("s",))


def test_keys_links_values_and_found_columns_never_go() -> None:
    context = build_context(
        CATALOG, ("s.wide", "s.small"), values=(ValueMatch("x", "s.wide", "c12", "X", 1.0),)
    )
    found = RetrievedTable(WIDE, 1.0, columns=("c13",))
    context = replace(context, tables=(found, *context.tables[1:]))
    plan = Plan((SchemaLink("eleven", "s.wide", "c11", 1.0),))
    order = rank_columns(SchemaView(context), plan)
    kept = {f"c{number}" for number in range(1, 41)} - {
        name.removeprefix("s.wide.") for name in order
    }
    # The first, the link, the value, what was found, the foreign key, the primary key.
    assert kept == {"c1", "c11", "c12", "c13", "c20", "c30"}
    assert "s.small.id" not in order
