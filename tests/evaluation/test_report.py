"""The report of runs: its tables and sections, and that untrusted text stays text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from evaluation.metrics.metrics import summarize
from evaluation.metrics.pairing import compare_runs
from evaluation.report import Run, render_markdown
from evaluation.report.markdown import escape_markdown
from evaluation.report.sections import ReportSection, build_sections
from evaluation.report.tables import build_tables
from evaluation.runs.records import CandidateRecord, Preview, QuestionRecord, RepairRecord
from tests.evaluation.builders import build_manifest, build_record

# Ends a script, opens an element, and is a table's border in Markdown.
DASH = "\N{EN DASH}"
SUREST = ("25%", "50%", "75%")
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
    repair = RepairRecord(
        candidate="c2",
        cause=f"42601 {text}",
        method="autocorrect",
        outcome=text,
        rules=("join_keys",),
        error_class="unknown_column",
    )
    return tuple(
        build_record(
            f"q{number}{text}",
            database=f"shop{number % 2}{text}",
            question=f"how many of them are there {text}",
            evidence=text,
            difficulty=f"{'easy' if number % 2 else 'hard'}{text}",
            gold=f"SELECT {number} {text}",
            gold_result=Preview(columns=(f"n{text}",), rows=((number,), (text,)), rows_in_all=2),
            sql=f"SELECT 1 {text}",
            k=k,
            confidence=number / 10,
            correct=number < right,
            candidates=(
                CandidateRecord(id="c1", sql=f"SELECT 1 {text}", samples=k, correct=number < 8),
                CandidateRecord(id="c2", sql="SELECT", error=f"42601: {text}"),
            ),
            repairs=(repair,),
            stages_ms={f"generate{text}": 900.0 + number, "execute": 3.0},
            seconds=1.0,
        )
        for number in range(10)
    )


def build_section(*runs: Run) -> ReportSection:
    """The only section of these runs."""
    (section,) = build_sections(runs, ())
    return section


def read_table(section: ReportSection, title: str) -> list[dict[str, str]]:
    """The rows of a table by column."""
    (table,) = (table for table in build_tables(section) if table.title.startswith(title))
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_no_speed_is_shown_where_samples_came_from_a_file() -> None:
    section = build_section(
        build_run("K=1", *build_rich_records(1)),
        build_run("K=4", *build_rich_records(4), samples="kept.samples"),
    )
    timed, untimed = read_table(section, "Time")
    assert timed["questions / min"] == "10.0"
    assert untimed["questions / min"] == untimed["s / question"] == DASH
    # The pipeline's own time was spent all the same.
    assert untimed["without the model"] == timed["without the model"]
    stages = {row["stage"]: (row["K=1"], row["K=4"]) for row in read_table(section, "Stages")}
    assert stages["generate"] == ("904 ms (909 ms)", DASH)
    assert stages["execute"] == ("3.0 ms (3.0 ms)",) * 2
    assert section.notes[0].startswith("No speed is shown for K=4: samples were kept in a file")


def test_a_comparison_names_the_questions_that_flipped_in_the_section_of_its_runs() -> None:
    left = build_run("K=1", build_record("q1"), build_record("q2", correct=False))
    right = build_run("K=4", build_record("q1", correct=False), build_record("q2"))
    elsewhere = build_run("K=1", benchmark="other", name="elsewhere")
    comparison = compare_runs(left.name, left.records, right.name, right.records)
    own, other = build_sections([left, right, elsewhere], [comparison])
    (row,) = read_table(own, "Run against run")
    assert row["runs"] == "K=4 against K=1"
    assert (row["gained"], row["lost"], row["McNemar p"]) == ("1: q2", "1: q1", "1.00")
    assert other.comparisons == ()


def test_runs_are_in_sections_of_their_benchmark_and_evidence_with_labels_of_their_own() -> None:
    sections = build_sections(
        [
            build_run("K=4", name="later"),
            build_run("K=4", name="earlier"),
            build_run("K=4", configuration={"ranking": {"min_confidence": 0.5}}),
            build_run("plain", baseline="plain"),
            build_run("K=1", evidence=True),
        ],
        [],
    )
    assert [section.title for section in sections] == ["shop", "shop, with evidence"]
    labels = [run.label for run in sections[0].runs]
    assert labels == [
        "plain",
        "K=4 (later)",
        "K=4 (earlier)",
        "K=4, ranking.min_confidence: 0.5",
    ]


def test_the_confidence_is_shown_for_the_surest_answers() -> None:
    # Ten questions with confidences from 0.0 to 0.9, of which the first six are right.
    section = build_section(build_run("K=4", *build_rich_records(4)))
    (row,) = read_table(section, "Confidence")
    shown = [row[f"of the surest {share}"].split("\N{NO-BREAK SPACE}")[0] for share in SUREST]
    assert shown == ["0.0", "20.0", "50.0"]


def test_notes_name_unfinished_runs_and_different_questions() -> None:
    whole, unfinished = build_run("K=1"), build_run("K=4", question_ids=("q1", "q2", "q3"))
    first, second = build_section(whole, unfinished).notes
    assert first == "K=4 is unfinished: 2 of 3 questions."
    assert "do not cover the same questions" in second
    assert build_section(whole).notes == ()


def test_whatever_was_written_the_tables_hold() -> None:
    text = f"{HOSTILE}\ud800\x00数据库"
    runs = [
        build_run("K=1", *build_rich_records(1, right=3, text=text), benchmark=HOSTILE),
        build_run("K=2", *build_rich_records(2, text=text), benchmark=HOSTILE),
    ]
    pairs = [compare_runs(runs[0].name, runs[0].records, runs[1].name, runs[1].records)]
    lines = render_markdown(runs, pairs).split("\n")
    widths = [len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0 for line in lines]
    tables = [pair for pair in pairwise(widths) if all(pair)]
    assert tables
    assert all(above == below for above, below in tables)


def test_what_people_wrote_is_neither_markdown_nor_html() -> None:
    runs = [build_run("K=1", build_record(gold_error=HOSTILE), benchmark=f"# {HOSTILE}")]
    before_settings = render_markdown(runs, []).partition("<details>")[0]
    assert not re.search(r"(?<!\\)<", before_settings)
    assert not re.search(r"(?<!\\)!?\[", before_settings)
    assert escape_markdown("a\n\n# b\r\n| c") == r"a \# b \| c"


def test_failures_and_wrong_answers_are_named() -> None:
    missing = build_record("q7", gold_error="the database is missing: no file")
    raised = build_record("q8", outcome="error", reason="PromptTooLong", correct=False)
    wrong = build_record("q9", correct=False, gold="SELECT '```'", sql="SELECT 9")
    text = render_markdown([build_run("K=1", missing, raised, wrong)], [])
    assert "- not counted, K=1: q7: the database is missing: no file" in text
    assert "- error, K=1: q8: PromptTooLong" in text
    assert "````sql\nSELECT '```'\n````" in text
    assert "```sql\nSELECT 9\n```" in text
