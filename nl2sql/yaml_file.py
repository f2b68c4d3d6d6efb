"""Reads the YAML files of users and packages: settings, policies, synonyms, lists of words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from nl2sql.errors import SettingsError

_KEYS = "must have keys of its own, not a value"
# By the type of the error, in place of Python's names.
_MESSAGES = {"model_type": _KEYS, "dict_type": _KEYS, "tuple_type": "must be a list"}
_MERGE = "tag:yaml.org,2002:merge"

# Scalars stay text: YAML would read "no" as false. In C, where PyYAML has it, it takes a tenth.
_LOADER: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

_Model = TypeVar("_Model", bound=BaseModel)


def read_packaged(package: str, name: str) -> Any:
    """The content of a file that ``package`` holds beside its code: mappings, lists and texts."""
    return yaml.load(files(package).joinpath(name).read_text("utf-8"), _LOADER)


def read_yaml(
    path: Path,
    *,
    called: str = "",
    hint: str = "",
    error: type[SettingsError] = SettingsError,
) -> Any:
    """The content of the file at ``path`` as plain values; None if it is empty.

    Raises ``error`` if it cannot be read, is not YAML, or has a key twice. ``called`` says what
    the file is, ``hint`` what to do if it cannot be read.
    """
    name = f"the {called} {path}" if called else str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise error(f"Cannot read {name}: {problem.strerror}.", hint=hint) from problem
    except UnicodeDecodeError as problem:
        raise error(f"Cannot read {name}: it is not UTF-8.") from problem
    try:
        return yaml.load(text, _StrictLoader)
    except (yaml.YAMLError, RecursionError) as problem:
        raise error(f"{path} is not valid YAML: {problem}") from problem


def check_yaml(
    value: object,
    model: type[_Model],
    *,
    where: str,
    error: type[SettingsError] = SettingsError,
) -> _Model:
    """``value`` (a plain mapping) as ``model``.

    Raises ``error`` that lists all that is wrong; for an unknown key with the nearest known one.
    """
    if not isinstance(value, dict):
        raise error(f"{where} must be a mapping of keys to values.")
    for place, text in _list_texts(value):
        if _CONTROL_CHARACTER.search(text):
            raise error(f"{where}: {place[1:]!a}: leave the control character out")
    try:
        return model.model_validate(value)
    except ValidationError as found:
        lines: list[str] = []
        for problem in sorted(found.errors(), key=lambda each: each["type"] != "extra_forbidden"):
            # A key that is misspelt is missing, too.
            meant = f"did you mean {problem['loc'][-1] if problem['loc'] else ''!r}?"
            if problem["type"] != "missing" or not any(meant in line for line in lines):
                lines.append(_describe(problem, model))
        raise error(f"{where}: " + "; ".join(lines)) from found


CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"
"""For a class of a regular expression: control characters but tabs and ends of lines, and what
turns the direction of text. A terminal may obey them."""
_CONTROL_CHARACTER = re.compile(f"[{CONTROL}]")


def _list_texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Every key and text in a value, each behind the keys that lead to it."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield f"{place}.{key}", str(key)
            yield from _list_texts(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _list_texts(inner, place)


def _describe(problem: Any, model: type[BaseModel]) -> str:
    place = [str(part) for part in problem["loc"]]
    dotted = ".".join(place) or "the file"
    if problem["type"] == "extra_forbidden":
        return f"{dotted}: unknown key{suggest_key(place, model)}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{dotted}: {_MESSAGES.get(problem['type'], message)}"


def suggest_key(place: Sequence[str], model: type[BaseModel]) -> str:
    """``suggest`` for the last of the keys that lead from ``model`` to an unknown one."""
    for part in place[:-1]:
        field = model.model_fields.get(part)
        # Otherwise it is a name, such as that of a database.
        if field is not None:
            model = _find_model(field.annotation) or model
    return suggest(place[-1], model.model_fields, cutoff=0.0)


def _find_model(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_find_model(inner) for inner in get_args(annotation))
    return next((inner for inner in found if inner is not None), None)


def suggest(name: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """``; did you mean 'x'?`` for the nearest of the known names; empty if none is near.

    >>> suggest("ordes", ["orders", "customers"])
    "; did you mean 'orders'?"
    """
    nearest = find_nearest(name, known, cutoff=cutoff)
    return f"; did you mean {nearest!r}?" if nearest else ""


def find_nearest(name: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """The most similar of the known names; empty if none is as similar as ``cutoff``, 0 to 1."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)), "")


class _StrictLoader(yaml.SafeLoader):
    """Refuses duplicate keys: the second would silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue  # `<<: *other`, whose keys may be overridden
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                break  # the loader itself reports it
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key!r}", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)
