"""The tables that a request requires: how many, and how they are written."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from nl2sql.errors import InvalidRequest
from nl2sql.types import Principal
from quorumsql.contract import QueryRequest
from serve_app.cli.ask import split_names
from serve_app.service.query_service import build_question
from tests.fakes import build_settings

ANN = Principal("ann")


def read(*tables: str) -> tuple[str, ...]:
    request = QueryRequest(question="How many?", tables=list(tables))
    return build_question(request, build_settings(default_database="shop"), ANN).tables


def test_names_are_passed_on_once_each() -> None:
    assert read(" orders", "crm.people", "orders") == ("orders", "crm.people")
    assert read() == ()
    assert len(read(*(f"t{number}" for number in range(20)))) == 20


def test_there_are_at_most_twenty() -> None:
    with pytest.raises(ValidationError, match="tables"):
        read(*(f"t{number}" for number in range(21)))


@pytest.mark.parametrize("name", ["", "  ", "x" * 301, "a\0b"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(name)
    assert caught.value.field == "tables"


def test_the_command_line_takes_names_with_commas() -> None:
    assert split_names("orders, crm.people,") == ["orders", "crm.people"]
    assert split_names("") == []
