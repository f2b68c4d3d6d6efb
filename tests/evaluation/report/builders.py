"""Runs for the report's tests: small, with everything in them that a section can show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.metrics.figures import PairedComparison
from evaluation.metrics.metrics import summarize
from evaluation.report import Run
from evaluation.report.sections import Section, build_sections
from evaluation.runs.records import CandidateRecord, Preview, QuestionRecord, RepairRecord
from tests.evaluation.builders import build_manifest, build_record

# Ends a script, opens an element, opens mathtext, and is a table's border in Markdown.
HOSTILE = "</script><img src=x onerror=alert(1)>\"'$\\frac{1}{0}$|`x`"


def build_run(variant: str = "K=1", *records: QuestionRecord, **overrides: Any) -> Run:
    """A finished run named like its variant, over these records or two of its own."""
    asked = records or (build_record("q1"), build_record("q2", correct=False))
    name = overrides.pop("name", variant)
    k = int(variant.removeprefix("K=")) if variant.startswith("K=") else 1
    values = {"variant": variant, "k": k, "seconds": 60.0, "finished": True, **overrides}
    ids = values.pop("question_ids", tuple(record.id for record in asked))
    manifest = build_manifest(*ids, **values)
    return Run(name, manifest, asked, summarize(asked, seconds=60.0, threshold=0.5))


def build_rich_records(k: int, *, right: int = 6, text: str = "") -> tuple[QuestionRecord, ...]:
    """Ten questions of two difficulties and two databases, answered with candidates and times.

    ``text`` is put wherever a person or a model may write.
    """
    return tuple(
        build_record(
            f"q{number}{text}",
            database=f"shop{number % 2}{text}",
            question="how many of them are there " * (1 + number % 3) + text,
            evidence=text,
            difficulty=f"{'easy' if number % 2 else 'hard'}{text}",
            gold=f"SELECT {number} {text}",
            gold_result=Preview(columns=(f"n{text}",), rows=((number,), (text,)), rows_in_all=2),
            sql=f"SELECT 1 {text}",
            result=Preview(columns=("n",), rows=((None,),), rows_in_all=40),
            k=k,
            confidence=number / 10,
            correct=number < right,
            candidates=(
                CandidateRecord(id="c1", sql=f"SELECT 1 {text}", samples=k, correct=number < 8),
                CandidateRecord(id="c2", sql="SELECT", error=f"42601: {text}"),
            ),
            repairs=(
                RepairRecord(candidate="c2", cause=f"42601 {text}", method="model", outcome=text),
            ),
            stages_ms={f"generate{text}": 900.0 + number, "execute": 3.0},
            seconds=1.0,
        )
        for number in range(10)
    )


def build_section(*runs: Run, comparisons: Sequence[PairedComparison] = ()) -> Section:
    """The only section of these runs."""
    (section,) = build_sections(runs, comparisons)
    return section
