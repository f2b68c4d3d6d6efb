"""The prompt of ``quorumsql chat``: keys, history, completion, pages."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from nl2sql.catalog import Column, Table
from serve_app.cli.chat.completion import ChatCompleter
from serve_app.cli.chat.history import ChatHistory, open_history
from serve_app.cli.chat.prompt import TerminalListener
from serve_app.cli.chat.slash_commands import COMMANDS
from serve_app.cli.pager import find_pager, show_pages
from serve_app.cli.schema_names import CatalogNames, ServiceNames

NAMES = CatalogNames(
    [
        Table("sales", "orders", (Column("id", "int4"), Column("order_date", "date"))),
        Table("sales", "order_lines", (Column("amount", "numeric"),)),
        Table("hr", "people", (Column("name", "text"),)),
    ]
)
ENTER, NEXT_LINE, TAB, SEARCH, STOP, END = "\r", "\x1b\r", "\t", "\x12", "\x03", "\x04"


@contextmanager
def terminal(history: ChatHistory) -> Iterator[tuple[PipeInput, TerminalListener]]:
    with create_pipe_input() as keys:
        yield keys, TerminalListener(history, NAMES, input=keys, output=DummyOutput())


def type_in(*texts: str, history: ChatHistory | None = None) -> list[str]:
    """What is heard when this is typed."""
    with terminal(history or ChatHistory(None)) as (keys, listener):
        heard = []
        for text in texts:
            keys.send_text(text)
            heard.append(listener.listen())
        return heard


def complete(text: str) -> list[str]:
    """The words that can stand in place of the last one."""
    return [
        found.text
        for found in ChatCompleter(NAMES).get_completions(Document(text), CompleteEvent())
    ]


def test_enter_asks_and_lines_can_be_several() -> None:
    assert type_in(f"How many?{ENTER}") == ["How many?"]
    assert type_in(f"How many{NEXT_LINE}orders?{ENTER}") == ["How many\norders?"]
    assert type_in(f"How many\\{ENTER}orders?{ENTER}") == ["How many\norders?"]


def test_ctrl_c_empties_the_line_and_ctrl_d_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert type_in(f"wrong{STOP}right{ENTER}") == ["right"]
    assert "/exit" in capsys.readouterr().out
    with pytest.raises(EOFError):
        type_in(END)


def test_what_was_typed_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history"
    type_in(
        f"How many orders?{ENTER}", f"Who?{ENTER}", f" secret{ENTER}", history=ChatHistory(path)
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret" not in path.read_text()
    # Another program reads the same file; the search is for a part in any case.
    assert type_in(f"{SEARCH}ORDERS{ENTER}{ENTER}", history=ChatHistory(path)) == [
        "How many orders?"
    ]


def test_the_history_is_deleted_and_stays_short(tmp_path: Path) -> None:
    path = tmp_path / "history"
    history = open_history(path)
    for number in range(1200):
        history.store_string(f"Question {number}\nof two lines")
    os.chmod(path, 0o644)
    found = list(open_history(path).load_history_strings())
    assert (len(found), found[0]) == (1000, "Question 1199\nof two lines")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    history.clear()
    assert not path.exists()
    assert list(open_history(path).load_history_strings()) == []


def test_the_history_follows_no_link_and_may_be_unwritable(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    ChatHistory(tmp_path / "link").store_string("How many?")
    assert not (tmp_path / "victim").exists()
    ChatHistory(Path("/proc/none/history")).store_string("How many?")
    memory = ChatHistory(None)
    memory.append_string("How many?")
    assert memory.get_strings() == ["How many?"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/", list(COMMANDS)),
        ("/ex", ["/export", "/exit"]),
        ("How many ord", ["orders", "order_lines"]),
        ("How many SALES.ord", ["sales.orders", "sales.order_lines"]),
        ("Which orders.order", ["orders.order_date"]),
        ("orders by ord", ["order_date", "orders", "order_lines"]),
        ("o", []),
        ("How many of those?", []),
    ],
)
def test_commands_tables_and_columns_are_completed(text: str, expected: list[str]) -> None:
    assert complete(text) == expected


def test_files_are_completed(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").touch()
    assert complete(f"/export {tmp_path}/ro") == ["ws.csv"]


def test_tab_completes_at_the_prompt() -> None:
    async def type_slowly() -> str:
        with create_pipe_input() as keys:
            listener = TerminalListener(ChatHistory(None), NAMES, input=keys, output=DummyOutput())
            listening = asyncio.create_task(listener._prompt.prompt_async("? "))
            keys.send_text(f"List peo{TAB}")
            await asyncio.sleep(0.5)
            keys.send_text(ENTER)
            return await listening

    assert asyncio.run(type_slowly()) == "List people"


def test_a_service_tells_names_which_are_asked_for_once() -> None:
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        assert request.headers["Authorization"] == "Bearer secret"
        if request.url.path == "/databases/shop/tables":
            tables = ["public.orders", "public.evil\x1b[2J", "public.about_orders"]
            return httpx.Response(200, json={"tables": [{"table": name} for name in tables]})
        return httpx.Response(200, json={"columns": [{"name": "id"}, {"name": 7}]})

    transport = httpx.MockTransport(answer)
    with ServiceNames("http://shop", "secret", "shop", transport=transport) as names:
        for _ in range(2):
            assert names.find_tables("ord") == ["public.orders"]
            assert names.list_columns("orders") == ["id"]
    assert len(asked) == 3


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(404, json={"title": "Not found"}),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[1]),
        httpx.ConnectError("refused"),
    ],
)
def test_a_service_without_names_completes_nothing(reply: httpx.Response | Exception) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        if isinstance(reply, Exception):
            raise reply
        return reply

    with ServiceNames("http://shop", "", "shop", transport=httpx.MockTransport(answer)) as names:
        assert names.find_tables("ord") == ()
        assert names.list_columns("orders") == ()


def test_the_users_pager_is_taken() -> None:
    assert find_pager({"PAGER": "most -w"}) == ["most", "-w"]
    assert find_pager({"PAGER": "'"}) is None


def test_pages_follow_one_another_until_q() -> None:
    text = "".join(f"{number}\n" for number in range(10))
    written: list[str] = []
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "q" if len(asked) == 2 else ""

    show_pages(text, 3, written.append, ask)
    assert "".join(written) == "0\n1\n2\n3\n4\n5\n"
    assert ["7 more" in asked[0], "4 more" in asked[1]] == [True, True]
