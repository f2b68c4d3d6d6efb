"""Which days the words of a question mean, when the data's today is set."""

from __future__ import annotations

from datetime import date

import pytest

from generation.prompts.relative_dates import render_today
from nl2sql.types import Plan
from serve_app.settings import Settings
from tests.fakes import build_context, build_question, build_settings
from tests.generation.written_prompt import write_prompt

# A Monday in the second quarter.
TODAY = date(2025, 6, 30)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Orders of last month?", '"last month" is from 2025-05-01 to 2025-05-31.'),
        ("Orders of the past month?", '"past month" is from 2025-05-30 to 2025-06-30.'),
        ("Orders of this quarter?", '"this quarter" is from 2025-04-01 to 2025-06-30.'),
        ("What did we sell last year?", '"last year" is from 2024-01-01 to 2024-12-31.'),
        ("Bookings last week", '"last week" is from 2025-06-23 to 2025-06-29.'),
        ("Invoices due next month", '"next month" is from 2025-07-01 to 2025-07-31.'),
        ("Due in the next two weeks", '"next two weeks" is from 2025-07-01 to 2025-07-14.'),
        ("Past 6 months?", '"past 6 months" is from 2024-12-30 to 2025-06-30.'),
        ("Year-to-date revenue", '"year-to-date" is from 2025-01-01 to 2025-06-30.'),
        ("Bestellungen der letzten 30 Tage", '"letzten 30 tage" is from 2025-05-31 to 2025-06-30.'),
        ("Les commandes du mois dernier ?", '"mois dernier" is from 2025-05-01 to 2025-05-31.'),
        (
            "Pedidos de los últimos tres meses",
            '"ultimos tres meses" is from 2025-03-30 to 2025-06-30.',
        ),
        ("As vendas do ano passado", '"ano passado" is from 2024-01-01 to 2024-12-31.'),
        ("Gli ordini di ieri", '"ieri" is 2025-06-29.'),
        ("去年的销售额", '"去年" is from 2024-01-01 to 2024-12-31.'),
        ("先月の注文", '"先月" is from 2025-05-01 to 2025-05-31.'),
        ("طلبات العام الماضي", '"عام الماضي" is from 2024-01-01 to 2024-12-31.'),
        ("Calls of yesterday", '"yesterday" is 2025-06-29.'),
        (
            "This year against last year",
            '"this year" is from 2025-01-01 to 2025-12-31. '
            '"last year" is from 2024-01-01 to 2024-12-31.',
        ),
    ],
)
def test_the_days_that_a_question_means_are_told(question: str, told: str) -> None:
    assert render_today(question, TODAY) == f"Today is 2025-06-30. {told}"


@pytest.mark.parametrize(
    "question",
    [
        "Which invoices are overdue?",
        "Welche Rechnungen sind überfällig?",
        "逾期发票",
        "Open tickets as of today",
        "Costs of this fiscal year",
    ],
)
def test_today_alone_is_told_where_no_days_follow_from_it(question: str) -> None:
    assert render_today(question, TODAY) == "Today is 2025-06-30."


@pytest.mark.parametrize(
    "question",
    [
        "Orders in 2024?",
        "Bestellungen im März 2024 pro Monat",
        "¿Cuál es el último apellido de cada cliente?",
        "2024年3月の注文",
        "The last name of each customer",
        "How many days does a delivery take on average?",
        "Employees with more than 3 years in the company",
        "The last 5 orders of each customer",
    ],
)
def test_other_questions_are_told_nothing(question: str) -> None:
    assert render_today(question, TODAY) == ""


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
