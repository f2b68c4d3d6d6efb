"""Reads files of other tools as definitions of ours, and says what it leaves out and why.

The result is a file of definitions like any other; it is not checked yet.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nl2sql.catalog import Catalog
from nl2sql.errors import SettingsError
from nl2sql.words import content_words
from nl2sql.yaml_file import read_yaml
from retrieval.semantics.importing.dbt import read_dbt
from retrieval.semantics.importing.mdl import read_mdl
from retrieval.semantics.importing.models import Cube, MeaningReader, Member
from retrieval.semantics.semantics_file import (
    SECTIONS,
    Semantics,
    SemanticsFile,
    parse_semantics,
    read_problem,
)
from retrieval.semantics.sql_parts import UnusableDefinition, join_lines

_LONGEST = 300
_UNREADABLE = (
    *(AttributeError, LookupError, OSError, RecursionError, SettingsError, TypeError, ValueError),
)
_READ = ("semantic_models", "metrics", "models", "relationships", "cubes")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not imported, and why."""

    what: str
    reason: str


# A section, a cube, its member, and that as a definition without a name.
_Found = list[tuple[str, Cube, Member, dict[str, Any]]]


def import_definitions(
    paths: Sequence[Path], catalog: Catalog
) -> tuple[SemanticsFile, tuple[LeftOut, ...]]:
    """The definitions of files of any tool, over the tables of the catalog."""
    left_out: list[LeftOut] = []
    cubes: dict[str, Cube] = {}
    for path in paths:
        try:
            for cube in _read_file(path, left_out):
                if cubes.setdefault(cube.name, cube) is not cube:
                    left_out.append(LeftOut(f"{path}: {cube.name}", "there is one already"))
        except _UNREADABLE as error:
            text = f"it is not what dbt, Cube or WrenAI write: {type(error).__name__}: {error}"
            left_out.append(LeftOut(str(path), join_lines(text)[:_LONGEST]))
    reader = MeaningReader(cubes, catalog)
    found: _Found = []
    for cube in cubes.values():
        if reason := cube.find_unknown():
            left_out.append(LeftOut(cube.name, reason))
        for section, member in ((key, each) for key in SECTIONS for each in getattr(cube, key)):
            try:
                part = _read_part(reader, section, cube, member)
            except (UnusableDefinition, RecursionError) as misfit:
                left_out.append(LeftOut(f"{cube.name}.{member.name}", str(misfit)))
            else:
                found.append((section, cube, member, part))
    return _name_parts(found, left_out), tuple(left_out)


def _read_file(path: Path, left_out: list[LeftOut]) -> list[Cube]:
    is_json = path.suffix == ".json"
    if not is_json and path.suffix not in (".yml", ".yaml"):
        left_out.append(LeftOut(str(path), "no models in a programming language are read"))
        return []
    content = json.loads(path.read_text(encoding="utf-8")) if is_json else read_yaml(path)
    others = [key for key, value in content.items() if value and key not in _READ]
    if others:
        left_out.append(LeftOut(str(path), f"no definitions are in {', '.join(others)}"))
    if "semantic_models" in content:
        return read_dbt(content)
    if is_json:
        return read_mdl(content)
    return [Cube.model_validate(each) for each in content.get("cubes") or ()]


def _read_part(reader: MeaningReader, section: str, cube: Cube, member: Member) -> dict[str, Any]:
    """A member as a definition without a name. Raises UnusableDefinition."""
    meaning = reader.read(cube, member)
    if not (cube.public and member.public):
        raise UnusableDefinition("it is hidden there")
    column = meaning.text.rpartition(".")[2].strip('"')
    names = {_fold(name) for name in (member.name, member.title) if name}
    if section == "dimensions" and names == {_fold(column)}:
        raise UnusableDefinition("it is a column, which is found by its own name")
    part = {
        "condition" if section == "filters" else "expression": meaning.text,
        "filter": meaning.condition,
        "description": " ".join(member.description.split()).replace("`", "'"),
    }
    return {key: value for key, value in part.items() if value}


def _spell(name: str) -> str:
    """A name as words.

    >>> _spell("order_total"), _spell("TotalRevenue (net)")
    ('order total', 'Total Revenue net')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.sub(r"[^\w &/%.'-]|_", " ", words).split())


def _fold(name: str) -> tuple[str, ...]:
    return tuple(content_words(_spell(name)))


def _name_parts(found: _Found, left_out: list[LeftOut]) -> SemanticsFile:
    """The file of definitions. Names that several have get their cube's before them."""
    shared = Counter(_fold(member.name) for _, _, member, _ in found)
    names = [
        _spell(member.name if shared[_fold(member.name)] == 1 else f"{cube.name}_{member.name}")
        for _, cube, member, _ in found
    ]
    taken = {*shared, *map(_fold, names)}
    sections: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for name, (section, cube, member, part) in zip(names, found, strict=True):
        what, words = f"{cube.name}.{member.name}", _fold(member.title)
        if name in sections[section]:
            left_out.append(LeftOut(what, f"there is {name!r} already"))
            continue
        if words and words not in taken:
            part["synonyms"] = [_spell(member.title)]
            taken.add(words)
        elif words and words != _fold(name):
            left_out.append(LeftOut(f"{what}: {member.title!r}", "it means something else already"))
        if len(told := part.get("description", "")) > _LONGEST:
            part["description"] = told[:_LONGEST]
            left_out.append(LeftOut(f"{what}: description", f"cut after {_LONGEST} characters"))
        try:
            Semantics.model_validate({"version": 1, section: {name: part}})
        except ValidationError as error:
            left_out.append(LeftOut(what, read_problem(error.errors()[0]).text))
        else:
            sections[section][name] = part
    return parse_semantics({"version": 1, **sections})
