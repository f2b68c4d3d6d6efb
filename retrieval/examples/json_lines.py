"""Reads and writes JSON lines files; a pydantic model checks each line that is read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from nl2sql.errors import SettingsError

Line = TypeVar("Line", bound=BaseModel)


def read_lines(path: Path, form: type[Line], *, hint: str) -> tuple[Line, ...]:
    """All lines of a file. Raises SettingsError that names the line and the field."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from error
    # Not splitlines(): it also splits at U+2028, which JSON allows inside a string.
    lines = enumerate(text.split("\n"), start=1)
    return tuple(_read(path, number, line, form, hint) for number, line in lines if line.strip())


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Writes a file and creates its folder if necessary. Raises SettingsError."""
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from error


def _read(path: Path, number: int, line: str, form: type[Line], hint: str) -> Line:
    try:
        return form.model_validate(json.loads(line))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(map(str, problem["loc"])) or "the line"
        text = f"{field}: {problem['msg'].removeprefix('Value error, ')}"
    except ValueError as error:
        text = f"is not JSON: {error}"
    raise SettingsError(f"{path}, line {number}: {text}.", hint=hint)
