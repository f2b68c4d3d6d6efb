"""``quorumsql feedback`` against a service that notes what it is sent."""

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

from nl2sql.errors import InvalidRequest, SettingsError
from serve_app.cli.app import app
from serve_app.cli.last_answer import LastAnswer, note, recall_answer

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
