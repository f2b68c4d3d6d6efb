"""Follow-ups are told from questions that stand on their own."""

from __future__ import annotations

import json

import pytest

from data.demo_erp import TRANSLATIONS
from generation.conversation.follow_up_signs import depends_on_context

FOLLOW_UPS = """
And last year?
what about Germany?
How about in 2023?
Only the active ones
and by month?
Same for suppliers
In Germany?
for the north region
last year
Just the top 5
sort by name
Order them by total
Which of those are in Berlin?
Who are they?
What is their average salary?
How many of them are women?
Show me the same for 2022
but only for cancelled orders
Without the cancelled ones
Now group it by country
What is its price?
And the others?
How many are open?
the second one
top 10 instead
per department
How many in France?
Which one is the oldest?
Include the email too
Show their names
show me more
Exclude returns
What is the total of these?
2021?
by region and month
Why?
"""

WHOLE = """
How many singers are there?
Show the customers and their cities.
What is the average age of students who have no pets?
List the ids of those employees who joined after 2020.
Headcount by department for 2023.
Total depreciation by period for 2023.
Which orders came in this year?
Sort all the shops by number of products and return their names.
For each region, how many customers are there and how many of them are active?
In which city do most employees live?
What are the names of everybody whose salary is above that of the manager?
Find the number of tweets of each user and the names of each of them.
What is the capacity of the largest stadium?
"""


@pytest.mark.parametrize("text", FOLLOW_UPS.strip().splitlines())
def test_a_follow_up_is_told(text: str) -> None:
    assert depends_on_context(text)


@pytest.mark.parametrize("text", WHOLE.strip().splitlines())
def test_a_whole_question_is_left_alone(text: str) -> None:
    assert not depends_on_context(text)


@pytest.mark.parametrize("text", ["", "  ", "?", "!!!"])
def test_nothing_leans_on_nothing(text: str) -> None:
    assert not depends_on_context(text)


@pytest.mark.parametrize(
    "text",
    [
        "Und letztes Jahr?",
        "nur in Deutschland",
        "Et en 2023 ?",
        "¿Y el año pasado?",
        "e no ano passado?",
        "E l'anno scorso?",
        "那去年呢？",  # noqa: RUF001
        "では先月は？",  # noqa: RUF001
        "وماذا عن العام الماضي؟",
    ],
)
def test_follow_ups_in_other_languages(text: str) -> None:
    assert depends_on_context(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wie viele Kunden?",
        "Où sont les entrepôts ?",
        "¿Cuántos clientes tenemos?",
        "Quantos clientes temos?",
        "Quanti clienti abbiamo?",
        "有多少客户？",  # noqa: RUF001
        "従業員は何人ですか？",  # noqa: RUF001
        "كم عدد العملاء؟",
    ],
)
def test_whole_questions_in_other_languages_stand_alone(text: str) -> None:
    assert not depends_on_context(text)


def test_the_demos_translated_questions_stand_alone() -> None:
    for line in TRANSLATIONS.read_text("utf-8").splitlines():
        entry = json.loads(line)
        assert not [text for key, text in entry.items() if key != "id" and depends_on_context(text)]
