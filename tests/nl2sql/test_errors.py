"""The error tree: all of it survives pickle, as what crosses Ray must."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator

import pytest

import nl2sql.errors
import quorumsql.errors
from nl2sql.errors import (
    Busy,
    DatabaseUnavailable,
    InvalidRequest,
    LimitReached,
    QuorumError,
    UnknownDatabase,
)

# The classes whose constructor asks for more than a message.
SPECIAL: dict[type[QuorumError], Callable[[], QuorumError]] = {
    InvalidRequest: lambda: InvalidRequest("Wrong.", field="k", hint="Use 1."),
    Busy: lambda: Busy("Too many.", retry_after_s=2.5, hint="Wait."),
    LimitReached: lambda: LimitReached("Enough.", retry_after_s=2.5, hint="Wait."),
    UnknownDatabase: lambda: UnknownDatabase("shoo", ("shop",)),
    DatabaseUnavailable: lambda: DatabaseUnavailable("Down.", database="shop", hint="Wait."),
}


def walk(kind: type[QuorumError]) -> Iterator[type[QuorumError]]:
    """The class and all below it that the two modules define."""
    if kind.__module__ in (nl2sql.errors.__name__, quorumsql.errors.__name__):
        yield kind
    for below in kind.__subclasses__():
        yield from walk(below)


ALL = tuple(walk(QuorumError))


def build_error(kind: type[QuorumError]) -> QuorumError:
    return SPECIAL[kind]() if kind in SPECIAL else kind("It broke.", hint="Repair it.")


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_error_survives_pickle(kind: type[QuorumError]) -> None:
    error = build_error(kind)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert copy.args == error.args
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_error_is_drawn_in_the_tree(kind: type[QuorumError]) -> None:
    assert f" {kind.__name__} " in f"{nl2sql.errors.__doc__}"


def test_an_unknown_database_names_the_known_ones() -> None:
    error = UnknownDatabase("shoo", ("shop", "erp"))
    assert error.field == "database"
    assert str(error) == "There is no database 'shoo'. Known: shop, erp."
    assert str(UnknownDatabase("shop", ())).endswith("Known: none.")
    assert str(UnknownDatabase("", ("shop",))) == "Name a database. Known: shop."
