"""Which days the words of a question mean, when the data's today is set."""

from __future__ import annotations

from datetime import date

import pytest

from generation.prompts.relative_dates import render_today
from nl2sql.types import Plan
from serve_app.settings import Settings
from tests.fakes import build_context, build_question, build_settings
from tests.generation.written_prompt import write_prompt
from tests.golden import ARROW, load_cases

# A Monday in the second quarter.
TODAY = date(2025, 6, 30)


@pytest.mark.parametrize(("heading", "case"), load_cases("relative_dates"))
def test_the_days_that_a_question_means_are_told(heading: str, case: str) -> None:
    question, _, told = case.partition(ARROW)
    expected = {"days": f"Today is 2025-06-30. {told}", "today": "Today is 2025-06-30."}
    assert render_today(question, TODAY) == expected.get(heading, "")


def test_days_are_those_of_the_calendar() -> None:
    for question, today, told in (
        ("past month", date(2024, 3, 31), '"past month" is from 2024-02-29 to 2024-03-31.'),
        ("last quarter", date(2024, 2, 29), '"last quarter" is from 2023-10-01 to 2023-12-31.'),
    ):
        assert told in render_today(question, today)
    assert render_today("the last 9999 years", TODAY) == ""


async def test_only_a_relative_date_changes_the_prompt() -> None:
    settings = build_settings()
    question = build_question(text="Orders of last month?")
    name = question.database
    known = settings.databases[name].model_copy(update={"today": TODAY})
    dated = settings.model_copy(update={"databases": {**settings.databases, name: known}})
    context = build_context(tables=("sales.orders",))

    async def read(settings: Settings, text: str) -> str:
        prompt, _ = await write_prompt(settings, build_question(text=text), context, Plan())
        return prompt.messages[-1].content

    assert await read(settings, "How many orders?") == await read(dated, "How many orders?")
    before, after = [await read(each, question.text) for each in (settings, dated)]
    assert before != after
    added = 'Hint: Today is 2025-06-30. "last month" is from 2025-05-01 to 2025-05-31.\n'
    assert after.replace(added, "") == before
