"""Reads files of other tools as definitions of ours, and says what it leaves out and why.

The result is a file of definitions like any other; it is not checked yet.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

from pydantic import ValidationError

from nl2sql.catalog import Catalog
from nl2sql.errors import SettingsError
from nl2sql.words import content_words
from nl2sql.yaml_file import read_yaml
from retrieval.semantics.importing.dbt import read_dbt
from retrieval.semantics.importing.mdl import read_mdl
from retrieval.semantics.importing.models import Cube, LeftOut, Meaning, MeaningReader, Member
from retrieval.semantics.semantics_file import (
    NO_TEXT,
    SECTIONS,
    Semantics,
    SemanticsFile,
    parse_semantics,
    read_problem,
)
from retrieval.semantics.sql_parts import UnusableDefinition

_LONGEST = 300
_UNREADABLE = (
    *(AttributeError, LookupError, OSError, RecursionError, SettingsError, TypeError, ValueError),
)
# The keys that are read of a file that has one of the first two of them.
_READ = (
    ("semantic_models", "nodes", "sources", "metrics"),
    ("models", "relationships", "cubes"),
    ("cubes",),
)

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
            left_out.append(LeftOut(str(path), _shorten(text)))
    reader = MeaningReader(cubes, catalog)
    found: _Found = []
    descriptions: dict[str, str] = {}
    for cube in cubes.values():
        try:
            table = reader.name_table(cube)
        except UnusableDefinition as misfit:
            left_out.append(LeftOut(cube.name, cube.find_unknown() or str(misfit)))
            continue
        if reason := cube.find_unknown():
            left_out.append(LeftOut(cube.name, reason))
        if cube.public and (text := _shorten(cube.description)):
            descriptions.setdefault(table, text)
        for section, member in ((key, each) for key in SECTIONS for each in getattr(cube, key)):
            what = f"{cube.name}.{member.name}"
            try:
                meaning = reader.read(cube, member)
                if not (cube.public and member.public):
                    raise UnusableDefinition("it is hidden there")
            except (UnusableDefinition, RecursionError) as misfit:
                left_out.append(LeftOut(what, str(misfit)))
                continue
            text = _shorten(member.description)
            if section != "dimensions" or not _is_column(meaning, member):
                found.append((section, cube, member, _write_part(section, meaning, text)))
            elif text:
                descriptions.setdefault(meaning.text.replace('"', ""), text)
            else:
                reason = "it is a column, which is found by its own name"
                left_out.append(LeftOut(what, reason))
    sections = _name_parts(found, left_out)
    content = {"version": 1, **sections, "descriptions": descriptions}
    return parse_semantics(content), tuple(left_out)


def _shorten(text: str) -> str:
    """A description on one line, as long as the file allows."""
    return re.sub(f"[{NO_TEXT}]", "", shorten(text.replace("`", "'"), _LONGEST, placeholder=" …"))


def _read_file(path: Path, left_out: list[LeftOut]) -> list[Cube]:
    is_json = path.suffix == ".json"
    if not is_json and path.suffix not in (".yml", ".yaml"):
        left_out.append(LeftOut(str(path), "no models in a programming language are read"))
        return []
    content = json.loads(path.read_text(encoding="utf-8")) if is_json else read_yaml(path)
    read = next((keys for keys in _READ if not content.keys().isdisjoint(keys[:2])), ())
    if others := [key for key, value in content.items() if value and key not in read]:
        left_out.append(LeftOut(str(path), f"no definitions are in {', '.join(others)}"))
    if read == _READ[0]:
        return read_dbt(content, left_out)
    if is_json:
        return read_mdl(content)
    return [Cube.model_validate(each) for each in content.get("cubes") or ()]


def _is_column(meaning: Meaning, dimension: Member) -> bool:
    """Whether it is a column under its own name."""
    column = meaning.text.rpartition(".")[2].strip('"')
    names = {_fold(name) for name in (dimension.name, dimension.title) if name}
    return names == {_fold(column)}


def _write_part(section: str, meaning: Meaning, description: str) -> dict[str, Any]:
    """A definition without a name."""
    part = {
        "condition" if section == "filters" else "expression": meaning.text,
        "filter": meaning.condition,
        "description": description,
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


def _name_parts(found: _Found, left_out: list[LeftOut]) -> dict[str, dict[str, Any]]:
    """The definitions by section and name. Names that several have get their cube's before them."""
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
        try:
            Semantics.model_validate({"version": 1, section: {name: part}})
        except ValidationError as error:
            left_out.append(LeftOut(what, read_problem(error.errors()[0]).text))
        else:
            sections[section][name] = part
    return sections
