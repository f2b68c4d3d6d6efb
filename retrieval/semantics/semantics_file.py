"""The file of definitions of one database: measures, dimensions and filters, as a user writes them.

It may also describe tables and columns that have no comment in the database.

YAML, checked by pydantic: every error names the line, an unknown key also the nearest one. Knows
nothing of the database: ``resolution.py`` reads the SQL parts and finds their tables and columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from nl2sql.errors import SettingsError
from nl2sql.yaml_file import CONTROL, read_yaml, suggest_key

# Names are shown in prompts and answers, so they are plain words on one line.
_Name = Annotated[str, Field(max_length=60, pattern=r"^\w[\w &/%.'-]*$")]
NO_TEXT = rf"\t\n{CONTROL}"
_Line = Annotated[str, Field(max_length=300, pattern=rf"^[^{NO_TEXT}`]*$")]
_Sql = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"^[^`]*$")]

SECTIONS = ("measures", "dimensions", "filters")


class _SemanticsPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    description: _Line = Field("", description="What it means, in one line.")
    synonyms: tuple[_Name, ...] = Field((), description="Other words for it.")
    joins: tuple[_Sql, ...] = Field(
        (),
        description="`a.x = b.y`, where no foreign key joins the tables, or several do.",
    )


class Measure(_SemanticsPart):
    """A figure: an aggregate, and the rows that it is computed over."""

    expression: _Sql
    filter: Annotated[str, Field(max_length=2000, pattern=r"^[^`]*$")] = ""


class Dimension(_SemanticsPart):
    """What figures are grouped by: a column or an expression."""

    expression: _Sql


class Filter(_SemanticsPart):
    """A condition that has a name."""

    condition: _Sql


def _short(key: str) -> BeforeValidator:
    """A text alone is the definition's SQL."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


class Semantics(BaseModel):
    """The definitions of one database by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    measures: Mapping[_Name, Annotated[Measure, _short("expression")]] = {}
    dimensions: Mapping[_Name, Annotated[Dimension, _short("expression")]] = {}
    filters: Mapping[_Name, Annotated[Filter, _short("condition")]] = {}
    # Of "table" or "table.column", either with the schema before it.
    descriptions: Mapping[str, _Line] = {}

    def list_parts(self) -> Iterator[tuple[str, str, Measure | Dimension | Filter]]:
        """The section, the name and the definition of each."""
        for section in SECTIONS:
            for name, part in getattr(self, section).items():
                yield section, name, part


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with the file, and the keys that lead there."""

    place: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class SemanticsFile:
    """The definitions, the file they come from, and the line of each of its keys."""

    semantics: Semantics
    path: Path = Path("semantics.yaml")
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    def describe(self, problem: Problem) -> str:
        """The problem in one line with its place."""
        # The line of the nearest key above, for a key that is missing.
        starts = (problem.place[:end] for end in range(len(problem.place), 0, -1))
        line = next((self.lines[place] for place in starts if place in self.lines), 0)
        where = f"{self.name}, line {line}" if line else self.name
        return f"{where}: {'.'.join(problem.place) or 'the file'}: {problem.text}"

    def refuse(self, problems: Iterable[Problem]) -> SettingsError:
        """The error that lists all problems."""
        return SettingsError(f"{self.path}: " + "; ".join(map(self.describe, problems)))


def load_semantics(path: Path) -> SemanticsFile:
    """Reads the YAML file at ``path``; does not read the SQL in it (``resolution.py`` does).

    Raises SettingsError if it is missing, is not YAML, or contains a wrong key or value.
    """
    value = read_yaml(path, called="file of definitions")
    return parse_semantics(value, path, find_lines(path))


def parse_semantics(
    value: object,
    path: Path = Path("semantics.yaml"),
    lines: Mapping[tuple[str, ...], int] | None = None,
) -> SemanticsFile:
    """``value`` (a plain mapping) as definitions. Raises SettingsError that lists all errors."""
    if not isinstance(value, dict):
        raise SettingsError(f"{path} must be a mapping of keys to values.")
    file = SemanticsFile(Semantics(version=1), path, lines or {})
    try:
        return replace(file, semantics=Semantics.model_validate(value))
    except ValidationError as error:
        raise file.refuse(map(read_problem, error.errors())) from error


def read_problem(problem: Any) -> Problem:
    """One of pydantic's errors, in words."""
    place = tuple(str(part) for part in problem["loc"] if part != "[key]")
    kind = problem["type"]
    if kind == "extra_forbidden":
        return Problem(place, f"unknown key{suggest_key(place, Semantics)}")
    if kind == "missing":
        return Problem(place, "it is missing")
    if "[key]" in problem["loc"] or "synonyms" in place:
        text = "a name is at most 60 letters, digits, spaces and the signs & / % . ' -"
        return Problem(place, text)
    if kind == "string_pattern_mismatch":
        return Problem(
            place, "write it on one line, without control characters and without the sign `"
        )
    return Problem(place, problem["msg"].removeprefix("Value error, "))


def find_lines(path: Path) -> dict[tuple[str, ...], int]:
    """The line of each key and item of a file that ``read_yaml`` has read, counted from 1.

    They are named by the keys and positions that lead to them.
    """
    lines: dict[tuple[str, ...], int] = {}

    def visit(node: yaml.Node | None, place: tuple[str, ...]) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inside = (*place, str(key.value))
                lines[inside] = key.start_mark.line + 1
                visit(value, inside)
        elif isinstance(node, yaml.SequenceNode):
            for position, value in enumerate(node.value):
                inside = (*place, str(position))
                lines[inside] = value.start_mark.line + 1
                visit(value, inside)

    visit(yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader), ())
    return lines
