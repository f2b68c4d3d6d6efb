"""Reads files of other tools as definitions of ours, and says what it leaves out and why.

The result is a file of definitions like any other; it is not checked yet.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nl2sql.catalog import Catalog
from nl2sql.errors import SettingsError
from nl2sql.words import content_words
from nl2sql.yaml_file import read_yaml
from retrieval.semantics.importing.dbt import read_dbt
from retrieval.semantics.importing.mdl import read_mdl
from retrieval.semantics.importing.models import Cube, Meaning, MeaningReader, Member, read_cubes
from retrieval.semantics.semantics_file import (
    SECTIONS,
    Semantics,
    SemanticsFile,
    parse_semantics,
    read_problem,
)
from retrieval.semantics.sql_parts import UnusableDefinition, join_lines

_LONGEST = 300
_COMMENTS = "the index reads comments from the database (dbt writes them with persist_docs)"
_RULES = "who sees what is said in a policy file"
# Key of a file, key anywhere under it → why what has a value there is not imported.
_OTHERS = {
    ("nodes", "description"): _COMMENTS,
    ("nodes", "test_metadata"): "the index reads keys and values of columns from the database",
    ("saved_queries", "query_params"): "a query is no definition",
    ("models", "description"): _COMMENTS,
    ("models", "rowLevelAccessControls"): _RULES,
    ("models", "columnLevelAccessControl"): _RULES,
    ("cubes", "access_policy"): _RULES,
    ("views", "name"): "a view is no definition",
}


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
    cubes = _read_files(paths, catalog.dialect, left_out)
    reader = MeaningReader(cubes, catalog)
    found: _Found = {}
    for cube in cubes:
        for section, member in cube.list_members():
            what = f"{cube.name}.{member.name}"
            try:
                meaning = reader.read(cube, member)
            except RecursionError:
                left_out.append(LeftOut(what, "it refers to itself"))
                continue
            except UnusableDefinition as misfit:
                left_out.append(LeftOut(what, misfit.text))
                continue
            if not (cube.public and member.public):
                left_out.append(LeftOut(what, "it is hidden there"))
            elif section == "dimensions" and _is_column(member, meaning):
                left_out.append(LeftOut(what, "it is a column, which is found by its own name"))
            else:
                found.setdefault((section, meaning), []).append((cube, member))
    return _build(found, reader, left_out), tuple(left_out)


def _read_files(paths: Sequence[Path], dialect: str, left_out: list[LeftOut]) -> list[Cube]:
    manifests: dict[str, Any] = {}
    readers: list[tuple[str, Callable[[], list[Cube]]]] = []
    for path in paths:
        try:
            content = _read_file(path)
        except (OSError, ValueError, SettingsError) as error:
            left_out.append(LeftOut(str(path), join_lines(str(error))))
            continue
        if "semantic_models" in content:
            manifests[str(path)] = content
        else:
            read = read_mdl if path.suffix == ".json" else read_cubes
            readers.append((str(path), partial(read, content, dialect)))
        for (top, key), reason in _OTHERS.items():
            if number := sum(1 for _ in _walk(content.get(top), key)):
                left_out.append(LeftOut(f"{path}: {top}.{key} ({number})", reason))
    readers.append((", ".join(manifests), partial(read_dbt, [*manifests.values()], dialect)))
    cubes: dict[str, Cube] = {}
    for name, read_all in readers:
        try:
            found = read_all()
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            text = f"it lacks what dbt, Cube or WrenAI write: {error!r}"[:_LONGEST]
            left_out.append(LeftOut(name, join_lines(text)))
            continue
        for cube in found:
            if cubes.setdefault(cube.name, cube) is not cube:
                left_out.append(LeftOut(f"{name}: {cube.name}", "there is one already"))
    return list(cubes.values())


def _read_file(path: Path) -> Mapping[str, Any]:
    if path.suffix not in (".yml", ".yaml", ".json"):
        raise SettingsError("only JSON and YAML are read, no models in a programming language")
    is_json = path.suffix == ".json"
    content = json.loads(path.read_text(encoding="utf-8")) if is_json else read_yaml(path)
    if not isinstance(content, Mapping):
        raise SettingsError("it is no mapping of keys to values")
    return content


def _walk(content: Any, key: str) -> Iterator[object]:
    """All values of a key, wherever it stands, that are not empty."""
    if isinstance(content, Mapping):
        if content.get(key):
            yield content[key]
        content = list(content.values())
    if isinstance(content, list):
        for each in content:
            yield from _walk(each, key)


def _is_column(member: Member, meaning: Meaning) -> bool:
    """Whether it says nothing that the column's own name does not."""
    column = meaning.text.rpartition(".")[2].strip('"')
    named = {_fold(name) for name in (member.name, member.title) if name}
    return named == {_fold(column)}


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
    shared = Counter([(), (), *(_fold(members[0][1].name) for members in found.values())])
    names = {}
    for place, members in found.items():
        cube, member = members[0]
        prefix = f"{cube.name}_" if shared[_fold(member.name)] > 1 else ""
        names[place] = _spell(prefix + member.name)
    taken = {words for words, number in shared.items() if number > 1}
    taken |= {_fold(name) for name in names.values()}
    sections: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for (section, meaning), name in names.items():
        members = found[section, meaning]
        what, synonyms = f"{members[0][0].name}.{members[0][1].name}", []
        titles = [each.title for _, each in members] + [each.name for _, each in members[1:]]
        for title in titles:
            if (words := _fold(title)) and words not in taken:
                synonyms.append(_spell(title))
                taken.add(words)
            elif words not in ((), _fold(name), *map(_fold, synonyms)):
                reason = "these words mean something else already"
                left_out.append(LeftOut(f"{what}: {title!r}", reason))
        told = " ".join(
            next((each.description for _, each in members if each.description), "").split()
        )
        if len(told) > _LONGEST:
            left_out.append(LeftOut(f"{what}: description", f"cut after {_LONGEST} characters"))
        part: dict[str, Any] = {
            "condition" if section == "filters" else "expression": meaning.text,
            "filter": meaning.condition,
            "description": told.replace("`", "'")[:_LONGEST],
            "synonyms": synonyms,
        }
        try:
            part["joins"] = reader.write_joins(meaning)
            part = {key: value for key, value in part.items() if value}
            Semantics.model_validate({"version": 1, section: {name: part}})
        except UnusableDefinition as misfit:
            left_out.append(LeftOut(what, misfit.text))
        except ValidationError as error:
            left_out.append(LeftOut(what, read_problem(error.errors()[0]).text))
        else:
            if sections[section].setdefault(name, part) is not part:
                left_out.append(LeftOut(what, f"there is {name!r} already"))
    return parse_semantics({"version": 1, **sections})
