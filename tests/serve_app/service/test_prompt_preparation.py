"""Prompts are read ahead once for each index, and not while anybody asks."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.answers import Answer
from nl2sql.errors import EngineUnavailable
from nl2sql.fair_turns import FairTurns
from nl2sql.types import Principal, Question, SchemaContext
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_routes
from serve_app.service.prompt_preparation import PromptPreparation
from serve_app.service.query_service import QueryService
from serve_app.service.services import Services
from tests.fakes import FakeEngine, FakeGenerator, FakeRetriever, build_context, build_settings
from tests.serve_app.served import NO_TOOLS

ANALYST = Principal("mia", ("analyst",))


class SchoolRetriever(FakeRetriever):
    """Its index has ten modules, and a version that changes."""

    version = "v1"

    async def list_beginnings(
        self, database: str, principal: Principal
    ) -> tuple[SchemaContext, ...]:
        return (build_context(version=self.version),) * 10


class NoAnswerer:
    """Is asked nothing."""

    async def answer(self, question: Question) -> Answer:
        raise AssertionError(question)


async def let_work() -> None:
    for _ in range(300):
        await asyncio.sleep(0)


async def test_every_module_is_read_once_for_each_index() -> None:
    retriever, generator, turns = SchoolRetriever(), FakeGenerator(), FairTurns(1)
    preparation = PromptPreparation(retriever, generator, quiet_s=0)
    preparation.start("shop", ANALYST, "", turns)
    preparation.start("shop", ANALYST, "v1", turns)
    await let_work()
    preparation.start("shop", Principal("ravi", ("analyst",)), "v1", turns)
    await let_work()
    assert len(generator.prepared) == 10
    retriever.version = "v2"
    preparation.start("shop", ANALYST, "v2", turns)
    await let_work()
    assert len(generator.prepared) == 20


async def test_nothing_is_read_while_a_question_is_worked_on() -> None:
    generator, turns = FakeGenerator(), FairTurns(1)
    preparation = PromptPreparation(FakeRetriever(), generator, quiet_s=0)
    async with turns.hold(""):
        preparation.start("shop", ANALYST, "", turns)
        await let_work()
        assert generator.prepared == []
    await let_work()
    assert len(generator.prepared) == 1


class PausingGenerator(FakeGenerator):
    """Goes on when ``go`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.begun = 0

    async def prepare(self, context: SchemaContext) -> int:
        self.begun += 1
        await self.go.wait()
        return await super().prepare(context)


async def test_a_question_ends_the_reading_which_begins_again_after_it() -> None:
    generator, turns = PausingGenerator(), FairTurns(1)
    PromptPreparation(FakeRetriever(), generator, quiet_s=0).start("shop", ANALYST, "", turns)
    await let_work()
    async with turns.hold(""):
        await let_work()
        assert (generator.begun, len(generator.prepared)) == (1, 0)
        generator.go.set()
    await let_work()
    assert (generator.begun, len(generator.prepared)) == (2, 1)


async def test_one_database_is_read_at_a_time_and_that_is_told() -> None:
    generator, turns = PausingGenerator(), FairTurns(1)
    preparation = PromptPreparation(FakeRetriever(), generator, quiet_s=0)
    for database in ("shop", "crm", "wiki"):
        preparation.start(database, ANALYST, "", turns)
    await let_work()
    assert (generator.begun, preparation.current) == (1, "shop")
    generator.go.set()
    await let_work()
    assert (len(generator.prepared), preparation.current) == (3, "")


async def test_of_many_databases_the_default_one_alone_is_read_when_the_service_is_ready() -> None:
    names = [f"shop{number}" for number in range(50)]
    databases = {name: {"reader": {"url": "embedded"}} for name in names}
    settings = build_settings(databases=databases, default_database="shop7")
    asked: list[str] = []

    class ListingRetriever(SchoolRetriever):
        async def list_beginnings(
            self, database: str, principal: Principal
        ) -> tuple[SchemaContext, ...]:
            asked.append(database)
            return await super().list_beginnings(database, principal)

    preparation = PromptPreparation(ListingRetriever(), FakeGenerator(), quiet_s=0)
    queries = QueryService(settings, NoAnswerer(), {}, preparation=preparation)
    routes = build_routes(Services(settings, queries, NO_TOOLS))
    # Nobody asks.
    async with routes.router.lifespan_context(routes):
        await let_work()
    assert asked == ["shop7"]


@pytest.mark.parametrize(
    ("model", "prepares"),
    [
        ({"engine": "openvino"}, True),
        ({"engine": "vllm"}, True),
        ({"engine": "openai", "base_url": "http://h/v1", "name": "m"}, False),
        ({"engine": "anthropic", "name": "m"}, False),
    ],
    ids=lambda value: value["engine"] if isinstance(value, dict) else "",
)
def test_only_an_engine_of_our_own_prepares(model: dict[str, str], prepares: bool) -> None:
    wiring = Wiring(build_settings(model=model))
    preparation = wiring.build_prompt_preparation(FakeEngine(), FakeRetriever())
    assert (preparation is not None) is prepares


async def test_an_engine_that_is_gone_is_nobodys_error_and_what_it_did_not_read_is_read_later() -> (
    None
):
    class GoneGenerator(FakeGenerator):
        is_gone = True

        async def prepare(self, context: SchemaContext) -> int:
            if self.is_gone and len(self.prepared) == 4:
                raise EngineUnavailable("Gone.")
            return await super().prepare(context)

    generator, turns = GoneGenerator(), FairTurns(1)
    preparation = PromptPreparation(SchoolRetriever(), generator, quiet_s=0)
    for version in ("", "v1"):
        preparation.start("shop", ANALYST, version, turns)
        await let_work()
        assert len(generator.prepared) == 4
    generator.is_gone = False
    for version in ("v1", "v1", ""):
        preparation.start("shop", ANALYST, version, turns)
        await let_work()
        assert len(generator.prepared) == 14
