"""Prompts are files: ``NAME.system.txt`` and ``NAME.user.txt`` with ``$variables``.

The schema stands before the question in every prompt, so that questions on the same tables share
the engine's prefix cache.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from nl2sql.types import Message, Prompt


def render_prompt(package: str, name: str, **variables: str) -> Prompt:
    """The prompt ``name`` in ``package`` with its variables put in; values are no templates.

    Raises KeyError naming a variable that the file wants and the caller did not give.
    """
    messages = tuple(
        Message(role, _template(package, name, role).substitute(variables).strip())
        for role in ("system", "user")
    )
    return Prompt(name, messages)


@cache
def _template(package: str, name: str, role: str) -> Template:
    return Template(files(package).joinpath(f"{name}.{role}.txt").read_text(encoding="utf-8"))
