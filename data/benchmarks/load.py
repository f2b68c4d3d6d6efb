"""Loads a benchmark by name: one of the demo's, or a path whose format is recognised.

Reading a benchmark does not open a database.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from importlib.resources import as_file
from pathlib import Path

import data.demo_erp
from data.benchmarks.entries import read_json_line_entries
from data.benchmarks.formats import FORMATS, load_lines
from data.benchmarks.judgements import add_judgements
from data.benchmarks.types import Benchmark
from nl2sql.errors import SettingsError
from nl2sql.languages import LANGUAGES

DEMOS = {
    "demo_erp": data.demo_erp.QUESTIONS,
    "demo_erp_business": data.demo_erp.BUSINESS_QUESTIONS,
    "demo_erp_definitions": data.demo_erp.DEFINITION_QUESTIONS,
    "demo_erp_first": data.demo_erp.FIRST_QUESTIONS,
}
"""Benchmarks about the demo, by name."""
TRANSLATED = {f"demo_erp_{language}": language for language in LANGUAGES if language != "en"}
"""Twenty of the demo's questions in another language, by name."""


def load_benchmark(name: str, *, configured: Collection[str]) -> Benchmark:
    """The benchmark of one of ``DEMOS``, or the one at a path.

    ``name`` may also be one of ``TRANSLATED``, or a file or a folder; a prefix (``spider:PATH``)
    sets the format. ``configured`` names the databases of the settings file. Raises
    SettingsError for a missing path, an unknown format, or an invalid entry.
    """
    if name in DEMOS:
        with as_file(DEMOS[name]) as path:
            return replace(load_lines(path, configured), name=name)
    if name in TRANSLATED:
        return _load_translated(name, configured)
    prefix, colon, rest = name.partition(":")
    chosen = tuple(format_ for format_ in FORMATS if colon and format_.name == prefix)
    path = Path(rest if chosen else name).expanduser()
    if not path.exists():
        raise SettingsError(
            f"There is no benchmark {name!r}: {path} is neither a file nor a folder.",
            hint=f"Name {' or '.join(DEMOS)}, a path, or a path behind one of: "
            f"{', '.join(f'{format_.name}:' for format_ in FORMATS)}.",
        )
    formats = chosen or FORMATS
    for format_ in formats:
        if questions := format_.find(path):
            return add_judgements(format_.load(questions, configured))
    layouts = "; ".join(f"{format_.name}: {format_.layout}" for format_ in formats)
    raise SettingsError(f"{path} has no known format.", hint=f"Looked for {layouts}.")


def _load_translated(name: str, configured: Collection[str]) -> Benchmark:
    """The demo's benchmark with the questions that have a translation, in it."""
    whole = load_benchmark("demo_erp", configured=configured)
    with as_file(data.demo_erp.TRANSLATIONS) as path:
        said = {
            entry.text("id"): entry.text(TRANSLATED[name]) for entry in read_json_line_entries(path)
        }
    examples = tuple(
        replace(example, question=said[example.id])
        for example in whole.examples
        if example.id in said
    )
    return replace(whole, name=name, examples=examples)
