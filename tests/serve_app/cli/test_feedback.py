"""``quorumsql feedback`` against a service that notes what it is sent; export and import."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from execution.postgres.embedded import EmbeddedServer
from nl2sql.errors import InvalidRequest, SettingsError, UnknownDatabase
from nl2sql.settings import Settings
from serve_app.cli.app import app
from serve_app.cli.last_answer import LastAnswer, note, recall_answer
from tests.execution.sqlite.shop import build_shop
from tests.retrieval.index_store.conftest import create_index

LAST = LastAnswer("shop", "How many orders?", "SELECT 1", "")


class Service:
    """Answers every POST alike and keeps bodies and tokens."""

    def __init__(self) -> None:
        self.status, self.answer = 200, {"outcome": "stored", "example": "abc"}
        self.received: list[tuple[str, dict[str, Any], str]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                token = self.headers.get("authorization", "")
                service.received.append((self.path, json.loads(body), token))
                self.send_response(service.status)
                self.end_headers()
                self.wfile.write(json.dumps(service.answer).encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def service() -> Iterator[Service]:
    built = Service()
    thread = threading.Thread(target=built.server.serve_forever)
    thread.start()
    yield built
    built.server.shutdown()
    thread.join()
    built.server.server_close()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "quorumsql.yaml"
    value = {
        "home": str(tmp_path / "home"),
        "databases": {"shop": {"reader": {"url": "sqlite:///shop.db"}}},
        "identity": {"principals": {"ann": {"token_env": "ANN_TOKEN"}}},
    }
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    return path


def run(config: Path, service: Service, *arguments: str) -> Result:
    command = ["--config", str(config), "feedback", *arguments, "--url", service.url]
    return CliRunner().invoke(app, command, env={"ANN_TOKEN": "s3cret"})


def test_it_is_about_the_last_answer(config: Path, service: Service) -> None:
    note(config.parent / "home", LAST)
    result = run(config, service, "right")
    assert (result.exit_code, result.output) == (0, "Stored as an example (abc).\n")
    body = {
        "question": "How many orders?",
        "sql": "SELECT 1",
        "reference": "",
        "verdict": "right",
        "correction": None,
        "database": "shop",
    }
    assert service.received == [("/feedback", body, "")]


def test_it_comes_from_the_principal_who_asked(config: Path, service: Service) -> None:
    note(config.parent / "home", LastAnswer("shop", "Who?", "SELECT 2", "ann"))
    run(config, service, "wrong", "--correction", "SELECT 3")
    [(_, body, token)] = service.received
    assert token == "Bearer s3cret"
    assert (body["verdict"], body["correction"]) == ("wrong", "SELECT 3")


def test_a_query_that_is_withheld_is_named_by_its_reference(config: Path, service: Service) -> None:
    note(config.parent / "home", LastAnswer("shop", "Who?", "", "ann", "ref_1"))
    run(config, service, "right")
    [(_, body, _)] = service.received
    assert (body["sql"], body["reference"], body["database"]) == ("", "ref_1", None)


def test_another_question_can_be_named(config: Path, service: Service) -> None:
    run(config, service, "right", "--question", "How?", "--sql", "SELECT 4")
    assert service.received[0][1]["sql"] == "SELECT 4"
    assert run(config, service, "right", "--question", "How?").exit_code == 2


def test_without_an_answer_there_is_nothing_to_say(config: Path, service: Service) -> None:
    result = run(config, service, "right")
    assert isinstance(result.exception, SettingsError)
    assert service.received == []


def test_a_refusal_is_told(config: Path, service: Service) -> None:
    note(config.parent / "home", LAST)
    service.status = 422
    service.answer = {"detail": "No.", "errors": [{"field": "sql", "message": "No."}]}  # type: ignore[dict-item]
    result = run(config, service, "right")
    assert isinstance(result.exception, InvalidRequest)


def test_an_answer_is_for_its_user_only(tmp_path: Path) -> None:
    note(tmp_path / "home", LAST)
    assert recall_answer(tmp_path / "home") == LAST
    mode = (tmp_path / "home" / "last_answer.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


COUNT = "SELECT count(*) FROM Orders"
GIVEN = {"given_by": "ann", "access": "key", "outcome": "stored"}
ENTRIES = (
    {"question": "How many orders?", "sql": COUNT, "verdict": "right"}
    | GIVEN
    | {"given_at": "2026-01-01T12:00:00+00:00"},
    {"question": "Who works here?", "sql": COUNT, "verdict": "wrong"}
    | {"correction": "SELECT name FROM employees"}
    | GIVEN
    | {"given_at": "2026-01-02T12:00:00.000001+00:00"},
    {"question": "What is not there?", "sql": "SELECT nothing FROM Orders", "verdict": "right"}
    | GIVEN
    | {"given_at": "2026-01-03T12:00:00+00:00"},
)


@pytest.fixture
def shop(tmp_path: Path, demo_settings: Settings, embedded_server: EmbeddedServer) -> Path:
    """Settings with a shop in a file and an index in which nothing is set up yet."""
    create_index(embedded_server, "cli_feedback")
    build_shop(tmp_path / "shop.db")
    path = tmp_path / "quorumsql.yaml"
    value = {
        "home": str(demo_settings.home),
        "index": {"connection": {"url": "embedded:cli_feedback"}},
        "databases": {"shop": {"reader": {"url": "sqlite:///shop.db"}}},
    }
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    return path


def command(config: Path, *arguments: str) -> str:
    done = CliRunner().invoke(app, ["--config", str(config), *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def write(path: Path, entries: tuple[dict[str, str], ...]) -> str:
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), encoding="utf-8")
    return str(path)


def list_examples(config: Path) -> dict[str, tuple[str, str, str]]:
    listed = json.loads(command(config, "examples", "list", "shop", "--json"))
    return {each["id"]: (each["question"], each["sql"], each["access"]) for each in listed}


def test_what_was_said_survives_the_loss_of_the_index(shop: Path, tmp_path: Path) -> None:
    first = command(shop, "feedback", "import", "shop", write(tmp_path / "in.jsonl", ENTRIES))
    assert "2 stored, 0 already stored, 1 left out" in first
    assert "left out, entry 3: What is not there?" in first
    examples = list_examples(shop)
    assert sorted(examples.values()) == [
        ("How many orders?", COUNT, "key"),
        ("Who works here?", "SELECT name FROM employees", "key"),
    ]

    out = tmp_path / "out.jsonl"
    assert "2 feedback entries of shop" in command(shop, "feedback", "export", "shop", str(out))
    kept = out.read_text(encoding="utf-8")
    assert [json.loads(line) for line in kept.splitlines()] == list(ENTRIES[:2])
    assert "2 already stored" in command(shop, "feedback", "import", "shop", str(out))

    command(shop, "index", "drop", "--all", "--yes")
    assert "2 stored" in command(shop, "feedback", "import", "shop", str(out))
    assert list_examples(shop) == examples
    command(shop, "feedback", "export", "shop", str(out))
    assert out.read_text(encoding="utf-8") == kept


@pytest.mark.parametrize(
    ("database", "entry", "error", "said"),
    [
        ("nowhere", ENTRIES[0], UnknownDatabase, "nowhere"),
        ("shop", ENTRIES[0] | {"access": ""}, SettingsError, "line 1: access"),
        ("shop", ENTRIES[0] | {"correction": COUNT}, SettingsError, "needs no correction"),
    ],
)
def test_what_cannot_be_imported_is_named(
    shop: Path, tmp_path: Path, database: str, entry: dict[str, str], error: type, said: str
) -> None:
    file = write(tmp_path / "in.jsonl", (entry,))
    arguments = ["--config", str(shop), "feedback", "import", database, file]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, error)
    assert said in str(result.exception)


def test_an_import_of_nothing_that_runs_fails(shop: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", ENTRIES[2:])
    done = CliRunner().invoke(app, ["--config", str(shop), "feedback", "import", "shop", file])
    assert done.exit_code == 1
    assert "There is no column nothing" in done.output
