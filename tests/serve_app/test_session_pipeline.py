"""Sessions the whole way, over the real index, guard and databases; the model alone is a fake."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from nl2sql.answers import Answer, Answered
from nl2sql.types import Principal, Question
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Silence
from tests.fakes import FakeEngine
from tests.serve_app.test_policy_pipeline import IDENTITY, POLICY

LOCAL, MIA = IDENTITY.principal(), IDENTITY.principal("mia")
FIRST = "How many employees were hired in 2023?"
SECOND = "How many employees were hired in 2022?"
COUNT = "SELECT count(*) FROM employees WHERE extract(year FROM hire_dt) = {}"
PAY = "SELECT avg(net_amt) FROM payslips"


@pytest.fixture
async def kept(wiring: Wiring) -> AsyncIterator[None]:
    """No session is left over."""
    yield
    async with open_parts(wiring, Silence(), engine=FakeEngine()) as parts:
        await wiring.build_sessions(parts.store, parts.guard).clear()


def with_policy(wiring: Wiring) -> Wiring:
    settings = wiring.settings
    database = settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    databases = {**settings.databases, "demo_erp": database}
    return Wiring(settings.model_copy(update={"databases": databases}), wiring.socket_folder)


async def ask(
    wiring: Wiring, text: str, *said: str, principal: Principal = LOCAL
) -> tuple[Answer, FakeEngine]:
    engine = FakeEngine(*([each] for each in said))
    question = Question(
        text, "demo_erp", principal, 1, 0, max_rows=5, session="s", answer_text="rule"
    )
    async with open_parts(wiring, Silence(), engine=engine) as parts:
        return await parts.build_pipeline(wiring.settings).answer(question), engine


def read_prompts(engine: FakeEngine) -> str:
    return "\n".join(m.content for request in engine.requests for m in request.prompt.messages)


async def test_a_follow_up_finds_its_session_in_another_process(wiring: Wiring, kept: None) -> None:
    first, _ = await ask(wiring, FIRST, COUNT.format(2023))
    assert isinstance(first, Answered), first
    assert first.text.startswith("Answer: ")
    second, engine = await ask(wiring, "And in 2022?", SECOND, COUNT.format(2022))
    assert isinstance(second, Answered), second
    assert second.trace.question.text == SECOND
    assert FIRST in engine.requests[0].prompt.messages[0].content
    # No cell of the earlier answer, only its question and its query.
    assert first.text.removeprefix("Answer: ") not in read_prompts(engine)


async def test_another_principal_sees_nothing_of_a_session(wiring: Wiring, kept: None) -> None:
    guarded = with_policy(wiring)
    await ask(guarded, FIRST, COUNT.format(2023))
    answer, engine = await ask(guarded, "And in 2022?", COUNT.format(2022), principal=MIA)
    assert answer.trace.asked == ""
    assert "2023" not in read_prompts(engine)


async def test_what_was_withheld_since_takes_the_session_with_it(
    wiring: Wiring, kept: None
) -> None:
    paid, _ = await ask(wiring, "What is the average pay in payslips?", PAY, principal=MIA)
    assert isinstance(paid, Answered), paid
    later, engine = await ask(
        with_policy(wiring), "And of employees?", COUNT.format(2022), principal=MIA
    )
    assert later.trace.asked == ""
    prompts = read_prompts(engine)
    assert "payslips" not in prompts
    assert "net_amt" not in prompts
