"""What people do on the page, each with a mouse and with the keyboard alone."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.serve_app.page import canned
from tests.serve_app.page.browser import Reader
from tests.serve_app.page.canned_data import PERSON
from tests.serve_app.page.fake_service import KEY

LINE = "Which product line earned most last year?"
LINE_FILE = "which-product-line-earned-most-last-year"


def _start(reader: Reader) -> None:
    reader.visit()
    reader.see(".suggestions")
    reader.leave_fields()


def test_ask_watch_and_follow_up(either: Reader) -> None:
    either.service.pause_s = 0.15
    _start(either)
    either.type_question(LINE)
    either.see(".stages .done:has-text('Found the tables')")
    assert either.page.locator(".stage-time").count() > 1
    assert "Trekking bikes earned most" in either.see(".sentence").inner_text()
    either.ask("And how many people work here?")
    assert either.see(".sentence").inner_text() == "302."
    sessions = {body["session"] for _, path, body in either.service.received if path == "/query"}
    assert len(sessions) == 1
    assert either.page.url.endswith(f"#/c/{sessions.pop()}")


def test_stop_at_any_moment_and_ask_again(either: Reader) -> None:
    either.service.pause_s = 1
    _start(either)
    either.type_question(LINE)
    either.see(".stages .running")
    assert either.page.locator("button:has-text('Stop')").count() == 1
    either.do("Escape", "button:has-text('Stop')")
    assert "Stopped after" in either.see(".stopped").inner_text()
    either.service.pause_s = 0.01
    if either.hand == "keyboard":
        either.leave_fields()
    either.do("r", ".stopped button")
    either.see(".answer")


def test_a_stage_of_unknown_length_shows_that_it_goes_on(reader: Reader) -> None:
    reader.service.pause_s = 1
    _start(reader)
    reader.type_question(LINE)
    bar = reader.see(".stages .running .bar.unknown > span")
    moves = "(element) => element.getAnimations().length > 0"
    assert bar.evaluate(moves)
    reader.wait_until(r"/^[1-9]\d* s$/.test(document.querySelector('[role=timer]').innerText)")
    reader.page.emulate_media(reduced_motion="reduce")
    assert not reader.see(".stages .running .bar > span").evaluate(moves)
    reader.service.pause_s = 0.01
    reader.see(".answer")


def test_pick_a_suggestion(either: Reader) -> None:
    _start(either)
    either.do("1", ".suggestions li:first-child button")
    assert "Trekking bikes" in either.see(".sentence").inner_text()


def test_pick_a_reading(either: Reader) -> None:
    _start(either)
    either.ask("Who are our best customers?")
    previews = either.page.locator(".reading .preview table")
    assert [previews.nth(at).locator("tbody tr").count() for at in range(2)] == [12, 3]
    assert "I am not sure" in either.see(".clarify").inner_text()
    assert not [path for _, path, _ in either.service.received if path == "/run"]
    either.leave_fields()
    either.do("2", ".reading:nth-child(2) .button.primary")
    assert "You picked this reading" in either.see(".confidence").inner_text()
    assert either.page.locator(".confidence .meter .on").count() == 0
    asked = [body for _, path, body in either.service.received if path == "/query"]
    assert "COUNT(*)" in asked[-1]["picked"]


def test_one_reading_is_offered_and_nothing_is_asked(either: Reader) -> None:
    either.service.answer = lambda question: (
        (answer := canned.build_answer(question))
        | {"interpretations": [answer["interpretations"][0] | {"share": 0.0}]}
    )
    _start(either)
    either.ask("Who are our best customers?")
    text = either.see(".clarify").inner_text()
    assert "I am not sure enough to answer." in text
    assert "the nearest reading found" in text.lower()
    assert "A variation of what was written." in text
    assert "Which of these" not in text
    assert "%" not in text
    either.service.answer = canned.build_answer
    either.leave_fields()
    either.do("1", ".reading .button.primary")
    assert "You picked this reading" in either.see(".confidence").inner_text()


def test_a_reading_of_attempts_stands_before_a_variation(either: Reader) -> None:
    def answer(question: str) -> dict[str, Any]:
        answer = canned.build_answer(question)
        first, second = answer["interpretations"]
        return answer | {"interpretations": [second | {"share": 0.0}, first]}

    either.service.answer = answer
    _start(either)
    either.ask("Who are our best customers?")
    assert "50% of the attempts" in either.see(".reading:nth-child(1)").inner_text()
    assert "Ranked first" not in either.see(".clarify").inner_text()
    either.leave_fields()
    either.do("1", ".reading:nth-child(1) .button.primary")
    either.see(".confidence")
    asked = [body for _, path, body in either.service.received if path == "/query"]
    assert "SUM(amt)" in asked[-1]["picked"]


def test_sort_filter_choose_columns_and_copy(reader: Reader) -> None:
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _start(reader)
    reader.ask("all orders")
    assert reader.page.locator(".result tbody tr").count() < 80
    reader.page.click(".result th button:has-text('amt')")
    amounts = [row[3] for row in canned.build_answer("all orders")["rows"]]
    highest = f"{max(map(float, amounts)):,.2f}"
    assert reader.page.locator(".result td.number").nth(1).inner_text() == highest
    reader.leave_fields()
    reader.page.keyboard.press("f")
    reader.page.keyboard.type("株式会社")
    reader.see("text=1,250 of 10,000 rows")
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("o")
    reader.page.locator(".checks label:has-text('note')").click()
    reader.page.keyboard.press("Escape")
    reader.wait_until("document.querySelectorAll('.result th').length === 6")
    reader.page.keyboard.press("c")
    reader.see("text=exact values")
    lines = reader.page.evaluate("navigator.clipboard.readText()").split("\n")
    assert lines[0].split("\t") == ["order_id", "customer", "order_dt", "amt", "status", "is_paid"]
    assert re.fullmatch(r"\d{6}\t.+\t2025-\d\d-\d\d\t\d+\.\d\d\t\w+\t(true|false)", lines[1])


def test_walk_through_cells(reader: Reader) -> None:
    _start(reader)
    reader.ask("all orders")
    reader.page.locator(".result th button").first.focus()
    for key in ("ArrowDown", "ArrowRight", "Control+End"):
        reader.page.keyboard.press(key)
    focused = reader.page.locator("td:focus")
    focused.wait_for()
    reader.wait_until("document.activeElement.dataset.row === '9999'")
    assert focused.get_attribute("data-row") == "9999"
    reader.page.keyboard.press("Enter")
    assert "Ōkubo 株式会社" in reader.see("dialog").inner_text()
    reader.page.keyboard.press("Escape")
    reader.page.wait_for_selector("dialog", state="detached")


def test_chart_changed_and_saved(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("v", ".segments button:has-text('Chart')")
    either.see(".chart-canvas")
    assert "Bars of earned by product line" in either.see("figcaption").inner_text()
    either.do("h", ".chart .segments button:has-text('Lines')")
    assert "Lines of earned" in either.see("figcaption").inner_text()
    for kind, key in (("png", "p"), ("svg", "Shift+P")):
        with either.page.expect_download() as saved:
            either.do(key, f"button:has-text('{kind.upper()}')")
        assert saved.value.suggested_filename == f"{LINE_FILE}.{kind}"
    drawn = ElementTree.fromstring(saved.value.path().read_text())
    texts = [element.text for element in drawn.iter() if element.tag.endswith("text")]
    assert {LINE, "Product line", "Earned"} <= {*texts}


def test_long_names_have_bars_of_their_own(reader: Reader) -> None:
    answer = canned.build_answer(LINE)
    rows = [[f"{'A name that begins as the others do ' * 3}{at}", at * 10 + 10] for at in range(8)]
    columns = [
        {"name": "a column with a name that fills the axis" * 3, "type": "text"},
        {"name": "another column with a name that fills the axis" * 3, "type": "int8"},
    ]
    reader.service.answer = lambda _: answer | {"rows": rows, "columns": columns}
    _start(reader)
    reader.ask(LINE)
    reader.page.click(".segments button:has-text('Chart')")
    reader.point_at_chart("80")
    with reader.page.expect_download() as saved:
        reader.page.click("button:has-text('SVG')")
    drawn = ElementTree.fromstring(saved.value.path().read_text())
    texts = [element.text or "" for element in drawn.iter() if element.tag.endswith("text")]
    assert len([text for text in texts if text.startswith("A name that begins")]) == 8
    assert "80" in texts
    assert "160" not in texts


def test_values_under_the_pointer(reader: Reader) -> None:
    _start(reader)
    reader.ask(LINE)
    reader.page.click(".segments button:has-text('Chart')")
    for kind, value in (
        ("Bars", "Trekking bikes"),
        ("Lines", "City bikes"),
        ("Distribution", "Rows"),
    ):
        reader.page.click(f".chart .segments button:has-text('{kind}')")
        reader.see(f"figcaption:has-text('{kind}')")
        reader.point_at_chart(value)
        reader.page.mouse.move(0, 0)
        reader.wait_until("document.querySelector('.chart-values').hidden")


def test_download(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("d", "button:has-text('Download')")
    either.see(".menu-list button:has-text('CSV')")
    with either.page.expect_download() as saved:
        either.do("Enter", ".menu-list button:has-text('CSV')")
    assert saved.value.suggested_filename == f"{LINE_FILE}.csv"
    asked = [body for _, path, body in either.service.received if path == "/run"]
    assert asked[-1]["spreadsheet_safe"] is True


def test_why(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("w", "text=Why this answer")
    account = either.see(".account").inner_text()
    assert "5 of 8 attempts came to this result; 2 came to 2 other results; 1 gave no" in account
    # What is counted by origin adds up to the candidates: 5 written, 1 derived, 2 mended.
    assert "asked 8 times and wrote 5 different queries; 1 variation of what it wrote" in account
    assert "mending what failed gave 2 more queries. See all 8 queries" in account
    if either.hand == "keyboard":
        either.page.keyboard.press("ArrowRight")
    else:
        either.page.click("[role=tab]:has-text('Queries tried')")
    assert either.page.locator(".candidate").count() == 6
    assert "is not allowed" in either.see(".candidates").inner_text()
    assert either.page.locator(".candidate mark").count() > 3
    either.press("button:has-text('Show all 8')")
    assert either.page.locator(".candidate h4").all_inner_texts() == [
        "Chosen: Result A",
        "Result A",
        "Result B",
        "Result C",
        "Uses a function that is not allowed",
        "Failed in the database",
        "Result D",
        "Names something that does not exist",
    ]


def test_nothing_is_called_chosen_where_it_is_asked_back(reader: Reader) -> None:
    _start(reader)
    reader.ask("Who are our best customers?")
    reader.page.click("button:has-text('Why')")
    assert "Of the query that ranks first: 5 of 8" in reader.see(".account").inner_text()
    reader.page.click("[role=tab]:has-text('Queries tried')")
    assert reader.page.locator(".candidate h4").first.inner_text() == "Ranked first: Result A"


def test_correct_run_and_save(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("e", ".answer-foot button:has-text('SQL')")
    either.see(".editor.ready")
    either.page.keyboard.press("Control+End")
    either.page.keyboard.type(" LIMIT 3")
    either.page.keyboard.press("Escape")
    either.page.keyboard.press("Escape")
    if either.hand == "mouse":
        either.page.click(".correct .button.primary:has-text('Run')")
    else:
        either.page.keyboard.press("Shift+Tab")
        either.page.locator(".correct button:has-text('Run')").focus()
        either.page.keyboard.press("Enter")
    assert "region_id IN (3, 4)" in either.see(".run-result").inner_text()
    assert "LIMIT 3" in re.sub(r"\s+", " ", either.see(".changes").inner_text())
    either.page.locator("button:has-text('Save as the right answer')").focus()
    either.page.keyboard.press("Enter")
    assert "answers this question from now on" in either.see(".changes [role=status]").inner_text()
    sent = [body for _, path, body in either.service.received if path == "/feedback"]
    assert sent[-1]["correction"].endswith("LIMIT 3")


def _save_a_correction(reader: Reader) -> None:
    reader.see(".editor.ready")
    reader.page.keyboard.press("Control+End")
    reader.page.keyboard.type(" LIMIT 3")
    reader.page.keyboard.press("Control+Enter")
    reader.see(".run-result")
    reader.page.keyboard.press("Escape")
    reader.page.keyboard.press("Escape")
    reader.press("button:has-text('Save as the right answer')")
    reader.see(".saved")


def test_a_saved_correction_is_taken_back(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("e", ".answer-foot button:has-text('SQL')")
    _save_a_correction(either)
    assert list(either.service.given) == ["f0"]
    either.do("u", ".saved button:has-text('Undo')")
    either.see("text=Taken back")
    assert either.service.given == {}
    # It can be saved again.
    either.see("button:has-text('Save as the right answer'):not(:disabled)")
    assert either.page.locator(".saved, .feedback-message").count() == 0


def test_a_corrected_question_is_answered_by_the_correction(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("e", ".answer-foot button:has-text('SQL')")
    _save_a_correction(either)
    either.do("r", ".saved button:has-text('Show the corrected answer')")
    either.see(".confidence strong:has-text('Confirmed')")
    either.see("text=Ana Lima gave this query as the right one for this question on")
    assert either.page.locator(".turn").count() == 1
    either.do("w", ".answer-foot button:has-text('Why this answer')")
    either.see("text=A person gave the query")
    assert either.page.locator("text=Queries were written").count() == 0


def test_an_answer_is_told_in_words_from_its_query(reader: Reader) -> None:
    _start(reader)
    reader.ask(LINE)
    words = reader.page.locator(".reading-of").inner_text()
    assert words.startswith(
        "This shows the sum of order_lines.amt for each product_categories.name; of"
    )
    assert "JOIN" not in words


def test_a_reopened_answer_says_how_sure_it_was(reader: Reader) -> None:
    _start(reader)
    reader.visit("#/c/c1")
    reader.see(".confidence strong:has-text('Probably right')")
    reader.page.locator(".confidence > button").last.click()
    reader.see("text=That was when it was asked")


def test_a_correction_that_is_not_taken_back_stays_saved(reader: Reader) -> None:
    _start(reader)
    reader.ask(LINE)
    reader.page.click(".answer-foot button:has-text('SQL')")
    _save_a_correction(reader)
    reader.service.given.clear()
    reader.page.click(".saved button:has-text('Undo')")
    reader.see("text=Not taken back. There is no such feedback.")
    reader.see(".saved button:has-text('Undo'):not(:disabled)")


def _open_editor(reader: Reader, *typed: str) -> None:
    """Opens the SQL of an answer and writes another query in its place."""
    _start(reader)
    reader.ask(LINE)
    reader.leave_fields()
    reader.page.keyboard.press("e")
    reader.see(".editor.ready")
    for key in ("Control+A", "Delete"):
        reader.page.keyboard.press(key)
    for text in typed:
        reader.page.keyboard.type(text)


def test_a_corrected_query_has_a_chart(either: Reader) -> None:
    _open_editor(either, "SELECT 1")
    either.page.keyboard.press("Control+Enter")
    either.see(".run-result .result")
    either.leave_fields()
    either.do("v", ".run-result button:has-text('Chart')")
    either.see(".run-result .chart-canvas")
    assert either.page.locator(".answer > .rows .chart-canvas").count() == 0
    with either.page.expect_download() as saved:
        either.do("p", ".run-result button:has-text('PNG')")
    assert saved.value.suggested_filename == f"{LINE_FILE}.png"
    # The keys act where the reader is: in the rows of the answer, they leave these alone.
    either.page.locator(".answer > .rows td").first.click()
    either.do("v", ".answer > .rows button:has-text('Chart')")
    either.see(".answer > .rows .chart-canvas")
    either.page.keyboard.press("t")
    either.wait_until("!document.querySelector('.answer > .rows .chart')")
    assert either.page.locator(".run-result .chart-canvas").count() == 1


def test_the_editor_completes_tables_columns_and_keywords(reader: Reader) -> None:
    _open_editor(reader, "SELECT x FROM sales.ord")
    offered = reader.page.locator(".cm-tooltip-autocomplete li .cm-completionLabel")
    reader.see(".cm-tooltip-autocomplete li:has-text('order_lines')")
    assert offered.all_inner_texts() == ["order_lines", "orders"]
    reader.page.keyboard.type("ers WHERE ord")
    # Not the list that was offered for WHERE.
    reader.see(".cm-tooltip-autocomplete li:has-text('order_id')")
    assert offered.all_inner_texts() == [
        "order_id",
        "order_dt",
        "sales.order_lines",
        "sales.orders",
        "ORDER",
    ]
    reader.page.keyboard.press("Control+Enter")
    reader.see(".run-result .result")
    reader.page.wait_for_timeout(300)
    assert offered.count() == 0
    # Not even what was still waited for is shown over the rows.
    reader.page.keyboard.type("e")
    reader.page.keyboard.press("Control+Enter")
    reader.page.wait_for_timeout(600)
    assert offered.count() == 0


def test_the_editor_completes_nothing_in_texts_and_numbers(reader: Reader) -> None:
    _open_editor(reader, "SELECT 'ord", "er' + 12")
    reader.page.wait_for_timeout(600)
    assert reader.page.locator(".cm-tooltip-autocomplete").count() == 0


def test_say_that_it_is_right(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("y", "button[aria-label='The answer is right']")
    assert (
        "Stored: this query answers this question" in either.see(".feedback-message").inner_text()
    )


def test_share_and_open(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("s", ".answer-foot button:has-text('Share')")
    either.wait_until("document.querySelector('dialog input')?.value.includes('#/share/')")
    link = either.page.input_value("dialog input")
    either.page.goto(link)
    either.page.reload()
    assert "Shared by Jon Weber" in either.see(".question").text_content()
    assert "region_id IN (3, 4)" in either.see(".answer").inner_text()
    assert either.see(".result").inner_text()


def test_stop_sharing(either: Reader) -> None:
    either.service.shares = {
        name: {"question": f"Question of {name}?", "sql": "SELECT 1", "database": canned.DATABASE}
        for name in ("s0", "s1")
    }
    either.visit("#/history")
    either.see(".shares li")
    assert "Question of s1?" in either.see(".shares").inner_text()
    button = either.page.locator(".shares li:first-child button")
    if either.hand == "mouse":
        button.click()
    else:
        button.focus()
        either.page.keyboard.press("Enter")
    either.wait_until("document.querySelectorAll('.shares li').length === 1")
    ended = [path for method, path, _ in either.service.received if method == "DELETE"]
    assert ended == ["/shares/s0"]
    assert [*either.service.shares] == ["s1"]


def test_schema_is_searched_and_walked(either: Reader) -> None:
    _start(either)
    either.do("g s", ".nav-link:has-text('Data')")
    either.see("text=400 tables")
    either.page.fill(".search", "Orders of customers")
    either.see("text=1 table found")
    assert either.page.locator(".found-definitions").count() == 0
    row = either.page.locator(".table-list a")
    row.focus()
    either.page.keyboard.press("Enter")
    assert "order_dt" in either.see(".columns-table").inner_text()
    either.page.locator(".node.can-open").first.focus()
    either.page.keyboard.press("Enter")
    either.page.wait_for_url("**/sales.order_lines")


@pytest.mark.parametrize(
    ("search", "name"),
    [
        ("Net SALES", "revenue"),  # a synonym
        ("void invoices", "revenue"),  # words of the description
        ("sum(orders.amt)", "order intake"),  # an expression
        ("'CNF'", "open orders"),  # a condition
    ],
)
def test_a_search_finds_definitions(reader: Reader, search: str, name: str) -> None:
    reader.visit("#/schema")
    reader.page.fill(".search", search)
    reader.see("text=1 definition found")
    found = reader.see(".found-definitions a")
    assert name in found.inner_text()
    assert "definition:" in found.inner_text()
    found.click()
    assert name in reader.see(".definition.chosen").inner_text()
    reader.wait_until("document.activeElement.matches('.definition.chosen dt')")


def test_definitions_of_another_database_are_not_found(reader: Reader) -> None:
    reader.visit("#/schema")
    reader.page.fill(".search", "turnover")
    reader.see(".found-definitions a")
    reader.page.select_option("select", "shop")
    reader.page.wait_for_url("**/#/schema/shop")
    reader.page.locator(".found-definitions").wait_for(state="detached")


def test_tables_stand_under_their_schemas(reader: Reader) -> None:
    reader.visit("#/schema")
    reader.see(".table-group")
    groups = reader.page.locator(".table-group")
    named = [group.locator("h2").inner_text() for group in groups.all()]
    assert named == ["crm", "hr", "inventory", "sales", "archive"]
    assert groups.nth(1).locator(".table-name").all_inner_texts() == ["departments", "employees"]
    reader.page.click("button:has-text('Show more')")
    reader.wait_until("document.querySelectorAll('.table-list li').length === 120")
    assert groups.count() == len(named)
    # The other database has one schema only.
    reader.page.select_option("select", "shop")
    reader.page.locator(".table-group").first.wait_for(state="detached")
    assert reader.page.locator(".table-name").first.inner_text() == "main.customers"


@pytest.mark.parametrize("width", [1141, 1280, 2560])
def test_all_columns_of_a_table_fit(reader: Reader, width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 900})
    reader.visit(f"#/schema/{canned.DATABASE}/sales.orders")
    assert "OPN" in reader.see(".columns-table .values").inner_text()
    reader.wait_until(
        "(({scrollWidth, clientWidth}) => scrollWidth === clientWidth)"
        "(document.querySelector('[aria-label=Columns]'))"
    )


def test_definitions_have_synonyms_and_hidden_things_reasons(reader: Reader) -> None:
    reader.visit(f"#/schema/{canned.DATABASE}/:definitions")
    assert "Also called turnover, net sales" in reader.see(".definitions").inner_text()
    reader.visit("#/me")
    shown = reader.see("[aria-label='Hidden rows and columns']").inner_text()
    assert "Your role region_manager may read only some rows" in shown


def test_more_of_a_list_is_read(reader: Reader) -> None:
    reader.visit("#/schema")
    reader.see("text=400 tables")
    assert reader.page.locator(".table-list li").count() == 60
    reader.page.click("button:has-text('Show more')")
    reader.wait_until("document.querySelectorAll('.table-list li').length === 120")


def test_history_star_rename_delete_undo(either: Reader) -> None:
    _start(either)
    either.do("g h", ".nav-link:has-text('History')")
    either.see(".conversations li")
    first = either.page.locator(".conversations li").first
    first.locator("a").focus()
    either.do(".", ".conversations li:first-child button[aria-label='Star']")
    either.wait_until("document.querySelectorAll('.is-on').length === 2")
    first.locator("a").focus()
    either.do("F2", ".conversations li:first-child button[aria-label='Rename']")
    either.see("form input")
    either.page.keyboard.type("Product lines")
    either.page.keyboard.press("Enter")
    either.see("text=Product lines")
    first.locator("a").focus()
    either.do("Delete", ".conversations li:first-child button[aria-label='Delete']")
    either.wait_until("document.querySelectorAll('.conversations li').length === 4")
    either.do("u", ".notice button")
    either.wait_until("document.querySelectorAll('.conversations li').length === 5")
    assert not [path for method, path, _ in either.service.received if method == "DELETE"]


def test_a_conversation_of_the_history_is_read_again(reader: Reader) -> None:
    reader.visit("#/c/c0")
    assert "Trekking bikes" in reader.see(".answer").inner_text()
    reader.ask("And in May?")
    asked = [body for _, path, body in reader.service.received if path == "/query"]
    assert asked[-1]["session"] == "c0"


def test_a_new_conversation_begins_from_one_of_the_history(either: Reader) -> None:
    either.visit("#/c/c0")
    either.see(".answer")
    either.leave_fields()
    either.do("n", ".side .new")
    either.see(".suggestions")
    either.ask(LINE)
    assert either.page.locator(".turn").count() == 1
    asked = [body for _, path, body in either.service.received if path == "/query"]
    assert asked[-1]["session"] != "c0"


def test_escape_closes_a_dialog_and_no_question(reader: Reader) -> None:
    reader.service.pause_s = 1
    _start(reader)
    reader.type_question(LINE)
    reader.see(".stages .running")
    reader.page.evaluate("document.activeElement.blur()")
    reader.page.keyboard.press("?")
    reader.see("dialog")
    reader.page.keyboard.press("Escape")
    reader.page.wait_for_selector("dialog", state="detached")
    reader.service.pause_s = 0.01
    reader.see(".answer")


def test_review_is_worked_through(either: Reader) -> None:
    either.visit("#/review")
    assert either.see(".review-list").locator("mark").count() > 0
    if either.hand == "keyboard":
        either.page.keyboard.press("j")
    either.do("a", "button:has-text('Mark as done')")
    either.wait_until("document.querySelectorAll('.review-entry').length === 1")
    either.page.click("button:has-text('Done') >> nth=0")
    # The open entries are shown until the others have come.
    entry = either.see(".review-entry:has-text('done by')")
    assert "done by Ann Becker" in entry.inner_text()


def test_a_correction_in_the_review_closes_its_entry(either: Reader) -> None:
    either.visit("#/review")
    either.see(".review-entry")
    entry = either.page.locator(".review-entry").nth(1)
    assert "Corrected by" not in entry.inner_text()
    entry.locator("button:has-text('Run and correct')").click()
    either.page.locator(".editor.ready .cm-content").click()
    _save_a_correction(either)
    assert "Corrected by Ann Becker" in entry.inner_text()
    assert entry.locator("button:has-text('Mark as done')").count() == 0
    assert [one["state"] for one in either.service.review] == ["open", "done"]
    either.do("u", ".saved button:has-text('Undo')")
    entry.locator("button:has-text('Mark as done')").wait_for()
    assert "Corrected by" not in entry.inner_text()
    assert [one["state"] for one in either.service.review] == ["open", "open"]


def test_the_review_says_who_corrected(reader: Reader) -> None:
    reader.visit("#/review")
    first = reader.page.locator(".review-entry").first
    first.wait_for()
    text = first.inner_text()
    assert "Corrected by Jon Weber. Nobody has looked at the correction yet." in text


def test_sign_out(either: Reader) -> None:
    either.service.needs_sign_in = True
    either.visit()
    either.see("#key").fill(KEY)
    either.page.keyboard.press("Enter")
    either.see(".suggestions")
    either.leave_fields()
    if either.hand == "mouse":
        either.page.click(".nav-link.person")
    either.do("Shift+Q", "button:has-text('Sign out'):not(:has-text('everywhere'))")
    assert "You are signed out" in either.see(".sign-in").inner_text()


def test_every_key_is_listed(reader: Reader) -> None:
    _start(reader)
    reader.page.keyboard.press("?")
    listed = reader.see("dialog").inner_text()
    assert listed.count("\n") > 70
    reader.page.keyboard.press("Escape")
    reader.page.wait_for_selector("dialog", state="detached")


def test_who_sees_answers_only_sees_no_sql(reader: Reader) -> None:
    reader.service.person = PERSON | {
        "rights": {"process": False, "review": False, "operate": False}
    }
    _start(reader)
    reader.ask(LINE)
    text = reader.page.locator("body").inner_text()
    assert "SELECT" not in text
    assert "Why this answer" not in text
    for key in "we":
        reader.leave_fields()
        reader.page.keyboard.press(key)
    assert reader.page.locator(".panel").count() == 0
    assert (
        reader.page.locator(".nav-link:has-text('Review'), .nav-link:has-text('Status')").count()
        == 0
    )
    asked = [body for _, path, body in reader.service.received if path == "/query"]
    assert asked[-1]["trace"] is False


def test_who_sees_answers_only_rates_shares_and_picks(either: Reader) -> None:
    either.service.person = PERSON | {
        "rights": {"process": False, "review": False, "operate": False}
    }
    _start(either)
    either.ask(LINE)
    either.leave_fields()
    either.do("x", "button[aria-label='The answer is wrong']")
    assert "Recorded. Thank you." in either.see(".feedback-message").inner_text()
    either.do("s", ".answer-foot button:has-text('Share')")
    either.wait_until("document.querySelector('dialog input')?.value.includes('#/share/')")
    either.page.keyboard.press("Escape")
    either.page.wait_for_selector("dialog", state="detached")
    either.ask("Who are our best customers?")
    assert either.page.locator(".reading .preview table").first.inner_text()
    either.leave_fields()
    either.do("2", ".reading:nth-child(2) .button.primary")
    either.see("text=You picked this reading")
    sent = [body for method, _, body in either.service.received if method == "POST"]
    named = [body["reference"] for body in sent if body.get("reference")]
    assert named
    assert {*named} <= {*either.service.references}
    assert [body["picked"] for body in sent if body.get("picked")] == ["ref_2"]
    assert "SELECT" not in str(sent)
    assert "SELECT" not in either.page.locator("body").inner_text()


def test_who_sees_answers_only_reads_the_history_again(reader: Reader) -> None:
    reader.service.person = PERSON | {
        "rights": {"process": False, "review": False, "operate": False}
    }
    reader.visit("#/c/c0")
    assert reader.see(".result").inner_text()
    # The last answer is read first; the one above it, when it comes into sight.
    reader.page.locator(".turn").first.scroll_into_view_if_needed()
    reader.wait_until("document.querySelectorAll('.answer-foot').length === 2")
    assert reader.page.locator(".answer-foot button:has-text('Share')").count() == 2
