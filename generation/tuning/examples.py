"""The examples of a tuning run, in a file of JSON lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from nl2sql.errors import SettingsError
from nl2sql.types import Message


@dataclass(frozen=True, slots=True)
class TuningExample:
    """A prompt as the pipeline writes it, and the query that should answer it.

    ``id`` is that of the benchmark's question. ``held_out``: its database is not trained on; the
    loss on such examples tells when to stop.
    """

    id: str
    database: str
    dialect: str
    messages: tuple[Message, ...]
    sql: str
    held_out: bool = False


def write_examples(path: Path, examples: Iterable[TuningExample]) -> None:
    """Writes the file, complete or not at all."""
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
    fresh.replace(path)


def read_examples(path: Path) -> tuple[TuningExample, ...]:
    """The examples of a file. Raises SettingsError if it holds something else."""
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            messages = tuple(Message(**message) for message in entry.pop("messages"))
            found.append(TuningExample(**entry, messages=messages))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SettingsError(
                f"{path}, line {number}: not an example for tuning ({error}).",
                hint="Remove the file; the next run makes it again.",
            ) from error
    return tuple(found)


def is_held_out(database: str, share: float) -> bool:
    """Whether a database is among the ``share`` that is not trained on, by its name alone.

    >>> is_held_out("spider_flight_1", 0.0), is_held_out("spider_flight_1", 1.0)
    (False, True)
    """
    digest = hashlib.sha256(f"held out {database}".encode()).digest()
    return int.from_bytes(digest[:4], "big") < share * 2**32
