"""Feedback of a file is verified and given again in its order; what was said since counts more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nl2sql.errors import SettingsError
from nl2sql.types import Feedback, Principal
from retrieval.examples.feedback import FeedbackRecorder
from retrieval.examples.feedback_files import read_feedback, write_feedback
from retrieval.examples.feedback_import import import_feedback
from retrieval.examples.importing import ImportReport
from retrieval.index_store.feedback_note import FeedbackNote
from retrieval.index_store.verified_example import build_access_key
from tests.retrieval.examples.conftest import Shop

ANN = Principal("ann", ("clerk",), (("country", "DE"),))
QUESTION = "How many orders are there?"
SQL = "SELECT count(*) FROM orders"
BETTER = "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id"
START = datetime(2026, 1, 1, tzinfo=UTC)


def note(day: int, *, right: bool, sql: str = SQL, correction: str = "") -> FeedbackNote:
    at = START + timedelta(days=day)
    key = build_access_key(ANN)
    return FeedbackNote("shop", QUESTION, sql, right, correction, "ann", key, "recorded", at)


def build_recorder(shop: Shop) -> FeedbackRecorder:
    return FeedbackRecorder(shop.examples, shop.verifier(), shop.embedder, {"shop": "postgres"})


async def bring_in(shop: Shop, *notes: FeedbackNote) -> ImportReport:
    return await import_feedback(
        "shop", notes, ANN, store=shop.examples, recorder=build_recorder(shop)
    )


async def list_queries(shop: Shop) -> list[str]:
    return [example.sql for example in await shop.examples.list_examples("shop")]


@pytest.mark.parametrize(
    ("notes", "examples"),
    [
        ([note(1, right=True)], [SQL]),
        ([note(1, right=True), note(2, right=False)], []),
        ([note(2, right=False), note(1, right=True)], []),
        ([note(1, right=False), note(2, right=True)], [SQL]),
        ([note(2, right=False, correction=BETTER), note(1, right=True)], [BETTER]),
    ],
    ids=["right", "taken back", "taken back, lines in another order", "right after all", "better"],
)
async def test_examples_are_what_they_were(
    shop: Shop, notes: list[FeedbackNote], examples: list[str]
) -> None:
    assert await bring_in(shop, *notes) == ImportReport(len(notes), 0, ())
    assert await list_queries(shop) == examples
    in_order = tuple(sorted(notes, key=lambda note: note.given_at))
    assert await shop.examples.list_feedback("shop") == in_order
    assert await bring_in(shop, *notes) == ImportReport(0, len(notes), ())
    assert await list_queries(shop) == examples


async def test_an_example_belongs_to_who_gave_it(shop: Shop) -> None:
    await bring_in(shop, note(1, right=True))
    [example] = await shop.examples.list_examples("shop")
    assert (example.source, example.given_by, example.access) == (
        "feedback",
        "ann",
        build_access_key(ANN),
    )
    assert example.created_at == START + timedelta(days=1)


async def test_what_was_said_here_since_counts_more(shop: Shop) -> None:
    await build_recorder(shop).take_feedback(Feedback("shop", QUESTION, SQL, True, ANN))
    old = note(1, right=False, correction=BETTER)
    assert await bring_in(shop, old) == ImportReport(1, 0, ())
    assert await list_queries(shop) == [SQL]
    assert (await shop.examples.list_feedback("shop"))[0] == old


@pytest.mark.parametrize("said_since", [False, True])
async def test_what_may_not_be_run_is_left_out(shop: Shop, said_since: bool) -> None:
    if said_since:
        await build_recorder(shop).take_feedback(Feedback("shop", QUESTION, SQL, True, ANN))
    before = await shop.examples.list_feedback("shop")
    report = await bring_in(shop, note(1, right=True, sql="SELECT name FROM employees"))
    [left_out] = report.left_out
    assert (report.stored, left_out.number, left_out.question) == (0, 1, QUESTION)
    assert "employees" in left_out.reason
    assert await shop.examples.list_feedback("shop") == before


def test_what_was_written_reads_back(tmp_path: Path) -> None:
    notes = (note(1, right=True, sql="SELECT 'ß\u2028'"), note(2, right=False, correction=BETTER))
    write_feedback(tmp_path / "new" / "said.jsonl", notes)
    assert read_feedback(tmp_path / "new" / "said.jsonl", "shop") == notes


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"right"', '"maybe"', "verdict"),
        ('"right"', '"right", "correction": "SELECT 1"', "needs no correction"),
        (build_access_key(ANN), "", "access"),
        ("+00:00", "", "given_at"),
        (SQL, "SELECT \\u0000", "null character"),
        ('"recorded"', '"refused"', "outcome"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    path = tmp_path / "said.jsonl"
    write_feedback(path, [note(1, right=True)])
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(SettingsError, match=rf"said\.jsonl, line 1: .*{said}"):
        read_feedback(path, "shop")
