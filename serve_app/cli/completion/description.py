"""Describes commands as JSON: their options and arguments, and what completes their values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

FILE = Path(__file__).with_name("commands.json")

# By the last word of the command and the parameter, or by the parameter alone.
_NAMED: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("", "database"): "databases",
        ("", "databases"): "databases",
        ("doctor", "functions"): "databases",
        ("", "as_"): "principals",
        ("mcp", "principal"): "principals",
        ("create", "name"): "principals",
        ("", "benchmark"): "benchmarks",
        ("pull", "name"): "models",
        ("remove", "name"): "models",
        ("show", "role"): "roles",
        ("create", "role"): "roles",
    }
)


def describe_command(name: str, command: Any) -> dict[str, Any]:
    """What completion needs to know of a loaded command of typer, and of the commands inside."""
    inside = getattr(command, "commands", {})
    return {
        "summary": (command.help or "").partition("\n")[0],
        "parameters": [_describe_parameter(name, each) for each in command.params],
        "commands": {word: describe_command(word, each) for word, each in inside.items()},
    }


def _describe_parameter(command: str, parameter: Any) -> dict[str, Any]:
    described = {
        "name": parameter.name,
        "kind": "argument" if parameter.param_type_name == "argument" else "option",
        "options": [*parameter.opts, *parameter.secondary_opts],
        "help": getattr(parameter, "help", None) or "",
        "is_flag": bool(getattr(parameter, "is_flag", False)),
        "is_many": bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1,
        "choices": _list_choices(parameter.type_descriptor.annotation),
        "names": _NAMED.get((command, parameter.name)) or _NAMED.get(("", parameter.name)) or "",
    }
    # What is empty says nothing, and would make the file twice as long.
    return {key: value for key, value in described.items() if value}


def _list_choices(annotation: Any) -> list[str]:
    is_choice = isinstance(annotation, type) and issubclass(annotation, Enum)
    return [str(each.value) for each in annotation] if is_choice else []
