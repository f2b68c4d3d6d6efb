"""How the figures were made, in enough detail to reproduce them.

Settings are shown once; those of other runs are shown as differences.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from evaluation.report.sections import Section
from evaluation.runs.manifest import Manifest
from evaluation.runs.variants import name_count

RULES = (
    "An answer is right when its rows are those of the gold query as a multiset, under some "
    "permutation of columns, floats rounded to four places, and in order only where the gold "
    "orders its outermost query. BIRD EX compares sets of rows with columns in order, and soft "
    "F1 gives credit for rows that overlap."
)
INTERVALS = (
    "All intervals are 95 % percentile bootstrap intervals over questions, or Wilson's if every "
    "question has the same outcome. Questions whose gold query fails count in no figure and are "
    "listed in their section. P-values are McNemar's exact test on the questions that two runs "
    "share, not corrected for multiple comparisons."
)
_MOST_OVERRIDES = 8


@dataclass(frozen=True, slots=True)
class RunMethod:
    """One run. ``command`` is empty if no single command reproduces the run."""

    title: str
    command: str
    facts: tuple[tuple[str, str], ...]
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Method:
    """``shared`` facts hold for every run; ``settings`` is the YAML of the first run."""

    shared: tuple[tuple[str, str], ...]
    runs: tuple[RunMethod, ...]
    settings: str


def build_method(sections: Sequence[Section]) -> Method:
    """Describes all runs from their manifests; facts that all runs share are listed once."""
    named = [(section, run) for section in sections for run in section.runs]
    base = named[0][1].run.manifest.configuration
    facts = [dict(_facts(run.run.manifest)) for _, run in named]
    shared = {
        key: value
        for key, value in facts[0].items()
        if len(named) > 1 and all(fact.get(key) == value for fact in facts)
    }
    runs = []
    for (section, run), own in zip(named, facts, strict=True):
        changes = dict(_differences(base, run.run.manifest.configuration))
        runs.append(
            RunMethod(
                f"{section.title}: {run.label}",
                derive_command(run.run.manifest, changes),
                tuple((key, value) for key, value in own.items() if key not in shared),
                tuple(f"{key}: {_show(value)}" for key, value in changes.items()),
            )
        )
    settings = yaml.safe_dump(base, sort_keys=False, allow_unicode=True, width=100)
    return Method(tuple(shared.items()), tuple(runs), settings)


def derive_command(manifest: Manifest, changes: Mapping[str, Any]) -> str:
    """The command that repeats the run; empty if no single command does.

    ``changes`` holds the differences from the settings that the report shows.
    """
    one_seed = not manifest.sample or manifest.sample_seed == manifest.seed
    if not one_seed or len(changes) > _MOST_OVERRIDES or _REMOVED in changes.values():
        return ""
    words = ["quorumsql", "eval", "run", manifest.benchmark_path]
    k = name_count(manifest.k)
    words += ["--baseline", manifest.baseline] if manifest.baseline else ["--k", k]
    words += ["--sample", str(manifest.sample)] if manifest.sample else []
    words += ["--seed", str(manifest.seed)]
    words += ["--evidence"] if manifest.evidence else []
    words += ["--concurrency", str(manifest.concurrency)]
    words += ["--service", manifest.service] if manifest.service else []
    words += ["--samples", manifest.samples] if manifest.samples else []
    for key, value in changes.items():
        words += ["--set", f"{key}={json.dumps(value)}"]
    return shlex.join(words)


_REMOVED = object()


def _differences(old: Any, new: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """``section.key`` and its new value, for each that differs."""
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, _REMOVED), new.get(key, _REMOVED)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _differences(before, after, f"{prefix}{key}.")
        elif before != after:
            yield f"{prefix}{key}", after


def _show(value: Any) -> str:
    return "not set" if value is _REMOVED else json.dumps(value, ensure_ascii=False)


def _facts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    asked = len(manifest.question_ids)
    yield (
        "questions",
        f"{asked:,}, drawn with seed {manifest.sample_seed}" if manifest.sample else f"{asked:,}",
    )
    yield "questions file", f"{manifest.benchmark_path}, SHA-256 {manifest.benchmark_sha256}"
    yield "dialect", manifest.dialect
    yield "evidence", "given" if manifest.evidence else "not given"
    yield "model", _model(manifest)
    yield "sampling", _sampling(manifest)
    yield "asked", manifest.service or "in the process of the command"
    if manifest.samples:
        yield "samples", f"kept in {manifest.samples}; samples read from it took no time"
    yield "questions in flight", str(manifest.concurrency)
    yield "revision", manifest.revision or "unknown"
    yield "machine", _join(manifest.machine)
    yield "versions", _join(manifest.versions)
    yield "started", manifest.started_at or "unknown"
    yield "took", f"{manifest.seconds / 60:,.1f} min"


def _model(manifest: Manifest) -> str:
    if manifest.service:
        return "that of the service"
    section = manifest.configuration.get("model", {})
    return str(section.get("name", "unknown"))


def _sampling(manifest: Manifest) -> str:
    if manifest.k == 1:
        return f"one greedy query, seed {manifest.seed}"
    section = manifest.configuration.get("sampling", {})
    temperature = section.get("temperature", "unknown")
    return f"K={name_count(manifest.k)}, temperature {temperature}, seed {manifest.seed}"


def _join(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
