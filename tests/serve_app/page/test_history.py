"""The history is up to date, and rows of earlier answers are read as they come into sight."""

from __future__ import annotations

from tests.serve_app.page.browser import Reader
from tests.serve_app.page.canned import build_conversation

LINE = "Which product line earned most last year?"
TURNS = 9


def _count_runs(reader: Reader) -> int:
    return sum(path == "/run" for _, path, _ in reader.service.received)


def _list_titles(reader: Reader) -> list[str]:
    titles: list[str] = reader.page.locator(".conversation-title").all_inner_texts()
    return titles


def _open_a_long_conversation(reader: Reader) -> None:
    questions = [(f"Question {number}?", "answered") for number in range(1, TURNS + 1)]
    reader.service.conversations.append(
        build_conversation("long", "Long", "2026-11-24T09:00:00Z", questions)
    )
    reader.visit("#/c/long")
    reader.see(".turn.last h2")


def test_a_new_question_is_in_the_list_without_a_reload(reader: Reader) -> None:
    reader.visit("#/history")
    reader.see(".conversations li")
    reader.page.click(".side .new")
    reader.ask("How many orders are open?")
    reader.page.click(".nav-link:has-text('History')")
    reader.see(".conversations li")
    assert _list_titles(reader)[0] == "How many orders are open?"
    reader.visit("#/c/c0")
    assert "Trekking bikes" in reader.see(".answer").inner_text()
    reader.ask("And in May?")
    asked = [body for _, path, body in reader.service.received if path == "/query"]
    assert asked[-1]["session"] == "c0"


def test_rows_are_read_as_they_come_into_sight(reader: Reader) -> None:
    reader.service.run_pause_s = 0.2
    _open_a_long_conversation(reader)
    reader.page.locator(".turn.last .result").wait_for()
    reader.page.wait_for_timeout(1200)
    assert 1 <= _count_runs(reader) < TURNS
    for number in range(TURNS):
        reader.page.locator(".turn").nth(number).scroll_into_view_if_needed()
        reader.page.locator(".turn").nth(number).locator(".result").wait_for()
    # Each once, however often it is seen, and also after another view.
    reader.page.click(".nav-link:has-text('Data')")
    reader.see(".table-list")
    reader.page.click(".nav-link:has-text('Conversation')")
    reader.page.locator(".turn.last .result").wait_for()
    reader.page.wait_for_timeout(600)
    assert _count_runs(reader) == TURNS
