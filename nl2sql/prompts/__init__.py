"""Prompts are files, ``NAME.txt`` with ``$variables``, in the folder of the stage that uses them.

All share one system message, and the user message begins with the schema. So a repair or the next
question on the same tables finds its beginning in the engine's prefix cache, which on a CPU saves
most of a prompt's cost.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from nl2sql.sql.names import DIALECT_NAMES
from nl2sql.types import Contents, Message, Prompt

ANSWER_START, ANSWER_END = "```sql\n", "```"
"""The fence around the query in an answer: engines are given its start and stop at its end."""


def render_prompt(
    package: str, name: str, *, dialect: str, contains: Contents, **variables: str
) -> Prompt:
    """Renders the prompt ``name`` of ``package``; variables inside values are not expanded.

    The system message names the ``dialect``; ``contains`` is what the variables hold. Raises
    KeyError naming a variable of the file that the caller did not give.
    """
    user = render_text(package, name, **variables)
    system = render_text("nl2sql.prompts", "system", dialect=DIALECT_NAMES[dialect])
    return Prompt(name, (Message("system", system), Message("user", user)), contains)


def render_text(package: str, name: str, **variables: str) -> str:
    """Renders the text ``name`` of ``package``, a part of a prompt. Raises KeyError likewise."""
    return _read(package, name).substitute(variables).strip()


@cache
def _read(package: str, name: str) -> Template:
    return Template(files(package).joinpath(f"{name}.txt").read_text(encoding="utf-8"))
