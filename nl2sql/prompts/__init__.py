"""Prompts are files, ``NAME.txt`` with ``$variables``, beside the stage that uses them.

All of them share one system message, and the schema comes first in the user's: so a repair and the
next question on the same tables find their beginning in the engine's prefix cache, which on a CPU
is most of what a prompt costs.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from nl2sql.sql.dialects import dialect_name
from nl2sql.types import Message, Prompt


def render_prompt(package: str, name: str, *, dialect: str, **variables: str) -> Prompt:
    """The prompt ``name`` in ``package`` with its variables put in; values are no templates.

    The system message names the ``dialect``, so that the model writes for this database.

    Raises KeyError naming a variable that the file wants and the caller did not give.
    """
    user = render_text(package, name, **variables)
    system = render_text("nl2sql.prompts", "system", dialect=dialect_name(dialect))
    return Prompt(name, (Message("system", system), Message("user", user)))


def render_text(package: str, name: str, **variables: str) -> str:
    """The text ``name`` in ``package``, a part of a prompt. Raises KeyError likewise."""
    return _read(package, name).substitute(variables).strip()


@cache
def _read(package: str, name: str) -> Template:
    return Template(files(package).joinpath(f"{name}.txt").read_text(encoding="utf-8"))
