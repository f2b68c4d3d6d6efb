"""Every question of every run as JSON for the page's table: previews and texts, no prompts.

Repeated values (a question asked in four runs, a query of eight candidates, a result equal to the
gold result) are stored once and referred to by number. Absent keys mean an empty text, zero or
False.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.report.sections import LabelledRun, Section
from evaluation.report.tables import timed_stages
from evaluation.runs.records import CandidateRecord, Preview, QuestionRecord, RepairRecord

_LONGEST_SQL = 6000
_LONGEST_CELL = 80
_LONGEST_MESSAGE = 400
_MOST_COLUMNS = 12
_MOST_ROWS = 10

# The status of a question, as the page shows it; `uncounted`: its gold query gave no result.
STATUSES = {
    "right": "right",
    "wrong": "wrong",
    "missed": "wrong, a candidate was right",
    "refused": "refused",
    "clarify": "asked back",
    "failed": "failed",
    "error": "error",
    "uncounted": "not counted",
}


class _Pool:
    """Distinct values, referred to by number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def add(self, value: Any) -> int:
        key = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def build_questions(sections: Sequence[Section]) -> dict[str, Any]:
    """``{texts, results, questions, runs, answers}``; answers are in the order of the runs."""
    texts, results, questions = _Pool(), _Pool(), _Pool()
    runs: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for section in sections:
        for run in section.runs:
            runs.append({"number": run.number, "label": run.label, "benchmark": section.title})
            for record in run.run.records:
                question = questions.add(_question(section, record, texts, results))
                answers.append(_answer(run, record, question, texts, results))
    return {
        "statuses": STATUSES,
        "texts": texts.values,
        "results": results.values,
        "questions": questions.values,
        "runs": runs,
        "answers": answers,
    }


def dump_for_script(value: Any) -> str:
    """JSON that is safe inside a ``<script>``: it cannot end or open an element.

    >>> print(dump_for_script("</script><!--"))
    "\\u003c/script\\u003e\\u003c!--"
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def find_status(record: QuestionRecord) -> str:
    """The key of ``STATUSES`` for this question."""
    if not record.counts:
        return "uncounted"
    if record.correct:
        return "right"
    if record.outcome != "answered":
        return record.outcome
    return "missed" if any(candidate.correct for candidate in record.candidates) else "wrong"


def _question(
    section: Section, record: QuestionRecord, texts: _Pool, results: _Pool
) -> dict[str, Any]:
    # The section distinguishes questions of different benchmarks with the same id.
    return _drop_absent(
        {
            "section": section.anchor,
            "id": record.id,
            "database": record.database,
            "difficulty": record.difficulty,
            "question": record.question,
            "evidence": record.evidence,
            "gold": texts.add(_shorten(record.gold, _LONGEST_SQL)),
            "goldError": _shorten(record.gold_error, _LONGEST_MESSAGE),
            "goldResult": results.add(_preview(record.gold_result)),
            "goldTables": list(record.gold_tables),
        },
        keep=("id", "gold", "goldResult"),
    )


def _answer(
    run: LabelledRun, record: QuestionRecord, question: int, texts: _Pool, results: _Pool
) -> dict[str, Any]:
    return _drop_absent(
        {
            "run": run.number,
            "question": question,
            "status": find_status(record),
            "reason": _shorten(record.reason, _LONGEST_MESSAGE),
            "sql": texts.add(_shorten(record.sql, _LONGEST_SQL)) if record.sql else None,
            "result": results.add(_preview(record.result)) if record.result.columns else None,
            "k": record.k,
            "confidence": round(record.confidence, 3),
            "quorum": record.quorum,
            "birdEx": record.bird_ex,
            "softF1": round(record.soft_f1, 3),
            "rVes": None if record.r_ves is None else round(record.r_ves, 3),
            "candidates": [_candidate(candidate, texts) for candidate in record.candidates],
            "repairs": [_repair(repair, texts) for repair in record.repairs],
            "tables": list(record.retrieved_tables),
            "stages": {
                name: round(ms, 1) for name, ms in timed_stages(run, record.stages_ms).items()
            },
            "promptTokens": record.prompt_tokens,
            "completionTokens": record.completion_tokens,
            "seconds": round(record.seconds, 2) if run.run.manifest.is_timed else None,
        },
        keep=("run", "question", "sql", "result"),
    )


def _candidate(candidate: CandidateRecord, texts: _Pool) -> dict[str, Any]:
    return _drop_absent(
        {
            "id": candidate.id,
            "sql": texts.add(_shorten(candidate.sql, _LONGEST_SQL)),
            "origin": "" if candidate.origin == "sample" else candidate.origin,
            "repairs": candidate.repairs,
            "samples": candidate.samples,
            "votes": candidate.votes,
            "group": candidate.group,
            "score": round(candidate.score, 1),
            "error": _shorten(candidate.error, _LONGEST_MESSAGE),
            "correct": candidate.correct,
        },
        keep=("id", "sql", "group", "score", "votes"),
    )


def _repair(repair: RepairRecord, texts: _Pool) -> dict[str, Any]:
    return _drop_absent(
        {
            "candidate": repair.candidate,
            "cause": _shorten(repair.cause, _LONGEST_MESSAGE),
            "method": repair.method,
            "outcome": repair.outcome,
            "sql": texts.add(_shorten(repair.sql, _LONGEST_SQL)) if repair.sql else None,
            "before": repair.correct_before,
            "after": repair.correct_after,
        },
        keep=("sql",),
    )


def _preview(preview: Preview) -> dict[str, Any]:
    rows = [[_cell(value) for value in row[:_MOST_COLUMNS]] for row in preview.rows[:_MOST_ROWS]]
    return {
        "columns": [_shorten(name, _LONGEST_CELL) for name in preview.columns[:_MOST_COLUMNS]],
        "rows": rows,
        "rowsInAll": preview.rows_in_all,
        "columnsInAll": len(preview.columns),
    }


def _cell(value: Any) -> str | None:
    """The cell as it is shown; numbers as text, because a double cannot hold all of them."""
    if value is None:
        return None
    return _shorten(value if isinstance(value, str) else json.dumps(value), _LONGEST_CELL)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _drop_absent(values: Mapping[str, Any], *, keep: Sequence[str]) -> dict[str, Any]:
    """Drops None, and empty values except under the keys in ``keep``."""
    return {
        key: value for key, value in values.items() if value is not None and (value or key in keep)
    }
