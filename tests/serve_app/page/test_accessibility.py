"""What axe-core finds in the page, in each view and colour scheme; and its narrowest width."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.serve_app.page.browser import Reader

AXE = Path(__file__).parents[3] / "serve_app/page/vendor/node_modules/axe-core/axe.min.js"
LINE = "Which product line earned most last year?"


def _ask(*pressed: str, see: str = "", question: str = LINE) -> Callable[[Reader], None]:
    def open_(reader: Reader) -> None:
        reader.ask(question)
        for selector in pressed:
            reader.page.click(selector)
        if see:
            reader.see(see)

    return open_


def _open_tab(name: str) -> Callable[[Reader], None]:
    return _ask("text=Why this answer", f".why .segments button:has-text('{name}')")


def _correct(reader: Reader) -> None:
    reader.ask(LINE)
    reader.page.click(".answer-foot button:has-text('SQL')")
    reader.see(".editor.ready")
    reader.page.keyboard.type(" ")
    reader.page.keyboard.press("Control+Enter")
    reader.see(".run-result table")


def _visit(name: str, selector: str) -> Callable[[Reader], None]:
    def open_(reader: Reader) -> None:
        reader.visit(f"#/{name}")
        reader.see(selector)

    return open_


def _sign_in(reader: Reader) -> None:
    reader.service.needs_sign_in = True
    reader.page.reload()
    reader.see("#key")


VIEWS: dict[str, Callable[[Reader], Any]] = {
    "start": lambda reader: reader.see(".suggestions"),
    "answer": _ask(".confidence button"),
    "orders": _ask(question="all orders"),
    "chart": _ask("button:has-text('Chart')", see=".chart-canvas"),
    "clarify": _ask(question="Who are our best customers?", see=".preview table"),
    "refused": _ask(question="What is the weather?"),
    "failed": _ask(question="Something impossible"),
    "summary": _open_tab("In short"),
    "candidates": _open_tab("Queries tried"),
    "found": _open_tab("Data found"),
    "joins": _open_tab("Joins"),
    "prompt": _open_tab("Told to the model"),
    "time": _open_tab("Time"),
    "correct": _correct,
    "table": _visit("schema/demo_erp/sales.orders", ".columns-table"),
    "definitions": _visit("schema/demo_erp/:definitions", ".definition"),
    "history": _visit("history", ".conversations li"),
    "conversation": _visit("c/c0", ".answer"),
    "account": _visit("me", ".limits"),
    "review": _visit("review", ".review-entry"),
    "sign-in": _sign_in,
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_accessible_in_both_schemes_and_on_a_phone(reader: Reader, name: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not installed: npm ci in serve_app/page/vendor")
    reader.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    reader.visit()
    reader.see("#question")
    VIEWS[name](reader)
    reader.page.evaluate(AXE.read_text())
    for scheme in ("light", "dark"):
        reader.page.emulate_media(color_scheme=scheme)
        reader.page.wait_for_timeout(150)
        found = reader.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [
            f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]
        assert serious == []
    reader.page.set_viewport_size({"width": 360, "height": 780})
    reader.page.wait_for_timeout(150)
    assert reader.page.evaluate("document.documentElement.scrollWidth") == 360
