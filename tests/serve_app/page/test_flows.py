"""What people do on the page, each with a mouse and with the keyboard alone."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.serve_app.page import canned
from tests.serve_app.page.browser import Reader
from tests.serve_app.page.fake_service import problem

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
    if either.hand == "keyboard":
        either.page.keyboard.press("Escape")
    else:
        either.press("button:has-text('Stop')")
    assert "Stopped after" in either.see(".stopped").inner_text()
    either.service.pause_s = 0.01
    either.press(".stopped button")
    either.see(".answer")


def test_pick_a_reading(either: Reader) -> None:
    _start(either)
    either.ask("Who are our best customers?")
    previews = either.page.locator(".reading .preview table")
    assert [previews.nth(at).locator("tbody tr").count() for at in range(2)] == [12, 3]
    assert "I am not sure" in either.see(".clarify").inner_text()
    assert not [path for _, path, _ in either.service.received if path == "/run"]
    either.press(".reading:nth-child(2) .button.primary")
    assert "You chose this reading" in either.see(".confidence").inner_text()
    assert either.page.locator(".confidence .meter .on").count() == 0
    asked = [body for _, path, body in either.service.received if path == "/query"]
    assert "COUNT(*)" in asked[-1]["chosen_sql"]


def test_sort_filter_choose_columns_and_copy(reader: Reader) -> None:
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _start(reader)
    reader.ask("all orders")
    assert reader.page.locator(".result tbody tr").count() < 80
    reader.page.click(".result th button:has-text('amt')")
    amounts = [row[3] for row in canned.build_answer("all orders")["rows"]]
    highest = f"{max(map(float, amounts)):,.2f}"
    assert reader.page.locator(".result td.number").nth(1).inner_text() == highest
    reader.page.fill(".filter input", "株式会社")
    reader.see("text=1,250 of 10,000 rows")
    reader.page.click("button:has-text('Columns')")
    reader.page.locator(".checks label:has-text('note')").click()
    reader.page.keyboard.press("Escape")
    reader.wait_until("document.querySelectorAll('.result th').length === 6")
    reader.page.click(".tools button:has-text('Copy')")
    reader.see("text=exact values")
    lines = reader.page.evaluate("navigator.clipboard.readText()").split("\n")
    assert lines[0].split("\t") == ["order_id", "customer", "order_dt", "amt", "status", "is_paid"]
    assert re.fullmatch(r"\d{6}\t.+\t2025-\d\d-\d\d\t\d+\.\d\d\t\w+\t(true|false)", lines[1])
    write = "([...row]) => import('/page/js/core/files.js').then((it) => it.writeTabs([], [row]))"
    copied = reader.page.evaluate(write, ["=A(1)", "-1.5e-7", -2, "-1+1", "\n@x", "a=b"])
    assert copied == "\n'=A(1)\t-1.5e-7\t-2\t'-1+1\t' @x\ta=b"


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
    either.press(".segments button:has-text('Chart')")
    either.see(".chart-canvas")
    assert "Bars of earned by product line" in either.see("figcaption").inner_text()
    either.press(".chart .segments button:has-text('Lines')")
    assert "Lines of earned" in either.see("figcaption").inner_text()
    for kind in ("png", "svg"):
        with either.page.expect_download() as saved:
            either.press(f"button:has-text('{kind.upper()}')")
        assert saved.value.suggested_filename == f"{LINE_FILE}.{kind}"
    drawn = ElementTree.fromstring(saved.value.path().read_text())
    either.press(".segments button:has-text('Table')")
    either.press("button:has-text('Download')")
    either.see(".menu-list button:has-text('CSV')")
    with either.page.expect_download() as table:
        either.press(".menu-list button:has-text('CSV')")
    assert table.value.suggested_filename == f"{LINE_FILE}.csv"
    asked = [body for _, path, body in either.service.received if path == "/run"]
    assert asked[-1]["spreadsheet_safe"] is True
    texts = [element.text for element in drawn.iter() if element.tag.endswith("text")]
    assert {LINE, "Product line", "Earned"} <= {*texts}


def test_why(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.press(".answer-foot button:has-text('Why this answer')")
    account = either.see(".account").inner_text()
    assert "5 of 8 attempts came to this result; 2 came to 2 other results; 1 gave no" in account
    # What is counted by origin adds up to the candidates: 5 written, 1 derived, 2 repaired.
    assert "asked 8 times and wrote 5 different queries; 1 variation of what it wrote" in account
    assert "repairing what failed gave 2 more queries. See all 8 queries" in account
    either.press(".why .segments button:has-text('Queries tried')")
    assert either.page.locator(".candidate").count() == 6
    assert "is not allowed" in either.see(".candidates").inner_text()
    either.press("button:has-text('Show all 8')")
    assert either.page.locator(".candidate h4").all_inner_texts() == [
        "Chosen: Result A",
        "Result A",
        "Result B",
        "Result C",
        "Refused by the safety check",
        "Failed in the database",
        "Result D",
        "Refused by the safety check",
    ]


def _run_with_a_limit(reader: Reader) -> None:
    reader.see(".editor.ready")
    reader.page.keyboard.press("Control+End")
    reader.page.keyboard.type(" LIMIT 3")
    reader.page.keyboard.press("Control+Enter")
    reader.see(".run-result")


def _save_a_correction(reader: Reader) -> None:
    _run_with_a_limit(reader)
    reader.page.keyboard.press("Escape")
    reader.page.keyboard.press("Escape")
    reader.press("button:has-text('Save as the right answer')")
    assert "the next export to the exam" in reader.see(".saved").inner_text()


def test_correct_undo_and_see_the_corrected_answer(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.press(".answer-foot button:has-text('SQL')")
    _save_a_correction(either)
    assert list(either.service.given) == ["f0"]
    either.press(".saved button:has-text('Undo')")
    either.see("text=Taken back")
    assert either.service.given == {}
    assert either.page.locator(".saved, .feedback-message").count() == 0
    # It can be saved again.
    either.press("button:has-text('Save as the right answer'):not(:disabled)")
    either.see(".saved")
    either.press(".saved button:has-text('Show the corrected answer')")
    either.see(".confidence strong:has-text('Confirmed')")
    either.see("text=Verified by Ana Lima on 2026-03-01")
    assert either.page.locator(".turn").count() == 1
    either.press("button[aria-label='The answer is wrong']")
    either.see("text=A verified query gave this answer: reviewers are shown which")
    assert either.see(".confidence").inner_text() == "You called this answer wrong."
    either.press(".answer-foot button:has-text('Why this answer')")
    either.see("text=A person gave the query")
    assert either.page.locator("text=Queries were written").count() == 0


def test_what_was_not_answered_is_shown_to_reviewers_and_gets_its_query(either: Reader) -> None:
    _start(either)
    either.ask("Something impossible")
    assert either.page.locator("button[aria-label='The answer is right']").count() == 0
    either.press("button[aria-label='The answer is wrong']")
    either.see("text=Recorded: reviewers are shown it, with your question.")
    assert either.see(".panel button:has-text('Run')").is_disabled()
    for _ in range(2):  # closed and opened again
        either.press(".answer-foot button:has-text('SQL')")
    _save_a_correction(either)
    either.press(".saved button:has-text('Show the corrected answer')")
    either.see(".confidence strong:has-text('Confirmed')")
    # Of two readings the nearest is wrong.
    either.ask("Who are our best customers?")
    either.press(".clarify button[aria-label='The answer is wrong']")
    either.see(".clarify .feedback-message")
    sent = [body for _, path, body in either.service.received if path == "/feedback"]
    assert [(body["verdict"], body["sql"]) for body in sent[:2]] == [("wrong", ""), ("wrong", "")]
    nearest = canned.build_answer("best customers")["interpretations"][0]["sql"]
    assert (sent[2]["question"], sent[2]["sql"]) == ("Who are our best customers?", nearest)


def test_what_was_refused_for_safety_cannot_be_corrected_and_a_timeout_can(reader: Reader) -> None:
    _start(reader)
    codes = iter(("off_topic", "not_permitted"))
    reader.service.answer = lambda question: canned.build_answer(question) | {"code": next(codes)}
    for judged in (1, 0):
        reader.ask("What is the weather?")
        turn = reader.page.locator(".turn").last
        assert turn.locator("button[aria-label='The answer is wrong']").count() == judged
    reader.service.refuse.append(problem(504, "Took too long", "It took too long."))
    reader.type_question(LINE)
    reader.page.locator(".problem + .no-answer button[aria-label='The answer is wrong']").click()
    reader.see(".feedback-message")
    (sent,) = [body for _, path, body in reader.service.received if path == "/feedback"]
    assert (sent["question"], sent["database"], sent["sql"]) == (LINE, "demo_erp", "")


def test_a_reviewer_verifies_a_query_with_other_values(either: Reader) -> None:
    _start(either)
    either.ask(LINE)
    either.press("button[aria-label='The answer is right']")
    ticks = either.see(".checks")
    assert "“CXL” as status: any value of sales.orders.status" in ticks.inner_text()
    # The query is shown as it will be stored, and why another value stays.
    stored = either.page.locator("[aria-label='The query as it is stored']")
    assert (
        stored.inner_text().split("WHERE")[1].split() == "year = 2025 AND status <> :status".split()
    )
    ticks.locator("input").first.check()
    either.see("[aria-label='The query as it is stored']:has-text('year = :year')")
    either.see("text=Fixed: 'DE', as the question does not write it so.")
    either.press("button:has-text('Verify with other values')")
    either.see("text=questions with other values for status, year are answered so, too")
    bodies = [body for _, path, body in either.service.received if path == "/feedback"]
    assert [body["parameters"] for body in bodies] == [None, ["status", "year"]]


def test_schema_is_searched_and_walked(either: Reader) -> None:
    _start(either)
    either.press(".nav-link:has-text('Data')")
    either.see("text=400 tables")
    either.page.fill(".search", "Orders of customers")
    either.see("text=1 table found")
    assert either.page.locator(".found-definitions").count() == 0
    row = either.page.locator(".table-list a")
    row.focus()
    either.page.keyboard.press("Enter")
    assert "order_dt" in either.see(".columns-table").inner_text()
    either.page.locator(".neighbour-list a").first.focus()
    either.page.keyboard.press("Enter")
    either.page.wait_for_url("**/#/schema/demo_erp/*")
    either.page.fill(".search", "Net SALES")
    either.page.click(".found-definitions a:has-text('revenue')")
    assert "revenue" in either.see(".definition.chosen").inner_text()


def test_history_delete_undo(either: Reader) -> None:
    _start(either)
    either.press(".nav-link:has-text('History')")
    either.see(".conversations li")
    either.press(".conversations li:first-child button[aria-label='Delete']")
    either.wait_until("document.querySelectorAll('.conversations li').length === 4")
    # The entry is gone, and the notice ends soon: its button has the focus.
    either.see(".notice button:focus")
    either.press(".notice button")
    either.wait_until("document.querySelectorAll('.conversations li').length === 5")
    assert not [path for method, path, _ in either.service.received if method == "DELETE"]


def test_a_fix_is_tried_on_the_exam_and_kept(reader: Reader) -> None:
    reader.visit("#/review")
    entry = reader.page.locator(".review-entry:has-text('Corrected by')")
    entry.locator("button:has-text('Try the definition')").click()
    entry.locator("text=This question now gives the same as the right query").wait_for()
    entry.locator("text=Of 3 exam questions, 2 are still right; 1 lost.").wait_for()
    entry.locator("text=The exam has 3 questions: from about 40 on it tells something.").wait_for()
    # The rows of before and now, here the same; also of the question that is lost.
    previews = entry.locator(".trial figure .preview").all_inner_texts()
    assert ["Trekking bikes" in each for each in previews] == [True] * 4
    assert "Lost: Question 1" in entry.locator(".finding.error").inner_text()
    entry.locator("button:has-text('Keep: copy the definition')").click()
    # Where it goes stays in sight.
    assert (
        "Add these lines to semantics.yaml. quorumsql doctor shop checks it." in entry.inner_text()
    )
    assert "filters:" in entry.locator("[aria-label='The definition']").inner_text()
    entry.locator("button:has-text('Try the right query')").click()
    entry.locator("text=Of 3 exam questions, 3 are still right; none lost.").wait_for()
    assert reader.service.given == {}
    tried = {body["sql"] for _, path, body in reader.service.received if "sql" in (body or {})}
    entry.locator("text=1 of them was like enough").wait_for()
    # What ran since was not tried.
    entry.locator("button:has-text('Run and correct')").click()
    _run_with_a_limit(reader)
    entry.locator("button:has-text('Keep: save as the right answer')").click()
    reader.wait_until("document.querySelector('.saved')")
    [kept] = reader.service.given.values()
    assert kept["verdict"] == "wrong"
    assert kept["correction"] in tried
    assert "LIMIT 3" not in kept["correction"]


def test_what_cannot_be_an_example_is_not_tried_on_the_exam(reader: Reader) -> None:
    reader.visit("#/review")
    entry = reader.page.locator(".review-entry:has-text('Corrected by')")
    entry.locator("button:has-text('Run and correct')").click()
    _run_with_a_limit(reader)
    entry.locator("button:has-text('Try the right query')").click()
    entry.locator("text=It cannot become an example").wait_for()
    assert entry.locator("button:has-text('Keep')").count() == 0
    assert not [path for _, path, _ in reader.service.received if path.endswith("/exam")]


def test_a_trial_can_be_stopped(reader: Reader) -> None:
    reader.service.pause_s = 2
    reader.visit("#/review")
    reader.page.locator("button:has-text('Try the definition') >> nth=1").click()
    reader.page.locator("text=Asking the exam: 1 of 3").wait_for()
    reader.press("button:has-text('Stop')")
    # On a busy machine the second may be answered before it is pressed.
    reader.page.locator("text=/Of [12] exam questions?, [12] (is|are) still right/").wait_for()


def test_review_is_worked_through(either: Reader) -> None:
    either.visit("#/review")
    either.see(".review-list")
    # The service lists the corrected one first; the worse one is shown first.
    heads = either.page.locator("section h2").all_inner_texts()
    assert [head.lower() for head in heads] == [
        "called wrong (1)",
        "corrected, to be looked at: a value was not found (1)",
    ]
    either.press("button:has-text('Mark as done')")
    either.wait_until("document.querySelectorAll('.review-entry').length === 1")
    either.page.click("button:has-text('Done') >> nth=0")
    # The open entries are shown until the others have come.
    entry = either.see(".review-entry:has-text('done by')")
    assert "done by Ann Becker" in entry.inner_text()


def test_what_was_asked_back_is_settled_by_the_reading_that_is_right(either: Reader) -> None:
    for one in either.service.review:
        one.update(kind="asked_back", correction=canned.WINNER, corrected_by="", cause="other")
    either.visit("#/review")
    text = either.see(".review-entry").inner_text()
    assert "The first reading" in text
    assert "The second reading" in text
    for word in ("The answer", "Mark as done", "Define"):
        assert word not in text
    either.press(".review-entry figure:first-child button:has-text('This is right')")
    either.see("text=Stored: this query answers this question from now on")
    either.see("text=Is it right with other values, too?")
    either.press(".review-entry:first-child figure:last-child button:has-text('This is right')")
    either.see(".saved")
    verdicts = [(one["verdict"], one["correction"]) for one in either.service.given.values()]
    assert verdicts == [("right", None), ("wrong", canned.WINNER)]


def test_verified_queries_are_withdrawn_from_the_review(either: Reader) -> None:
    wrong, right = either.service.review
    right |= {"kind": "right", "correction": "", "given_by": "Ann Becker"}
    wrong["verified"] = {
        "question": "How many in :country?", "given_by": "Ann Becker", "example": "x1",
        "given_at": wrong["given_at"], "feedback": right["id"],
    }  # fmt: skip
    right["verified"] = wrong["verified"]
    either.service.review.append(right | {"id": "2", "verified": None})
    either.visit("#/review")
    assert either.see("h1").inner_text() == "Review"
    assert (
        "“How many in :country?”, given by Ann Becker" in either.see(".fix >> nth=0").inner_text()
    )
    either.press("button:has-text('Called right')")
    struck = either.see(".review-entry:has(s:has-text('helmets'))")
    assert "it answers no question any more" in struck.inner_text()
    still = either.see(".review-entry:not(:has(s))")
    assert "It answers “How many in :country?” with other values, too." in still.inner_text()
    assert "The query" in still.inner_text()
    assert either.page.locator(".review-entry button").all_inner_texts() == ["Withdraw"] * 2
    either.press(".review-entry:has(s) button")
    either.press("button:has-text('Open')")
    either.press("button:has-text('Withdraw it')")
    either.see("text=Withdrawn: this query answers no question any more.")
    assert either.page.locator("text=Withdraw it").count() == 0
    either.press("button:has-text('Called right')")
    either.see("text=Nobody has called an answer right yet.")
    assert either.service.review == [wrong]
