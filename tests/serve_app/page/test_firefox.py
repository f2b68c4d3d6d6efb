"""What people do on the page most, in Firefox, with the keyboard; the rest is tested in Chromium.

Firefox has another engine for scripts, styles, canvases, streams and the clipboard.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.serve_app.page import canned
from tests.serve_app.page.browser import Served
from tests.serve_app.page.fake_service import KEY
from tests.serve_app.page.firefox import FIREFOX, Firefox, open_firefox
from tests.serve_app.page.firefox_reader import FirefoxReader

LINE = "Which product line earned most last year?"
LINE_FILE = "which-product-line-earned-most-last-year"
_LUMINANCE = "(([r, g, b]) => (r + g + b) / 765)({}.match(/[0-9.]+/g).map(Number))"
PAPER = _LUMINANCE.format("getComputedStyle(document.documentElement).backgroundColor")
INK = _LUMINANCE.format("getComputedStyle(document.querySelector('.sentence')).color")


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    """Debian's Firefox."""
    if not Path(FIREFOX).exists():
        pytest.skip(f"there is no {FIREFOX}")
    with open_firefox() as firefox:
        yield firefox


@pytest.fixture
def reader(firefox: Firefox, served: Served) -> Iterator[FirefoxReader]:
    """Somebody with a keyboard; afterwards nothing may have happened that must not."""
    reader = FirefoxReader(firefox, served)
    yield reader
    faults = reader.take_faults()
    reader.close()
    assert faults == []


def _start(reader: FirefoxReader) -> None:
    reader.visit()
    reader.see(".suggestions")
    reader.leave_fields()


def test_faults_are_noted(reader: FirefoxReader) -> None:
    _start(reader)
    assert reader.take_faults() == []
    reader.evaluate("document.body.setAttribute('style', 'color: red')")
    reader.evaluate("void setTimeout(() => { throw new Error('thrown') })")
    reader.evaluate("void fetch('http://127.0.0.2:9/').catch(() => {})")
    reader.evaluate("void alert('said')")
    expected = ("policy: style-src-attr", "log: Error: thrown", "127.0.0.2", "alert")
    faults = ""
    for _ in range(100):
        faults += " ".join(reader.take_faults())
        if all(part in faults for part in expected):
            return
    raise AssertionError(faults)


def test_ask_watch_and_follow_up(reader: FirefoxReader) -> None:
    reader.service.pause_s = 0.1
    _start(reader)
    reader.type_question(LINE)
    assert "Found the tables" in reader.see(".stages .done", "Found the tables")
    assert "Trekking bikes earned most" in reader.see(".sentence")
    assert "Trekking bikes" in reader.see(".result tbody tr:first-child")
    reader.service.pause_s = 0.02
    reader.ask("And how many people work here?")
    assert reader.see(".turn.last .sentence") == "302."
    sessions = {body["session"] for _, path, body in reader.service.received if path == "/query"}
    assert len(sessions) == 1
    assert reader.evaluate("location.hash") == f"#/c/{sessions.pop()}"


def test_the_first_answer_leaves_the_window_where_it_is(reader: FirefoxReader) -> None:
    _start(reader)
    reader.evaluate(
        "void new MutationObserver((_, watcher) => {"
        "  if (!document.querySelector('.answer-foot')) return;"
        "  watcher.disconnect();"
        "  scrollTo({top: 60, behavior: 'instant'});"
        "}).observe(document.body, {childList: true, subtree: true})"
    )
    reader.ask(LINE)
    reader.wait_until("document.activeElement.matches('h1')")
    assert reader.evaluate("scrollY") >= 60


def test_stop_and_ask_again(reader: FirefoxReader) -> None:
    reader.service.pause_s = 1
    _start(reader)
    reader.type_question(LINE)
    reader.see(".stages .running")
    reader.press("Escape")
    assert "Stopped after" in reader.see(".stopped")
    reader.service.pause_s = 0.01
    reader.leave_fields()
    reader.press("r")
    reader.see(".answer")


def test_a_broken_stream_is_followed(reader: FirefoxReader) -> None:
    reader.service.pause_s, reader.service.break_after = 0.05, 5
    _start(reader)
    reader.ask(LINE)
    reader.see(".answer")
    assert len([path for _, path, _ in reader.service.received if path == "/query"]) == 1


def test_a_restart_in_the_middle(reader: FirefoxReader) -> None:
    reader.service.pause_s = 0.3
    _start(reader)
    reader.type_question(LINE)
    reader.see(".stages .done")
    reader.served.stop()
    assert "does not answer" in reader.see(".connection")
    reader.service.pause_s = 0.02
    reader.service.running.clear()
    reader.served.start()
    reader.see(".answer")
    reader.wait_until("!document.querySelector('.connection')")


def test_sort_filter_walk_and_copy(reader: FirefoxReader) -> None:
    _start(reader)
    reader.ask("all orders")
    reader.leave_fields()
    reader.tab_to(".result th:first-child button")
    reader.press("ArrowRight", "ArrowRight", "ArrowRight", "Enter")
    amounts = [float(row[3]) for row in canned.build_answer("all orders")["rows"]]
    reader.see(".result th[aria-sort=descending]", "amt")
    assert reader.list_texts(".result td.number")[1] == f"{max(amounts):,.2f}"
    reader.press("Control+End")
    reader.wait_until("document.activeElement.dataset.row === '9999'")
    assert reader.list_texts(".result td.number")[-1] == f"{min(amounts):,.2f}"
    reader.press("Enter")
    reader.see("dialog")
    reader.press("Escape")
    reader.wait_until("!document.querySelector('dialog')")
    reader.press("f")
    reader.type("株式会社")
    reader.see(".rows-head", "1,250 of 10,000 rows")
    reader.press("Tab", "Tab", "o")
    reader.press("Tab", "Tab", "Tab", "Tab", "Tab", "Tab", " ", "Escape")
    reader.wait_until("document.querySelectorAll('.result th').length === 6")
    reader.press("c")
    reader.see(".notice", "exact values")
    reader.press("f", "Control+a", "Control+v")
    pasted = reader.wait_until("document.querySelector('.filter input').value")
    assert pasted.startswith("order_id")
    assert "note" not in pasted


def test_chart(reader: FirefoxReader) -> None:
    _start(reader)
    reader.ask(LINE)
    reader.leave_fields()
    reader.press("v")
    reader.see(".chart-canvas")
    assert "Bars of earned by product line" in reader.see("figcaption")
    reader.evaluate("document.querySelector('.chart').scrollIntoView({block: 'center'})")
    left, top, width, height = reader.evaluate(
        "(({x, y, width, height}) => [x, y, width, height])"
        "(document.querySelector('.chart-canvas').getBoundingClientRect())"
    )
    shown = "document.querySelector('.chart-values:not([hidden])')?.innerText ?? ''"
    for at in range(20):
        reader.point_at(left + width * 0.25, top + height * (at + 0.5) / 20)
        if "Trekking bikes" in reader.evaluate(shown):
            break
    assert "1,284,310.50" in reader.evaluate(shown)
    reader.press("h")
    assert "Lines of earned" in reader.see("figcaption", "Lines")
    saved = reader.save("p")
    assert saved.name == f"{LINE_FILE}.png"
    assert saved.read_bytes().startswith(b"\x89PNG")
    saved = reader.save("P")
    assert saved.name == f"{LINE_FILE}.svg"
    drawn = ElementTree.fromstring(saved.read_text())
    texts = {element.text for element in drawn.iter() if element.tag.endswith("text")}
    assert {LINE, "Product line", "Earned"} <= texts
    reader.press("t", "d")
    reader.see(".menu-list button", "CSV")
    assert reader.save("Enter").name == f"{LINE_FILE}.csv"


def test_why(reader: FirefoxReader) -> None:
    _start(reader)
    reader.ask(LINE)
    reader.leave_fields()
    reader.press("w")
    assert "5 of 8 attempts came to this result" in reader.see(".account")
    reader.press("ArrowRight")
    assert "is not allowed" in reader.see(".candidates")
    assert len(reader.list_texts(".candidate")) == 6
    assert len(reader.list_texts(".candidate mark")) > 3
    reader.tab_to("button", "Show all 8")
    reader.press("Enter")
    reader.wait_until("document.querySelectorAll('.candidate').length === 8")
    for _ in range(4):
        before = reader.see("[role=tab][aria-selected=true]")
        reader.tab_to("[role=tab][aria-selected=true]")
        reader.press("ArrowRight")
        assert reader.see("[role=tabpanel]")
        assert reader.see("[role=tab][aria-selected=true]") != before


def test_correct_run_and_save(reader: FirefoxReader) -> None:
    _start(reader)
    reader.ask(LINE)
    reader.leave_fields()
    reader.press("e")
    reader.see(".editor.ready")
    reader.press("Control+End")
    reader.type(" LIMIT 3")
    reader.press("Control+Enter")
    assert "region_id IN (3, 4)" in reader.see(".run-result")
    reader.press("Escape", "Escape")
    reader.tab_to("button", "Save as the right answer")
    reader.press("Enter")
    assert "answers this question from now on" in reader.see(".changes [role=status]")
    sent = [body for _, path, body in reader.service.received if path == "/feedback"]
    assert sent[-1]["correction"].endswith("LIMIT 3")


def test_the_editor_completes_names(reader: FirefoxReader) -> None:
    _start(reader)
    reader.ask(LINE)
    reader.leave_fields()
    reader.press("e")
    reader.see(".editor.ready")
    reader.press("Control+a", "Delete")
    reader.type("SELECT x FROM sales.ord")
    editor = "document.querySelector('.editor-host').shadowRoot"
    labels = f"[...{editor}.querySelectorAll('.cm-completionLabel')]"
    reader.wait_until(f"{labels}.map((one) => one.textContent).join() === 'order_lines,orders'")
    # For a moment after the list has opened, its keys are not taken.
    chosen = "[aria-selected=true] .cm-completionLabel"
    while reader.evaluate(f"{editor}.querySelector('{chosen}')?.textContent") != "orders":
        reader.press("ArrowDown")
    reader.press("Tab", "Control+Enter")
    reader.see(".run-result .result")
    run = [body["sql"] for _, path, body in reader.service.received if path == "/run"]
    assert run[-1] == "SELECT x FROM sales.orders"


def test_pick_a_reading(reader: FirefoxReader) -> None:
    _start(reader)
    reader.ask("Who are our best customers?")
    reader.see(".reading:nth-child(2) .preview table")
    reader.leave_fields()
    reader.press("2")
    assert "You picked this reading" in reader.see(".confidence")
    asked = [body for _, path, body in reader.service.received if path == "/query"]
    assert "COUNT(*)" in asked[-1]["picked"]


def test_schema(reader: FirefoxReader) -> None:
    _start(reader)
    reader.press("g", "s")
    reader.see(".list-count", "400 tables")
    reader.tab_to(".search")
    reader.type("Orders of customers")
    reader.see(".list-count", "1 table found")
    reader.tab_to(".table-list a")
    reader.press("Enter")
    assert "order_dt" in reader.see(".columns-table")
    reader.tab_to(".node.can-open")
    reader.press("Enter")
    reader.wait_until("location.hash === '#/schema/demo_erp/hr.employees'")


def test_history(reader: FirefoxReader) -> None:
    _start(reader)
    reader.press("g", "h")
    reader.see(".conversations li")
    reader.press("j", ".")
    reader.wait_until("document.querySelectorAll('.is-on').length === 2")
    reader.press("F2")
    reader.see("form input")
    reader.type("Product lines")
    reader.press("Enter")
    reader.see(".conversation-title", "Product lines")
    reader.wait_until("document.activeElement.matches('.conversation-link')")
    reader.press("Delete")
    reader.wait_until("document.querySelectorAll('.conversations li').length === 4")
    reader.press("u")
    reader.wait_until("document.querySelectorAll('.conversations li').length === 5")
    reader.tab_to(".conversation-link", "Product lines")
    reader.press("Enter")
    assert "Trekking bikes" in reader.see(".answer")


def test_sign_in_share_and_sign_out(reader: FirefoxReader) -> None:
    reader.service.needs_sign_in = True
    reader.visit()
    reader.wait_until("document.activeElement?.id === 'key'")
    reader.type(KEY)
    reader.press("Enter")
    reader.ask(LINE)
    reader.leave_fields()
    reader.press("s")
    link = reader.wait_until(
        "/.*#.share.*/.exec(document.querySelector('dialog input')?.value)?.[0]"
    )
    reader.press("Escape", "Q")
    assert "You are signed out" in reader.see(".sign-in")
    assert "Trekking" not in reader.evaluate("document.documentElement.innerHTML")
    reader.visit(link.removeprefix(reader.served.url))
    reader.wait_until("document.activeElement?.id === 'key'")
    reader.type(KEY)
    reader.press("Enter")
    assert "region_id IN (3, 4)" in reader.see(".answer")


def test_dark_and_light(reader: FirefoxReader) -> None:
    _start(reader)
    reader.ask(LINE)
    reader.leave_fields()
    reader.press("v")
    reader.see(".chart-canvas")
    drawn = "document.querySelector('.chart-canvas').toDataURL()"
    dark = reader.evaluate(drawn)
    assert reader.evaluate(PAPER) < 0.2 < 0.8 < reader.evaluate(INK)
    reader.press("l")
    reader.wait_until(f"{PAPER} > 0.8")
    assert reader.evaluate(INK) < 0.2
    reader.wait_until(f"{drawn} !== {dark!r}")
    reader.visit()
    reader.see(".suggestions")
    assert reader.evaluate(PAPER) > 0.8
