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
from retrieval.semantics.importing.models import Cube, Meaning, MeaningReader, Member
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


# The section and what it means → all members that mean it.
_Found = dict[tuple[str, Meaning], list[tuple[Cube, Member]]]


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
    found: _Found = {}
    for cube in cubes.values():
        if reason := cube.find_unknown():
            left_out.append(LeftOut(cube.name, reason))
        for section, member in ((key, each) for key in SECTIONS for each in getattr(cube, key)):
            what = f"{cube.name}.{member.name}"
            try:
                meaning = reader.read(cube, member)
            except (UnusableDefinition, RecursionError) as misfit:
                left_out.append(LeftOut(what, str(misfit)))
                continue
            if not (cube.public and member.public):
                left_out.append(LeftOut(what, "it is hidden there"))
            elif section == "dimensions" and _is_column(member, meaning):
                left_out.append(LeftOut(what, "it is a column, which is found by its own name"))
            else:
                found.setdefault((section, meaning), []).append((cube, member))
    return _build(found, reader, left_out), tuple(left_out)


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


def _is_column(member: Member, meaning: Meaning) -> bool:
    """Whether it says nothing that the column's own name does not."""
    column = meaning.text.rpartition(".")[2].strip('"')
    return {_fold(name) for name in (member.name, member.title) if name} == {_fold(column)}


def _spell(name: str) -> str:
    """A name as words.

    >>> _spell("order_total"), _spell("TotalRevenue (net)")
    ('order total', 'Total Revenue net')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.sub(r"[^\w &/%.'-]|_", " ", words).split())


def _fold(name: str) -> tuple[str, ...]:
    return tuple(content_words(_spell(name)))


def _build(found: _Found, reader: MeaningReader, left_out: list[LeftOut]) -> SemanticsFile:
    """The file of definitions. Names that several have get their cube's before them."""
    shared = Counter(_fold(members[0][1].name) for members in found.values())
    names = {}
    for place, ((cube, member), *_) in found.items():
        prefix = f"{cube.name}_" if shared[_fold(member.name)] > 1 else ""
        names[place] = _spell(prefix + member.name)
    taken = {*shared, *map(_fold, names.values())}
    sections: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for (section, meaning), name in names.items():
        (cube, member), *others = found[section, meaning]
        what, own = f"{cube.name}.{member.name}", {_fold(name): name}
        titles = (title for _, other in others for title in (other.name, other.title))
        for title in (member.title, *titles):
            if (words := _fold(title)) and words not in taken:
                own[words] = _spell(title)
                taken.add(words)
            elif words and words not in own:
                reason = "these words mean something else already"
                left_out.append(LeftOut(f"{what}: {title!r}", reason))
        told = " ".join(member.description.split()).replace("`", "'")
        if len(told) > _LONGEST:
            left_out.append(LeftOut(f"{what}: description", f"cut after {_LONGEST} characters"))
        part: dict[str, Any] = {
            "condition" if section == "filters" else "expression": meaning.text,
            "filter": meaning.condition,
            "description": told[:_LONGEST],
            "synonyms": list(own.values())[1:],
        }
        try:
            part["joins"] = reader.write_joins(cube, meaning)
            part = {key: value for key, value in part.items() if value}
            Semantics.model_validate({"version": 1, section: {name: part}})
        except UnusableDefinition as misfit:
            left_out.append(LeftOut(what, misfit.text))
        except ValidationError as error:
            left_out.append(LeftOut(what, read_problem(error.errors()[0]).text))
        else:
            sections[section][name] = part
    return parse_semantics({"version": 1, **sections})
